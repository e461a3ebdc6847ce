"""Exceptions and log records."""

import io
import logging
from collections.abc import Iterator

import pytest

from mcp_curated_shared.security.redaction import RedactedError, Redactor
from tests.shared.redaction.making import PROVIDERS, Maker

TOKEN = PROVIDERS["npm"](Maker())
HIDDEN = "[REDACTED:npm-token]"


def _caught(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:  # whatever the test raises
        return caught


def test_message_and_arguments_are_cleaned_in_place() -> None:
    error = _caught(ValueError(f"bad {TOKEN}", 7, {"a": [TOKEN]}))
    assert Redactor().scrub(error) is error
    assert error.args == (f"bad {HIDDEN}", 7, {"a": [HIDDEN]})


def test_attributes_and_notes_are_cleaned() -> None:
    error = OSError(2, "No such file", f"/x/{TOKEN}")
    error.add_note(f"seen {TOKEN}")
    scrubbed = Redactor().scrub(_caught(error))
    assert TOKEN not in f"{scrubbed} {scrubbed!r} {scrubbed.__notes__}"
    assert HIDDEN in str(scrubbed)


def test_causes_contexts_and_groups_are_cleaned() -> None:
    inner = _caught(KeyError(TOKEN))
    outer = RuntimeError("outer")
    outer.__cause__ = inner
    context = _caught(ValueError(f"context {TOKEN}"))
    inner.__context__ = context
    group = ExceptionGroup(f"group {TOKEN}", [outer, TypeError(TOKEN)])
    scrubbed = Redactor().scrub(group)
    assert isinstance(scrubbed, ExceptionGroup)
    assert TOKEN not in Redactor().traceback_text(scrubbed)
    assert str(context) == f"context {HIDDEN}"
    assert [type(member) for member in scrubbed.exceptions] == [RuntimeError, TypeError]


def test_a_chain_that_bites_its_tail_ends() -> None:
    first, second = ValueError(TOKEN), TypeError(TOKEN)
    first.__context__, second.__context__ = second, first
    Redactor().scrub(first)
    assert (str(first), str(second)) == (HIDDEN, HIDDEN)


class Stubborn(Exception):
    def __str__(self) -> str:
        return f"always {TOKEN}"


class Broken(Exception):
    def __str__(self) -> str:
        raise RuntimeError(TOKEN)


@pytest.mark.parametrize("kind", [Stubborn, Broken])
def test_an_exception_whose_text_cannot_be_changed_is_replaced(kind: type[Exception]) -> None:
    error = _caught(kind())
    error.__cause__ = ValueError(TOKEN)
    scrubbed = Redactor().scrub(error)
    assert isinstance(scrubbed, RedactedError)
    assert str(scrubbed).startswith(kind.__name__)
    assert scrubbed.__traceback__ is error.__traceback__
    assert TOKEN not in Redactor().traceback_text(scrubbed)


def test_the_text_of_a_traceback_is_cleaned_without_touching_the_exception() -> None:
    error = _caught(ValueError(f"bad {TOKEN}"))
    text = Redactor().traceback_text(error)
    assert "Traceback" in text
    assert HIDDEN in text
    assert TOKEN not in text
    assert str(error) == f"bad {TOKEN}"


@pytest.fixture
def log() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("%(message)s %(request)s", defaults={"request": "-"}))
    handler.addFilter(Redactor(["opensesame"]).log_filter())
    logger = logging.Logger("test_redaction")
    logger.addHandler(handler)
    yield logger, out
    handler.close()


def test_a_record_holds_no_secret_in_message_arguments_or_fields(log: tuple[logging.Logger, io.StringIO]) -> None:
    logger, out = log
    logger.info("use %s with %s", TOKEN, {"password": "hunter42"}, extra={"request": {"apiKey": "x1-y2-z3"}})
    logger.info("opensesame")
    assert out.getvalue().splitlines() == [
        f"use {HIDDEN} with {{'password': '[REDACTED:password]'}} {{'apiKey': '[REDACTED:key]'}}",
        "[REDACTED:setting] -",
    ]


def test_a_record_holds_no_secret_in_its_traceback_and_stack(log: tuple[logging.Logger, io.StringIO]) -> None:
    logger, out = log
    try:
        raise ValueError(f"bad {TOKEN}")
    except ValueError:
        logger.exception("failed", stack_info=True)
    assert TOKEN not in out.getvalue()
    assert f"ValueError: bad {HIDDEN}" in out.getvalue()
    assert "Stack" in out.getvalue()


def test_a_record_with_wrong_arguments_is_shown_without_secrets(log: tuple[logging.Logger, io.StringIO]) -> None:
    logger, out = log
    logger.info("%d %d", TOKEN)  # noqa: PLE1206 - the mistake is what is tested
    assert HIDDEN in out.getvalue()
    assert TOKEN not in out.getvalue()


def test_a_record_whose_redaction_fails_is_withheld() -> None:
    from mcp_curated_shared.security.redaction.records import WITHHELD, RedactingFilter

    def fail(text: str) -> str:
        raise RuntimeError(text)

    record = logging.makeLogRecord({"msg": "secret %s", "args": (TOKEN,)})
    assert RedactingFilter(fail, dict).filter(record)
    assert record.getMessage() == WITHHELD
