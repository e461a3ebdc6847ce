"""Every provider against its documented answers and against odd ones; who is asked next; what is never told."""

import json
import logging
import secrets
from collections.abc import Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
import respx

from mcp_curated_shared.errors import CuratedError, InvalidArgumentError, SettingsError
from mcp_curated_shared.settings import load
from mcp_curated_shared.testing.clients import ERAS, Era, over_memory
from mcp_curated_web.parts import make_engine
from mcp_curated_web.search.asking import Pace, complaint, plain
from mcp_curated_web.search.engine import SearchEngine, provider_names
from mcp_curated_web.search.model import SearchQuery
from mcp_curated_web.settings import WebSettings
from tests.web.providers import CASES, Case, as_json
from tests.web.serving import build, text_of

pytestmark = pytest.mark.anyio
QUERY = SearchQuery("tides", count=5, freshness="week", country="DE", language="de")


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request: pytest.FixtureRequest) -> Case:
    return request.param


@pytest.fixture
def key() -> str:
    return "k" + secrets.token_hex(20)


@pytest.fixture
def web() -> Iterator[respx.MockRouter]:
    with respx.mock(assert_all_called=False) as router:
        yield router


def settings(environment: dict[str, str], *arguments: str) -> WebSettings:
    return load(WebSettings, list(arguments), environment).settings


@asynccontextmanager
async def engine(environment: dict[str, str], *arguments: str):
    made: SearchEngine = make_engine(settings(environment, *arguments))
    try:
        yield made
    finally:
        await made.aclose()


async def ask(case: Case, key: str, query: SearchQuery = QUERY):
    async with engine(case.settings(key)) as made:
        return await made.search(query, case.name)


def answers(web: respx.MockRouter, case: Case, **response: Any) -> respx.Route:
    return web.route(method=case.method, url__startswith=case.url).mock(return_value=httpx.Response(**response))


async def test_a_documented_answer_becomes_the_one_shape(web: respx.MockRouter, case: Case, key: str):
    route = answers(web, case, status_code=200, content=as_json(case.golden))
    got = await ask(case, key)
    first = got.results[0]
    assert (first.title, first.url, first.snippet) == case.wanted
    assert got.provider == case.name and len(got.results) == 2 and got.more is case.more
    request = route.calls[0].request
    assert {name: request.url.params.get(name) for name in case.query} == dict(case.query)
    body: dict[str, Any] = json.loads(request.content) if request.content else {}
    assert {name: body.get(name) for name in case.body} == dict(case.body)


async def test_a_key_goes_into_its_header_and_nowhere_else(
    web: respx.MockRouter, case: Case, key: str, caplog: pytest.LogCaptureFixture
):
    if not case.key_variable:
        pytest.skip("this provider has no key")
    caplog.set_level(logging.DEBUG)
    route = answers(web, case, status_code=401, content=as_json({"detail": {"error": f"bad key {key[:4]}"}}))
    with pytest.raises(CuratedError) as caught:
        await ask(case, key)
    request = route.calls[0].request
    assert any(key in value for value in request.headers.values())
    assert key not in str(request.url) and key.encode() not in request.content
    assert key not in str(caught.value) and key not in caplog.text
    assert caught.value.kind == "search_key"


async def test_an_answer_without_optional_fields_is_read(web: respx.MockRouter, case: Case, key: str):
    answers(web, case, status_code=200, content=as_json(case.sparse))
    (one,) = (await ask(case, key)).results
    assert one.url.startswith("https://") and one.title


async def test_nothing_found_is_an_empty_list(web: respx.MockRouter, case: Case, key: str):
    answers(web, case, status_code=200, content=as_json(case.empty))
    assert (await ask(case, key)).results == ()


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, b"{}", "search_limit"),
        (400, b'{"detail": {"error": "bad country"}}', "search_refused"),
        (422, b'{"error": {"detail": "unsupported"}}', "search_refused"),
        (401, b"{}", "search_key"),
        (403, b"<html>", "search_key"),
        (202, b"<html>challenge</html>", "search_broken"),
        (500, b"oops", "search_broken"),
        (200, b"<html>Are you a robot?</html>", "search_broken"),
        (200, b"[]", "search_broken"),
        (200, b"null", "search_broken"),
        (200, b'"x"', "search_broken"),
        (200, b'{"status": "ok"}', "search_broken"),
    ],
)
async def test_no_failure_is_an_empty_list(
    web: respx.MockRouter, case: Case, key: str, status: int, body: bytes, kind: str
):
    answers(web, case, status_code=status, content=body, headers={"Retry-After": "60"})
    with pytest.raises(CuratedError) as caught:
        await ask(case, key)
    assert caught.value.kind == kind and "\n" not in str(caught.value)


