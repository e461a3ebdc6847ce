"""A server as many are: it checks where a path leads, then opens the path by its name. The race must catch it.

`naive_server.py DIR`, over stdio, one request at a time, with the tool names and arguments of ours.
"""

import json
import os
import sys
from collections.abc import Callable
from typing import Any


def _checked(root: str, path: str) -> str:
    if not os.path.realpath(path).startswith(f"{root}/"):
        raise PermissionError("outside")
    return path


def _read(path: str, **_: Any) -> str:
    with open(path) as file:
        return file.read()


def _write(path: str, content: str, **_: Any) -> str:
    with open(path, "w") as file:
        file.write(content)
    return "written"


def _list(path: str) -> str:
    return "\n".join(os.listdir(path))


TOOLS: dict[str, Callable[..., str]] = {"read_file": _read, "write_file": _write, "list_directory": _list}


def _answer(root: str, message: dict[str, Any]) -> dict[str, Any]:
    if message["method"] != "tools/call":
        return {}
    arguments = message["params"]["arguments"]
    kind, failed = None, False
    try:
        _checked(root, arguments["path"])
        text = TOOLS[message["params"]["name"]](**arguments)
    except OSError as error:
        text, kind, failed = type(error).__name__, "outside_roots", True
    content = [{"type": "text", "text": text}]
    return {"content": content, "isError": failed, "_meta": {"mcp-curated/error": {"kind": kind}}}


def main(root: str) -> None:
    """Serve until standard input closes."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], "result": _answer(os.path.realpath(root), message)}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
