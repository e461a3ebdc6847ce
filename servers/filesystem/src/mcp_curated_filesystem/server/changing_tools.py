"""The tools that change files."""

import json
from typing import Annotated, Literal

from mcp_types import ContentBlock
from pydantic import BaseModel, BeforeValidator, Field

from mcp_curated_filesystem.editing import editor as editing
from mcp_curated_filesystem.server.arguments import FilePath, FolderPath, IfVersion
from mcp_curated_filesystem.server.reading_tools import texts
from mcp_curated_filesystem.server.roots import CallRoots, PathRoots, TransferRoots
from mcp_curated_filesystem.server.state import Filesystem, FilesystemContext, state_of
from mcp_curated_filesystem.writing import transferring
from mcp_curated_filesystem.writing import writer as writing
from mcp_curated_shared.errors import TooLargeError
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import writes
from mcp_curated_shared.work import Work


class TextEdit(BaseModel):
    """One replacement."""

    oldText: Annotated[str, Field(description="Text there now, exactly once")]
    newText: Annotated[str, Field(description="Text in its place")]
    replaceAll: Annotated[bool, Field(description="Replace every place")] = False
    expectedCount: Annotated[int | None, Field(ge=1, description="Replace all, if they are so many")] = None

    def plain(self) -> editing.Edit:
        """The edit as the domain takes it."""
        return editing.Edit(self.oldText, self.newText, self.replaceAll, self.expectedCount)


def as_text(content: object) -> object:
    """Some clients send the content of a JSON file as the object itself: it is written out, indented by two."""
    if isinstance(content, (dict, list)):
        return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
    return content


async def write_file(
    path: FilePath,
    content: Annotated[str, BeforeValidator(as_text), Field(description="The text")],
    ctx: FilesystemContext,
    roots: PathRoots,
    mode: Annotated[
        Literal["overwrite", "create", "append"],
        Field(description="Replace or make; only make; add to the end"),
    ] = "overwrite",
    ifVersion: IfVersion = None,
) -> list[ContentBlock]:
    """Write a whole text file in one step, or add to its end; missing folders are made, and an existing file keeps its
    encoding. Overwriting loses what was there: to change a part use edit_file."""
    state = state_of(ctx)
    _check_size(content, state.settings.limits.write_bytes)

    def write(call: CallRoots, work: Work) -> writing.Written:
        return writing.write_file(
            call.confinement, path, content, mode=mode, if_version=ifVersion, base=call.base, work=work
        )

    return texts(writing.render(await state.run(ctx, roots, path, write)))


async def edit_file(
    path: FilePath,
    edits: Annotated[list[TextEdit], Field(min_length=1, description="Each is found in the file as it is now")],
    ctx: FilesystemContext,
    roots: PathRoots,
    dryRun: Annotated[bool, Field(description="Only show the change")] = False,
    ifVersion: IfVersion = None,
) -> list[ContentBlock]:
    """Replace quoted parts of a text file and get the unified diff; every other byte stays, whatever the encoding and
    line endings (write each as a plain newline). If one edit does not fit, nothing is written and the reply shows the
    nearest text."""
    state = state_of(ctx)

    def edit(call: CallRoots, work: Work) -> editing.Edited:
        wanted = [one.plain() for one in edits]
        return editing.edit_file(
            call.confinement, path, wanted, dry_run=dryRun, if_version=ifVersion, base=call.base, work=work
        )

    return texts(editing.render(await state.run(ctx, roots, path, edit)))


async def create_directory(path: FolderPath, ctx: FilesystemContext, roots: PathRoots) -> list[ContentBlock]:
    """Make a folder and the missing ones above it; one that exists is fine. write_file makes folders by itself."""

    def create(call: CallRoots, work: Work) -> transferring.MadeDirectory:
        return transferring.create_directory(call.confinement, path, base=call.base, work=work)

    made = await state_of(ctx).run(ctx, roots, path, create)
    return texts(transferring.render_directory(made))


Source = Annotated[str, Field(description="What is there now")]
Destination = Annotated[str, Field(description="New path, name included; must not exist")]


async def move_file(
    source: Source, destination: Destination, ctx: FilesystemContext, roots: TransferRoots
) -> list[ContentBlock]:
    """Move or rename a file, folder or link; never over something that exists. To keep the original use copy_file."""

    def move(call: CallRoots, work: Work) -> transferring.Moved:
        return transferring.move_file(call.confinement, source, destination, base=call.base, work=work)

    return texts(
        transferring.render_move(await state_of(ctx).run(ctx, roots, source, move, destination=destination, long=True))
    )


async def copy_file(
    source: Source, destination: Destination, ctx: FilesystemContext, roots: TransferRoots
) -> list[ContentBlock]:
    """Copy a file, or a folder with all it holds; never over something that exists. To move use move_file."""

    def copy(call: CallRoots, work: Work) -> transferring.Copied:
        return transferring.copy_file(call.confinement, source, destination, base=call.base, work=work)

    return texts(
        transferring.render_copy(await state_of(ctx).run(ctx, roots, source, copy, destination=destination, long=True))
    )


def add_changing_tools(server: CuratedServer[Filesystem]) -> None:
    """Register them."""
    server.add_tool(write_file, annotations=writes(destructive=True, idempotent=False))
    server.add_tool(edit_file, annotations=writes(destructive=True, idempotent=False))
    server.add_tool(create_directory, annotations=writes(destructive=False, idempotent=True))
    server.add_tool(move_file, annotations=writes(destructive=True, idempotent=False))
    server.add_tool(copy_file, annotations=writes(destructive=False, idempotent=False))


def _check_size(content: str, most: int) -> None:
    size = len(content.encode("utf-8", "surrogatepass"))
    if size > most:
        raise TooLargeError(
            f"The content has {size:,} bytes; at most {most:,} are written at once.",
            "Write it in parts with mode append.",
        )