async def test_results_of_another_form_are_a_changed_answer(web: respx.MockRouter, case: Case, key: str):
    text = json.dumps(case.golden).replace('"url"', '"href"').replace('"title"', '"name"')
    answers(web, case, status_code=200, content=text.encode())
    with pytest.raises(CuratedError) as caught:
        await ask(case, key)
    assert caught.value.kind == "search_broken"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "https://u:p@x.test/", "https://x\\y/"])
async def test_a_result_with_no_url_that_is_fetched_is_left_out(web: respx.MockRouter, key: str, url: str):
    case = CASES[1]
    answers(web, case, status_code=200, content=as_json({"results": [{"url": url}, {"url": "https://ok.test/"}]}))
    assert [one.url for one in (await ask(case, key)).results] == ["https://ok.test/"]


async def test_an_unsupported_country_is_left_out_with_a_notice(web: respx.MockRouter, key: str):
    case = CASES[0]
    route = answers(web, case, status_code=200, content=as_json(case.golden))
    got = await ask(case, key, SearchQuery("tides", country="SG"))
    assert "country" not in route.calls[0].request.url.params and any("SG" in one for one in got.notices)


async def test_parameters_that_a_provider_does_not_know_are_said_to_be_ignored(web: respx.MockRouter):
    answers(web, CASES[3], status_code=200, content=as_json(CASES[3].golden))
    got = await ask(CASES[3], "", SearchQuery("tides", language="de", freshness="day", site="x.test"))
    assert any("freshness, site" in one for one in got.notices)


async def test_results_of_other_sites_are_left_out_and_said(web: respx.MockRouter, key: str):
    answers(web, CASES[1], status_code=200, content=as_json(CASES[1].golden))
    got = await ask(CASES[1], key, SearchQuery("tides", site="sea.test"))
    assert [one.url for one in got.results] == ["https://sea.test/tides"] and "1 results of other sites" in got.notices[
        0
    ]


async def test_an_instance_that_allows_no_json_says_how_to(web: respx.MockRouter):
    answers(web, CASES[2], status_code=403, content=b"<html>")
    with pytest.raises(CuratedError, match=r"search\.formats in settings\.yml"):
        await ask(CASES[2], "")


async def test_silent_engines_are_no_empty_list(web: respx.MockRouter):
    answers(web, CASES[2], status_code=200, content=as_json({"results": [], "unresponsive_engines": [["e", "x"]]}))
    with pytest.raises(CuratedError, match="none of its engines"):
        await ask(CASES[2], "")


async def test_an_error_inside_a_good_status_is_an_error(web: respx.MockRouter):
    answers(web, CASES[3], status_code=200, content=as_json({"error": {"code": "x", "info": "search is disabled"}}))
    with pytest.raises(CuratedError, match="search is disabled"):
        await ask(CASES[3], "")


async def test_the_next_provider_is_asked_when_one_has_no_quota(web: respx.MockRouter, key: str):
    answers(web, CASES[0], status_code=429, content=b"{}", headers={"Retry-After": "3600"})
    answers(web, CASES[1], status_code=200, content=as_json(CASES[1].golden))
    async with engine({"BRAVE_API_KEY": key, "TAVILY_API_KEY": key[::-1]}) as made:
        got = await made.search(QUERY)
    assert got.provider == "tavily" and any("tavily was asked instead" in one for one in got.notices)


async def test_the_last_one_without_quota_is_an_error_that_says_when(web: respx.MockRouter, key: str):
    answers(web, CASES[0], status_code=429, content=b"{}", headers={"Retry-After": "3600"})
    with pytest.raises(CuratedError) as caught:
        await ask(CASES[0], key)
    assert caught.value.retry_after_s == 3600


