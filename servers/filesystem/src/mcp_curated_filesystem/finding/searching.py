"""Finding files and directories by name."""

import difflib
import heapq
import os
from collections import Counter
from dataclasses import dataclass

from mcp_curated_filesystem.finding.following import following_call
from mcp_curated_filesystem.finding.globs import Glob, compile_glob, compile_word, is_bare_word
from mcp_curated_filesystem.finding.sieving import Scope, Sieve, Skipped, counted
from mcp_curated_filesystem.finding.timing import Clock
from mcp_curated_filesystem.finding.walking import Folder, Walk
from mcp_curated_shared.security.confinement import Confinement, escape_name, quoted
from mcp_curated_shared.security.limits import DEFAULT_BUDGET, cut_rows
from mcp_curated_shared.work import Work

DEFAULT_LIMIT = 200
MAXIMUM_LIMIT = 1_000
DEFAULT_SECONDS = 10.0

_KEPT_AT_MOST = 20_000
_NAMES_AT_MOST = 5_000
_NEAR_AT_MOST = 3


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """One entry that matched.

    Attributes:
        path: From the searched folder, in shown form; a directory's ends in `/`.
        size: Bytes; of a link, the length of its text.
        modified: Seconds since the epoch; of a link, its own.
    """

    path: str
    size: int
    modified: float


@dataclass(frozen=True, slots=True)
class NameSearch:
    """What a search for names found.

    Attributes:
        folder: The searched folder, absolute, in shown form.
        scope: What was asked for, with what was left out.
        pattern: As it was asked for.
        found: The newest matches, newest first, at most `limit`.
        total: How many matched.
        limit: The most that were asked for.
        looked_at: How many entries were looked at.
        complete: Whether everything was, within the time budget.
        seconds: That budget.
        skipped: What was not looked at.
        notes: What the reader should know: another spelling of the folder, a looser reading of the pattern.
        near: When nothing matched, names that are like the pattern, in shown form.
        by_name: Whether the pattern is about names rather than paths.
    """

    folder: str
    scope: Scope
    pattern: str
    found: tuple[FoundEntry, ...]
    total: int
    limit: int
    looked_at: int
    complete: bool
    seconds: float
    skipped: Skipped
    notes: tuple[str, ...]
    near: tuple[str, ...]
    by_name: bool


@dataclass(frozen=True, slots=True)
class _Query:
    """A pattern read in two ways: every match of `strict` is one of `loose`; `loose` counts where `strict` has none."""

    loose: Glob
    strict: Glob | None
    said: str


def search_files(
    confinement: Confinement,
    scope: Scope,
    pattern: str,
    *,
    limit: int = DEFAULT_LIMIT,
    seconds: float = DEFAULT_SECONDS,
    work: Work,
) -> NameSearch:
    """Find entries below a folder by name.

    Args:
        confinement: Opens the folder.
        scope: The folder, and what in it is left out.
        pattern: A glob, or a bare word that a name contains (a word with a file ending is a whole name first).
        limit: The most matches to give, 1 to 1,000.
        seconds: The time budget; when it is over, what was found is given.
        work: The call.

    Raises:
        CuratedError: The folder cannot be opened, a pattern is malformed, or the caller has gone.
    """
    limit = max(1, min(limit, MAXIMUM_LIMIT))
    clock = Clock(work, seconds)
    with confinement.open_directory(scope.path, base=scope.base) as opened:
        query = _read(pattern, opened.location.path)
        sieve = Sieve(confinement, opened.location, scope)
        walk = Walk(opened, sieve, clock)
        hits = _Hits(query, limit)
        for folder in walk.folders_in_turn():
            hits.look(folder)
        notes = tuple(note for note in (opened.location.note, *hits.notes()) if note)
        return NameSearch(
            opened.location.shown,
            scope,
            pattern,
            hits.newest(),
            hits.total,
            limit,
            walk.entries,
            walk.complete,
            clock.seconds,
            sieve.tally.total(),
            notes,
            () if hits.total else hits.near(pattern),
            query.loose.by_name,
        )


def render(value: NameSearch) -> str:
    """Write the result for a reader, the folder once and then one path a line."""
    folder = value.folder
    if not value.total:
        lines = [f"Nothing in {folder} matches {quoted(value.pattern)} ({value.looked_at:,} entries looked at)."]
        if value.near:
            lines.append(f"Names like it: {', '.join(value.near)}.")
    else:
        lines = [f"{counted(value.total, 'match', 'matches')} for {quoted(value.pattern)} in {folder}, newest first:"]
    after = [*value.notes, *value.skipped.sentences()]
    if not value.complete:
        after.append(
            f"Stopped after {value.seconds:.1f} s with part of the tree looked at ({value.looked_at:,} entries): "
            "name a smaller folder."
        )
    room = DEFAULT_BUDGET.characters - sum(len(line) + 1 for line in (*lines, *after))
    rows = [entry.path for entry in value.found]
    if rows:
        lines.append(cut_rows(rows, room, lambda shown: _next(value, shown), total=value.total))
    return "\n".join(lines + after)


