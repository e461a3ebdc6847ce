"""A foreseen failure is told to its reader; a crash only to the log."""

import itertools
import logging
from typing import Any

import pytest
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError

from mcp_curated_shared.errors import (
    CuratedError,
    InvalidArgumentError,
    NotAllowedError,
    NotFoundError,
    UnavailableError,
)
from mcp_curated_shared.testing import ERAS, Era, over_memory
from mcp_curated_shared.testing.contract import error_text
from mcp_curated_shared.transport.failures import ERROR_META_KEY, failed_tool, foreseen, protocol_error
from tests.shared.testing.sample_server import build

both_eras = pytest.mark.parametrize("era", ERAS)


@pytest.mark.anyio
@both_eras
@pytest.mark.parametrize(
    ("tool", "arguments", "text", "kind"),
    [
        ("fail", {"how": "foreseen"}, "There is no moon. Ask for the sun.", "not_found"),
        ("fail", {"how": "deliberate"}, "Said on purpose.", "error"),
        ("fail", {"how": "crash"}, "Error executing tool fail", "internal"),
        ("stumble", {}, "The resolver met a conflict. Try later.", "conflict"),
    ],
)
async def test_a_failure_is_told_in_its_own_words_with_its_kind(
    era: Era, tool: str, arguments: dict[str, Any], text: str, kind: str
) -> None:
    async with over_memory(build(), era) as client:
        result = await client.call_tool(tool, arguments)
    assert error_text(result) == text
    assert (result.meta or {})[ERROR_META_KEY] == {"kind": kind}
    assert result.structured_content is None


@pytest.mark.anyio
@both_eras
async def test_a_crash_is_in_the_log_with_its_traceback(era: Era, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        async with over_memory(build(), era) as client:
            await client.call_tool("fail", {"how": "crash"})
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "fail" in record.getMessage()
    assert "the inside of the program" in caplog.text


@pytest.mark.anyio
async def test_wrong_arguments_are_logged_without_their_values(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "mcp_curated_shared"):
        async with over_memory(build(), "legacy") as client:
            await client.call_tool("look", {"name": 123456789, "limit": "987654321"})
    said = [record.getMessage() for record in caplog.records if record.name.startswith("mcp_curated_shared")]
    assert said == ["tool 'look' failed: invalid_argument"]


@pytest.mark.anyio
@both_eras
async def test_a_client_that_cannot_be_asked_gets_the_protocols_own_error(era: Era) -> None:
    async with over_memory(build(), era) as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("ask", {})
    assert refused.value.code == -32021


def chained(*errors: BaseException) -> BaseException:
    for outer, inner in itertools.pairwise(errors):
        outer.__cause__ = inner
    return errors[0]


def test_a_foreseen_failure_behind_a_crash_stays_a_crash() -> None:
    error = chained(UnexpectedToolError("outer"), RuntimeError("crash"), NotFoundError("inner"))
    assert foreseen(error) is None
    assert foreseen(chained(UnexpectedToolError("outer"), RuntimeError("crash"))) is None
    assert foreseen(chained(ToolError("outer: said"), UnexpectedToolError("inner"), RuntimeError("crash"))) is not None


def test_the_innermost_deliberate_text_is_what_counts() -> None:
    found = foreseen(chained(ToolError("prefix: prefix: said"), ToolError("prefix: said"), ToolError("said")))
    assert str(found) == "said"
    missing = foreseen(chained(ToolError("prefix: gone"), ResourceNotFoundError("gone")))
    assert missing is not None and missing.kind == "not_found"


@pytest.mark.parametrize(
    ("error", "modern", "legacy"),
    [
        (NotFoundError("x"), -32602, -32002),
        (CuratedError("x", kind="not_found"), -32602, -32002),
        (InvalidArgumentError("x"), -32602, -32602),
        (NotAllowedError("x"), -32602, -32602),
        (UnavailableError("x"), -32603, -32603),
    ],
)
def test_a_failure_has_the_code_of_its_era(error: CuratedError, modern: int, legacy: int) -> None:
    assert protocol_error(error, "2026-07-28").code == modern
    assert protocol_error(error, "2025-11-25").code == legacy
    assert protocol_error(error, None).code == modern


def test_a_failure_text_can_always_be_sent() -> None:
    bad = NotFoundError("no \udce9")
    assert "\\xe9" in str(failed_tool(bad).content)
    assert protocol_error(bad, None).message == "no \\xe9"
