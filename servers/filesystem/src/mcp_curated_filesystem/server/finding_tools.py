"""The tools that list and search."""

from typing import Annotated, Literal

from mcp_types import CallToolResult, ContentBlock
from pydantic import Field

from mcp_curated_filesystem import allowed
from mcp_curated_filesystem.finding import contents, listing, searching, trees
from mcp_curated_filesystem.finding.sieving import Scope
from mcp_curated_filesystem.models import ContentMatches, FoundFiles
from mcp_curated_filesystem.server.arguments import Excluded, FolderPath, IncludeIgnored
from mcp_curated_filesystem.server.reading_tools import texts
from mcp_curated_filesystem.server.roots import AnyRoots, CallRoots, PathRoots
from mcp_curated_filesystem.server.state import Filesystem, FilesystemContext, state_of
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import reads
from mcp_curated_shared.work import Work


async def list_directory(
    path: FolderPath,
    ctx: FilesystemContext,
    roots: PathRoots,
    sortBy: Annotated[Literal["name", "size", "modified"], Field(description="Order of the entries")] = "name",
    pattern: Annotated[str | None, Field(description="Only names that match, e.g. *.py")] = None,
    limit: Annotated[int, Field(ge=1, le=5000, description="Most entries")] = 500,
) -> list[ContentBlock]:
    """List one folder, a line an entry with size and time; folders end in /. For what lies deeper use directory_tree,
    to find something search_files."""
    state = state_of(ctx)

    def look(call: CallRoots, work: Work) -> listing.Listing:
        return listing.list_directory(
            call.confinement, path, sort_by=sortBy, pattern=pattern, limit=limit, base=call.base, work=work
        )

    return texts(listing.render(await state.run(ctx, roots, path, look, long=True)))


async def directory_tree(
    path: FolderPath,
    ctx: FilesystemContext,
    roots: PathRoots,
    depth: Annotated[int, Field(ge=1, le=20, description="Levels")] = 3,
    excludePatterns: Excluded = None,
    includeIgnored: IncludeIgnored = False,
) -> list[ContentBlock]:
    """Show what a folder holds as an indented tree of at most 48,000 characters; folders that are not opened show their
    counts. For sizes and times use list_directory, to find something search_files."""
    state = state_of(ctx)

    def look(call: CallRoots, work: Work) -> trees.Tree:
        scope = Scope(path, tuple(excludePatterns or ()), includeIgnored, call.base)
        seconds = state.settings.limits.search_seconds
        return trees.directory_tree(call.confinement, scope, depth=depth, seconds=seconds, work=work)

    return texts(trees.render(await state.run(ctx, roots, path, look, long=True)))


async def search_files(
    path: FolderPath,
    ctx: FilesystemContext,
    roots: PathRoots,
    pattern: Annotated[str, Field(description="Glob such as *.py or src/**/test_*, or part of a name")],
    excludePatterns: Excluded = None,
    includeIgnored: IncludeIgnored = False,
    limit: Annotated[int, Field(ge=1, le=1000, description="Most matches")] = 200,
) -> Annotated[CallToolResult, FoundFiles]:
    """Find files and folders by name at any depth, newest first; case counts only if the pattern has capitals. To find
    text inside files use search_content."""
    state = state_of(ctx)

    def search(call: CallRoots, work: Work) -> searching.NameSearch:
        scope = Scope(path, tuple(excludePatterns or ()), includeIgnored, call.base)
        seconds = state.settings.limits.search_seconds
        return searching.search_files(call.confinement, scope, pattern, limit=limit, seconds=seconds, work=work)

    found = await state.run(ctx, roots, path, search, long=True)
    return CallToolResult(content=texts(searching.render(found)), structured_content=FoundFiles.of(found).structured())


async def search_content(
    path: FolderPath,
    ctx: FilesystemContext,
    roots: PathRoots,
    pattern: Annotated[str, Field(min_length=1, description="Text, or a regular expression")],
    regex: Annotated[bool, Field(description="Pattern is a regular expression")] = False,
    glob: Annotated[str | None, Field(description="Only files that match, e.g. *.py or docs/**")] = None,
    ignoreCase: Annotated[bool | None, Field(description="By default case counts only if pattern has capitals")] = None,
    context: Annotated[int, Field(ge=0, le=20, description="Lines around each match")] = 0,
    mode: Annotated[
        Literal["content", "files", "count"], Field(description="Lines, file names, or counts a file")
    ] = "content",
    excludePatterns: Excluded = None,
    includeIgnored: IncludeIgnored = False,
    limit: Annotated[int, Field(ge=1, le=2000, description="Most lines or files")] = 100,
) -> Annotated[CallToolResult, ContentMatches]:
    """Find text inside the files below a folder, or in one file, with line numbers; binary files are passed over. Out
    of time, it gives what it has and says so. To find files by name use search_files."""
    state = state_of(ctx)

    def search(call: CallRoots, work: Work) -> contents.ContentSearch:
        scope = Scope(path, tuple(excludePatterns or ()), includeIgnored, call.base)
        query = contents.ContentQuery(
            pattern, regex=regex, glob=glob, ignore_case=ignoreCase, context=context, mode=mode, limit=limit
        )
        seconds = state.settings.limits.search_seconds
        return contents.search_content(call.confinement, scope, query, seconds=seconds, work=work)

    found = await state.run(ctx, roots, path, search, long=True)
    return CallToolResult(
        content=texts(contents.render(found)), structured_content=ContentMatches.of(found).structured()
    )


async def list_allowed_directories(ctx: FilesystemContext, roots: AnyRoots) -> list[ContentBlock]:
    """List the folders that can be used, with their labels and rights. Nothing outside them can be reached."""

    def look(call: CallRoots, _: Work) -> tuple[allowed.AllowedDirectory, ...]:
        return allowed.allowed_directories(call.confinement)

    return texts(allowed.render(await state_of(ctx).run(ctx, roots, "", look)))


def add_finding_tools(server: CuratedServer[Filesystem]) -> None:
    """Register them, and the official server's other name for a listing."""
    server.add_tool(list_directory, annotations=reads())
    server.alias("list_directory_with_sizes", "list_directory")
    server.add_tool(directory_tree, annotations=reads())
    server.add_tool(search_files, annotations=reads())
    server.add_tool(search_content, annotations=reads())
    server.add_tool(list_allowed_directories, annotations=reads())