def _next(value: NameSearch, shown: int) -> str:
    """The call for what was not shown: more of it, or the folder with the most of it."""
    arguments = value.scope.arguments()
    if shown >= len(value.found) and value.limit < min(value.total, MAXIMUM_LIMIT):
        limit = min(value.total, MAXIMUM_LIMIT)
        return following_call("search_files", path=value.folder, pattern=value.pattern, limit=limit, **arguments)
    tops = Counter(entry.path.partition("/")[0] for entry in value.found if "/" in entry.path.rstrip("/"))
    if not value.by_name or not tops:
        return "a more exact pattern."
    inner = f"{value.folder.rstrip('/')}/{tops.most_common(1)[0][0]}"
    return following_call("search_files", path=inner, pattern=value.pattern, **arguments)


def _read(pattern: str, base: str) -> _Query:
    if is_bare_word(pattern):
        whole = compile_glob(pattern, base=base) if "." in pattern.strip(".") else None
        said = f"No name is exactly {quoted(pattern)}; these contain it."
        return _Query(compile_word(pattern), whole, said)
    top = compile_glob(pattern, base=base)
    anywhere = compile_glob(pattern, base=base, anywhere=True)
    if top.by_name or pattern.startswith("/") or pattern.strip("/") == "**":
        return _Query(top, None, "")
    said = f"Nothing at the top of the folder matches; these match {quoted('**/' + pattern)}, further down."
    return _Query(anywhere, top, said)


_Hit = tuple[bool, int, str, int]
"""Strict or not, time of modification in nanoseconds, path from the searched folder, size."""


class _Hits:
    """Collects matches; keeps the newest and counts all."""

    def __init__(self, query: _Query, limit: int) -> None:
        self._query = query
        self._limit = limit
        self._hits: list[_Hit] = []
        self._names: set[str] = set()
        self._strict = 0
        self._loose = 0

    @property
    def total(self) -> int:
        return self._strict or self._loose

    def look(self, folder: Folder) -> None:
        entries = folder.entries
        only_directories = self._query.loose.directories_only
        self._match(folder, entries.directories, "/")
        if not only_directories:
            self._match(folder, entries.files, "")
            if entries.others:
                self._match(folder, entries.others, "")
        if not self._hits and len(self._names) < _NAMES_AT_MOST:
            self._names.update(entries.directories, entries.files)

    def _match(self, folder: Folder, names: list[str], slash: str) -> None:
        loose = self._query.loose
        matches = loose.matches
        if loose.by_name:
            matched = [name for name in names if matches(name)]
        else:
            prefix = folder.prefix
            if (last := loose.last) is not None:
                names = [name for name in names if last(name)]
            matched = [name for name in names if matches(prefix + name)]
        for name in matched:
            try:
                status = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
            except OSError:
                continue  # it has just gone
            path = folder.prefix + name
            is_strict = self._is_strict(path, name)
            self._strict += is_strict
            self._hits.append((is_strict, status.st_mtime_ns, path + slash, status.st_size))
            self._loose += 1
        if len(self._hits) > _KEPT_AT_MOST:
            self._hits = heapq.nlargest(self._limit, self._hits)

    def _is_strict(self, path: str, name: str) -> bool:
        strict = self._query.strict
        return strict is not None and bool(strict.matches(name if strict.by_name else path))

    def newest(self) -> tuple[FoundEntry, ...]:
        wanted = [hit for hit in self._hits if hit[0] or not self._strict]
        wanted.sort(key=lambda hit: hit[2])
        wanted.sort(key=lambda hit: hit[1], reverse=True)
        return tuple(FoundEntry(escape_name(hit[2]), hit[3], hit[1] / 1e9) for hit in wanted[: self._limit])

    def notes(self) -> list[str]:
        if self._query.strict is None or not self._loose:
            return []
        if not self._strict:
            return [self._query.said]
        more = self._loose - self._strict
        if not more or not self._query.loose.by_name:
            return []
        other = quoted(f"*{self._query.loose.pattern}*")
        return [f"{counted(more, 'other name contains', 'other names contain')} it: pattern {other} gives them too."]

    def near(self, pattern: str) -> tuple[str, ...]:
        word = pattern.rstrip("/").rpartition("/")[2].strip("*")
        by_form = {name.casefold(): name for name in self._names}
        close = difflib.get_close_matches(word.casefold(), by_form, n=_NEAR_AT_MOST, cutoff=0.7) if word else []
        return tuple(escape_name(by_form[form]) for form in close)
