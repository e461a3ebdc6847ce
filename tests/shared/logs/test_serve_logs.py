"""The log: one event a line, on standard error only, nothing secret in it."""

import base64
import io
import json
import logging
import os
import secrets as random
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_curated_shared.security.redaction import Redactor
from mcp_curated_shared.settings.common import LogSettings
from mcp_curated_shared.transport import logs
from mcp_curated_shared.transport.logs import JsonFormatter, TextFormatter, escape_controls
from mcp_curated_shared.transport.standard_error import StandardError

MASK = "[REDACTED:setting]"

Configure = Callable[..., "Captured"]


class Captured:
    """Standard error as a file."""

    def __init__(self, reading: int) -> None:
        self._reading = reading

    def text(self) -> str:
        """What was written since the last time."""
        os.set_blocking(self._reading, False)
        found = b""
        while True:
            try:
                found += os.read(self._reading, 65536)
            except BlockingIOError:
                return found.decode()

    def lines(self) -> list[str]:
        return self.text().splitlines()


@pytest.fixture
def configure() -> Generator[Configure]:
    """Configure the log of this process with standard error in a pipe; all is as before afterwards."""
    root = logging.getLogger()
    handlers, level, raises = root.handlers[:], root.level, logging.raiseExceptions
    hooks = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    shown = warnings.showwarning
    named = {name: logging.getLogger(name).level for name in (*logs.QUIET, *logs.ALWAYS_QUIET)}
    saved = os.dup(2)
    reading, writing = os.pipe()

    def start(level: str = "info", form: str = "text", secrets: tuple[str, ...] = ()) -> Captured:
        os.dup2(writing, 2)  # here, since pytest puts its own in place before the test's body
        logs.configure(LogSettings(level=level, format=form), secrets=secrets)  # pyright: ignore[reportArgumentType]  # the test gives the right words
        return Captured(reading)

    yield start
    os.dup2(saved, 2)
    for descriptor in (saved, reading, writing):
        os.close(descriptor)
    logs.configure(LogSettings())
    logging.captureWarnings(False)
    warnings.showwarning = shown
    sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
    root.handlers[:], root.level, logging.raiseExceptions = handlers, level, raises
    for name, before in named.items():
        logging.getLogger(name).setLevel(before)


def log_failure(logger: logging.Logger, text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        logger.exception("It failed.")


def test_an_event_is_one_line_of_text(configure: Configure) -> None:
    captured = configure()
    logging.getLogger("mcp_curated_x").info("hello %s", "you")
    (line,) = captured.lines()
    assert line.endswith("Z INFO mcp_curated_x: hello you")


def test_an_event_is_one_object_of_json(configure: Configure) -> None:
    captured = configure(form="json")
    log_failure(logging.getLogger("x"), "bad\nvalue")
    (line,) = captured.lines()
    event = json.loads(line)
    assert set(event) == {"time", "level", "logger", "message", "exception"}
    assert (event["level"], event["message"]) == ("error", "It failed.")
    assert "ValueError: bad\nvalue" in event["exception"]


def test_a_traceback_is_a_block_that_no_event_line_can_be_taken_for(configure: Configure) -> None:
    captured = configure()
    log_failure(logging.getLogger("x"), "bad\n2026-01-01T00:00:00.000Z ERROR x: forged")
    first, *block = captured.lines()
    assert first.endswith("ERROR x: It failed.")
    assert block
    assert all(line.startswith("    ") for line in block)


@pytest.mark.parametrize(
    "character", ["\n", "\r", "\x1b", "\x00", "\x7f", "\x85", "\u2028", "\u202e", "\udce9", "\x9b"]
)
def test_a_character_that_could_forge_a_line_or_steer_a_terminal_is_escaped(
    configure: Configure, character: str
) -> None:
    captured = configure()
    logging.getLogger("x").warning("before%safter", character)
    text = captured.text()
    assert character not in text.removesuffix("\n")
    assert text.count("\n") == 1
    assert "before\\" in text


@given(st.text(st.characters(codec=None)))
def test_what_is_escaped_is_one_printable_line(text: str) -> None:
    shown = escape_controls(text)
    assert shown.isprintable()
    assert shown.encode("utf-8").decode("utf-8") == shown


@given(st.text().filter(str.isprintable))
def test_printable_text_is_logged_as_it_is(text: str) -> None:
    assert escape_controls(text) == text


def spellings(secret: str) -> list[str]:
    return [
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        repr(secret)[1:-1],
        base64.b64encode(f"user:{secret}".encode()).decode(),
        base64.urlsafe_b64encode(f"u:{secret}".encode()).decode(),
        base64.b64encode(f"{secret}\n".encode()).decode(),
    ]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_secret_of_the_settings_is_in_no_line_and_no_traceback(configure: Configure, form: str) -> None:
    secret = random.token_urlsafe(24) + "/+ é'"
    captured = configure("debug", form, (secret,))
    logger = logging.getLogger("x")
    for spelling in spellings(secret):
        logger.info("value %s", spelling)
        logger.info(f"in the name {spelling}")
        log_failure(logger, f"failed with {spelling}")
        logging.getLogger(f"name.{secret}").info("the logger's name")
    text = captured.text()
    assert secret not in text
    assert json.dumps(secret)[1:-1] not in text
    assert secret[:24] not in text
    assert text.count(MASK) >= 4 * len(spellings(secret))


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(
    secret=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=8, max_size=60),
    before=st.text(),
    after=st.text(),
)
def test_base64_of_a_secret_anywhere_in_a_text_is_masked(secret: str, before: str, after: str) -> None:
    plain = f"{before}{secret}{after}".encode("utf-8", "replace")
    masked = Redactor([secret]).redact(base64.b64encode(plain).decode())
    assert MASK in masked


