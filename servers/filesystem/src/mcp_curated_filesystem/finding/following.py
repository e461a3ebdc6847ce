"""The next call in a reply of bounded length: an argument that is too long to repeat is named instead."""

import json

from mcp_curated_shared.security.limits import call_text

LONGEST_PATH = 3_000
LONGEST_VALUE = 500
"""Characters of JSON that a path, or another argument, may take in a call that a reply names."""

_TOO_LONG = "(too long to repeat)"


def following_call(tool: str, **arguments: object) -> str:
    """Write a call as `call_text` does, with what is too long left to the reader.

    Args:
        tool: The tool's listed name.
        arguments: Its arguments by their listed names; None leaves one out.
    """
    return call_text(tool, **{name: _bounded(name, value) for name, value in arguments.items()})


def _bounded(name: str, value: object) -> object:
    most = LONGEST_PATH if name == "path" else LONGEST_VALUE
    return value if value is None or len(json.dumps(value, ensure_ascii=False)) <= most else _TOO_LONG
