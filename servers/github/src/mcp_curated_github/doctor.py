"""What the `doctor` command looks at for this server: the token and its rights, the API, the limits, the allowlist."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Final

from mcp_curated_github.api import Connection, GitHubApi, Tally
from mcp_curated_github.errors import HOW_TO_GIVE_ONE, GitHubError
from mcp_curated_github.gh import token_of_gh
from mcp_curated_github.models import Account
from mcp_curated_github.names import RepoName
from mcp_curated_github.reading.accounts import whoami
from mcp_curated_github.routes import repository
from mcp_curated_github.settings import GithubSettings
from mcp_curated_shared.doctor import Finding
from mcp_curated_shared.errors import CuratedError, SettingsError
from mcp_curated_shared.settings import Loaded, Secret

FEW_REQUESTS: Final = 50
MOST_REPOSITORIES: Final = 20

_KINDS: Final = (
    ("ghp_", "classic"),
    ("github_pat_", "fine-grained"),
    ("ghs_", "installation"),
    ("gho_", "OAuth"),
    ("ghu_", "user-to-server"),
)
_OLD_CLASSIC: Final = re.compile(r"[0-9a-f]{40}", re.ASCII)
_DANGEROUS: Final = frozenset({"delete_repo", "admin:org", "admin:enterprise", "site_admin", "workflow"})


def token_kind(token: Secret | None) -> str:
    """What kind of token it is, by its form: "none", "classic", "fine-grained", "installation", ... or "unknown"."""
    if token is None:
        return "none"
    text = token.reveal()
    told = next((kind for prefix, kind in _KINDS if text.startswith(prefix)), None)
    return told or ("classic" if _OLD_CLASSIC.fullmatch(text) else "unknown")


def checks(loaded: Loaded[GithubSettings]) -> Iterator[Finding]:
    """What can be told without asking GitHub."""
    settings = loaded.settings
    yield _allowlist(settings)
    yield _consent(settings)
    if settings.allowed_repos and settings.audit.level == "off":
        yield Finding("warn", "audit", "Nothing is recorded of what is written.", "Leave out --audit off.")


def _allowlist(settings: GithubSettings) -> Finding:
    if not settings.allowed_repos:
        return Finding("ok", "allowlist", "empty: nothing can be written, and the writing tools are not listed")
    entries = settings.allowed_repos.entries()
    text = f"issues and comments may be written in {', '.join(entries)}"
    whole = [entry for entry in entries if entry.endswith("/*")]
    if whole:
        return Finding(
            "warn", "allowlist", f"{text}: {whole[0]} is every repository of that owner.", "Name the ones you mean."
        )
    return Finding("ok", "allowlist", text)


def _consent(settings: GithubSettings) -> Finding:
    told = {
        "ask": ("ok", "ask: a person answers in the client, or approves in a terminal", ""),
        "elicit": ("ok", "elicit: a person answers in the client; clients that cannot ask cannot write", ""),
        "deny": ("ok", "deny: nothing is written", ""),
        "host": (
            "warn",
            "host: where the client cannot ask, its own prompt for the call is all there is; some hosts show none.",
            "Set GITHUB_CONFIRM=ask, unless you know that yours always asks.",
        ),
    }
    level, text, fix = told[settings.confirm]
    return Finding("warn" if level == "warn" else "ok", "consent", text, fix)


def online_checks(loaded: Loaded[GithubSettings]) -> Iterator[Finding]:
    """What GitHub says of the token, its limits and the allowed repositories."""
    import anyio

    async def collect() -> list[Finding]:
        return [finding async for finding in _asked(loaded.settings)]

    yield from anyio.run(collect)


async def _asked(settings: GithubSettings) -> AsyncIterator[Finding]:
    try:
        token = settings.token or (token_of_gh(settings.api_url) if settings.use_gh else None)
    except SettingsError as error:
        yield Finding("fail", "token", error.text, error.next_step)
        return
    egress = settings.connection.egress()
    connection = Connection(proxies=egress.proxies(), ca_file=egress.ca_file)
    async with GitHubApi(settings.api_url, token, connection=connection) as api:
        account, failure = await _account(api)
        if failure is not None:
            yield failure
        if account is None:
            return
        for finding in (_api(api, account), _token(token, account, settings), _limit(account)):
            yield finding
        if token is not None:
            async for finding in _repositories(api, settings):
                yield finding


async def _account(api: GitHubApi) -> tuple[Account | None, Finding | None]:
    """Whom the token belongs to; or, where it is nobody's, what is left of the limits; or why neither is known."""
    try:
        return await whoami(api), None
    except GitHubError as error:
        if error.kind == "bad_token":
            return None, Finding("fail", "token", error.text, "Make a new one and set GITHUB_TOKEN.")
        if error.kind != "forbidden":
            return None, Finding("fail", "API", error.text, error.next_step)
    except CuratedError as error:
        fix = "Check GITHUB_API_URL, the network, and whether a proxy (MCP_GITHUB_PROXY) or --ca-file is needed."
        return None, Finding("fail", "API", error.text, fix)
    # An installation is no account, and may not ask who it is.
    return Account(authenticated=True, api=str(api.api)), None


