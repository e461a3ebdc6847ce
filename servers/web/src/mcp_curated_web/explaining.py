"""The command `explain URL`: a fetch as the server does it, each step told. For operators, in a terminal."""

import sys
from collections.abc import Callable, Mapping, Sequence

import anyio

from mcp_curated_shared.errors import CuratedError, SettingsError
from mcp_curated_shared.security.egress import Target, resolve
from mcp_curated_shared.settings import load
from mcp_curated_shared.work import WorkPool
from mcp_curated_web.settings import WebSettings

Tell = Callable[[str], None]


def explain(program: object, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Fetch one URL and tell each step.

    Returns:
        0 if a text came out, 1 if not.

    Raises:
        SettingsError: There is not exactly one URL, or a flag is refused.
    """
    del program
    urls = [argument for argument in arguments if "://" in argument and not argument.startswith("-")]
    if len(urls) != 1:
        raise SettingsError("explain takes one URL.", "Write: mcp-curated-web explain https://example.com/")
    rest = [argument for argument in arguments if argument != urls[0]]
    settings = load(WebSettings, rest, environ).settings
    return anyio.run(_explain, settings, urls[0], _write)


def _write(line: str) -> None:
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    sys.stdout.write(shown.encode("utf-8", "backslashreplace").decode() + "\n")
    sys.stdout.flush()


async def _explain(settings: WebSettings, url: str, tell: Tell) -> int:
    from mcp_curated_web.fetching.fetcher import Fetcher
    from mcp_curated_web.parts import page_client

    pool = WorkPool(threads=1, lane_noun="work")
    try:
        await _reach(settings, url, tell)
        async with page_client(settings) as client:
            seconds = settings.limits.fetch_seconds
            fetcher = Fetcher(client, pool, seconds=seconds, keeps_to_robots=settings.robots, told=tell)
            fetched = await fetcher.fetch(url)
            document = await fetcher.document(fetched, "markdown")
    except CuratedError as error:
        tell(f"stopped: {error} ({error.kind})")
        return 1
    finally:
        pool.close()
    charset = f", {document.charset} by {document.charset_source}" if document.charset else ""
    tell(f"text: {len(document.text):,} characters, {document.extraction}{charset}, title {document.title!r}")
    for notice in (*fetched.snapshot.notices, *document.notices):
        tell(f"note: {notice}")
    return 0


async def _reach(settings: WebSettings, url: str, tell: Tell) -> None:
    target = Target.parse(url)
    policy = settings.egress.policy()
    tell(f"URL: host {target.host}, port {target.port}")
    if settings.egress.proxies().route(target) is not None:
        policy.check_unresolved(target)
        tell("address: looked up by the proxy")
        return
    policy.check(target)
    addresses = await resolve(target.host, target.port, policy)
    tell(f"address: {', '.join(map(str, addresses))}, allowed")
