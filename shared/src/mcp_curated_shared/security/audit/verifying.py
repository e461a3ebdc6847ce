"""Checking an audit log: every fault at its line."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from mcp_curated_shared.security.audit.chain import Head, fields_of, read_line
from mcp_curated_shared.security.audit.files import KEEP, LogFile, log_path, older_files
from mcp_curated_shared.security.audit.keys import AuditKey
from mcp_curated_shared.security.audit.log import BEGIN


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong.

    Attributes:
        path: The file.
        line: Its line, from 1; 0 for the file as a whole.
        text: What is wrong, as the end of a sentence.
    """

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}" if self.line else f"{self.path}: {self.text}"


@dataclass(slots=True)
class Verdict:
    """What checking found.

    Attributes:
        files: How many files.
        records: How many lines were read.
        head: The end of the chain.
        faults: In the order of the lines.
        dropped: Records that older, rotated files held.
        reached: Whether the head that was asked for is on the chain; None if none was.
    """

    files: int = 0
    records: int = 0
    head: Head = field(default_factory=Head)
    faults: list[Fault] = field(default_factory=list[Fault])
    dropped: int = 0
    reached: bool | None = None


def verify(folder: str, key: AuditKey, *, head: Head | None = None, keep: int = KEEP) -> Verdict:
    """Check every file of a log.

    Args:
        folder: The state folder.
        key: What it was written with.
        head: An earlier end of the chain, which must still be on it: that lines were cut off at the end cannot be seen
            otherwise.
        keep: Full files that are kept.

    Raises:
        OSError: A file cannot be read.
    """
    files = older_files(folder)
    if os.path.lexists(log_path(folder)):
        files.append(LogFile(log_path(folder), None))
    verdict = Verdict(len(files), reached=None if head is None else head == Head())
    expected: Head | None = None
    for index, file in enumerate(files):
        # The one that is written counts even where it is about to be made.
        newer = 0 if file.number is None else sum(one.number is not None for one in files[index + 1 :]) + 1
        checker = _Checker(file, key, verdict, head, expected, newer=newer, keep=keep)
        expected = checker.check()
    if head is not None and not verdict.reached:
        where = log_path(folder)
        verdict.faults.append(
            Fault(where, 0, f"record {head.sequence} is not the one that this head names, or is gone")
        )
    return verdict


class _Checker:
    """Goes through one file."""

    def __init__(
        self,
        file: LogFile,
        key: AuditKey,
        verdict: Verdict,
        wanted: Head | None,
        expected: Head | None,
        *,
        newer: int,
        keep: int,
    ) -> None:
        self._file = file
        self._key = key
        self._verdict = verdict
        self._wanted = wanted
        self._expected = expected
        self._newer = newer
        self._keep = keep
        self._unreadable = False

    def check(self) -> Head | None:
        """The head at the file's end."""
        foreign = False
        for number, (line, whole) in enumerate(_lines(self._file.path), 1):
            self._verdict.records += 1
            if number == 1:
                foreign = not self._begins_well(line)
            if foreign:
                read = read_line(line)
                self._expected = self._expected if read is None else read.head
            else:
                self._check_line(number, line, whole)
        return self._expected

    def _fault(self, line: int, text: str) -> None:
        self._verdict.faults.append(Fault(self._file.path, line, text))

    def _begins_well(self, line: bytes) -> bool:
        """Look at the first line; False when the file is written with another key, which this one cannot check."""
        facts = fields_of(line)
        number, key = facts.get("file"), facts.get("key")
        if facts.get("event") != BEGIN or not isinstance(number, int):
            self._fault(1, "the file does not begin as one does: its first line was changed or is gone")
            return True
        if self._file.number is not None and self._file.number != number:
            self._fault(1, f"this is file {number}, under another name")
        if key != self._key.id and not self._second_is_ours():
            self._fault(1, f"the file was written with another key ({key}), or this line was changed")
            return False
        if self._expected is None and number > 1 and self._newer < self._keep:
            self._fault(1, "the files before it are gone, though it is too new for that")
        return True

    def _second_is_ours(self) -> bool:
        lines = _lines(self._file.path)
        second = [read_line(line, self._key) for line, _ in islice(lines, 1, 2)]
        return any(read is not None and read.authentic for read in second)

    def _check_line(self, number: int, line: bytes, whole: bool) -> None:
        read = read_line(line, self._key)
        if read is None or not read.authentic or not whole:
            self._fault(number, "it was changed, or a crash tore it" if read is None or not whole else "it was changed")
            # The lines after it are measured by what it said of itself, if it still says something.
            self._expected = self._expected or Head()
            self._expected, self._unreadable = (self._expected, True) if read is None else (read.head, False)
            return
        expected = self._expected
        if expected is None:  # the oldest file that is left
            expected = Head(read.sequence - 1, read.previous) if self._may_begin_late() else Head()
            self._verdict.dropped = expected.sequence
        self._check_place(number, read.sequence, read.previous, expected)
        self._unreadable = False
        self._expected = self._verdict.head = read.head
        if self._wanted == read.head:
            self._verdict.reached = True

    def _may_begin_late(self) -> bool:
        return self._newer >= self._keep

    def _check_place(self, number: int, sequence: int, previous: str, expected: Head) -> None:
        missing = sequence - expected.sequence - 1
        if self._unreadable and missing == 1:
            return  # the line before it was the one
        if missing > 0:
            self._fault(number, f"{missing:,} {'record is' if missing == 1 else 'records are'} missing before it")
        elif missing < 0:
            self._fault(number, f"record {sequence} does not belong here: it was moved or repeated")
        elif previous != expected.mac:
            self._fault(number, "it does not follow the line before it")


def _lines(path: str) -> Iterator[tuple[bytes, bool]]:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(descriptor, "rb") as file:
        for line in file:
            yield line.removesuffix(b"\n"), line.endswith(b"\n")
