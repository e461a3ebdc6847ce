"""Ways to what is private, through the server itself: each is refused before a connection is made."""

import http.server
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence

import anyio
import pytest

from mcp_curated_shared.security.egress import EgressPolicy
from mcp_curated_shared.transport.http_client import HttpClient, HttpOptions
from mcp_curated_shared.work import WorkPool
from mcp_curated_web.fetching.fetcher import Fetcher
from tests.web.serving import client, refused
from tests.web.site import Answer, Site, page, serve

pytestmark = pytest.mark.anyio
SECRET = "SECRET-OF-LOOPBACK"


@pytest.fixture
def site() -> Iterator[Site]:
    with serve({"/": page(f"<p>{SECRET}</p>"), "/robots.txt": Answer("", 404)}) as one:
        yield one


SPELLINGS = (
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "127.000.000.001",
    "0",
    "0.0.0.0",
    "localhost",
    "LOCALHOST.",
    "127.0.0.1.",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "[fc00::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[5f00::1]",
    "[3fff::1]",
    "[2001:db8::1]",
    "\uff11\uff12\uff17.\uff10.\uff10.\uff11",
    "127\u30020\u30020\u30021",
    "\u2460\u2461\u2466.0.0.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.0.8",
    "192.88.99.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
)


async def test_no_spelling_of_a_private_address_is_reached(site: Site):
    async with client("--allow-port", str(site.port)) as one:
        for host in SPELLINGS:
            for port in (site.port, 80):
                _, program = await refused(one, f"http://{host}:{port}/")
                assert program["kind"] in ("egress_refused", "invalid_url", "unknown_host"), host
    assert site.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "http://public.example\\@127.0.0.1/",
        "http://user@127.0.0.1/",
        "http://127.0.0.1\t/",
        "http://127.0.0.1\r\nHost: x/",
        "http:// 127.0.0.1/",
        "http://127.0.0.1\x00.example/",
        "//127.0.0.1/",
        "file:///etc/hostname",
        "gopher://127.0.0.1/",
        "ftp://127.0.0.1/",
        "data:text/html,x",
        "unix:///run/x.sock",
        "http+unix://x/",
        "javascript:1",
        "http://[::1%25lo]/",
        "http:///etc",
        "",
    ],
)
async def test_what_programs_read_differently_is_refused_and_never_echoed(url: str):
    async with client("--allow-port", "1") as one:
        told, _ = await refused(one, url)
    assert not any(part in told for part in ("user@", "/etc", "Host: x", "%25"))


async def test_resources_and_prompts_are_under_the_same_policy(site: Site):
    async with client("--allow-port", str(site.port)) as one:
        with pytest.raises(Exception, match="public"):
            await one.read_resource(site.url())
        with pytest.raises(Exception, match="public"):
            await one.get_prompt("fetch", {"url": site.url()})
    assert site.asked == []


