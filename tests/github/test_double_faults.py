"""Every fault that the double can be asked for, each once, as a client meets it."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

import httpx
import pytest

from tests.github.double import Double, Hold, Repository, double, faults, serve
from tests.github.double.client import client
from tests.github.double.faults import Fault

ISSUES = "/repos/octo-org/hello/issues"
Holds: TypeAlias = Callable[[httpx.Response], bool]


@pytest.fixture
def there() -> Iterator[Double]:
    with serve() as running:
        yield running


@pytest.fixture
def repository(there: Double) -> Repository:
    return there.github.repository("octo-org/hello").file("a.txt", "x" * 2000)


@pytest.fixture
def http(there: Double) -> Iterator[httpx.Client]:
    with client(there, there.github.token()) as made:
        yield made


def header(name: str, value: str) -> Holds:
    return lambda answer: answer.headers[name] == value


def says(text: str) -> Holds:
    return lambda answer: text in answer.json()["message"]


ANSWERED: list[tuple[Fault, int, Holds]] = [
    (faults.bad_token(), 401, says("Bad credentials")),
    (faults.secondary_limit(retry_after=30), 403, header("retry-after", "30")),
    (faults.secondary_limit(retry_after=5, status=429), 429, header("retry-after", "5")),
    (faults.secondary_limit(retry_after=None), 403, says("secondary rate limit")),
    (faults.abuse_detected(), 403, says("abuse")),
    (faults.rate_limited(seconds=120), 403, header("x-ratelimit-remaining", "0")),
    (faults.rate_limited(status=429), 429, header("x-ratelimit-remaining", "0")),
    (faults.sso_required("octo-org"), 403, lambda answer: "/orgs/octo-org/sso?" in answer.headers["x-github-sso"]),
    (faults.ip_blocked(), 403, says("IP allow list")),
    (faults.forbidden("issues=write"), 403, header("x-accepted-github-permissions", "issues=write")),
    (faults.missing(), 404, says("Not Found")),
    (faults.redirected("http://127.0.0.1:1/x", 301), 301, header("location", "http://127.0.0.1:1/x")),
    (faults.redirected("http://127.0.0.1:1/x", 302), 302, header("location", "http://127.0.0.1:1/x")),
    (faults.redirected("http://127.0.0.1:1/x", 307), 307, header("location", "http://127.0.0.1:1/x")),
    (faults.redirected("http://127.0.0.1:1/x", 308), 308, header("location", "http://127.0.0.1:1/x")),
    (faults.diff_too_large(), 406, lambda answer: answer.json()["errors"][0]["code"] == "too_large"),
    (faults.diff_too_large(422), 422, lambda answer: answer.json()["errors"][0]["code"] == "too_large"),
    (faults.empty_repository(), 409, says("empty")),
    (faults.issues_disabled(), 410, says("disabled")),
    (faults.invalid_fields(), 422, lambda answer: answer.json()["errors"][0]["resource"] == "Label"),
    (faults.server_error(500), 500, says("Server Error")),
    (faults.server_error(503), 503, says("Server Error")),
    (faults.unicorn(502), 502, lambda answer: answer.text.startswith("<!DOCTYPE")),
    (faults.not_json(), 200, lambda answer: answer.headers["content-type"] == "text/html"),
    (faults.wrong_shape([1]), 200, lambda answer: answer.json() == [1]),
]


@pytest.mark.parametrize(
    ("fault", "status", "holds"), ANSWERED, ids=[f"{fault.name}-{status}" for fault, status, _ in ANSWERED]
)
def test_an_answer_on_demand_takes_the_place_of_the_real_one_and_nothing_happens(
    there: Double, repository: Repository, http: httpx.Client, fault: Fault, status: int, holds: Holds
):
    there.faults.next(fault)
    answer = http.post(ISSUES, json={"title": "x"})
    assert answer.status_code == status
    assert holds(answer)
    assert not repository.issues
    assert (there.journal.last.fault, there.journal.last.took_effect) == (fault.name, False)
    assert http.post(ISSUES, json={"title": "x"}).status_code == 201


def test_a_spent_limit_tells_when_it_begins_again(there: Double, repository: Repository, http: httpx.Client):
    there.faults.next(faults.rate_limited(seconds=120), faults.rate_limited(seconds=-5))
    assert abs(int(http.get(ISSUES).headers["x-ratelimit-reset"]) - time.time() - 120) < 3
    assert int(http.get(ISSUES).headers["x-ratelimit-reset"]) < time.time()


def test_a_connection_closed_before_the_write_made_nothing(there: Double, repository: Repository, http: httpx.Client):
    there.faults.on("issues/create", faults.closed_before())
    with pytest.raises(httpx.RemoteProtocolError):
        http.post(ISSUES, json={"title": "x"})
    assert not repository.issues
    assert (len(there.journal.posts), there.journal.last.took_effect) == (1, False)


@pytest.mark.parametrize("reset", [False, True])
def test_a_connection_closed_after_the_write_made_the_issue(
    there: Double, repository: Repository, http: httpx.Client, reset: bool
):
    there.faults.on("issues/create", faults.closed_after(reset=reset))
    with pytest.raises(httpx.ReadError if reset else httpx.RemoteProtocolError):
        http.post(ISSUES, json={"title": "x"})
    assert [one.title for one in repository.issues.values()] == ["x"]
    assert (len(there.journal.posts), there.journal.last.took_effect, there.journal.last.sent) == (1, True, False)
    assert http.get(ISSUES, params={"creator": "octocat"}).json()[0]["title"] == "x"


def test_a_gateway_can_give_up_on_a_write_that_was_carried_out(
    there: Double, repository: Repository, http: httpx.Client
):
    there.faults.next(faults.server_error(502).after_effect(), faults.unicorn(504).after_effect())
    assert [http.post(ISSUES, json={"title": "x"}).status_code for _ in range(2)] == [502, 504]
    assert len(repository.issues) == 2
    assert all(one.took_effect for one in there.journal)


def test_headers_that_never_come_leave_the_write_done(there: Double, repository: Repository):
    hold = Hold()
    there.faults.on("issues/create", faults.slow_headers(hold))
    with client(there, there.github.token(), reads=0.2) as http, pytest.raises(httpx.ReadTimeout):
        http.post(ISSUES, json={"title": "x"})
    hold.wait_reached()
    assert len(repository.issues) == 1


def test_a_request_held_before_its_effect_has_none_once_the_client_has_gone(there: Double, repository: Repository):
    hold = Hold()
    there.faults.on("issues/create", faults.slow_before(hold))
    with client(there, there.github.token(), reads=0.2) as http, pytest.raises(httpx.ReadTimeout):
        http.post(ISSUES, json={"title": "x"})
    hold.wait_reached()
    hold.release()
    with client(there) as http:
        assert http.get(ISSUES).json() == []
    assert not repository.issues


def test_a_held_request_goes_on_when_it_is_released(there: Double, repository: Repository, http: httpx.Client):
    holds = [Hold(), Hold()]
    there.faults.on("issues/create", faults.slow_before(holds[0]), faults.slow_headers(holds[1]))
    for number, hold in enumerate(holds):
        answers: list[int] = []

        def ask(answers: list[int] = answers) -> None:
            answers.append(http.post(ISSUES, json={"title": "x"}).status_code)

        asking = threading.Thread(target=ask)
        asking.start()
        hold.wait_reached()
        assert not answers
        assert len(repository.issues) == 2 * number
        hold.release()
        asking.join(5)
        assert answers == [201]


def test_a_hold_that_no_request_reaches_ends_the_wait():
    with pytest.raises(TimeoutError):
        Hold().wait_reached(0.01)


def test_a_slow_body_comes_in_drops_and_whole(there: Double, repository: Repository, http: httpx.Client):
    there.faults.next(faults.slow_body(pause=0.001, size=200))
    with http.stream("GET", "/repos/octo-org/hello/contents/a.txt") as answer:
        parts = list(answer.iter_raw())
    assert len(parts) > 3
    assert json.loads(b"".join(parts))["size"] == 2000


def test_a_slow_body_ends_with_the_client(there: Double, repository: Repository):
    there.faults.next(faults.slow_body(pause=1, size=1))
    with client(there, reads=0.2) as http, pytest.raises(httpx.ReadTimeout):
        http.get("/repos/octo-org/hello")


def test_a_body_can_end_too_early(there: Double, repository: Repository, http: httpx.Client):
    there.faults.next(faults.cut_body())
    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
        http.post(ISSUES, json={"title": "x"})
    assert len(repository.issues) == 1


def test_an_answer_can_come_twice_while_the_request_took_effect_once(there: Double, repository: Repository):
    there.faults.next(faults.answered_twice())
    body = b'{"title":"x"}'
    head = f"POST {ISSUES} HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
    head += f"Authorization: Bearer {there.github.token()}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", int(there.origin.rpartition(":")[2])), timeout=5) as opened:
        opened.sendall(head.encode() + body)
        came = b"".join(iter(lambda: opened.recv(65_536), b""))
    assert came.count(b"HTTP/1.1 201 Created") == 2
    assert came[: len(came) // 2] == came[len(came) // 2 :]
    assert len(repository.issues) == len(there.journal) == 1


def test_a_fault_can_be_told_to_go_out_in_another_way(there: Double, repository: Repository):
    hold = Hold()
    there.faults.next(faults.bad_token().delivered(faults.slow_headers(hold).delivery))
    with client(there, reads=0.2) as http, pytest.raises(httpx.ReadTimeout):
        http.get(ISSUES)


def test_faults_befall_their_own_operation_in_order_and_any_other_later(
    there: Double, repository: Repository, http: httpx.Client
):
    there.faults.next(faults.server_error(502))
    there.faults.on("issues/create", faults.none(), faults.server_error(503))
    there.faults.on("POST /repos/{owner}/{repo}/issues", faults.issues_disabled())
    assert len(there.faults.waiting) == 4
    statuses = [http.post(ISSUES, json={"title": "x"}).status_code for _ in range(3)]
    assert statuses == [201, 503, 410]
    assert [http.get(ISSUES).status_code for _ in range(2)] == [502, 200]
    assert there.faults.waiting == []


def test_a_lasting_fault_befalls_every_request_until_it_is_cleared(
    there: Double, repository: Repository, http: httpx.Client
):
    there.faults.always(faults.server_error(500), on="repos/get")
    assert [http.get("/repos/octo-org/hello").status_code for _ in range(2)] == [500, 500]
    assert http.get(ISSUES).status_code == 200
    there.faults.always(faults.bad_token())
    assert http.get(ISSUES).status_code == 401
    there.faults.clear()
    assert http.get("/repos/octo-org/hello").status_code == 200


def test_a_fault_of_an_operation_that_is_not_there_is_a_mistake_of_the_test(there: Double):
    with pytest.raises(KeyError, match="issues/creat'"):
        there.faults.on("issues/creat", faults.missing())


def test_a_redirection_to_another_origin_shows_there_what_the_client_sends(there: Double, repository: Repository):
    token = there.github.token()
    with serve() as other, client(there, token) as http:
        other.github.repository("octo-org/hello")
        there.faults.next(faults.redirected(f"{other.url}/repos/octo-org/hello", 302))
        http.get("/repos/octo-org/hello", follow_redirects=True)
        assert token.encode() in there.journal.last.wire
        assert token.encode() not in other.journal.last.wire


def test_the_journal_has_every_request_as_it_was_sent(there: Double, repository: Repository, http: httpx.Client):
    http.get("/repos/octo-org/hello/contents/a%2Eb?ref=x%20y")
    http.post(ISSUES, json={"title": "x"}, headers={"X-Mark": "1"})
    first, second = there.journal
    assert (first.method, first.path) == ("GET", "/repos/octo-org/hello/contents/a%2Eb")
    assert (first.query, first.status, first.operation) == ({"ref": "x y"}, 404, "repos/get-content")
    assert (second.json, second.header("x-mark")) == ({"title": "x"}, "1")
    assert there.journal.paths[1] == f"POST {ISSUES}"
    assert (there.journal.of("issues/create"), there.journal.by("POST"), there.journal.posts) == ([second],) * 3
    assert b"X-Mark: 1" in second.wire.replace(b"x-mark", b"X-Mark")
    there.journal.clear()
    assert len(there.journal) == 0


@pytest.mark.anyio
async def test_an_asynchronous_client_is_served_while_its_own_loop_waits():
    async with double() as there, httpx.AsyncClient(base_url=there.url, trust_env=False) as http:
        there.github.repository("octo-org/hello")
        assert (await http.get("/repos/octo-org/hello")).is_success


@pytest.mark.parametrize(
    "sent",
    [b"NONSENSE\r\n\r\n", b"GET /user HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", b"GET /user HT", b"x" * 70_000],
    ids=["no request", "chunks", "cut", "long"],
)
def test_what_is_no_request_ends_the_connection_and_is_told(sent: bytes):
    with serve(verify=False) as there:
        with socket.create_connection(("127.0.0.1", int(there.origin.rpartition(":")[2])), timeout=5) as opened:
            opened.sendall(sent)
            opened.shutdown(socket.SHUT_WR)
            assert opened.recv(1) == b""
        assert there.violations[0].startswith("not read")


def test_a_double_that_ends_leaves_no_thread_and_no_connection():
    before = threading.active_count()
    with serve() as there, client(there) as http:
        there.github.repository("octo-org/hello")
        hold = Hold()
        there.faults.next(faults.slow_headers(hold))
        failed: list[type[Exception]] = []

        def ask() -> None:
            try:
                http.get("/repos/octo-org/hello")
            except httpx.TransportError as error:
                failed.append(type(error))

        asking = threading.Thread(target=ask)
        asking.start()
        hold.wait_reached()
        there.stop()
        asking.join(5)
        assert failed
    assert threading.active_count() == before
