"""Issues and comments: read, listed, written."""

import json
import re
from collections.abc import Callable
from typing import cast

from tests.github.double.answers import Answer, Failed, JsonObject, failure, invalid, json_answer, not_found
from tests.github.double.credentials import Token
from tests.github.double.routes.call import Call, moved
from tests.github.double.shaping import issues as shaping
from tests.github.double.shaping.repositories import api_url
from tests.github.double.state import Issue, PullRequest, Repository

LONGEST_TITLE = 256
LONGEST_BODY = 65_536


def get(call: Call) -> Answer:
    """One issue."""
    return json_answer(shaping.issue(call.view, _issue(call)))


def comments(call: Call) -> Answer:
    """The comments of an issue, the oldest first."""
    of = _issue(call)
    since = call.request.query.get("since", "")
    shaped = [shaping.comment(call.view, of, one) for one in of.comments if one.created_at >= since]
    items, links = call.page(shaped, f"/repositories/{of.repository.id}/issues/{of.number}/comments")
    return json_answer(items, headers=links)


def listed(call: Call) -> Answer:
    """The issues of a repository, pull requests among them."""
    repository, query = call.repository(), call.request.query
    if not repository.has_issues:
        raise not_found()
    chosen = [one for one in repository.issues.values() if not one.deleted and _wanted(one, query)]
    chosen.sort(key=_ORDERS[query.get("sort", "created")], reverse=query.get("direction", "desc") == "desc")
    items, links = call.page([shaping.issue(call.view, one) for one in chosen], f"/repositories/{repository.id}/issues")
    return json_answer(items, headers=links)


def create(call: Call) -> Answer:
    """Open an issue."""
    repository, viewer, document = _writable(call)
    if not repository.has_issues:
        raise Failed(failure(410, "Issues has been disabled in this repository."))
    title, body = document.get("title"), document.get("body")
    if not isinstance(title, str) or not title.strip():
        raise invalid({"resource": "Issue", "code": "missing_field", "field": "title"})
    _short(title, "title", LONGEST_TITLE)
    _short(body, "body", LONGEST_BODY)
    made = repository.issue(title, cast("str | None", body), author=viewer.login, at=call.github.now())
    if repository.may_push(viewer.login):  # GitHub drops labels and assignees of others without a word
        made.labels.extend(_names(document.get("labels")))
        repository.labels.update(made.labels)
        made.assignees.extend(cast("list[str]", document.get("assignees") or []))
    made.indexed = not call.github.index_lag
    return _created(call, f"/issues/{made.number}", shaping.issue(call.view, made), repository)


def create_comment(call: Call) -> Answer:
    """Say something in an issue."""
    repository, viewer, document = _writable(call)
    of, body = _issue(call), document.get("body")
    if of.locked and not repository.may_push(viewer.login):
        raise Failed(failure(403, "Unable to create comment because issue is locked."))
    if not isinstance(body, str) or not body.strip():
        raise invalid(
            {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body cannot be blank"}
        )
    _short(body, "body", LONGEST_BODY)
    made = of.comment(body, author=viewer.login, at=call.github.now())
    return _created(call, f"/issues/comments/{made.id}", shaping.comment(call.view, of, made), repository)


_ORDERS: dict[str, Callable[[Issue], tuple[object, ...]]] = {
    "created": lambda one: (one.created_at, one.number),
    "updated": lambda one: (one.updated_at, one.number),
    "comments": lambda one: (len(one.comments), one.number),
}


def _wanted(one: Issue, query: dict[str, str]) -> bool:
    labels = [name for name in query.get("labels", "").split(",") if name]
    creator, assignee = query.get("creator"), query.get("assignee", "*")
    return (
        query.get("state", "open") in (one.state, "all")
        and (creator is None or creator.lower() == (one.author or "").lower())
        and set(labels) <= set(one.labels)
        and one.updated_at >= query.get("since", "")
        and (assignee == "*" or assignee in one.assignees or (assignee == "none" and not one.assignees))
    )


def _issue(call: Call) -> Issue:
    repository = call.repository()
    found = repository.issues.get(call.number("issue_number"))
    if found is None or (not repository.has_issues and not isinstance(found, PullRequest)):
        raise not_found()
    if found.deleted:
        raise Failed(failure(410, "This issue was deleted"))
    if found.moved_to is not None:
        target, number = found.moved_to
        raise Failed(moved(f"{api_url(call.view, target)}/issues/{number}", 301))
    return found


def _writable(call: Call) -> tuple[Repository, Token, JsonObject]:
    """The repository of a write, the caller, and the JSON; whatever forbids the write ends it, in GitHub's order."""
    viewer, repository = call.needs_account(), call.repository()
    if not viewer.may_write_issues(private=repository.private):
        if viewer.scoped:
            raise not_found()
        kind = "integration" if viewer.kind == "installation" else "personal access token"
        accepted = (("X-Accepted-GitHub-Permissions", "issues=write"),)
        raise Failed(failure(403, f"Resource not accessible by {kind}", headers=accepted))
    if repository.archived:
        raise Failed(failure(403, "Repository was archived so is read-only."))
    try:
        document = json.loads(call.request.body)
        json.dumps(document, ensure_ascii=False).encode()  # half a character is none of JSON's (RFC 8259, 8.2)
    except ValueError:
        raise Failed(failure(400, "Problems parsing JSON")) from None
    if not isinstance(document, dict):
        raise Failed(failure(400, "Body should be a JSON object"))
    return repository, viewer, cast("JsonObject", document)


def _short(text: object, name: str, longest: int) -> None:
    if text is not None and not isinstance(text, str):
        raise invalid(message=f"Invalid request.\n\nFor 'properties/{name}', {json.dumps(text)} is not a string.")
    if text is not None and len(text) > longest:
        fault = f"{name} is too long (maximum is {longest} characters)"
        raise invalid({"resource": "Issue", "code": "custom", "field": name, "message": fault})


def _names(labels: object) -> list[str]:
    """Labels as their names; GitHub takes a name, or an object that has one."""
    if labels is None:
        return []
    if not isinstance(labels, list):
        raise invalid(message=f"Invalid request.\n\nFor 'properties/labels', {json.dumps(labels)} is not an array.")
    names = [one.get("name") if isinstance(one, dict) else one for one in cast("list[object]", labels)]
    bad = [name for name in names if not isinstance(name, str) or not re.fullmatch(r"[^,]{1,50}", name)]
    if bad:
        raise invalid({"resource": "Label", "code": "invalid", "field": "name", "value": json.dumps(bad[0])})
    return [str(name) for name in names]


def _created(call: Call, path: str, document: JsonObject, repository: Repository) -> Answer:
    return json_answer(document, 201, headers=(("Location", f"{api_url(call.view, repository)}{path}"),))