class Alternating:
    """A resolver that answers a public address first and loopback then, or both at once."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.calls = 0

    async def __call__(self, host: str) -> Sequence[str]:
        del host
        self.calls += 1
        return self.answers[min(self.calls, len(self.answers)) - 1]


@pytest.mark.parametrize(
    "answers",
    [
        (("127.0.0.1",),),
        (("93.184.215.14", "127.0.0.1"),),
        (("127.0.0.1", "93.184.215.14"),),
        (("::ffff:127.0.0.1",),),
        (("64:ff9b::7f00:1",),),
        (("169.254.169.254",),),
    ],
)
async def test_a_name_of_a_private_address_is_refused_in_pages_and_in_robots(
    site: Site, answers: tuple[tuple[str, ...], ...]
):
    resolver = Alternating(*answers)
    policy = EgressPolicy(allow_ports=(site.port,))
    async with HttpClient(policy, HttpOptions(resolver=resolver)) as http:
        for robots in (True, False):
            fetcher = Fetcher(http, WorkPool(), keeps_to_robots=robots)
            with pytest.raises(Exception, match="public"):
                await fetcher.fetch(f"http://rebind.example:{site.port}/")
    assert site.asked == []


@pytest.mark.parametrize(
    "location", ["http://127.0.0.1:{port}/", "http://2130706433:{port}/", "//localhost:{port}/", "file:///etc/hostname"]
)
async def test_a_redirect_to_what_is_private_is_refused(location: str, site: Site):
    with serve({}) as outer:
        outer.answers["/"] = Answer("", 302, {"Location": location.format(port=site.port)})
        outer.answers["/refresh"] = page(
            f"<meta http-equiv=refresh content='0;url={location.format(port=site.port)}'>go"
        )
        # Only the host of the first page is opened, by name and port.
        async with client("--allow-host", f"127.0.0.1:{outer.port}") as one:
            await refused(one, outer.url("/"))
            result = await one.call_tool("fetch_url", {"url": outer.url("/refresh")})
            assert SECRET not in str(result)
    assert site.asked == []


async def test_an_opened_host_is_reached_and_a_denied_one_is_not(site: Site):
    async with client("--allow-host", f"127.0.0.1:{site.port}") as one:
        result = await one.call_tool("fetch_url", {"url": site.url()})
        assert SECRET in str(result.structured_content)
    async with client("--allow-cidr", "127.0.0.0/8", "--deny-host", "127.0.0.1") as one:
        await refused(one, site.url())


async def test_proxy_variables_are_not_followed_unasked(site: Site, monkeypatch: pytest.MonkeyPatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, site.url())
    async with client() as one:
        await refused(one, "http://10.0.0.1/")
    assert site.asked == []


async def test_through_a_proxy_private_names_are_still_refused_and_a_notice_is_given(site: Site):
    async with client("--proxy", site.url()) as one:
        for url in ("http://10.0.0.1/", "http://localhost/", "http://2130706433/"):
            await refused(one, url)
        assert site.asked == []
        result = await one.call_tool("fetch_url", {"url": "http://public.example/"})
    notices = (result.structured_content or {"notices": []})["notices"]
    assert result.is_error or any("proxy" in notice for notice in notices)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors are counted in /proc")
async def test_a_cancelled_fetch_leaves_no_descriptor(site: Site):
    def until_the_client_leaves(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.rfile.read(1)

    site.answers["/slow"] = Answer(send=until_the_client_leaves)
    async with client("--allow-cidr", "127.0.0.0/8", "--no-robots") as one:
        await one.call_tool("fetch_url", {"url": site.url("/")})
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(5):
            with anyio.move_on_after(0.2):
                await one.call_tool("fetch_url", {"url": site.url("/slow")})
        with anyio.fail_after(10):
            while len(os.listdir("/proc/self/fd")) > before + 1:  # noqa: ASYNC110 - nothing tells of a closed descriptor
                await anyio.sleep(0.05)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mcp_curated_web", *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def test_explain_tells_each_step(site: Site):
    done = run("explain", site.url("/"), "--allow-cidr", "127.0.0.0/8")
    assert done.returncode == 0, done.stderr
    for step in ("host 127.0.0.1", "allowed", "robots.txt allows", "answers 200", "text: "):
        assert step in done.stdout


def test_explain_tells_why_it_stopped(site: Site):
    done = run("explain", site.url("/"))
    assert done.returncode == 1 and "stopped: " in done.stdout and "egress_refused" in done.stdout
    assert site.asked == []


def test_doctor_shows_what_may_be_reached_who_is_searched_and_the_extras():
    done = run("doctor", "--offline", "--allow-cidr", "0.0.0.0/1", "--no-robots")
    for words in (
        "reach: public hosts on ports 80, 443",
        "opens a great part",
        "robots.txt: ignored",
        "search: wikipedia",
    ):
        assert words in done.stdout, done.stdout
