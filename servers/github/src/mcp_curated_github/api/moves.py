"""Where a redirect leads: below the same API, or nowhere."""

import re
from typing import Final
from urllib.parse import unquote

from mcp_curated_github.addresses import ApiUrl
from mcp_curated_github.errors import GitHubError
from mcp_curated_github.names import RepoName
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.egress import InvalidUrlError, Target

_BY_ID: Final = re.compile(r"/repositories/([0-9]{1,18})(?:/.*)?", re.ASCII)
_BY_NAME: Final = re.compile(r"/repos/([^/]+)/([^/]+)(?:/.*)?", re.ASCII)


def leads_to(api: ApiUrl, url: str, location: str) -> Target:
    """Where a redirect of `url` leads, if that is below the same API.

    Raises:
        GitHubError: It is not (`bad_response`).
    """
    try:
        target = Target.parse(url).join(location)
    except InvalidUrlError:
        raise astray(f"{api.host} redirects to where nothing is asked.") from None
    if target.origin != api.origin:
        raise astray(f"{api.host} redirects to {target.origin}, which is not asked.")
    path = _below(api, target)
    if path is None or any(part in {".", ".."} for part in unquote(path).split("/")):
        raise astray(f"{api.host} redirects to where its API is not.")
    return target


def _below(api: ApiUrl, target: Target) -> str | None:
    path = target.path.partition("?")[0]
    return path.removeprefix(api.prefix) if path.startswith(api.prefix + "/") else None


def repository_at(api: ApiUrl, target: Target) -> RepoName | int | None:
    """The repository that a path of the API is about, by its name or its id; None where it is about none."""
    path = _below(api, target) or ""
    named = _BY_NAME.fullmatch(path)
    if named is not None:
        return repo_name(f"{unquote(named[1])}/{unquote(named[2])}")
    by_id = _BY_ID.fullmatch(path)
    return None if by_id is None else int(by_id[1])


def repo_name(text: str) -> RepoName | None:
    """The name of a repository in an answer; None where it is none."""
    try:
        return RepoName.parse(text)
    except CuratedError:
        return None


def astray(text: str) -> GitHubError:
    """The error for a redirect that is not followed."""
    return GitHubError("bad_response", text, "The operator can check GITHUB_API_URL.")
