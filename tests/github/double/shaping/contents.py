"""Files, directories, links and submodules of a repository."""

import base64
from dataclasses import dataclass
from urllib.parse import quote

from tests.github.double.answers import JsonObject
from tests.github.double.shaping.repositories import api_url, web_url
from tests.github.double.shaping.view import View
from tests.github.double.state import Entry, File, Repository, Submodule, Symlink, Tree
from tests.github.double.state.contents import identity

# docs.github.com, "Repository contents": up to 1 MB with content, up to 100 MB only raw, above not at all.
LARGEST_IN_JSON = 1024 * 1024
LARGEST_RAW = 100 * 1024 * 1024
MOST_ENTRIES = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """A path of a repository on one branch."""

    view: View
    repository: Repository
    branch: str
    path: str

    def child(self, name: str) -> "Place":
        """A name in this folder."""
        return Place(self.view, self.repository, self.branch, f"{self.path}/{name}" if self.path else name)


def file(place: Place, entry: File) -> JsonObject:
    """A file; its content only up to 1 MB."""
    small = entry.size <= LARGEST_IN_JSON
    encoded = base64.encodebytes(entry.data).decode() if small else ""
    return {**_about(place, entry), "content": encoded, "encoding": "base64" if small else "none"}


def link(place: Place, entry: Symlink) -> JsonObject:
    """A symbolic link that means no ordinary file of the repository."""
    return {**_about(place, entry), "target": entry.target}


def submodule(place: Place, entry: Submodule) -> JsonObject:
    """A submodule."""
    return {**_about(place, entry), "submodule_git_url": entry.git_url}


def directory(place: Place, tree: Tree) -> list[JsonObject]:
    """The first thousand entries of a folder; a submodule counts as a file there, for clients from before them."""
    children = list(tree.children(place.path).items())[:MOST_ENTRIES]
    made = [_about(place.child(name), entry) for name, entry in children]
    return [one | {"type": "file"} if one["type"] == "submodule" else one for one in made]


def directory_object(place: Place, tree: Tree) -> JsonObject:
    """A folder as one object."""
    entries = [
        _about(place.child(name), entry) for name, entry in list(tree.children(place.path).items())[:MOST_ENTRIES]
    ]
    return {**_about(place, None), "entries": entries}


def _about(place: Place, entry: Entry | None) -> JsonObject:
    sha = identity(entry, place.path)
    path = quote(place.path)
    url = f"{api_url(place.view, place.repository)}/contents/{path}?ref={quote(place.branch, safe='')}"
    git, page = _elsewhere(place, entry, sha)
    return {
        "type": _kind(entry),
        "size": _size(entry),
        "name": place.path.rpartition("/")[2],
        "path": place.path,
        "sha": sha,
        "url": url,
        "git_url": git,
        "html_url": page,
        "download_url": _download(place) if isinstance(entry, File | Symlink) else None,
        "_links": {"self": url, "git": git, "html": page},
    }


def _kind(entry: Entry | None) -> str:
    match entry:
        case None:
            return "dir"
        case File():
            return "file"
        case Symlink():
            return "symlink"
        case Submodule():
            return "submodule"


def _size(entry: Entry | None) -> int:
    match entry:
        case File():
            return entry.size
        case Symlink(target):
            return len(target.encode())
        case _:
            return 0


def _elsewhere(place: Place, entry: Entry | None, sha: str) -> tuple[str | None, str | None]:
    """Where Git's API and the pages have it; for a submodule in its own repository, if that is one of GitHub."""
    if isinstance(entry, Submodule):
        name = entry.git_url.removesuffix(".git").partition("github.com/")[2]
        return (
            (f"{place.view.api}/repos/{name}/git/trees/{sha}", f"https://github.com/{name}") if name else (None, None)
        )
    kind, page = ("trees", "tree") if entry is None else ("blobs", "blob")
    at = f"{page}/{quote(place.branch)}/{quote(place.path)}"
    return f"{api_url(place.view, place.repository)}/git/{kind}/{sha}", f"{web_url(place.repository)}/{at}"


def _download(place: Place) -> str:
    """The address of the bytes; for a private repository it holds a credential."""
    base = f"https://raw.githubusercontent.com/{place.repository.full_name}/{quote(place.branch)}/{quote(place.path)}"
    return f"{base}?token={place.repository.clone_token}" if place.repository.private else base
