"""Each tool does its work through the protocol, in both eras; what it does in detail is tested below it."""

import json
import os
from pathlib import Path

import anyio
import pytest
from mcp_types import ImageContent, ResourceLink, TextContent

from mcp_curated_shared.testing.clients import LEGACY, MODERN, Era, Way
from tests.filesystem.server.serving import call, refused, serve, text_of

pytestmark = pytest.mark.anyio

TINY_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


async def test_reading_gives_facts_and_then_the_text_exactly(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        result = await client.call_tool("read_file", {"path": str(notes / "deep/b.py")})
    facts, body = result.content
    assert isinstance(facts, TextContent) and isinstance(body, TextContent)
    assert "CRLF" in facts.text
    assert body.text == "def main():\r\n    return 1\r\n"
    assert result.structured_content is None, "the text would be sent twice"


async def test_a_cut_page_names_a_next_call_that_gives_the_rest(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        first = await call(client, "read_file", path="a.txt", limit=1)
        assert '"offset": 2' in first
        rest = await call(client, "read_file", path="a.txt", offset=2)
    assert rest.endswith("two\nthree\n")


async def test_the_official_names_for_reading_and_listing_still_answer(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        assert "one" in await call(client, "read_text_file", path="a.txt", head=1)
        assert "a.txt" in await call(client, "list_directory_with_sizes", path=str(notes), sortBy="size")
        listed = {tool.name for tool in (await client.list_tools()).tools}
    assert not listed & {"read_text_file", "list_directory_with_sizes"}


async def test_several_files_come_each_in_blocks_of_their_own(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        result = await client.call_tool("read_multiple_files", {"paths": ["a.txt", "missing.txt", "deep/b.py"]})
    assert not result.is_error
    told = [block.text for block in result.content if isinstance(block, TextContent)]
    assert told[1] == "one\ntwo\nthree\n"
    assert "missing.txt" in told[2]
    assert told[4].startswith("def main()")


async def test_an_image_comes_as_an_image_and_another_binary_as_a_link(notes: Path, era: Era) -> None:
    (notes / "dot.dat").write_bytes(TINY_PNG)
    (notes / "thing.bin").write_bytes(bytes(range(256)) * 4)
    async with serve("memory", era, [notes]) as client:
        image = await client.call_tool("read_media_file", {"path": "dot.dat"})
        other = await client.call_tool("read_media_file", {"path": "thing.bin"})
    shown = next(block for block in image.content if isinstance(block, ImageContent))
    assert shown.mime_type == "image/png"
    link = next(block for block in other.content if isinstance(block, ResourceLink))
    assert link.uri == (notes / "thing.bin").as_uri()


async def test_structured_results_say_the_same_as_their_text(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        info = await client.call_tool("get_file_info", {"path": "deep/b.py"})
        found = await client.call_tool("search_files", {"path": str(notes), "pattern": "*.md"})
        lines = await client.call_tool("search_content", {"path": str(notes), "pattern": "return"})
    assert info.structured_content is not None and info.structured_content["line_ending"] == "CRLF"
    assert info.structured_content["version"] in text_of(info)
    assert found.structured_content is not None and found.structured_content["paths"] == ["deep/deeper/c.md"]
    assert "deep/deeper/c.md" in text_of(found)
    assert lines.structured_content is not None
    assert lines.structured_content["matches"] == [{"path": "deep/b.py", "line": 2, "text": "    return 1"}]
    assert "return 1" in text_of(lines)


async def test_counting_and_naming_files_are_structured_too(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        counts = await client.call_tool("search_content", {"path": str(notes), "pattern": "t", "mode": "count"})
        files = await client.call_tool("search_content", {"path": str(notes), "pattern": "t", "mode": "files"})
    assert counts.structured_content is not None and files.structured_content is not None
    assert {"path": "a.txt", "count": 2} in counts.structured_content["matches"]
    assert {"path": "a.txt"} in files.structured_content["matches"]


async def test_an_edit_is_shown_dry_made_and_refused_at_another_version(notes: Path, era: Era) -> None:
    edits = [{"oldText": "two", "newText": "zwei"}]
    async with serve("memory", era, [notes]) as client:
        dry = await call(client, "edit_file", path="a.txt", edits=edits, dryRun=True)
        assert "+zwei" in dry and (notes / "a.txt").read_bytes() == b"one\ntwo\nthree\n"
        await call(client, "edit_file", path="a.txt", edits=edits)
        assert (notes / "a.txt").read_bytes() == b"one\nzwei\nthree\n"
        again = await refused(
            client, "edit_file", path="a.txt", edits=[{"oldText": "one", "newText": "1"}], ifVersion="v:000000000000"
        )
    assert "v:" in again
    assert (notes / "a.txt").read_bytes() == b"one\nzwei\nthree\n"


async def test_writing_makes_folders_and_modes_hold(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        await call(client, "write_file", path="new/deep/x.txt", content="eins\n")
        await call(client, "write_file", path="new/deep/x.txt", content="zwei\n", mode="append")
        await refused(client, "write_file", path="new/deep/x.txt", content="-", mode="create")
    assert (notes / "new/deep/x.txt").read_text() == "eins\nzwei\n"


async def test_content_that_is_json_may_be_sent_as_it_is(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        await call(client, "write_file", path="data.json", content={"name": "Köln", "list": [1, 2]})
    written = (notes / "data.json").read_text(encoding="utf-8")
    assert json.loads(written) == {"name": "Köln", "list": [1, 2]}
    assert written.startswith('{\n  "name": "Köln"')
    assert written.endswith("}\n")


async def test_moving_copying_and_making_folders(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        await call(client, "create_directory", path="made/here")
        await call(client, "create_directory", path="made/here")
        await call(client, "copy_file", source="deep", destination="made/copy")
        await call(client, "move_file", source="a.txt", destination="made/moved.txt")
        await refused(client, "move_file", source="deep/b.py", destination="made/moved.txt")
        await refused(client, "copy_file", source="deep/b.py", destination="made/moved.txt")
    assert (notes / "made/copy/deeper/c.md").is_file()
    assert not (notes / "a.txt").exists()
    assert (notes / "made/moved.txt").read_bytes() == b"one\ntwo\nthree\n"


async def test_trees_and_listings_are_shown(notes: Path, era: Era) -> None:
    async with serve("memory", era, [notes]) as client:
        tree = await call(client, "directory_tree", path=str(notes), depth=2)
        listed = await call(client, "list_directory", path=str(notes), pattern="*.txt")
    assert "b.py" in tree and "deeper/" in tree and "c.md" not in tree
    assert "a.txt" in listed and "deep/" not in listed


async def test_the_allowed_folders_are_told_with_their_rights(notes: Path, tmp_path: Path, era: Era) -> None:
    arguments = [notes, f"{tmp_path / 'missing'}:ro"]
    async with serve("memory", era, arguments) as client:
        told = await call(client, "list_allowed_directories")
    assert told.splitlines() == [
        f"{notes} (label notes, read and write)",
        f"{tmp_path / 'missing'} (label missing, read-only, not available now)",
    ]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": "{private}/secret.txt"}),
        ("read_file", {"path": "out/secret.txt"}),
        ("read_file", {"path": "../private/secret.txt"}),
        ("read_multiple_files", {"paths": []}),
        ("get_file_info", {"path": "{private}"}),
        ("list_directory", {"path": "out"}),
        ("directory_tree", {"path": "{private}"}),
        ("search_files", {"path": "{private}", "pattern": "*"}),
        ("search_content", {"path": "out", "pattern": "not"}),
        ("write_file", {"path": "out/new.txt", "content": "x"}),
        ("write_file", {"path": "{private}/secret.txt", "content": "x"}),
        ("edit_file", {"path": "out/secret.txt", "edits": [{"oldText": "not", "newText": "x"}]}),
        ("create_directory", {"path": "{private}/new"}),
        ("move_file", {"source": "a.txt", "destination": "{private}/a.txt"}),
        ("move_file", {"source": "{private}/secret.txt", "destination": "s.txt"}),
        ("copy_file", {"source": "out/secret.txt", "destination": "s.txt"}),
    ],
)
async def test_no_tool_reaches_outside(notes: Path, era: Era, tool: str, arguments: dict[str, object]) -> None:
    private = notes.parent / "private"
    given = {
        name: value.format(private=private) if isinstance(value, str) else value for name, value in arguments.items()
    }
    before = sorted(path.name for path in private.iterdir())
    async with serve("memory", era, [notes]) as client:
        told = await refused(client, tool, **given)
    assert "not for you" not in told
    assert sorted(path.name for path in private.iterdir()) == before
    assert (private / "secret.txt").read_text() == "not for you\n"
    assert (notes / "a.txt").exists() and not (notes / "s.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"path": "a.txt", "ofset": 2}, "offset"),
        ({"path": "a.txt", "offset": "2"}, "offset"),
        ({"path": "a.txt", "offset": 0}, "offset"),
        ({"path": "a.txt", "offset": 1.5}, "offset"),
        ({"path": "a.txt", "head": -1}, "head"),
        ({"path": "a.txt", "head": 1, "tail": 1}, "tail"),
        ({"path": 7}, "path"),
        ({}, "path"),
    ],
)
async def test_a_wrong_argument_is_named_in_one_line(
    notes: Path, era: Era, arguments: dict[str, object], named: str
) -> None:
    async with serve("memory", era, [notes]) as client:
        assert named in await refused(client, "read_file", **arguments)


async def test_a_read_only_server_and_a_read_only_folder_change_nothing(notes: Path, era: Era) -> None:
    async with serve("memory", era, [f"{notes}:ro"]) as client:
        told = await refused(client, "write_file", path="a.txt", content="x")
        assert "read-only" in told
    async with serve("memory", era, [notes, "--read-only"]) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
    assert tools == {
        "read_file", "read_multiple_files", "read_media_file", "get_file_info", "list_directory", "directory_tree",
        "search_files", "search_content", "list_allowed_directories",
    }  # fmt: skip
    assert (notes / "a.txt").read_bytes() == b"one\ntwo\nthree\n"


async def test_denied_paths_are_out_of_reach_for_reading_listing_and_moving(notes: Path, era: Era) -> None:
    (notes / ".env").write_text("KEY=1\n")
    (notes / "deep" / ".env").write_text("KEY=2\n")
    async with serve("memory", era, [notes, "--deny", ".env"]) as client:
        await refused(client, "read_file", path=".env")
        await refused(client, "move_file", source=".env", destination="env.txt")
        await refused(client, "move_file", source="a.txt", destination="deep/.env")
        assert ".env" not in await call(client, "list_directory", path=str(notes))
        assert "KEY" not in (await call(client, "search_content", path=str(notes), pattern="=", mode="content"))
        await call(client, "copy_file", source="deep", destination="copied")
    assert not (notes / "copied" / ".env").exists()


@pytest.mark.parametrize("way", ["stdio", "http"])
async def test_twelve_megabytes_are_written_over_each_transport(notes: Path, era: Era, way: Way) -> None:
    content = "0123456789abcdef\n" * (12_000_000 // 17)
    async with serve(way, era, [notes]) as client:
        await call(client, "write_file", path="big.txt", content=content)
    assert (notes / "big.txt").read_text() == content


async def test_a_name_that_is_no_text_is_listed_and_can_be_read_back(notes: Path, era: Era) -> None:
    name = b"caf\xe9\n[FILE] forged.txt"
    (notes / os.fsdecode(name)).write_text("here\n")
    async with serve("stdio", era, [notes]) as client:
        listed = await call(client, "list_directory", path=str(notes))
        shown = next(line for line in listed.splitlines() if "caf" in line).split(" ", 3)[-1].strip()
        shown = shown[shown.index("caf") :]
        assert "here" in await call(client, "read_file", path=f"{notes}/{shown}")
        info = await client.call_tool("get_file_info", {"path": f"{notes}/{shown}"})
        assert not info.is_error


async def test_twenty_edits_at_once_are_all_there(notes: Path, era: Era) -> None:
    (notes / "lines.txt").write_text("".join(f"line {n:03}\n" for n in range(20)))
    async with serve("stdio", era, [notes]) as client, anyio.create_task_group() as tasks:

        async def edit(number: int) -> None:
            await call(
                client, "edit_file", path="lines.txt",
                edits=[{"oldText": f"line {number:03}", "newText": f"edited {number:03}"}],
            )  # fmt: skip

        for number in range(20):
            tasks.start_soon(edit, number)
    assert (notes / "lines.txt").read_text() == "".join(f"edited {n:03}\n" for n in range(20))


async def test_fifty_reads_of_a_pipe_are_refused_and_the_server_answers_on(notes: Path, era: Era) -> None:
    os.mkfifo(notes / "pipe")
    async with serve("stdio", era, [notes]) as client:
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                for _ in range(50):
                    tasks.start_soon(lambda: refused(client, "read_file", path="pipe"))
            assert "one" in await call(client, "read_file", path="a.txt")


async def test_the_eras_are_really_two(notes: Path) -> None:
    versions: tuple[tuple[Era, str], ...] = ((LEGACY, "2025-11-25"), (MODERN, "2026-07-28"))
    for era, version in versions:
        async with serve("memory", era, [notes]) as client:
            assert client.session.protocol_version == version
