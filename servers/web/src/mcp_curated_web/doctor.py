"""What the `doctor` command looks at for this server: what may be reached, who is searched, which extras are there."""

import os
from collections.abc import Iterator
from importlib.util import find_spec

from mcp_curated_shared.doctor import Finding
from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.egress import PUBLIC_PORTS, unused_proxies
from mcp_curated_shared.settings import Loaded
from mcp_curated_web.search.engine import provider_names
from mcp_curated_web.settings import WebSettings

_EXTRAS = (
    ("article", "trafilatura", "articles are found by this server's own measure of prose"),
    ("pdf", "pypdf", "PDF is refused"),
    (
        "charset",
        "charset_normalizer",
        "undeclared charsets other than UTF-8 and Cyrillic ones are read as windows-1252",
    ),
)


def checks(loaded: Loaded[WebSettings]) -> Iterator[Finding]:
    """Every finding about this server's surroundings; nothing is asked of the web."""
    settings = loaded.settings
    yield _policy(settings)
    yield _proxies(settings)
    yield _robots(settings)
    yield from _providers(settings)
    yield from _extras()


def _policy(settings: WebSettings) -> Finding:
    egress = settings.egress
    ports = ", ".join(map(str, (*PUBLIC_PORTS, *egress.allow_ports)))
    told = [f"public hosts on ports {ports}"]
    told += [f"also {one}" for one in (*egress.allow_hosts, *egress.allow_cidrs)]
    told += [f"never {one}" for one in egress.deny_hosts]
    wide = [str(network) for network in egress.allow_cidrs if network.prefixlen < (8 if network.version == 4 else 32)]
    if wide:
        fix = "Name the networks that are meant with --allow-cidr."
        return Finding("warn", "reach", f"{'; '.join(told)}. {wide[0]} opens a great part of all addresses.", fix)
    return Finding("ok", "reach", "; ".join(told))


def _proxies(settings: WebSettings) -> Finding:
    try:
        routes = settings.egress.proxies(os.environ)
    except SettingsError as error:
        return Finding("fail", "proxy", error.text, error.next_step)
    used = [str(proxy) for proxy in dict.fromkeys((routes.http, routes.https)) if proxy is not None]
    if used:
        text = f"{', '.join(used)} looks names up, so which addresses are reached is its decision."
        return Finding("warn", "proxy", text, "Leave --proxy out where the server can connect directly.")
    unused = unused_proxies(os.environ)
    if unused:
        text = f"{', '.join(unused)} is set, and not used."
        return Finding("warn", "proxy", text, "If only the proxy leads out, add --proxy environment.")
    return Finding("ok", "proxy", "none")


def _robots(settings: WebSettings) -> Finding:
    if settings.robots:
        return Finding("ok", "robots.txt", "kept to when a model asks")
    return Finding("warn", "robots.txt", "ignored", "Take --no-robots out unless the sites agree.")


def _providers(settings: WebSettings) -> Iterator[Finding]:
    names = provider_names(settings.search)
    for name in names:
        key = " with a key" if settings.search.key_of(name) is not None else ""
        place = f" at {settings.search.searxng_url}" if name == "searxng" else ""
        yield Finding("ok", "search", f"{name}{place}{key}")
    if names == ("wikipedia",):
        text = "No provider of the web is configured: only Wikipedia is searched."
        yield Finding("warn", "search", text, "Set BRAVE_API_KEY, TAVILY_API_KEY or SEARXNG_URL.")


def _extras() -> Iterator[Finding]:
    for extra, module, without in _EXTRAS:
        if find_spec(module) is None:
            yield Finding(
                "warn", "extra", f"{extra} is not installed: {without}.", f"Install mcp-curated-web[{extra}]."
            )
        else:
            yield Finding("ok", "extra", extra)
