"""The filesystem server's part of the tour: read, search, edit, restore, and three ways out that are shut."""

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tour.stage import Stage, text_of

REPOSITORY = Path(__file__).resolve().parents[2]


def make_sample(folder: Path) -> Path:
    """A folder of real notes: this repository's own documents, beside a private file that nobody offered.

    Returns:
        The folder that the server gets.
    """
    notes = folder.resolve() / "notes"
    notes.mkdir(parents=True)
    for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        shutil.copy(REPOSITORY / name, notes / name)
    shutil.copytree(REPOSITORY / "docs", notes / "docs")
    private = notes.parent / "private"
    private.mkdir()
    (private / "diary.txt").write_text("Nobody was meant to read this.\n", encoding="utf-8")
    (notes / "shortcut").symlink_to(private, target_is_directory=True)
    (notes / "todo.txt").write_bytes(b"buy milk\r\ncall the plumber\r\nfeed the cat\n")
    return notes


def digest(path: Path) -> str:
    """The SHA-256 of a file, shortened for the eye."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


async def tour(stage: Stage) -> None:
    """Run the tour on a sample folder that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="mcp-curated-tour-") as name:
        notes = make_sample(Path(name))
        folder = notes.parent
        command = StdioServerParameters(
            command=sys.executable, args=["-m", "mcp_curated_filesystem", str(notes)], cwd="/"
        )
        stage.heading(
            "Filesystem server",
            f"Started as a host starts it: a process that speaks MCP over stdin and stdout, for one folder, {notes}.",
        )
        async with Client(command) as client:
            listed = await client.list_tools()
            stage.verdict(
                len(listed.tools) >= 13, f"{len(listed.tools)} tools: {', '.join(t.name for t in listed.tools)}"
            )
            await read_and_search(stage, client, notes)
            await edit_and_restore(stage, client, notes / "todo.txt")
            await try_to_escape(stage, client, folder, notes)


async def read_and_search(stage: Stage, client: Client, notes: Path) -> None:
    """The reading tools on real files."""
    await stage.call(client, "list_directory", {"path": str(notes)}, expect="the folder is listed")
    await stage.call(
        client,
        "read_file",
        {"path": "SECURITY.md", "limit": 6},
        expect="a page is read, with the next call named",
        lines=12,
    )
    await stage.call(
        client, "search_files", {"path": str(notes), "pattern": "*.md", "limit": 5}, expect="files are found by name"
    )
    await stage.call(
        client,
        "search_content",
        {"path": str(notes), "pattern": "context", "glob": "docs/**", "limit": 5},
        expect="text is found, with line numbers",
    )


async def edit_and_restore(stage: Stage, client: Client, todo: Path) -> None:
    """An edit as a dry run, for real, and back; the bytes prove it."""
    before = digest(todo)
    stage.say(f"todo.txt mixes CRLF and LF line endings; its SHA-256 begins {before}.")
    there = [{"oldText": "call the plumber", "newText": "call the plumber at nine"}]
    back = [{"oldText": "call the plumber at nine", "newText": "call the plumber"}]
    await stage.call(
        client, "edit_file", {"path": str(todo), "edits": there, "dryRun": True}, expect="a dry run shows the change"
    )
    stage.verdict(digest(todo) == before, "and has changed nothing")
    await stage.call(client, "edit_file", {"path": str(todo), "edits": there}, expect="the edit is made")
    edited = b"buy milk\r\ncall the plumber at nine\r\nfeed the cat\n"
    stage.verdict(digest(todo) == hashlib.sha256(edited).hexdigest()[:16], "every other byte is as it was")
    await stage.call(client, "edit_file", {"path": str(todo), "edits": back}, expect="and edited back")
    stage.verdict(digest(todo) == before, f"the file is restored to the byte: {digest(todo)}")


async def try_to_escape(stage: Stage, client: Client, folder: Path, notes: Path) -> None:
    """Three ways to the private file beside the folder; each must be refused."""
    stage.say(f"Beside the folder lies {folder / 'private' / 'diary.txt'}, and a link in the folder points at it.")
    for path, way in (
        (str(folder / "private" / "diary.txt"), "an absolute path to it is refused"),
        (f"{notes}/../private/diary.txt", "a path that climbs out is refused"),
        (f"{notes}/shortcut/diary.txt", "the link that leads out is refused"),
    ):
        refusal = await stage.call(client, "read_file", {"path": path}, expect=way, error=True)
        stage.verdict("Nobody" not in text_of(refusal), "and not a word of it came back")
