"""The shapes of structured results: a field that is not named here does not leave.

A host shows its model either the text of a result or its structure, so each says enough alone, and each stays within
the same budget of characters.
"""

import json
from collections.abc import Iterator
from typing import Any, Self

from pydantic import BaseModel

from mcp_curated_filesystem.finding.contents import ContentSearch
from mcp_curated_filesystem.finding.searching import NameSearch
from mcp_curated_filesystem.reading.information import Information
from mcp_curated_shared.security.limits import DEFAULT_BUDGET

_OTHER_FIELDS = 200
"""What the counts and the names of the fields of one structure take at most, in characters of JSON."""


def _room(place: str) -> int:
    """How many characters of JSON the list in a structure may take."""
    return DEFAULT_BUDGET.characters - _OTHER_FIELDS - _length(place)


def _length(value: object) -> int:
    """Characters of JSON, with the comma after it."""
    return len(json.dumps(value, ensure_ascii=False)) + 2


class Structure(BaseModel):
    """A structured result; what does not apply is left out of it."""

    def structured(self) -> dict[str, Any]:
        """As `structuredContent`."""
        return self.model_dump(mode="json", exclude_none=True)


class FileInformation(Structure):
    """Sizes in bytes, times in ISO 8601; the text of the result has a few facts more."""

    path: str
    type: str
    size: int
    modified: str
    mode: str
    target: str | None = None
    writable: bool
    media_type: str | None = None
    encoding: str | None = None
    line_ending: str | None = None
    version: str | None = None

    @classmethod
    def of(cls, found: Information) -> Self:
        """The structure of what was found."""
        content = found.content
        return cls(
            path=found.location.shown,
            type=found.type,
            size=found.size,
            modified=found.modified,
            mode=found.mode,
            target=found.target,
            writable=found.writable,
            media_type=content.media_type if content else None,
            encoding=content.encoding if content else None,
            line_ending=content.line_ending if content else None,
            version=content.version if content else None,
        )


class FoundFiles(Structure):
    """Paths below `folder`, newest first; `total` counts those that were left out too."""

    folder: str
    paths: list[str]
    total: int
    complete: bool

    @classmethod
    def of(cls, found: NameSearch) -> Self:
        """The structure of what was found."""
        paths: list[str] = []
        room = _room(found.folder)
        for entry in found.found:
            room -= _length(entry.path)
            if room < 0:
                break
            paths.append(entry.path)
        return cls(folder=found.folder, paths=paths, total=found.total, complete=found.complete)


class Match(Structure):
    """A line that matched, or a file and how many of its lines did."""

    path: str
    line: int | None = None
    text: str | None = None
    count: int | None = None


class ContentMatches(Structure):
    """Matches below `place`, without their context; the totals count those that were left out too."""

    place: str
    matches: list[Match]
    total_files: int
    total_lines: int
    complete: bool

    @classmethod
    def of(cls, found: ContentSearch) -> Self:
        """The structure of what was found."""
        matches: list[Match] = []
        room = _room(found.place)
        for match in _matches(found):
            room -= _length(match.structured())
            if room < 0:
                break
            matches.append(match)
        return cls(
            place=found.place,
            matches=matches,
            total_files=found.total_files,
            total_lines=found.total_lines,
            complete=found.complete,
        )


def _matches(found: ContentSearch) -> Iterator[Match]:
    for file in found.files:
        if found.query.mode != "content":
            yield Match(path=file.path, count=file.count if found.query.mode == "count" else None)
        for line in file.lines:
            if line.matched:
                yield Match(path=file.path, line=line.number, text=line.text)
