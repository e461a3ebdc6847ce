"""Repositories, in the forms of the different operations."""

from tests.github.double.answers import JsonObject
from tests.github.double.shaping.accounts import simple_user
from tests.github.double.shaping.view import WEB, View, node_id
from tests.github.double.state import Repository

_PATHS = {
    "url": "",
    "forks_url": "/forks",
    "keys_url": "/keys{/key_id}",
    "collaborators_url": "/collaborators{/collaborator}",
    "teams_url": "/teams",
    "hooks_url": "/hooks",
    "issue_events_url": "/issues/events{/number}",
    "events_url": "/events",
    "assignees_url": "/assignees{/user}",
    "branches_url": "/branches{/branch}",
    "tags_url": "/tags",
    "blobs_url": "/git/blobs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "trees_url": "/git/trees{/sha}",
    "statuses_url": "/statuses/{sha}",
    "languages_url": "/languages",
    "stargazers_url": "/stargazers",
    "contributors_url": "/contributors",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "commits_url": "/commits{/sha}",
    "git_commits_url": "/git/commits{/sha}",
    "comments_url": "/comments{/number}",
    "issue_comment_url": "/issues/comments{/number}",
    "contents_url": "/contents/{+path}",
    "compare_url": "/compare/{base}...{head}",
    "merges_url": "/merges",
    "archive_url": "/{archive_format}{/ref}",
    "downloads_url": "/downloads",
    "issues_url": "/issues{/number}",
    "pulls_url": "/pulls{/number}",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "labels_url": "/labels{/name}",
    "releases_url": "/releases{/id}",
    "deployments_url": "/deployments",
}


def api_url(view: View, repository: Repository) -> str:
    """Where the API has it."""
    return f"{view.api}/repos/{repository.full_name}"


def web_url(repository: Repository) -> str:
    """Its page."""
    return f"{WEB}/{repository.full_name}"


def minimal(view: View, repository: Repository) -> JsonObject:
    """A repository as a code search has it."""
    base = api_url(view, repository)
    return {
        "id": repository.id,
        "node_id": node_id("R", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.private,
        "owner": simple_user(view, repository.owner),
        "html_url": web_url(repository),
        "description": repository.description,
        "fork": False,
        **{name: base + path for name, path in _PATHS.items()},
    }


def listed(view: View, repository: Repository) -> JsonObject:
    """A repository as lists of them have it."""
    page = web_url(repository)
    return {
        **minimal(view, repository),
        "created_at": repository.created_at,
        "updated_at": repository.pushed_at,
        "pushed_at": repository.pushed_at,
        "git_url": f"git://github.com/{repository.full_name}.git",
        "ssh_url": f"git@github.com:{repository.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "homepage": None,
        "size": 108,
        **_counts(repository),
        "language": repository.language,
        "has_issues": repository.has_issues,
        "has_projects": True,
        "has_downloads": True,
        "has_wiki": True,
        "has_pages": False,
        "has_discussions": False,
        "mirror_url": None,
        "archived": repository.archived,
        "disabled": False,
        "license": _license(view, repository),
        "allow_forking": True,
        "is_template": False,
        "web_commit_signoff_required": False,
        "topics": list(repository.topics),
        "visibility": "private" if repository.private else "public",
        "default_branch": repository.default_branch,
        **_permissions(view, repository),
    }


def found(view: View, repository: Repository) -> JsonObject:
    """A repository as a search has it."""
    return {**listed(view, repository), "score": 1.0}


def full(view: View, repository: Repository) -> JsonObject:
    """A repository by itself, with the token for cloning that a private one's answer holds."""
    shape: JsonObject = {
        **listed(view, repository),
        "temp_clone_token": repository.clone_token if repository.private else None,
        "allow_squash_merge": True,
        "allow_merge_commit": True,
        "allow_rebase_merge": True,
        "allow_auto_merge": False,
        "delete_branch_on_merge": False,
        "network_count": repository.forks,
        "subscribers_count": 1,
    }
    if repository.owner.kind == "Organization":
        shape["organization"] = simple_user(view, repository.owner)
    return shape


def _counts(repository: Repository) -> JsonObject:
    waiting = sum(one.state == "open" for one in repository.issues.values())
    return {
        "stargazers_count": repository.stars,
        "watchers_count": repository.stars,
        "watchers": repository.stars,
        "forks_count": repository.forks,
        "forks": repository.forks,
        "open_issues_count": waiting,
        "open_issues": waiting,
    }


def _permissions(view: View, repository: Repository) -> JsonObject:
    if view.viewer is None:
        return {}
    admin = view.viewer.login == repository.owner.login
    push = repository.may_push(view.viewer.login)
    rights = {"admin": admin, "maintain": admin, "push": push, "triage": push, "pull": True}
    return {"permissions": rights}


def _license(view: View, repository: Repository) -> JsonObject | None:
    if repository.license is None:
        return None
    return {
        "key": repository.license,
        "name": f"{repository.license.upper()} License",
        "spdx_id": repository.license.upper(),
        "url": f"{view.api}/licenses/{repository.license}",
        "node_id": node_id("L", 13),
    }
