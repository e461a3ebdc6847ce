"""A repository and what lies in it."""

import html

from tests.github.double.answers import Answer, Failed, failure, json_answer, not_found, raw_answer
from tests.github.double.routes.call import Call
from tests.github.double.shaping import contents as shaping
from tests.github.double.shaping.repositories import full
from tests.github.double.state import File, Repository, Submodule, Symlink, Tree

_RAW = "application/vnd.github.raw+json"
_HTML = "application/vnd.github.html"
_OBJECT = "application/vnd.github.object"
# GitHub looks for a README in these folders, in this order.
_README_FOLDERS = (".github", "", "docs")


def repository(call: Call) -> Answer:
    """The repository itself."""
    return json_answer(full(call.view, call.repository()))


def get(call: Call) -> Answer:
    """What lies at a path: a file, a folder, a link or a submodule."""
    asked = call.repository()
    tree, branch = _tree(call, asked)
    path = call.parameters["path"].strip("/")
    return _answer(call, tree, shaping.Place(call.view, asked, branch, path))


def readme(call: Call) -> Answer:
    """The README that GitHub would show."""
    asked = call.repository()
    tree, branch = _tree(call, asked)
    for folder in _README_FOLDERS:
        for name in tree.children(folder):
            path = f"{folder}/{name}" if folder else name
            if name.lower().partition(".")[0] == "readme" and isinstance(tree.entries.get(path), File):
                return _answer(call, tree, shaping.Place(call.view, asked, branch, path))
    raise not_found()


def _tree(call: Call, asked: Repository) -> tuple[Tree, str]:
    if asked.empty:
        raise Failed(failure(404, "This repository is empty."))
    branch = call.request.query.get("ref", asked.default_branch)
    name = branch.removeprefix("refs/heads/")
    if name not in asked.trees:
        raise Failed(failure(404, f"No commit found for the ref {branch}"))
    return asked.trees[name], name


def _answer(call: Call, tree: Tree, place: shaping.Place) -> Answer:
    path = tree.through_link(place.path) or place.path
    match tree.entries.get(path):
        case File() as entry:
            return _file(call, place, entry)
        case Symlink() as entry:
            return json_answer(shaping.link(place, entry))
        case Submodule() as entry:
            return json_answer(shaping.submodule(place, entry))
        case None if tree.children(place.path):
            return _directory(call, tree, place)
        case None:
            raise not_found()


def _file(call: Call, place: shaping.Place, entry: File) -> Answer:
    if entry.size > shaping.LARGEST_RAW:
        raise Failed(
            failure(
                403,
                "This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API.",
                errors=[{"resource": "Blob", "field": "data", "code": "too_large"}],
            )
        )
    match call.form:
        case "raw":
            return raw_answer(entry.data, _RAW)
        case "html":
            text = html.escape(entry.data.decode("utf-8", "replace"), quote=False)
            return raw_answer(f'<div id="file"><article><p>{text}</p></article></div>'.encode(), _HTML)
        case "object":
            return json_answer(shaping.file(place, entry), media=_OBJECT + "+json", described_as=_object(call))
        case _:
            return json_answer(shaping.file(place, entry))


def _directory(call: Call, tree: Tree, place: shaping.Place) -> Answer:
    if call.form == "object":
        return json_answer(shaping.directory_object(place, tree), media=_OBJECT + "+json", described_as=_object(call))
    return json_answer(shaping.directory(place, tree))


def _object(call: Call) -> str:
    """The media type under which the description has the object form; a README has none of its own."""
    return _OBJECT if call.operation.identity == "repos/get-content" else "application/json"