async def test_a_bad_key_is_not_passed_over(web: respx.MockRouter, key: str):
    answers(web, CASES[0], status_code=401, content=b"{}")
    other = answers(web, CASES[1], status_code=200, content=as_json(CASES[1].golden))
    async with engine({"BRAVE_API_KEY": key, "TAVILY_API_KEY": key[::-1]}) as made:
        with pytest.raises(CuratedError):
            await made.search(QUERY)
    assert not other.called


async def test_a_provider_that_is_not_configured_is_refused_with_the_right_name():
    async with engine({"SEARXNG_URL": "http://10.1.2.3"}) as made:
        with pytest.raises(InvalidArgumentError, match="searxng"):
            await made.search(QUERY, "searxn")


def test_without_a_key_wikipedia_is_asked():
    assert provider_names(settings({}).search) == ("wikipedia",)


def test_what_is_configured_is_asked_in_the_order_that_is_given():
    environment = {"BRAVE_API_KEY": "b" * 20, "TAVILY_API_KEY": "t" * 20}
    assert provider_names(settings(environment).search) == ("brave", "tavily")
    named = settings(environment, "--provider", "tavily", "--provider", "brave").search
    assert provider_names(named) == ("tavily", "brave")


def test_one_key_serves_the_provider_that_is_named():
    named = settings({"SEARCH_PROVIDER": "tavily", "SEARCH_API_KEY": "x" * 20}).search
    found = named.key_of("tavily")
    assert found is not None and found.reveal() == "x" * 20 and named.key_of("brave") is None


@pytest.mark.parametrize(
    "environment",
    [
        {"SEARCH_PROVIDER": "brave"},
        {"SEARCH_PROVIDER": "searxng"},
        {"SEARCH_API_KEY": "x" * 20},
        {"SEARXNG_URL": "ftp://x"},
    ],
)
def test_settings_that_cannot_work_are_refused(environment: dict[str, str]):
    with pytest.raises(SettingsError):
        settings(environment)


async def test_parallel_questions_queue_under_the_rate():
    now = [0.0]
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)
        now[0] += seconds

    pace = Pace(1.0, lambda: now[0], wait)
    for _ in range(3):
        await pace.turn()
    assert waits == [1.0, 1.0]


def test_what_a_provider_says_is_short_and_on_one_line():
    class Answer:
        body = as_json({"detail": {"error": "a\nb" * 1_000}})

    said = complaint(Answer())  # pyright: ignore[reportArgumentType]  # only its body is looked at
    assert len(said) < 330 and "\n" not in said


def test_markup_and_invisible_characters_leave_a_snippet():
    assert plain("a <b>b</b> &lt;i&gt;\u200b c\x00") == "a b <i> c"


@pytest.mark.parametrize("era", ERAS)
async def test_the_tool_gives_results_between_marks_with_the_notice_of_the_default(web: respx.MockRouter, era: Era):
    web.get(url__startswith="https://en.wikipedia.org/w/api.php").respond(200, content=as_json(CASES[3].golden))
    async with over_memory(build(), era) as client:
        result = await client.call_tool("search", {"query": "tides", "count": 5})
    structure = result.structured_content or {}
    assert structure["provider"] == "wikipedia" and structure["next_page"] == 2
    assert structure["results"][0]["url"] == "https://en.wikipedia.org/wiki/The_tides"
    assert "No web search provider is configured" in structure["notices"][0]
    nonce = (result.meta or {})["mcp-curated/untrusted"]["nonce"]
    assert text_of(result).rstrip().endswith(f"[{nonce}: end]")


@pytest.mark.parametrize("wrong", [{"country": "Germany"}, {"language": "d3"}, {"site": "a b"}, {"query": " "}])
async def test_wrong_arguments_of_a_search_are_named(wrong: dict[str, str]):
    async with over_memory(build(), "2026-07-28") as client:
        result = await client.call_tool("search", {"query": "tides", **wrong})
    assert result.is_error and next(iter(wrong)) in text_of(result)


async def test_a_search_that_holds_a_secret_is_not_sent(web: respx.MockRouter):
    token = "ghp_" + secrets.token_hex(18)
    async with over_memory(build(), "2026-07-28") as client:
        result = await client.call_tool("search", {"query": f"who owns {token}"})
    assert result.is_error and token not in text_of(result) and not web.calls
