"""Issues, comments and labels."""

import zlib

from tests.github.double.answers import JsonObject
from tests.github.double.shaping.accounts import author, simple_user
from tests.github.double.shaping.repositories import api_url, web_url
from tests.github.double.shaping.view import View, node_id
from tests.github.double.state import Comment, Issue, PullRequest, Repository

_REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


def label(view: View, repository: Repository, name: str) -> JsonObject:
    """A label by its name."""
    number = zlib.crc32(name.encode())
    return {
        "id": number,
        "node_id": node_id("LA", number),
        "url": f"{api_url(view, repository)}/labels/{number}",
        "name": name,
        "color": f"{number & 0xFFFFFF:06x}",
        "default": name == "bug",
        "description": None,
    }


def issue(view: View, one: Issue) -> JsonObject:
    """An issue by itself and in the list of a repository."""
    shape = _common(view, one)
    if one.state == "closed":
        shape |= {"closed_by": author(view, one.author), "state_reason": "completed"}
    return shape


def found(view: View, one: Issue) -> JsonObject:
    """An issue as a search has it: without a body where it has none, since the description knows no null there."""
    shape = _common(view, one)
    if one.body is None:
        del shape["body"]
    return {**shape, "score": 1.0}


def comment(view: View, of: Issue, one: Comment) -> JsonObject:
    """A comment."""
    base = api_url(view, of.repository)
    kind = "pull" if isinstance(of, PullRequest) else "issues"
    return {
        "url": f"{base}/issues/comments/{one.id}",
        "html_url": f"{web_url(of.repository)}/{kind}/{of.number}#issuecomment-{one.id}",
        "issue_url": f"{base}/issues/{of.number}",
        "id": one.id,
        "node_id": node_id("IC", one.id),
        "user": author(view, one.author),
        "created_at": one.created_at,
        "updated_at": one.created_at,
        "author_association": one.association or of.repository.association(one.author),
        "body": one.body,
        "reactions": _reactions(f"{base}/issues/comments/{one.id}"),
        "performed_via_github_app": None,
    }


def _common(view: View, one: Issue) -> JsonObject:
    base = api_url(view, one.repository)
    url = f"{base}/issues/{one.number}"
    assigned = [simple_user(view, view.account(login)) for login in one.assignees]
    shape: JsonObject = {
        "url": url,
        "repository_url": base,
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": f"{web_url(one.repository)}/issues/{one.number}",
        "id": one.id,
        "node_id": node_id("I", one.id),
        "number": one.number,
        "title": one.title,
        "user": author(view, one.author),
        "labels": [label(view, one.repository, name) for name in one.labels],
        "state": one.state,
        "locked": one.locked,
        "active_lock_reason": None,
        "assignee": assigned[0] if assigned else None,
        "assignees": assigned,
        "milestone": None,
        "comments": len(one.comments),
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "closed_at": one.closed_at,
        "author_association": one.association or one.repository.association(one.author),
        "body": one.body,
        "reactions": _reactions(url),
        "performed_via_github_app": None,
        "state_reason": None,
    }
    if isinstance(one, PullRequest):
        shape |= _pull_part(view, one)
    return shape


def _pull_part(view: View, one: PullRequest) -> JsonObject:
    page = f"{web_url(one.repository)}/pull/{one.number}"
    return {
        "html_url": page,
        "draft": one.draft,
        "pull_request": {
            "url": f"{api_url(view, one.repository)}/pulls/{one.number}",
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": one.merged_at,
        },
    }


def _reactions(url: str) -> JsonObject:
    return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(_REACTIONS, 0)}
