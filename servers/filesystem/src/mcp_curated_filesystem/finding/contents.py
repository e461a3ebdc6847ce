"""Finding text in files."""

import errno
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from mcp_curated_filesystem.finding.expressions import compile_expression
from mcp_curated_filesystem.finding.following import following_call
from mcp_curated_filesystem.finding.globs import Glob, compile_glob
from mcp_curated_filesystem.finding.scanning import MatchLine, Scan, Wish, first_look
from mcp_curated_filesystem.finding.sieving import Scope, Sieve, Skipped, counted
from mcp_curated_filesystem.finding.timing import Clock
from mcp_curated_filesystem.finding.walking import Folder, Walk
from mcp_curated_filesystem.text.forms import BinaryFileError
from mcp_curated_shared.security.confinement import (
    Confinement,
    NotADirectoryError,
    OpenDirectory,
    OpenFile,
    escape_name,
    open_child,
    quoted,
)
from mcp_curated_shared.security.limits import DEFAULT_BUDGET
from mcp_curated_shared.work import Work

Mode = Literal["content", "files", "count"]

DEFAULT_LIMIT = 200
MAXIMUM_LIMIT = 2_000
MAXIMUM_CONTEXT = 20
DEFAULT_SECONDS = 2.0
LINES_A_FILE = 50
"""Matching lines that are shown of one file among several."""

_NOTE_OF_A_CUT = 500
_LOOK_AT_CLOCK = 16  # files; a large one looks by itself
_SF_DATALESS = 0x40000000
_HAS_CLOUD_FILES = sys.platform == "darwin"


@dataclass(frozen=True, slots=True)
class ContentQuery:
    """What to look for.

    Attributes:
        pattern: A text as it is, or a regular expression.
        regex: Which of the two.
        glob: Only files that match; None for all.
        ignore_case: None: unless the pattern has an upper-case letter.
        context: Lines before and after each match, at most 20.
        mode: Lines, the names of the files, or how many lines match in each.
        limit: The most lines (mode "content") or files that are given, at most 2,000.
    """

    pattern: str
    regex: bool = False
    glob: str | None = None
    ignore_case: bool | None = None
    context: int = 0
    mode: Mode = "content"
    limit: int = DEFAULT_LIMIT

    def arguments(self) -> dict[str, object]:
        """The arguments of the tool that repeat this query; defaults are left out."""
        return {
            "pattern": self.pattern,
            "regex": self.regex or None,
            "glob": self.glob,
            "ignoreCase": self.ignore_case,
            "context": self.context or None,
        }


@dataclass(frozen=True, slots=True)
class FileMatches:
    """One file with matches.

    Attributes:
        path: From the searched folder, in shown form; the name of a file that was searched alone.
        count: How many lines match; 1 in mode "files", where nobody counted.
        lines: What is shown of them.
    """

    path: str
    count: int
    lines: tuple[MatchLine, ...]


@dataclass(frozen=True, slots=True)
class ContentSearch:
    """What a search of contents found.

    Attributes:
        place: The searched folder or file, absolute, in shown form.
        alone: Whether that is a file.
        scope: Where was asked for.
        query: What was asked for.
        files: Those with matches, in the order of their paths, as far as the limit went.
        total_files: How many files match, as far as they were searched.
        total_lines: How many lines do.
        searched: How many files were searched.
        binary: How many were passed over, being no text.
        complete: Whether everything was searched within the time budget.
        seconds: That budget.
        too_slow: Files that the expression was too slow for, in shown form (the first few).
        skipped: What was not looked at.
        notes: What the reader should know.
    """

    place: str
    alone: bool
    scope: Scope
    query: ContentQuery
    files: tuple[FileMatches, ...]
    total_files: int
    total_lines: int
    searched: int
    binary: int
    complete: bool
    seconds: float
    too_slow: tuple[str, ...]
    skipped: Skipped
    notes: tuple[str, ...]


def search_content(
    confinement: Confinement, scope: Scope, query: ContentQuery, *, seconds: float = DEFAULT_SECONDS, work: Work
) -> ContentSearch:
    """Search the files below a folder, or one file, for a text or a regular expression.

    Args:
        confinement: Opens the folder or the file.
        scope: The folder or file, and what is left out.
        query: What to look for.
        seconds: The time budget; when it is over, what was found is given.
        work: The call.

    Raises:
        CuratedError: The place cannot be opened, a pattern is malformed, or the caller has gone.
    """
    clock = Clock(work, seconds)
    with _opened(confinement, scope) as opened:
        alone = isinstance(opened, OpenFile)
        search = _Search(query, opened.location.path, clock, alone=alone)
        if isinstance(opened, OpenFile):
            search.file(opened.descriptor, escape_name(opened.location.name))
            complete, skipped = not clock.over(), Skipped()
        else:
            sieve = Sieve(confinement, opened.location, scope)
            walk = Walk(opened, sieve, clock)
            for folder in walk.folders_in_turn():
                search.folder(folder, sieve)
            complete, skipped = walk.complete and not search.stopped, sieve.tally.total()
        return ContentSearch(
            opened.location.shown,
            alone,
            scope,
            query,
            tuple(search.files),
            search.total_files,
            search.total_lines,
            search.searched,
            search.binary,
            complete,
            clock.seconds,
            tuple(search.too_slow),
            skipped,
            (opened.location.note,) if opened.location.note else (),
        )


