"""Several files in one reply: each gets a fair part of it, and the failure of one is no failure of the others."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_curated_filesystem.reading.excerpts import Excerpt
from mcp_curated_filesystem.reading.page_facts import brief_facts, facts, shorten
from mcp_curated_filesystem.reading.pages import Page, page_of, room_for_facts
from mcp_curated_shared.errors import CancelledError, CuratedError, InvalidArgumentError, TimedOutError
from mcp_curated_shared.security.confinement import Confinement, Location, quoted
from mcp_curated_shared.security.limits import DEFAULT_BUDGET, Budget
from mcp_curated_shared.work import Work

MOST_FILES = 100
"""Files in one call: 48,000 characters leave each of them 480."""

_log = logging.getLogger(__name__)

_ROOMY = 2_000
_BRIEF_CHARACTERS = 340


@dataclass(frozen=True, slots=True)
class FileEntry:
    """What became of one of the files.

    Attributes:
        asked: The path as the caller wrote it.
        facts: What a model reads first: the path and the facts, or why it failed and what to do.
        body: The text, empty if it failed.
        page: The value behind it, None if it failed.
        error: Why it failed, or None.
    """

    asked: str
    facts: str
    body: str = ""
    page: Page | None = None
    error: CuratedError | None = None


@dataclass(frozen=True, slots=True)
class _Found:
    place: int
    asked: str
    location: Location
    size: int


def read_files(
    confinement: Confinement,
    paths: Sequence[str],
    *,
    limit: int | None = None,
    base: str | None = None,
    budget: Budget = DEFAULT_BUDGET,
    work: Work,
) -> tuple[FileEntry, ...]:
    """Read the beginnings of several text files within one budget.

    Small files are read first and what they leave is shared by the bigger ones, so that as many as possible are whole.

    Args:
        confinement: Opens the files.
        paths: 1 to `MOST_FILES` paths.
        limit: How many lines of each at most.
        base: Absolute directory that relative paths start from.
        budget: How long the whole reply may become.
        work: Looked at between files and while scanning.

    Returns:
        One entry a path, in the order asked.

    Raises:
        InvalidArgumentError: No path, too many, or a bad `limit`.
        CancelledError, TimedOutError: From `work`.
    """
    if not 1 <= len(paths) <= MOST_FILES:
        raise InvalidArgumentError(f"`paths` must name 1 to {MOST_FILES} files, not {len(paths)}.")
    excerpt = Excerpt(limit=limit)
    entries: dict[int, FileEntry] = {}
    found: list[_Found] = []
    for place, path in enumerate(paths):
        try:
            with confinement.open_file(path, base=base) as file:
                found.append(_Found(place, path, file.location, file.stat.st_size))
        except (CancelledError, TimedOutError):
            raise
        except Exception as error:
            entries[place] = _failed(path, _foreseen(path, error))
    room = budget.characters - sum(len(entry.facts) for entry in entries.values())
    found.sort(key=lambda one: one.size)
    for done, one in enumerate(found):
        work.check()
        share = room // (len(found) - done)
        entry = _entry(confinement, one, excerpt, share, budget.rows, work)
        room -= len(entry.facts) + len(entry.body)
        entries[one.place] = entry
    return tuple(entries[place] for place in range(len(paths)))


def render(entries: Sequence[FileEntry]) -> str:
    """All entries as one text, for a reply that cannot be several blocks."""
    return "\n\n".join(part for entry in entries for part in (entry.facts, entry.body) if part)


def _entry(confinement: Confinement, one: _Found, excerpt: Excerpt, share: int, rows: int, work: Work) -> FileEntry:
    full = room_for_facts(one.location) + 2 * len(one.location.shown)
    roomy = share >= full + _ROOMY
    reserve = full if roomy else _BRIEF_CHARACTERS
    try:
        with confinement.open_file(one.location) as file:
            page = page_of(file, excerpt, room=share - reserve, rows=rows, work=work)
    except (CancelledError, TimedOutError):
        raise
    except Exception as error:
        return _failed(one.asked, _foreseen(one.asked, error))
    told = f"{one.location.shown}: {facts(page)}" if roomy else brief_facts(page)
    if one.location.note and roomy:
        told = f"{told} {one.location.note}"
    return FileEntry(one.asked, told, page.body, page)


def _foreseen(asked: str, error: Exception) -> CuratedError:
    """The error of one file as it is told; an unexpected one is logged, and is no failure of the others."""
    if isinstance(error, CuratedError):
        return error
    _log.error("Reading one of several files failed unexpectedly.", exc_info=error)
    return CuratedError(f"{quoted(asked)} could not be read: an unexpected error.", kind="error")


def _failed(asked: str, error: CuratedError) -> FileEntry:
    """The texts of confinement name the path; a long one is told by its ends."""
    return FileEntry(asked, shorten(str(error), 400), error=error)