def test_a_short_value_is_not_taken_for_a_secret() -> None:
    assert Redactor(["", "a", "12345"]).redact("a 12345 line") == "a 12345 line"


def test_an_uncaught_exception_is_an_event_without_the_secret(configure: Configure) -> None:
    secret = random.token_hex(16)
    captured = configure(secrets=(secret,))
    error = RuntimeError(f"lost {secret}")
    sys.excepthook(type(error), error, None)
    thread = threading.Thread(target=lambda: (_ for _ in ()).throw(error))
    thread.start()
    thread.join(10)
    text = captured.text()
    assert secret not in text
    assert text.count("CRITICAL") == 2


def test_a_warning_is_an_event(configure: Configure) -> None:
    captured = configure()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("mind\nthe gap", stacklevel=1)
    assert "WARNING py.warnings" in captured.text()


def test_a_redactor_sees_messages_and_tracebacks(configure: Configure) -> None:
    captured = configure()

    def redact(text: str) -> str:
        return text.replace("token", "[gone]")

    logs.add_redactor(redact)
    try:
        logging.getLogger("x").info("a token")
        log_failure(logging.getLogger("x"), "token token")
    finally:
        logs.remove_redactor(redact)
    text = captured.text()
    assert "a [gone]" in text
    assert "ValueError: [gone] [gone]" in text


def test_a_redactor_that_fails_withholds_the_text(configure: Configure) -> None:
    captured = configure()

    def fail(_text: str) -> str:
        raise LookupError

    logs.add_redactor(fail)
    try:
        logging.getLogger("x").info("delicate")
    finally:
        logs.remove_redactor(fail)
    text = captured.text()
    assert "delicate" not in text
    assert "withheld" in text


def test_arguments_that_do_not_fit_their_format_lose_nothing_and_raise_nothing(configure: Configure) -> None:
    captured = configure()
    logging.getLogger("x").info("count %d", "many")
    assert "'count %d' % ('many',)" in captured.text()


@pytest.mark.parametrize("name", ["mcp.server", "uvicorn.access", "httpx", "httpx2", "httpcore.http11"])
def test_libraries_tell_no_info_lines(configure: Configure, name: str) -> None:
    captured = configure()
    logging.getLogger(name).info("one a request")
    logging.getLogger(name).warning("worth it")
    (line,) = captured.lines()
    assert "worth it" in line


@pytest.mark.parametrize("name", ["httpx", "httpx2", "httpcore", "httpcore2"])
def test_http_clients_tell_no_headers_even_at_debug(configure: Configure, name: str) -> None:
    captured = configure("debug")
    logging.getLogger(name).debug("send_request_headers")
    assert captured.text() == ""


def test_the_level_is_the_least_that_is_shown(configure: Configure) -> None:
    captured = configure("warning")
    logging.getLogger("x").info("no")
    logging.getLogger("x").warning("yes")
    assert len(captured.lines()) == 1


def test_an_announcement_is_shown_at_any_level(configure: Configure) -> None:
    captured = configure("error", "json")
    logs.announce("Listening")
    assert json.loads(captured.text())["message"] == "Listening"


def test_the_sdk_adds_no_handler_after_us(configure: Configure) -> None:
    from mcp.server.mcpserver import MCPServer

    configure()
    MCPServer("x")
    assert len(logging.getLogger().handlers) == 1


def test_a_log_that_nobody_reads_is_dropped_soon_and_counted_later() -> None:
    reading, writing = os.pipe()
    try:
        error = StandardError(writing)
        began = time.monotonic()
        for _ in range(1000):
            error.write_line("x" * 1000)
        assert time.monotonic() - began < 5
        lost = error.lost
        assert lost > 900
        assert os.read(reading, 1 << 20).count(b"\n") + lost == 1000
        error.write_line("back")
        assert error.lost == 0
        assert os.read(reading, 100) == b"back\n"
    finally:
        os.close(reading)
        os.close(writing)


def test_a_line_that_was_torn_is_not_taken_for_the_begin_of_the_next() -> None:
    reading, writing = os.pipe()
    try:
        error = StandardError(writing)
        while not error.lost:
            error.write_line("x" * 50_000)
        assert not os.read(reading, 1 << 20).endswith(b"\n")
        error.write_line("back")
        assert os.read(reading, 100) == b"\nback\n"
    finally:
        os.close(reading)
        os.close(writing)


def test_lines_that_were_lost_are_told_in_the_form_of_the_log(configure: Configure) -> None:
    captured = configure(form="json")
    for number in range(200):
        logging.getLogger("x").info("%d %s", number, "x" * 1000)
    captured.text()
    logging.getLogger("x").info("back")
    notice, last = [json.loads(line) for line in captured.lines() if line]
    assert "log lines were lost" in notice["message"]
    assert last["message"] == "back"


def test_a_reader_that_is_gone_raises_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    StandardError(writing).write_line("nobody")
    os.close(writing)


def test_a_closed_standard_error_raises_nothing() -> None:
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.close(descriptor)
    StandardError(descriptor).write_line("nothing")


def test_formatters_work_on_any_stream() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    for formatter in (TextFormatter(), JsonFormatter()):
        handler.setFormatter(formatter)
        handler.emit(logging.LogRecord("n", logging.INFO, "f", 1, "m", None, None))
    first, second = stream.getvalue().splitlines()
    assert first.endswith("INFO n: m")
    assert json.loads(second)["message"] == "m"