@contextmanager
def _opened(confinement: Confinement, scope: Scope) -> Generator[OpenDirectory | OpenFile]:
    try:
        opened = confinement.open_directory(scope.path, base=scope.base)
    except NotADirectoryError:
        opened = confinement.open_file(scope.path, base=scope.base)
    with opened:
        yield opened


class _Search:
    """Collects the matches of one call."""

    def __init__(self, query: ContentQuery, base: str, clock: Clock, *, alone: bool) -> None:
        expression = compile_expression(query.pattern, regex=query.regex, ignore_case=query.ignore_case)
        context = max(0, min(query.context, MAXIMUM_CONTEXT)) if query.mode == "content" else 0
        self._wish = Wish(expression, context, query.mode == "files")
        self._glob: Glob | None = compile_glob(query.glob, base=base) if query.glob else None
        self._mode = query.mode
        self._limit = max(1, min(query.limit, MAXIMUM_LIMIT))
        self._a_file = self._limit if alone else LINES_A_FILE
        self._clock = clock
        self._shown = 0
        self.files: list[FileMatches] = []
        self.total_files = 0
        self.total_lines = 0
        self.searched = 0
        self.binary = 0
        self.stopped = False
        self.too_slow: list[str] = []

    def folder(self, folder: Folder, sieve: Sieve) -> None:
        names = folder.entries.files
        if self._glob is not None:
            matches = self._glob.matches
            prefix = "" if self._glob.by_name else folder.prefix
            names = [name for name in names if matches(prefix + name)]
        for number, name in enumerate(sorted(names)):
            if number % _LOOK_AT_CLOCK == 0 and self._clock.over():
                self.stopped = True
                return
            try:
                descriptor = open_child(folder.descriptor, name, kind="file")
                try:
                    if not (_HAS_CLOUD_FILES and _is_elsewhere(descriptor)):
                        self.file(descriptor, folder.prefix + name)
                finally:
                    os.close(descriptor)
            except BlockingIOError:
                continue  # a FIFO took the file's place
            except OSError as error:
                if error.errno != errno.EISDIR:
                    sieve.tally.fault(folder.prefix + name, error)

    def file(self, descriptor: int, path: str) -> None:
        data = first_look(descriptor, self._wish.expression)
        if data is None:
            self.searched += 1
            return
        room = max(0, self._limit - self._shown)
        wanted = min(self._a_file, room) if self._mode == "content" else 0
        scan = Scan(self._wish, wanted, self._clock)
        try:
            scan.read(descriptor, data)
        except BinaryFileError:
            self.binary += 1
            return
        self.searched += 1
        if scan.too_slow and len(self.too_slow) < LINES_A_FILE:
            self.too_slow.append(escape_name(path))
        if not scan.count:
            return
        self.total_files += 1
        self.total_lines += scan.count
        if room:
            self.files.append(FileMatches(escape_name(path), scan.count, scan.lines()))
            self._shown += scan.kept if self._mode == "content" else 1


def _is_elsewhere(descriptor: int) -> bool:
    """Whether reading would fetch the file from a cloud first (macOS; `st_flags`, chflags(2), SF_DATALESS)."""
    return sys.platform == "darwin" and bool(os.fstat(descriptor).st_flags & _SF_DATALESS)


def render(value: ContentSearch) -> str:
    """Write the result for a reader: each file on a line that begins with `==`, its lines after it by number."""
    room = DEFAULT_BUDGET.characters
    text = _written(value, room)
    for _ in range(3):  # the note's length depends on what is shown, and that on the note's length
        if len(text) <= DEFAULT_BUDGET.characters:
            break
        room -= len(text) - DEFAULT_BUDGET.characters
        text = _written(value, room)
    return text[: DEFAULT_BUDGET.characters]


