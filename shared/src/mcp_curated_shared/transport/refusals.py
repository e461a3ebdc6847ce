"""What a client hears over HTTP of a body that is no message.

The SDK answers one of the handshake versions with its validator's report, a page of internal type names. Clients of
2026-07-28 get the SDK's own sentence, which is plain.
"""

import json
from typing import Final

from mcp_types import INVALID_REQUEST
from starlette.types import Message, Send

_REPORT: Final = b'"message":"Validation error: '
_TEXT: Final = (
    'Not a JSON-RPC 2.0 message: the body is one object with "jsonrpc": "2.0", a method, and params that are an object '
    "if there are any. Batches are not supported."
)
_ANSWER: Final = json.dumps(
    {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": _TEXT}}, separators=(",", ":")
).encode("ascii")


def explained(send: Send) -> Send:
    """Wrap the channel of one response: a validator's report leaves as one sentence, all else as it is."""
    held: list[Message] = []

    async def watched(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 400:
            held.append(message)  # until the body tells why
            return
        if held:
            start = held.pop()
            if _REPORT in message.get("body", b""):
                start, message = _plain(start), {**message, "body": _ANSWER}
            await send(start)
        await send(message)

    return watched


def _plain(start: Message) -> Message:
    headers = [(name, value) for name, value in start.get("headers", ()) if name.lower() != b"content-length"]
    return {**start, "headers": [*headers, (b"content-length", str(len(_ANSWER)).encode("ascii"))]}
