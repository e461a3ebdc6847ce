"""JSON-RPC over lines: what one line of standard input means, and what to answer when it means nothing.

The SDK drops a line that it cannot read, and its sender waits for ever. Here each gets an answer, with the request's
id where that can be read (JSON-RPC 2.0, section 5).
"""

import json
import re
from dataclasses import dataclass
from typing import cast

from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes. A 12 MB text is at most twice that in ordinary JSON, six times if all of it is escaped."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message for the server."""

    message: JSONRPCMessage


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line beyond `LONGEST_LINE`; `edges` are its first and last bytes, all that was kept of it."""

    edges: bytes


@dataclass(frozen=True, slots=True)
class Refused:
    """A line that is none; `reply` goes back."""

    reply: JSONRPCError


def read_line(line: bytes) -> Arrived | Refused | None:
    """What the client said with `line` (without its line end); None for a blank one.

    A response to a question of ours that cannot be read arrives as an error response, so that whoever asked learns
    of it.
    """
    if line.startswith(b"\xef\xbb\xbf"):  # a byte order mark, as PowerShell writes one before the first line
        line = line[3:]
    if not line or line.isspace():
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        return _unreadable(line)
    if isinstance(message, JSONRPCNotification) and b'"id"' in line:
        # The SDK takes an id that is null, a fraction or a boolean for none and so would never answer.
        parsed = _parse(line)
        if isinstance(parsed, dict) and "id" in parsed:
            return _refusal(None, INVALID_REQUEST, "The id of a request is a string or an integer.")
    return Arrived(message)


def too_long(line: TooLong) -> Refused:
    """The answer to a line beyond `LONGEST_LINE`."""
    limit = LONGEST_LINE // (1024 * 1024)
    return _refusal(recovered_id(line.edges), INVALID_REQUEST, f"A message is at most {limit} MiB. Send it in parts.")


def _parse(text: bytes | str) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):  # also an integer of more than 4300 digits
        return None


def _unreadable(line: bytes) -> Arrived | Refused:
    text = line.decode("utf-8", "replace")
    parsed = _parse(text)
    if isinstance(parsed, list):
        return _refusal(None, INVALID_REQUEST, "Batches are not supported: send one message a line.")
    if not isinstance(parsed, dict):
        return _refusal(recovered_id(line), PARSE_ERROR, "This line is not a JSON object that can be read.")
    envelope = cast("dict[str, object]", parsed)
    request_id = _usable_id(envelope.get("id"))
    error = _diagnosis(line, text, envelope)
    if request_id is not None and "method" not in envelope and ("result" in envelope or "error" in envelope):
        return Arrived(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))
    return Refused(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


# One member of the outermost object whose value is no object or array; and an id among the last members of it.
_MEMBER = re.compile(rb'\s*"((?:[^"\\]|\\.){0,64}+)"\s*:\s*("(?:[^"\\]|\\.){0,256}+"|[-+.\w]{1,32}+)\s*[,}]')
_AT_THE_END = re.compile(
    rb'[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.){0,256}+"|-?\d{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
)
EDGE_BYTES = 1024
"""How much of the beginning and of the end of a line is looked at for an id."""


def recovered_id(line: bytes) -> RequestId | None:
    """The id of a request that cannot be parsed: nested too deep, or with a number that is too long.

    Only the beginning and the end of the line are looked at: clients write the id before the parameters or last. What
    is matched there cannot be a part of a text (its quotes would be escaped) nor of an inner object (none is passed
    on the way, and the last brace is the outermost).

    Args:
        line: What came, or as much of its beginning and end as is at hand.
    """
    if not line[-EDGE_BYTES:].rstrip().endswith(b"}"):
        return None  # cut off: what was meant nobody knows
    head = line[:EDGE_BYTES]
    at = len(head) - len(head.lstrip()) + 1
    while head.lstrip()[:1] == b"{" and (member := _MEMBER.match(head, at)) is not None:
        if member[1] == b"id":
            return _usable_id(_parse(member[2]))
        at = member.end()
    found = _AT_THE_END.search(line[-EDGE_BYTES:])
    return _usable_id(_parse(found[1])) if found else None


def _usable_id(value: object) -> RequestId | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return value if isinstance(value, str) and not _LONE_SURROGATE.search(value) else None


def _diagnosis(line: bytes, text: str, envelope: dict[str, object]) -> ErrorData:
    """Say what is wrong with a line that is a JSON object for Python, yet no JSON-RPC message."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"This line is not UTF-8: byte 0x{line[error.start]:02x} at offset {error.start}."
        return ErrorData(code=PARSE_ERROR, message=message)
    lone = _LONE_SURROGATE.search(json.dumps(envelope, ensure_ascii=False)) if "\\u" in text else None
    if lone is not None:
        return ErrorData(
            code=INVALID_PARAMS,
            message=f"A string holds half a surrogate pair, \\u{ord(lone.group()):04x}, which no Unicode text can "
            "hold. Use the escaped form in which this server shows such names.",
        )
    if envelope.get("jsonrpc") == "2.0" and isinstance(envelope.get("method"), str):
        return ErrorData(code=INVALID_REQUEST, message="Its params are no object, or nested too deeply.")
    return ErrorData(
        code=INVALID_REQUEST, message='Not a JSON-RPC 2.0 message: it needs "jsonrpc": "2.0" and a method.'
    )


def _refusal(request_id: RequestId | None, code: int, message: str) -> Refused:
    return Refused(JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=message)))


def write_line(message: JSONRPCMessage) -> bytes:
    """The line that carries `message`, line end included.

    Text that is not valid Unicode never gets this far; should it, its lone surrogates leave as visible escapes,
    where the SDK would end the server.
    """
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
        return text.encode("utf-8") + b"\n"
    except (ValueError, UnicodeError):  # pydantic's serialisation error is a ValueError
        plain = message.model_dump(by_alias=True, exclude_unset=True)
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        return _LONE_SURROGATE.sub(lambda half: f"\\\\u{ord(half.group()):04x}", text).encode("utf-8") + b"\n"