def _written(value: ContentSearch, room: int) -> str:
    lines = [_headline(value)]
    after = _afterwards(value)
    room -= len(lines[0]) + sum(len(line) + 1 for line in after) + _NOTE_OF_A_CUT
    shown_files = shown_lines = 0
    for file in value.files:
        block = _block(value, file)
        if value.query.mode == "content" and not shown_files:
            block = _beginning(block, room)
        size = sum(len(row) + 1 for row, _ in block)
        if size > room:
            break
        lines += [row for row, _ in block]
        room -= size
        shown_files += 1
        shown_lines += sum(matched for _, matched in block)
    lines += _cut(value, shown_files, shown_lines)
    return "\n".join(lines + after)


def _headline(value: ContentSearch) -> str:
    what = f"{'/' + value.query.pattern[:200] + '/' if value.query.regex else quoted(value.query.pattern)}"
    what = escape_name(what)
    searched = f"{counted(value.searched, 'file') or 'no file'} searched"
    if not value.total_files:
        return f"No line in {value.place} matches {what} ({searched})."
    files = counted(value.total_files, "file")
    if value.query.mode == "files":
        return f"{files} in {value.place} with a match for {what}:"
    return f"{counted(value.total_lines, 'line')} in {files} of {value.place} match {what}:"


_Row = tuple[str, bool]
"""A row of the reply, and whether it is a line that matched."""


def _block(value: ContentSearch, file: FileMatches) -> list[_Row]:
    if value.query.mode == "files":
        return [(file.path, False)]
    if value.query.mode == "count":
        return [(f"{file.count:,}: {file.path}", False)]
    matched = sum(line.matched for line in file.lines)
    more = f" ({matched:,} of {file.count:,} lines)" if matched < file.count else ""
    block: list[_Row] = [] if value.alone else [(f"== {file.path}{more}", False)]
    last = 0
    for line in file.lines:
        if last and line.number > last + 1 and value.query.context:
            block.append(("--", False))
        block.append((f"{line.number}{':' if line.matched else '-'} {line.text}", line.matched))
        last = line.number
    return block


def _beginning(block: list[_Row], room: int) -> list[_Row]:
    kept: list[_Row] = []
    for row in block:
        room -= len(row[0]) + 1
        if room < 0:
            break
        kept.append(row)
    return kept


def _cut(value: ContentSearch, shown_files: int, shown_lines: int) -> list[str]:
    """Say what is left, and the call that gives it."""
    query, total = value.query, value.total_lines if value.query.mode == "content" else value.total_files
    shown = shown_lines if query.mode == "content" else shown_files
    if shown >= total:
        return []
    arguments = {**query.arguments(), **value.scope.arguments()}
    mode = None if query.mode == "content" else query.mode
    more = shown_files == len(value.files) and query.limit < min(total, MAXIMUM_LIMIT)
    kept = [line.number for file in value.files for line in file.lines if line.matched]
    if query.mode == "content" and shown < len(kept):  # the reply is full: a larger limit gives no more of it
        if value.alone:
            call = following_call("read_file", path=value.place, offset=kept[shown])
        else:
            call = following_call("search_content", path=value.place, **{**arguments, "context": None}, mode="count")
    elif more and value.total_files == shown_files:
        call = _of_one_file(value, arguments)
    elif more:
        limit = min(total, MAXIMUM_LIMIT)
        call = following_call("search_content", path=value.place, **arguments, mode=mode, limit=limit)
    elif query.mode == "content":
        call = following_call("search_content", path=value.place, **{**arguments, "context": None}, mode="count")
    else:
        call = "a smaller folder, or a glob"
    unit = "matching lines" if query.mode == "content" else "files"
    return [f"[Cut: {shown:,} of {total:,} {unit}. The rest: {call}]"]


def _of_one_file(value: ContentSearch, arguments: dict[str, object]) -> str:
    """The call for the file that has the most lines left out."""
    most = max(value.files, key=lambda file: file.count - sum(line.matched for line in file.lines))
    path = value.place if value.alone else f"{value.place.rstrip('/')}/{most.path}"
    return following_call("search_content", path=path, **arguments, limit=min(most.count, MAXIMUM_LIMIT))


def _afterwards(value: ContentSearch) -> list[str]:
    said = [*value.notes, *value.skipped.sentences(ignored="includeIgnored=true searches them")]
    if value.binary:
        said.append(f"Passed over: {counted(value.binary, 'binary file')}.")
    if value.too_slow:
        said.append(
            f"The regular expression is too slow for {', '.join(value.too_slow[:5])}"
            f"{' and others' if len(value.too_slow) > 5 else ''}: partly searched. Use a simpler one."
        )
    if not value.complete:
        said.append(
            f"Partial: stopped after {value.seconds:.1f} s, {value.searched:,} files searched. "
            "Name a smaller folder or a glob."
        )
    return said
