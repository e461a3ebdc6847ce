"""Serving over stdio, in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

Start = Callable[..., Any]


def text_of(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


def test_closing_standard_input_ends_the_server_in_order(start: Start) -> None:
    server = start("stdio").open()
    server.close_input()
    assert server.ended() == 0
    assert "lifespan left" in server.log
    assert "Traceback" not in server.log


def test_standard_input_closed_before_the_first_message_ends_the_server_in_order(start: Start) -> None:
    server = start("stdio", stdin=subprocess.DEVNULL)
    assert server.ended() == 0
    assert "lifespan left" in server.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_in_order(start: Start, number: signal.Signals) -> None:
    server = start("stdio").open()
    server.signal(number)
    assert server.ended() == 0
    assert "lifespan left" in server.log
    assert "Traceback" not in server.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_in_order_while_calls_run(start: Start, number: signal.Signals) -> None:
    server = start("stdio").open()
    server.call("wait", name="one")
    server.call("stuck")
    server.told("wait one began")
    server.told("stuck began")
    server.signal(number)
    assert server.ended() == 0
    assert "wait one was cancelled" in server.log
    assert "lifespan left" in server.log


def test_a_signal_before_the_first_message_ends_the_server_in_order(start: Start) -> None:
    server = start("stdio")
    server.told("lifespan entered")
    server.signal(signal.SIGTERM)
    assert server.ended() == 0
    assert "lifespan left" in server.log


def test_a_stuck_worker_thread_does_not_outlive_standard_input(start: Start) -> None:
    server = start("stdio", "--shutdown", "30").open()
    server.call("stuck")
    server.told("stuck began")
    server.close_input()
    assert server.ended(within=10) == 0


def test_a_stuck_thread_of_the_sdk_is_given_up_when_the_bound_ends(start: Start) -> None:
    server = start("stdio", "--shutdown", "1").open()
    server.call("sync_stuck")
    server.told("sync_stuck began")
    server.signal(signal.SIGTERM)
    assert server.ended() == 128 + signal.SIGTERM
    assert "cut short" in server.log


def test_a_lifespan_that_hangs_is_given_up_when_the_bound_ends(start: Start) -> None:
    server = start("stdio", "--hang-at-the-end", "--shutdown", "0.5").open()
    server.close_input()
    assert server.ended() == 1


def test_a_second_signal_ends_the_server_at_once(start: Start) -> None:
    server = start("stdio", "--hang-at-the-end", "--shutdown", "60").open()
    server.signal(signal.SIGTERM)
    server.told("lifespan hangs")
    server.signal(signal.SIGINT)
    assert server.ended(within=5) == 128 + signal.SIGINT


def test_a_signal_ends_even_a_server_whose_event_loop_is_blocked(start: Start) -> None:
    server = start("stdio", "--shutdown", "0.5").open()
    server.call("block_the_loop")
    server.told("block_the_loop began")
    server.signal(signal.SIGTERM)
    assert server.ended() == 128 + signal.SIGTERM


def test_a_client_that_is_gone_ends_the_server_quietly(start: Start) -> None:
    reading, writing = os.pipe()
    server = start("stdio", stdout=writing)
    os.close(writing)
    server.told("lifespan entered")
    os.close(reading)
    server.ask(
        "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    )
    assert server.ended() == 0
    assert "Traceback" not in server.log


def test_requests_piped_in_before_the_end_of_input_are_answered(start: Start) -> None:
    server = start("stdio").open()
    request = server.call("echo", text="last words")
    server.close_input()
    assert text_of(server.result(request)) == "last words"
    assert server.ended() == 0


def test_the_last_line_needs_no_line_end(start: Start) -> None:
    server = start("stdio").open()
    server.write(b'{"jsonrpc":"2.0","id":"z","method":"ping"}')
    server.close_input()
    assert server.read()["id"] == "z"


def test_nothing_but_the_protocol_reaches_standard_output(start: Start) -> None:
    server = start("stdio").open()
    assert text_of(server.result(server.call("noise"))) == "quiet"
    server.close_input()
    assert server.ended() == 0
    assert server.lines.get(timeout=5) is None
    assert "stray print" in server.log
    assert "stray child" in server.log


def test_a_crash_text_stays_in_the_log(start: Start) -> None:
    server = start("stdio").open()
    result = server.result(server.call("crash", text="the details"))
    assert result["isError"]
    assert "details" not in text_of(result)
    assert "the details" in server.told("RuntimeError: crashed")


def test_twenty_parallel_calls_are_all_answered(start: Start) -> None:
    server = start("stdio").open()
    waiting = {server.call("wait", name=str(number)) for number in range(20)}
    for number in range(20):
        server.told(f"wait {number} began")
    quick = server.call("echo", text="meanwhile")
    assert text_of(server.result(quick)) == "meanwhile"
    released = server.call("release")
    answered = {server.read()["id"] for _ in range(21)}
    assert answered == waiting | {released}


def test_a_twelve_megabyte_argument_arrives_whole(start: Start) -> None:
    server = start("stdio").open()
    assert text_of(server.result(server.call("size", text="x" * 12_000_000))) == "12000000"


@pytest.mark.slow
def test_a_message_of_thirty_two_megabytes_arrives_whole(start: Start) -> None:
    server = start("stdio").open()
    assert text_of(server.result(server.call("size", text="é" * (8 * 1024 * 1024)))) == str(8 * 1024 * 1024)
    assert text_of(server.result(server.call("size", text="x" * (32 * 1024 * 1024)))) == str(32 * 1024 * 1024)


@pytest.mark.slow
def test_a_message_beyond_the_limit_is_refused_and_the_next_one_answered(start: Start) -> None:
    server = start("stdio").open()
    for _ in range(65):
        server.write(b"x" * (1024 * 1024))
    server.write(b"\n")
    refusal = server.read()
    assert refusal["id"] is None
    assert "64 MiB" in refusal["error"]["message"]
    server.result(server.ask("ping"))


def test_an_answer_of_several_megabytes_leaves_whole(start: Start) -> None:
    server = start("stdio").open()
    text = "x" * 5_000_000
    assert text_of(server.result(server.call("echo", text=text))) == text


def test_a_client_that_does_not_read_blocks_neither_the_loop_nor_the_end(start: Start) -> None:
    reading, writing = os.pipe()
    server = start("stdio", stdout=writing)
    os.close(writing)
    server.ask(
        "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    )
    server.say({"method": "notifications/initialized"})
    for _ in range(4):
        server.call("echo", text="x" * 1_000_000)
    server.call("wait", name="later")
    server.told("wait later began")  # the loop still runs
    server.signal(signal.SIGTERM)
    status = server.ended()
    os.close(reading)
    assert status == 128 + signal.SIGTERM  # what was not read is lost, and the status says so
    assert "lifespan left" in server.log


def test_a_host_that_never_reads_standard_error_does_not_stop_the_server() -> None:
    from pathlib import Path

    fixture = Path(__file__).with_name("fixture_server.py")
    # Standard error is a pipe that nobody reads.
    process = subprocess.Popen(
        [sys.executable, str(fixture), "stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin and process.stdout and process.stderr
    try:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        messages: list[dict[str, Any]] = [
            {"id": 0, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
        ]
        crash = {"name": "crash", "arguments": {"text": "x" * 20_000}}
        messages += [{"id": number, "method": "tools/call", "params": crash} for number in range(1, 9)]
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        seen = {json.loads(process.stdout.readline())["id"] for _ in range(9)}
        assert seen == set(range(9))
        process.stdin.close()
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()
        process.stderr.close()


def test_a_killed_server_leaves_no_process_that_holds_its_pipes(start: Start) -> None:
    server = start("stdio").open()
    server.call("stuck")
    server.told("stuck began")
    began = time.monotonic()
    server.process.kill()
    assert server.ended() == -signal.SIGKILL
    assert server.lines.get(timeout=20) is None
    assert time.monotonic() - began < 20


def test_standard_streams_that_were_closed_at_the_start_do_not_reach_files(tmp_path: Any) -> None:
    from pathlib import Path

    fixture = Path(__file__).with_name("fixture_server.py")
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" "$1" stdio <&- >&- 2>"$2"', sys.executable, str(fixture), str(tmp_path / "log")],
        check=False,
        timeout=20,
    )
    assert done.returncode == 0
    assert "lifespan left" in (tmp_path / "log").read_text()


def test_a_person_who_starts_it_in_a_terminal_is_told_and_can_end_it() -> None:
    import pty
    from pathlib import Path

    ours, theirs = pty.openpty()
    fixture = Path(__file__).with_name("fixture_server.py")
    process = subprocess.Popen(
        [sys.executable, str(fixture), "stdio"], stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        assert b"Ctrl-C ends it" in process.stderr.readline()
        assert b"lifespan entered" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait(10)
        process.stderr.close()
        os.close(ours)
        os.close(theirs)


def test_a_cancelled_call_stops_and_is_never_answered(start: Start) -> None:
    server = start("stdio").open()
    request = server.call("wait", name="c")
    server.told("wait c began")
    server.say({"method": "notifications/cancelled", "params": {"requestId": request}})
    server.told("wait c was cancelled")
    server.result(server.ask("ping"))
    server.close_input()
    assert server.ended() == 0
    assert server.lines.get(timeout=5) is None


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_client_of_either_era_calls_and_cancels(era: str, tmp_path: Any) -> None:
    from pathlib import Path

    import anyio
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    fixture = str(Path(__file__).with_name("fixture_server.py"))
    with (tmp_path / "log").open("w+") as log:
        transport = stdio_client(StdioServerParameters(command=sys.executable, args=[fixture, "stdio"]), errlog=log)
        async with Client(transport, mode=era) as client:
            result = await client.call_tool("echo", {"text": "hello"})
            assert result.content[0].text == "hello"  # pyright: ignore[reportAttributeAccessIssue]  # any other kind of block fails the test
            with anyio.move_on_after(0.5) as scope:
                await client.call_tool("wait", {"name": "e"})
            assert scope.cancelled_caught
            await client.call_tool("echo", {"text": "still there"})
        log.seek(0)
        told = log.read()
    assert "wait e was cancelled" in told
    assert "lifespan left" in told
