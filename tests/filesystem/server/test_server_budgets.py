"""No reply of any tool is longer than the budget, whatever the names, the texts and the arguments are made of."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp_types import TextContent

from mcp_curated_shared.security.confinement import escape_name
from mcp_curated_shared.security.limits import DEFAULT_BUDGET
from mcp_curated_shared.testing.clients import MODERN
from tests.filesystem.server.serving import serve

pytestmark = pytest.mark.anyio

NAMES = {
    "plain": "n" * 150,
    "wide": "\u6f22" * 50,
    "quotes": "\"\\'" * 50,
    "no text": os.fsdecode(b"\xe9" * 150),
}
LINES = {
    "words": "word " * 300,
    "wide": "\u6f22" * 1_900,
    "bidirectional": "\u202ea" * 900,
    "quotes": '"\\' * 900,
    "colours": "a\x1b[31m" * 300,
    "tabs": "\t" * 1_900,
    "spaces": "\u00a0x" * 900,
}
LONG = "\u202e" * 60_000

Call = tuple[str, Mapping[str, Any]]


def _deep(root: Path, name: str) -> tuple[Path, int]:
    """A chain of directories with the longest path that tools take, and a descriptor of its end."""
    depth = (3_600 - len(str(root))) // (len(os.fsencode(name)) + 1)
    held, path = os.open(root, os.O_RDONLY), root
    for _ in range(depth):
        os.mkdir(name, dir_fd=held)
        deeper = os.open(name, os.O_RDONLY, dir_fd=held)
        os.close(held)
        held, path = deeper, path / name
    return path, held


def _fill(held: int, name: str) -> None:
    for number in range(120):
        os.mkdir(f"d{number:03}{name}", dir_fd=held)
        _write(held, f"{number:03}{name}", "needle x\n" * 3)
    for kind, line in LINES.items():
        _write(held, f"{kind}.txt", "".join(f"needle {number} {line}\n" for number in range(30)))


def _write(held: int, name: str, text: str) -> None:
    descriptor = os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=held)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


@pytest.fixture(params=NAMES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A root, and the shown path of a deep and full directory in it."""
    name = NAMES[request.param]
    root = tmp_path / "r"
    root.mkdir()
    try:
        path, held = _deep(root, name)
        _fill(held, name)
    except OSError:
        pytest.skip("such names do not exist here")
    os.close(held)
    yield root, escape_name(str(path))


def _looking(folder: str) -> Iterator[Call]:
    yield "list_directory", {"path": folder, "limit": 5_000}
    yield "directory_tree", {"path": folder, "depth": 20}
    yield "get_file_info", {"path": folder}
    yield "list_allowed_directories", {}
    for pattern in ("*", "zzz.q", LONG):
        yield "search_files", {"path": folder, "pattern": pattern, "limit": 1_000}
    for mode in ("content", "files", "count"):
        for context in (0, 20):
            yield (
                "search_content",
                {"path": folder, "pattern": "needle", "mode": mode, "limit": 2000, "context": context},
            )
    yield "search_content", {"path": folder, "pattern": "needle", "limit": 1, "excludePatterns": ["q" * 9_000] * 5}


def _reading(folder: str) -> Iterator[Call]:
    for kind in LINES:
        file = f"{folder}/{kind}.txt"
        for options in ({}, {"limit": 1}, {"tail": 3}, {"offset": 10**9}, {"encoding": LONG}):
            yield "read_file", {"path": file, **options}
        yield "search_content", {"path": file, "pattern": "needle", "limit": 2_000}
    yield "read_multiple_files", {"paths": [f"{folder}/{kind}.txt" for kind in LINES] * 14}
    yield "read_multiple_files", {"paths": [f"{folder}/absent{number}" for number in range(40)]}
    yield "read_media_file", {"path": f"{folder}/words.txt"}
    yield "read_file", {"path": LONG}


def _writing(folder: str) -> Iterator[Call]:
    for kind, line in LINES.items():
        file = f"{folder}/{kind}.txt"
        missing = [{"oldText": f"{'x' * number}needle {line} q\n" * 40, "newText": "b"} for number in range(10)]
        yield "edit_file", {"path": file, "edits": missing}
        every = {"oldText": "needle", "newText": f"{line}\n{line}", "replaceAll": True}
        yield "edit_file", {"path": file, "edits": [every], "dryRun": True}
        yield "edit_file", {"path": file, "edits": [{"oldText": "needle", "newText": "x"}], "dryRun": True}
    words = f"{folder}/words.txt"
    yield "write_file", {"path": words, "content": "x", "ifVersion": LONG}
    yield "write_file", {"path": f"{folder}/{LONG}", "content": "x"}
    yield "create_directory", {"path": words}
    for tool in ("copy_file", "move_file"):
        yield tool, {"source": words, "destination": folder}
        yield tool, {"source": LONG, "destination": LONG}


async def test_no_reply_is_longer_than_the_budget(place: tuple[Path, str]) -> None:
    root, folder = place
    long: list[str] = []
    async with serve("memory", MODERN, [root]) as client:
        for tool, arguments in (*_looking(folder), *_looking(str(root)), *_reading(folder), *_writing(folder)):
            result = await client.call_tool(tool, dict(arguments))
            text = sum(len(block.text) for block in result.content if isinstance(block, TextContent))
            structure = len(json.dumps(result.structured_content, ensure_ascii=False))
            if max(text, structure) > DEFAULT_BUDGET.characters:
                long.append(f"{tool} {ascii(arguments)[-80:]}: {text:,} of text, {structure:,} of structure")
    assert not long, "\n".join(long)


@pytest.mark.parametrize("kind", NAMES)
async def test_a_tree_is_at_most_48_kilobytes_in_any_script(tmp_path: Path, kind: str) -> None:
    for number in range(120):
        try:
            folder = tmp_path / f"{number:03}{NAMES[kind]}"
            folder.mkdir()
            for inner in range(5):
                (folder / f"{inner}{NAMES[kind]}").touch()
        except OSError:
            pytest.skip("such names do not exist here")
    async with serve("memory", MODERN, [tmp_path]) as client:
        result = await client.call_tool("directory_tree", {"path": str(tmp_path)})
    block = result.content[0]
    assert isinstance(block, TextContent)
    assert 10_000 < len(block.text.encode()) <= 48 * 1024


async def test_a_search_that_fills_its_reply_says_what_is_left(tmp_path: Path) -> None:
    tmp_path = tmp_path / "r"
    tmp_path.mkdir()
    (tmp_path / "f.txt").write_text("".join(f"needle {number} {'x' * 900}\n" for number in range(200)))
    async with serve("memory", MODERN, [tmp_path]) as client:
        for path in (tmp_path, tmp_path / "f.txt"):
            asked = {"path": str(path), "pattern": "needle", "limit": 2_000}
            result = await client.call_tool("search_content", asked)
            block = result.content[0]
            assert isinstance(block, TextContent)
            shown = block.text.count(": needle ")
            assert 0 < shown < 200
            assert f"[Cut: {shown:,} of 200 matching lines." in block.text
    assert f'"offset": {shown + 1}' in block.text
