"""Whom this server asks as."""

import re
import time
from typing import Final

from mcp_curated_github.api import GitHubApi, Tally
from mcp_curated_github.errors import GitHubError
from mcp_curated_github.models import Account
from mcp_curated_github.reading.sizes import clip
from mcp_curated_github.routes import rate_limit, user

_SCOPES: Final = re.compile(r"[a-z_:, -]{0,500}", re.ASCII)


async def whoami(api: GitHubApi) -> Account:
    """The token's account, its scopes where GitHub tells them, and what is left of the rate limit.

    Raises:
        GitHubError: The token is not taken.
    """
    tally = api.tally()
    account = Account(authenticated=api.has_token, api=str(api.api))
    if api.has_token:
        await _account(api, account, tally)
    await _limits(api, account, tally)
    return account


async def _account(api: GitHubApi, account: Account, tally: Tally) -> None:
    try:
        answer = await api.get_json(user())
    except GitHubError as error:
        if error.kind != "forbidden":
            raise
        account.type = "installation of an app"  # it acts for itself, not for an account
        return
    item = answer.fields(tally)
    account.login, account.type = item.text("login"), item.text("type") or None
    account.name = clip(item.text("name"), 300)[0] or None
    scopes = answer.headers.get("x-oauth-scopes")
    account.scopes = scopes if scopes is not None and _SCOPES.fullmatch(scopes) else None


async def _limits(api: GitHubApi, account: Account, tally: Tally) -> None:
    try:
        document = (await api.get_json(rate_limit())).fields(tally)
    except GitHubError as error:
        if error.kind != "not_found_or_hidden":
            raise
        return  # an Enterprise server whose limits are switched off
    resources = document.inner("resources")
    core = None if resources is None else resources.inner("core")
    if core is not None:
        account.requests_left, account.requests_limit = core.number("remaining"), core.number("limit")
        account.resets_in_s = max(0, core.number("reset") - int(time.time()))
