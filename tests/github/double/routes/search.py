"""Searches of repositories, code and issues."""

import posixpath
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from tests.github.double import querying
from tests.github.double.answers import Answer, Failed, JsonObject, failure, json_answer
from tests.github.double.querying import Part, Query
from tests.github.double.routes.call import Call
from tests.github.double.shaping import contents as content_shaping
from tests.github.double.shaping import issues as issue_shaping
from tests.github.double.shaping import repositories as repository_shaping
from tests.github.double.state import File, Issue, PullRequest, Repository
from tests.github.double.state.contents import identity

MOST_RESULTS = 1000
_LANGUAGES = {".py": "python", ".md": "markdown", ".go": "go", ".js": "javascript", ".rs": "rust", ".c": "c"}
Found = TypeVar("Found")
_FRAGMENT = 80  # characters each side of a hit


def repositories(call: Call) -> Answer:
    """Repositories by words and qualifiers."""
    query = querying.parse(call.request.query.get("q"))
    chosen = [one for one in _searched(call, query) if query.holds(partial(_is_repository, one))]
    orders: dict[str, Callable[[Repository], Any]] = {
        "stars": lambda one: one.stars,
        "forks": lambda one: one.forks,
        "updated": lambda one: one.pushed_at,
    }
    ordered = _ordered(call, chosen, orders)
    return _results(call, [repository_shaping.found(call.view, one) for one in ordered])


def issues(call: Call) -> Answer:
    """Issues and pull requests by words and qualifiers."""
    query = querying.parse(call.request.query.get("q"))
    chosen = [
        one
        for repository in _searched(call, query)
        for one in repository.issues.values()
        if one.indexed and not one.deleted and query.holds(partial(_is_issue, one, query.values("in")))
    ]
    orders: dict[str, Callable[[Issue], Any]] = {
        "created": lambda one: (one.created_at, one.number),
        "updated": lambda one: (one.updated_at, one.number),
        "comments": lambda one: len(one.comments),
    }
    ordered = _ordered(call, chosen, orders)
    return _results(call, [issue_shaping.found(call.view, one) for one in ordered], search_type="lexical")


def code(call: Call) -> Answer:
    """Files on default branches by words and qualifiers; only for a caller with an account."""
    call.needs_account()
    query = querying.parse(call.request.query.get("q"))
    if not query.words:
        raise Failed(failure(422, "Validation Failed", errors=[_no_words()]))
    found = [
        _code_item(call, repository, path, entry, query)
        for repository in _searched(call, query)
        if not repository.empty
        for path, entry in repository.trees[repository.default_branch].entries.items()
        if isinstance(entry, File) and query.holds(partial(_is_code, repository, path, entry))
    ]
    return _results(call, found)


def _no_words() -> JsonObject:
    return {"message": "The search needs at least one word.", "resource": "Search", "field": "q", "code": "invalid"}


def _searched(call: Call, query: Query) -> list[Repository]:
    """What the caller sees; 422 where repositories or accounts are named of which nothing can be seen."""
    seen = [one for one in call.github.repositories.values() if call.github.sees(call.view.viewer, one)]
    named = {part for part in query.parts if part.name in ("repo", "user", "org") and not part.negated}
    if named and not any(_belongs(part, one) for part in named for one in seen):
        raise querying.unsearchable()
    # Several of these widen a search, where all other qualifiers narrow it.
    return [one for one in seen if not named or any(_belongs(part, one) for part in named)]


def _belongs(part: Part, one: Repository) -> bool:
    asked = part.value.lower()
    return asked == (one.full_name if part.name == "repo" else one.owner.login).lower()


def _is_repository(one: Repository, part: Part) -> bool:
    match part.name:
        case "":
            text = " ".join([one.full_name, one.description or "", *one.topics])
            return part.value.lower() in text.lower()
        case "stars":
            return querying.within(one.stars, part.value)
        case "forks":
            return querying.within(one.forks, part.value)
        case "language":
            return part.value.lower() == (one.language or "").lower()
        case "topic":
            return part.value.lower() in one.topics
        case "archived":
            return part.value == str(one.archived).lower()
        case "is":
            return part.value == ("private" if one.private else "public")
        case _:
            return _other(part, one)


