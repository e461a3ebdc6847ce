"""A plain client of the double, for its own tests and for tests of faults on the wire."""

import httpx

from tests.github.double.serving import Double


def client(there: Double, token: str | None = None, *, accept: str | None = None, reads: float = 10.0) -> httpx.Client:
    """A client that follows no redirection and uses no proxy; `accept` is short for GitHub's media type (`raw`).

    `reads`: seconds without a byte after which it gives up; to connect it has longer, however busy the machine is.
    """
    # Without `verify=False` every client would read the machine's certificates, for connections that have none.
    headers = {"Accept": f"application/vnd.github.{accept}+json" if accept else "application/vnd.github+json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return httpx.Client(
        base_url=there.url, headers=headers, timeout=httpx.Timeout(10.0, read=reads), trust_env=False, verify=False
    )
