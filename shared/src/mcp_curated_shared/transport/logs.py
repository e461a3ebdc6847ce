"""The log: on standard error only, one event a line, with nothing secret in it.

Standard output belongs to the protocol. In text form a traceback follows its line as a block indented by four
spaces, so that no message can forge the line of another event; in JSON form it is one escaped string of the event.
"""

import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from types import TracebackType

from mcp_curated_shared.settings.common import LogSettings
from mcp_curated_shared.transport.standard_error import StandardError

Redactor = Callable[[str], str]

WITHHELD = "(withheld: the redaction of this line failed)"

# Their INFO lines are one a request and may hold URLs; at DEBUG httpx and its like print headers.
QUIET = ("mcp", "uvicorn", "starlette", "sse_starlette", "asyncio", "anyio", "watchfiles")
ALWAYS_QUIET = ("httpx", "httpx2", "httpcore", "httpcore2", "hpack", "h11", "urllib3")


class _Cleaner:
    """What every text passes before it is written: first our redactor, then the added ones, in their order."""

    def __init__(self) -> None:
        self.secrets: frozenset[str] = frozenset()
        self.redactors: list[Redactor] = []
        self._own: Redactor | None = None

    def learn(self, secrets: Iterable[str]) -> None:
        """Know these values as secrets from now on."""
        self.secrets |= frozenset(secrets)
        self._own = None

    def __call__(self, text: str) -> str:
        try:
            text = self._redact(text)
            for redactor in self.redactors:
                text = redactor(text)
        except Exception:  # a line that might hold a secret is worth less than the secret
            return WITHHELD
        return text

    def _redact(self, text: str) -> str:
        own = self._own
        if own is None:
            # Its expressions cost some milliseconds, which a server that logs nothing at its start need not pay then.
            from mcp_curated_shared.security import redaction

            own = self._own = redaction.Redactor(self.secrets).redact
        return own(text)


_clean = _Cleaner()


def add_redactor(redactor: Redactor) -> None:
    """Pass every logged text, tracebacks included, through `redactor` as well; if it raises, the text is withheld."""
    _clean.redactors.append(redactor)


def remove_redactor(redactor: Redactor) -> None:
    """Take a redactor out again; unknown ones are ignored."""
    if redactor in _clean.redactors:
        _clean.redactors.remove(redactor)


def masked(text: str) -> str:
    """`text` as the log would show it, for other things that leave: secrets and what redactors find are gone."""
    return _clean(text)


def escape_controls(text: str) -> str:
    r"""One line without invisible characters: control, bidi and separator characters as `\n`, `\x1b`, `\u202e`.

    A terminal obeys escape sequences and a collector splits at line ends (CWE-117, CWE-150); lone surrogates cannot
    be written as UTF-8 at all.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c == " " or c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


class _Formatter(logging.Formatter):
    converter = time.gmtime  # pyright: ignore[reportAssignmentType]  # documented hook, typed too narrowly in typeshed

    def _time(self, record: logging.LogRecord) -> str:
        return f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}.{int(record.msecs):03d}Z"

    def _message(self, record: logging.LogRecord) -> str:
        try:
            message = record.getMessage()
        except Exception:  # wrong arguments for the format: show both instead of nothing
            message = f"{record.msg!r} % {record.args!r}"
        return escape_controls(_clean(message))

    def _exception(self, record: logging.LogRecord) -> str:
        parts: list[str] = []
        if record.exc_info and record.exc_info[1] is not None:
            parts += traceback.format_exception(record.exc_info[1])
        elif record.exc_text:
            parts.append(record.exc_text)
        if record.stack_info:
            parts.append(record.stack_info)
        return _clean("".join(parts)).rstrip()


class TextFormatter(_Formatter):
    """`TIME LEVEL logger: message`, a traceback indented below it."""

    def format(self, record: logging.LogRecord) -> str:
        """One event as text."""
        name = escape_controls(_clean(record.name))
        line = f"{self._time(record)} {record.levelname} {name}: {self._message(record)}"
        trace = self._exception(record)
        return "\n    ".join([line, *(escape_controls(row) for row in trace.split("\n"))]) if trace else line


class JsonFormatter(_Formatter):
    """One JSON object, in ASCII, so that no reader's encoding can break it."""

    def format(self, record: logging.LogRecord) -> str:
        """One event as JSON."""
        event = {
            "time": self._time(record),
            "level": record.levelname.lower(),
            "logger": escape_controls(_clean(record.name)),
            "message": self._message(record),
        }
        trace = self._exception(record)
        if trace:
            event["exception"] = trace
        return json.dumps(event)


class _Handler(logging.Handler):
    """Writes events to standard error, at any price but that of the server: it neither raises nor blocks for long."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self._out = StandardError()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
            if self._out.lost:
                line = f"{self.format(_notice(self._out.lost))}\n{line}"
            self._out.write_line(line)
        except Exception:  # a log that fails must not fail what it tells of
            return


def configure(settings: LogSettings, *, secrets: Iterable[str] = ()) -> None:
    """Send every log record, warning and uncaught exception of this process to standard error, in our form.

    Must come before `MCPServer()` is made, which otherwise installs handlers of its own. May be called again.

    Args:
        settings: The least level shown (libraries show warnings at least, but for "debug", and HTTP clients always) and
            the form: "text" for people; "json" for collectors, one object a line with time, level, logger, message
            and, after a failure, exception.
        secrets: Values that are masked wherever they appear, tracebacks included, in every spelling of
            `security.redaction.known`; they stay so when this is called again.
    """
    _clean.learn(secrets)
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    root = logging.getLogger()
    for handler in [*root.handlers]:
        root.removeHandler(handler)
    root.addHandler(_Handler(JsonFormatter() if settings.format == "json" else TextFormatter()))
    root.setLevel(level)
    for name in QUIET:
        logging.getLogger(name).setLevel(level if level <= logging.DEBUG else max(level, logging.WARNING))
    for name in ALWAYS_QUIET:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    logging.raiseExceptions = False
    logging.captureWarnings(True)
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_uncaught_in_thread
    sys.unraisablehook = _log_unraisable


def is_configured() -> bool:
    """Whether `configure` was called and its handler is still the one."""
    return any(isinstance(handler, _Handler) for handler in logging.getLogger().handlers)


def announce(message: str, level: int = logging.INFO) -> None:
    """Write one event whatever the level: what the operator must read, such as the address that was chosen."""
    record = _record(level, message)
    for handler in logging.getLogger().handlers:
        handler.handle(record)


def _record(level: int, message: str) -> logging.LogRecord:
    return logging.LogRecord("mcp_curated_shared", level, __file__, 0, message, None, None)


def _notice(lost: int) -> logging.LogRecord:
    return _record(logging.WARNING, f"{lost} log lines were lost: standard error was not read.")


def _log_uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not isinstance(error, KeyboardInterrupt):
        logging.getLogger("mcp_curated_shared").critical("The server crashed.", exc_info=(kind, error, trace))


def _log_uncaught_in_thread(caught: threading.ExceptHookArgs) -> None:
    if caught.exc_value is not None and not isinstance(caught.exc_value, SystemExit):
        name = caught.thread.name if caught.thread else "?"
        logging.getLogger("mcp_curated_shared").critical("Thread %s crashed.", name, exc_info=caught.exc_value)


def _log_unraisable(caught: "sys.UnraisableHookArgs") -> None:
    if caught.exc_value is not None:
        logging.getLogger("mcp_curated_shared").error("Ignored: %s", caught.err_msg, exc_info=caught.exc_value)