def _other(part: Part, one: Repository) -> bool:
    """Qualifiers that say where to look: they leave out nothing here, unless they are negated."""
    return _belongs(part, one) if part.negated and part.name in ("repo", "user", "org") else True


def _is_issue(one: Issue, places: Sequence[str], part: Part) -> bool:
    match part.name:
        case "":
            return part.value.lower() in _text(one, places).lower()
        case "is" | "type":
            return part.value.lower() in _kinds(one)
        case "state":
            return part.value == one.state
        case "author":
            return part.value.lower() == (one.author or "").lower()
        case "label":
            return part.value.lower() in (name.lower() for name in one.labels)
        case _:
            return _other(part, one.repository)


def _text(one: Issue, places: Sequence[str]) -> str:
    parts = {"title": one.title, "body": one.body or "", "comments": "\n".join(said.body for said in one.comments)}
    return "\n".join(parts[name] for name in parts if name in (places or ("title", "body")))


def _kinds(one: Issue) -> Iterable[str]:
    kind = ("pr", "pull-request") if isinstance(one, PullRequest) else ("issue",)
    merged = ("merged",) if isinstance(one, PullRequest) and one.merged_at else ()
    return (*kind, *merged, one.state, "private" if one.repository.private else "public")


def _is_code(repository: Repository, path: str, entry: File, part: Part) -> bool:
    asked = part.value.lower()
    match part.name:
        case "":
            return asked in entry.data.decode("utf-8", "replace").lower()
        case "path":
            return asked in path.lower()
        case "filename":
            return asked in posixpath.basename(path).lower()
        case "extension":
            return path.lower().endswith("." + asked)
        case "language":
            return asked == _LANGUAGES.get(posixpath.splitext(path)[1])
        case _:
            return _other(part, repository)


def _code_item(call: Call, repository: Repository, path: str, entry: File, query: Query) -> JsonObject:
    place = content_shaping.Place(call.view, repository, repository.default_branch, path)
    about = content_shaping.file(place, entry)
    item: JsonObject = {key: about[key] for key in ("name", "path", "url", "git_url", "html_url")}
    item |= {
        "sha": identity(entry, path),
        "repository": repository_shaping.minimal(call.view, repository),
        "score": 1.0,
    }
    if call.form == "text-match":
        item["text_matches"] = list(_matches(str(about["url"]), entry.data.decode("utf-8", "replace"), query.words))
    return item


def _matches(url: str, text: str, words: Iterable[str]) -> Iterable[JsonObject]:
    for word in words:
        at = text.lower().find(word.lower())
        if at >= 0:
            start = max(0, at - _FRAGMENT)
            hit = {"text": text[at : at + len(word)], "indices": [at - start, at - start + len(word)]}
            fragment = text[start : at + len(word) + _FRAGMENT]
            yield {
                "object_url": url,
                "object_type": "FileContent",
                "property": "content",
                "fragment": fragment,
                "matches": [hit],
            }


def _ordered(call: Call, items: list[Found], orders: dict[str, Callable[[Found], Any]]) -> list[Found]:
    """By what the call asks; else as they were made, which stands for the best match."""
    order = orders.get(call.request.query.get("sort", ""))
    if order is None:
        return items
    return sorted(items, key=order, reverse=call.request.query.get("order", "desc") == "desc")


def _results(call: Call, items: Sequence[JsonObject], **more: object) -> Answer:
    page, links = call.page(items[:MOST_RESULTS], call.operation.path)
    if not page and call.asks_beyond(MOST_RESULTS):
        raise Failed(failure(422, "Only the first 1000 search results are available"))
    document = {"total_count": len(items), "incomplete_results": call.github.incomplete_results, "items": page, **more}
    return json_answer(document, headers=links)
