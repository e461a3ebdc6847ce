"""What a line that is no message gets: an answer, with the request's id where it can be read."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

from mcp_curated_shared.transport import stdio
from mcp_curated_shared.transport.framing import EDGE_BYTES, Arrived, Refused, TooLong, read_line, too_long, write_line

Start = Callable[..., Any]


def refusal(line: bytes) -> tuple[object, int, str]:
    item = read_line(line)
    assert isinstance(item, Refused), item
    return item.reply.id, item.reply.error.code, item.reply.error.message


def test_a_line_that_is_no_json_is_a_parse_error_without_an_id() -> None:
    assert refusal(b'{"jsonrpc": "2.0", "id": 1, "meth')[:2] == (None, -32700)


def test_a_lone_surrogate_is_answered_with_the_id_and_named() -> None:
    line = rb'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{"p":"\udce9"}}}'
    request_id, code, message = refusal(line)
    assert (request_id, code) == ("a", -32602)
    assert "\\udce9" in message


def test_a_whole_surrogate_pair_is_an_ordinary_character() -> None:
    item = read_line(rb'{"jsonrpc":"2.0","id":1,"method":"m","params":{"p":"\ud83d\ude00"}}')
    assert isinstance(item, Arrived)
    assert isinstance(item.message, JSONRPCRequest)
    assert item.message.params == {"p": "\U0001f600"}


def test_bytes_that_are_not_utf8_are_refused_with_the_id_rather_than_replaced() -> None:
    request_id, code, message = refusal(b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"p":"caf\xe9"}}')
    assert (request_id, code) == (7, -32700)
    assert "0xe9" in message


def test_a_byte_order_mark_before_a_message_is_ignored() -> None:
    assert isinstance(read_line(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}'), Arrived)


@pytest.mark.parametrize("line", [b"", b" \t\r"])
def test_a_blank_line_is_nothing(line: bytes) -> None:
    assert read_line(line) is None


@pytest.mark.parametrize("request_id", [b"null", b"1.5", b"true", b"[]", b"{}"])
def test_a_request_whose_id_is_none_is_told_so(request_id: bytes) -> None:
    assert refusal(b'{"jsonrpc":"2.0","id":%s,"method":"tools/list"}' % request_id)[:2] == (None, -32600)


def test_a_notification_that_mentions_an_id_inside_is_one() -> None:
    assert isinstance(read_line(b'{"jsonrpc":"2.0","method":"m","params":{"id":3}}'), Arrived)


def test_a_batch_is_refused_at_once() -> None:
    request_id, code, message = refusal(b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]')
    assert (request_id, code) == (None, -32600)
    assert "Batches" in message


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"1.0","id":3,"method":"ping"}',
        b'{"id":3,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":3}',
        b'{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}',
    ],
)
def test_an_object_that_is_no_message_is_refused_with_its_id(line: bytes) -> None:
    assert refusal(line)[:2] == (3, -32600)


def test_deep_nesting_is_refused_and_crashes_nothing() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    assert refusal(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":' + deep + b"}}")[1] in (-32700, -32600)


def test_a_number_of_ten_thousand_digits_crashes_nothing() -> None:
    line = b'{"jsonrpc":"2.0","id":' + b"9" * 10_000 + b',"method":"m"}'
    assert read_line(line) is not None


def test_an_unreadable_response_fails_the_question_that_waits_for_it() -> None:
    item = read_line(rb'{"jsonrpc":"2.0","id":4,"result":{"text":"\ud800"}}')
    assert isinstance(item, Arrived)
    assert isinstance(item.message, JSONRPCError)
    assert item.message.id == 4


@given(st.binary(max_size=200))
def test_no_line_whatever_raises(line: bytes) -> None:
    read_line(line)


def test_a_lone_surrogate_in_an_answer_leaves_as_a_visible_escape() -> None:
    line = write_line(JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "caf\udce9"}))
    assert JSONRPCResponse.model_validate_json(line).result == {"text": "caf\\udce9"}


def test_every_bad_line_is_answered_and_the_server_goes_on(start: Start) -> None:
    server = start("stdio").open()
    bad = {
        b"nonsense": (None, -32700),
        rb'{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"\udce9"}}': (50, -32602),
        b'{"jsonrpc":"2.0","id":51,"method":"tools/call","params":{"name":"\xff"}}': (51, -32700),
        b'[{"jsonrpc":"2.0","id":52,"method":"ping"}]': (None, -32600),
    }
    for line, (request_id, code) in bad.items():
        server.write(line + b"\n")
        answer = server.read()
        assert (answer["id"], answer["error"]["code"]) == (request_id, code)
    server.result(server.ask("ping"))


def test_a_bad_line_before_the_handshake_is_answered_too(start: Start) -> None:
    server = start("stdio")
    server.write(b"nonsense\n")
    assert server.read()["error"]["code"] == -32700
    server.open()


def test_half_a_surrogate_pair_in_a_result_does_not_end_the_server(start: Start) -> None:
    server = start("stdio").open()
    assert server.result(server.call("half_a_pair"))["content"][0]["text"] == "caf\\udce9"
    server.result(server.ask("ping"))


TOO_DEEP = b"[" * 5_000 + b"]" * 5_000
TOO_LONG = b"9" * 5_000


@pytest.mark.parametrize("value", [TOO_DEEP, TOO_LONG, b'{"a":' * 5_000 + b"1" + b"}" * 5_000], ids=["[", "9", "{"])
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":%s,"method":"m","params":{"p":%s}}',
        b' { "method" : "m" , "id" : %s , "params" : {"p": %s } } ',
        b'{"id":%s,"params":{"id":77,"p":%s}}',
    ],
)
@pytest.mark.parametrize(("written", "meant"), [(b"7", 7), (b'"a\\"b"', 'a"b'), (b"null", None), (b"1.5", None)])
def test_the_id_before_a_value_that_cannot_be_parsed_is_read(
    line: bytes, value: bytes, written: bytes, meant: object
) -> None:
    assert refusal(line % (written, value))[0] == meant


@pytest.mark.parametrize("value", [TOO_DEEP, TOO_LONG], ids=["[", "9"])
@pytest.mark.parametrize("end", [b',"id":7}', b', "id" : 7 , "jsonrpc": "2.0" } ', b',"jsonrpc":"2.0","id":7}\r'])
def test_the_id_at_the_end_of_a_line_that_cannot_be_parsed_is_read(value: bytes, end: bytes) -> None:
    assert refusal(b'{"method":"m","params":{"id":1,"p":%s}%s' % (value, end))[0] == 7


@pytest.mark.parametrize(
    "line",
    [
        b'{"method":"m","params":{"p":%s,"id":7}}',
        b'{"params":%s,"t":"\\",\\"id\\":7}"}',
        b'[%s,{"id":7}]',
        b'{"method":"m","params":%s,"id":7',
    ],
)
def test_an_id_that_is_not_the_requests_is_not_taken_for_it(line: bytes) -> None:
    assert refusal(line % TOO_DEEP)[0] is None


@pytest.mark.parametrize("size", [1, 7, 100, 5_000])
@pytest.mark.parametrize("ended", [b"\n", b""])
def test_of_a_line_that_is_too_long_the_id_is_kept(monkeypatch: pytest.MonkeyPatch, size: int, ended: bytes) -> None:
    monkeypatch.setattr(stdio, "LONGEST_LINE", 4_000)
    long = b"x" * 9_000
    lines = [
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"p":"%s"}}' % long,
        b'{"id":9,"method":"short"}',
        b'{"method":"m","params":{"p":"%s"},"jsonrpc":"2.0","id":"two"}' % long,
        b"y" * 4_000,
        b'{"method":"m","params":{"p":"%s","id":3}}' % long,
    ]
    wire = io.BytesIO(b"\n".join(lines) + ended)
    got: list[bytes | TooLong] = []
    stdio.split_lines(lambda _: wire.read(size), got.append)
    assert (got[1], got[3]) == (lines[1], lines[3])
    told = [too_long(line).reply.id for line in got if isinstance(line, TooLong)]
    assert told == [1, "two", None]
    assert all(len(line.edges) <= 2 * EDGE_BYTES for line in got if isinstance(line, TooLong))
