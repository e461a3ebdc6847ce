"""The tools that read files."""

from typing import Annotated

from mcp_types import CallToolResult, ContentBlock, TextContent
from pydantic import Field

from mcp_curated_filesystem.models import FileInformation
from mcp_curated_filesystem.reading import information, media, page_facts
from mcp_curated_filesystem.reading.excerpts import Excerpt
from mcp_curated_filesystem.reading.pages import Page, read_page
from mcp_curated_filesystem.server.arguments import AnyPath, FilePath
from mcp_curated_filesystem.server.media_blocks import media_blocks
from mcp_curated_filesystem.server.reading_lanes import read_in_lanes
from mcp_curated_filesystem.server.roots import CallRoots, PathRoots, PathsRoots
from mcp_curated_filesystem.server.state import Filesystem, FilesystemContext, state_of
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import reads
from mcp_curated_shared.work import Work

LineNumber = Annotated[int | None, Field(ge=1, description="First line, from 1")]


def texts(*parts: str) -> list[ContentBlock]:
    """One content block for each text that is not empty."""
    return [TextContent(type="text", text=part) for part in parts if part]


async def read_file(
    path: FilePath,
    ctx: FilesystemContext,
    roots: PathRoots,
    offset: LineNumber = None,
    limit: Annotated[int | None, Field(ge=1, description="Most lines; 2000 by default")] = None,
    head: Annotated[int | None, Field(ge=1, description="Only the first lines (alone)")] = None,
    tail: Annotated[int | None, Field(ge=1, description="Only the last lines (alone)")] = None,
    encoding: Annotated[str | None, Field(description="Overrides detection, e.g. cp1252")] = None,
) -> list[ContentBlock]:
    """Read a text file, 2,000 lines at a time. The first block tells the lines, the version tag and, if there is more,
    the next call; the second is the exact text, fit for edit_file. For several files use read_multiple_files, for
    images and sound read_media_file, to find the place search_content."""
    state = state_of(ctx)

    def read(call: CallRoots, work: Work) -> Page:
        excerpt = Excerpt(offset=offset, limit=limit, head=head, tail=tail)
        return read_page(
            call.confinement, path, excerpt, encoding=encoding, base=call.base, budget=state.budget, work=work
        )

    return texts(*page_facts.blocks(await state.run(ctx, roots, path, read)))


async def read_multiple_files(
    paths: Annotated[list[str], Field(min_length=1, max_length=100, description="Text files")],
    ctx: FilesystemContext,
    roots: PathsRoots,
    limit: Annotated[int | None, Field(ge=1, description="Most lines of each file")] = None,
) -> list[ContentBlock]:
    """Read the beginnings of several text files; they share one reply of 48,000 characters, small files first. Each has
    a block with its facts, or why it cannot be read, and one with its text. For one file or later pages use
    read_file."""
    state = state_of(ctx)

    entries = await read_in_lanes(state, ctx, roots, paths, limit)
    return texts(*(part for entry in entries for part in (entry.facts, entry.body)))


async def read_media_file(path: FilePath, ctx: FilesystemContext, roots: PathRoots) -> list[ContentBlock]:
    """Look at an image or hear a sound file; its type is told by its content. Too big ones are scaled down or refused
    with their size, an SVG comes as text, other binary files as a link. For text use read_file."""
    state = state_of(ctx)

    def read(call: CallRoots, work: Work) -> media.Media:
        return media.read_media(call.confinement, path, base=call.base, budget=state.budget, work=work)

    return media_blocks(await state.run(ctx, roots, path, read))


async def get_file_info(
    path: AnyPath, ctx: FilesystemContext, roots: PathRoots
) -> Annotated[CallToolResult, FileInformation]:
    """Tell what a path is without reading it: type, size, times, permissions; for files also media type, encoding, line
    ending and the version tag for ifVersion."""

    def look(call: CallRoots, _: Work) -> information.Information:
        return information.get_information(call.confinement, path, base=call.base)

    found = await state_of(ctx).run(ctx, roots, path, look)
    return CallToolResult(
        content=texts(information.render(found)), structured_content=FileInformation.of(found).structured()
    )


def add_reading_tools(server: CuratedServer[Filesystem]) -> None:
    """Register them, and the official server's other name for reading."""
    server.add_tool(read_file, annotations=reads())
    server.alias("read_text_file", "read_file")
    server.add_tool(read_multiple_files, annotations=reads())
    server.add_tool(read_media_file, annotations=reads())
    server.add_tool(get_file_info, annotations=reads())
