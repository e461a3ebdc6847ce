"""Completion of the parts of a resource's URI: a help, so it asks for little."""

from typing import Final

from mcp_curated_github.api import GitHubApi
from mcp_curated_github.names import RepoName
from mcp_curated_github.reading.searching import list_starred
from mcp_curated_github.routes import contents

MOST: Final = 100


async def complete_owner(api: GitHubApi, typed: str, known: tuple[str, ...]) -> list[str]:
    """Owners of the repositories that the operator named and of those that the account starred."""
    return _begin({name.partition("/")[0] for name in await _names(api, known)}, typed)


async def complete_repo(api: GitHubApi, typed: str, owner: str, known: tuple[str, ...]) -> list[str]:
    """Repositories of one owner among the same."""
    beginning = owner.lower() + "/"
    names = [name for name in await _names(api, known) if name.lower().startswith(beginning)]
    return _begin({name.partition("/")[2] for name in names} - {"*"}, typed)


async def complete_path(api: GitHubApi, repo: RepoName, typed: str) -> list[str]:
    """What lies in the folder that has been typed so far, folders with a slash at their end.

    Raises:
        CuratedError: The folder cannot be read.
    """
    folder = typed.rpartition("/")[0]
    items = (await api.get_json(contents(repo, folder))).items(api.tally())
    names = [one.text("path") + ("/" if one.text("type") == "dir" else "") for one in items]
    return [name for name in names if name.startswith(typed)][:MOST]


async def _names(api: GitHubApi, known: tuple[str, ...]) -> list[str]:
    starred = [hit.repo for hit in (await list_starred(api, per_page=MOST)).hits] if api.has_token else []
    return [*known, *starred]


def _begin(names: set[str], typed: str) -> list[str]:
    return sorted(name for name in names if name.lower().startswith(typed.lower()))[:MOST]