def _api(api: GitHubApi, account: Account) -> Finding:
    who = f", as {account.login}" if account.login else ""
    return Finding("ok", "API", f"{api.api} answers{who}")


def _token(token: Secret | None, account: Account, settings: GithubSettings) -> Finding:
    kind = token_kind(token)
    if kind == "none":
        text = "none: public data is read, 60 requests an hour"
        if settings.allowed_repos:
            return Finding("fail", "token", f"{text}, and nothing can be written.", HOW_TO_GIVE_ONE)
        return Finding("ok", "token", text)
    if account.scopes is None:
        return Finding("ok", "token", f"{kind}; GitHub tells no scopes of this kind")
    return _scopes(kind, account.scopes, writing=bool(settings.allowed_repos))


def _scopes(kind: str, told: str, *, writing: bool) -> Finding:
    scopes = [scope.strip() for scope in told.split(",") if scope.strip()]
    text = f"{kind}, with the scopes {', '.join(scopes) or 'none'}"
    wide = sorted(_DANGEROUS.intersection(scopes))
    if writing and not {"repo", "public_repo"}.intersection(scopes):
        fix = "Make a token with public_repo (or repo for private ones), or a fine-grained one with Issues: write."
        return Finding("warn", "token", f"{text}: it can write no issue.", fix)
    if wide:
        fix = "Make a fine-grained token for the repositories you mean: Issues: write, Contents: read."
        return Finding("warn", "token", f"{text}: {', '.join(wide)} is far more than this server needs.", fix)
    return Finding("ok", "token", text)


def _limit(account: Account) -> Finding:
    left, most = account.requests_left, account.requests_limit
    if left is None or most is None:
        return Finding("ok", "rate limit", "not told")
    text = f"{left:,} of {most:,} requests left"
    if left >= FEW_REQUESTS or left * 2 > most:
        return Finding("ok", "rate limit", text)
    minutes = -(-(account.resets_in_s or 0) // 60)
    fix = "Wait" if account.authenticated else "Set GITHUB_TOKEN: it allows 5,000 an hour; or wait"
    return Finding("warn", "rate limit", f"{text}; it begins anew in {minutes} minutes.", f"{fix}.")


async def _repositories(api: GitHubApi, settings: GithubSettings) -> AsyncIterator[Finding]:
    """Whether each repository that is allowed by name is there and takes issues."""
    named = [entry for entry in settings.allowed_repos.entries() if not entry.endswith("/*")]
    for entry in named[:MOST_REPOSITORIES]:
        try:
            yield await _repository(api, RepoName.parse(entry))
        except CuratedError as error:
            fix = "Correct GITHUB_ALLOWED_REPOS, or give the token access to it."
            yield Finding("warn", "allowlist", f"{entry}: {error.text}", fix)


async def _repository(api: GitHubApi, repo: RepoName) -> Finding:
    answer = await api.get_json(repository(repo))
    found = answer.fields(Tally())
    now = RepoName.parse(found.text("full_name"))
    visibility = "private" if found.flag("private") else "public"
    if now != repo:
        text = f"{repo} is called {now} now: nothing can be written there."
        return Finding("warn", "allowlist", text, f"Write {now} in GITHUB_ALLOWED_REPOS, if it is still yours.")
    if found.flag("archived"):
        return Finding("warn", "allowlist", f"{repo} is archived: nothing can be written there.", "Leave it out.")
    if not found.flag("has_issues"):
        return Finding("warn", "allowlist", f"{repo} has its issues switched off.", "Leave it out.")
    return Finding("ok", "allowlist", f"{repo} is there ({visibility}) and takes issues")
