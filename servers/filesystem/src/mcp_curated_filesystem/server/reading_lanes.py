"""Reading several files that lie in different folders: one that hangs fails its own files only."""

import logging
from collections.abc import Sequence
from dataclasses import replace

import anyio
from mcp_types import ListRootsResult

from mcp_curated_filesystem.reading.reading_many import FileEntry, read_files
from mcp_curated_filesystem.server.roots import CallRoots
from mcp_curated_filesystem.server.state import Filesystem, FilesystemContext
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import quoted
from mcp_curated_shared.work import Work

_log = logging.getLogger(__name__)


async def read_in_lanes(
    state: Filesystem,
    context: FilesystemContext,
    answer: ListRootsResult | None,
    paths: Sequence[str],
    limit: int | None,
) -> tuple[FileEntry, ...]:
    """Read the files of each lane together, the lanes side by side; each lane has its part of the reply.

    Args:
        state: Runs them.
        context: Of the request.
        answer: The client's roots, when it was asked.
        paths: The files.
        limit: How many lines of each at most.

    Returns:
        One entry a path, in the order asked; a lane that does not answer, or fails unexpectedly, makes entries with
        that error.

    Raises:
        CuratedError: There is only one lane, and it failed.
    """
    lanes: dict[str, list[int]] = {}
    for place, path in enumerate(paths):
        lanes.setdefault(state.lane(answer, path), []).append(place)
    entries: dict[int, FileEntry] = {}

    async def read_lane(places: list[int]) -> None:
        asked = [paths[place] for place in places]
        budget = replace(state.budget, characters=state.budget.characters * len(asked) // len(paths))

        def read(call: CallRoots, work: Work) -> tuple[FileEntry, ...]:
            return read_files(call.confinement, asked, limit=limit, base=call.base, budget=budget, work=work)

        try:
            found = await state.run(context, answer, asked[0], read)
        except CuratedError as error:
            if len(lanes) == 1:
                raise
            found = _all_failed(asked, error)
        except Exception:  # a crash of one folder's reading is that folder's; a task group would end the others too
            _log.exception("Reading %d files failed unexpectedly.", len(asked))
            found = _all_failed(asked, CuratedError("It could not be read: an unexpected error.", kind="error"))
        entries.update(zip(places, found, strict=True))

    if len(lanes) == 1:
        await read_lane(list(range(len(paths))))
    else:
        async with anyio.create_task_group() as tasks:
            for places in lanes.values():
                tasks.start_soon(read_lane, places)
    return tuple(entries[place] for place in range(len(paths)))


def _all_failed(asked: Sequence[str], error: CuratedError) -> tuple[FileEntry, ...]:
    return tuple(FileEntry(path, f"{quoted(path)}: {error}", error=error) for path in asked)
