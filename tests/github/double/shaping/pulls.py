"""Pull requests and their files."""

import hashlib
from urllib.parse import quote

from tests.github.double.answers import JsonObject
from tests.github.double.shaping import issues, repositories
from tests.github.double.shaping.accounts import author, simple_user
from tests.github.double.shaping.view import View, node_id
from tests.github.double.state import ChangedFile, PullRequest


def pull_request(view: View, one: PullRequest) -> JsonObject:
    """A pull request by itself."""
    base = repositories.api_url(view, one.repository)
    page = f"{repositories.web_url(one.repository)}/pull/{one.number}"
    url, as_issue = f"{base}/pulls/{one.number}", f"{base}/issues/{one.number}"
    assigned = [simple_user(view, view.account(login)) for login in one.assignees]
    return {
        "url": url,
        "id": one.id,
        "node_id": node_id("PR", one.id),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": as_issue,
        **{name: link for name, link in _links(url, as_issue, base, one).items()},
        "number": one.number,
        "state": one.state,
        "locked": one.locked,
        "title": one.title,
        # The description knows no null here: GitHub gives its account `ghost` instead.
        "user": author(view, one.author or "ghost"),
        "body": one.body,
        "labels": [issues.label(view, one.repository, name) for name in one.labels],
        "milestone": None,
        "active_lock_reason": None,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "closed_at": one.closed_at,
        "merged_at": one.merged_at,
        "merge_commit_sha": _commit(one, "merge"),
        "assignee": assigned[0] if assigned else None,
        "assignees": assigned,
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _end(view, one, one.head),
        "base": _end(view, one, one.repository.default_branch),
        "_links": {
            name: {"href": link}
            for name, link in (_named_links(page, url, as_issue) | _link_parts(url, as_issue, base, one)).items()
        },
        "author_association": one.association or one.repository.association(one.author),
        "auto_merge": None,
        "draft": one.draft,
        "merged": one.merged_at is not None,
        "mergeable": one.mergeable,
        "rebaseable": one.mergeable,
        "mergeable_state": "clean" if one.mergeable else "unknown",
        "merged_by": author(view, one.repository.owner.login) if one.merged_at else None,
        "comments": len(one.comments),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": 1,
        "additions": sum(file.additions for file in one.files),
        "deletions": sum(file.deletions for file in one.files),
        "changed_files": len(one.files),
    }


def changed_file(view: View, of: PullRequest, one: ChangedFile) -> JsonObject:
    """A file of a pull request; no `patch` where GitHub shows none."""
    commit, path = _commit(of, "head"), quote(one.filename)
    page = repositories.web_url(of.repository)
    shape: JsonObject = {
        "sha": hashlib.sha1(repr(one).encode(), usedforsecurity=False).hexdigest(),
        "filename": one.filename,
        "status": one.status,
        "additions": one.additions,
        "deletions": one.deletions,
        "changes": one.additions + one.deletions,
        "blob_url": f"{page}/blob/{commit}/{path}",
        "raw_url": f"{page}/raw/{commit}/{path}",
        "contents_url": f"{repositories.api_url(view, of.repository)}/contents/{path}?ref={commit}",
    }
    if one.patch is not None:
        shape["patch"] = one.patch
    if one.previous_filename is not None:
        shape["previous_filename"] = one.previous_filename
    return shape


def _link_parts(url: str, as_issue: str, base: str, one: PullRequest) -> dict[str, str]:
    return {
        "commits": f"{url}/commits",
        "review_comments": f"{url}/comments",
        "review_comment": f"{base}/pulls/comments{{/number}}",
        "comments": f"{as_issue}/comments",
        "statuses": f"{base}/statuses/{_commit(one, 'head')}",
    }


def _links(url: str, as_issue: str, base: str, one: PullRequest) -> dict[str, str]:
    return {f"{name}_url": link for name, link in _link_parts(url, as_issue, base, one).items()}


def _named_links(page: str, url: str, as_issue: str) -> dict[str, str]:
    return {"self": url, "html": page, "issue": as_issue}


def _end(view: View, one: PullRequest, branch: str) -> JsonObject:
    owner = one.repository.owner
    return {
        "label": f"{owner.login}:{branch}",
        "ref": branch,
        "sha": _commit(one, "head" if branch == one.head else "base"),
        "user": simple_user(view, owner),
        "repo": repositories.listed(view, one.repository),
    }


def _commit(one: PullRequest, end: str) -> str:
    return hashlib.sha1(f"{one.id} {end}".encode(), usedforsecurity=False).hexdigest()
