"""The shapes of structured results: a field that is not named here does not leave.

A host shows its model either the text of a result or its structure, so each says enough alone, and each stays within
the same budget of characters.
"""

from typing import Any, Self

from pydantic import BaseModel

from mcp_curated_filesystem.contents import ContentSearch, FileMatches
from mcp_curated_filesystem.information import Information
from mcp_curated_filesystem.searching import NameSearch

STRUCTURE_CHARACTERS = 44_000
"""Of paths and lines in one structure; its keys and punctuation come on top."""

_KEYS_OF_A_LINE = 24


class Structure(BaseModel):
    """A structured result; what does not apply is left out of it."""

    def structured(self) -> dict[str, Any]:
        """As `structuredContent`."""
        return self.model_dump(mode="json", exclude_none=True)


class FileInformation(Structure):
    """The facts of one entry; sizes in bytes, times in ISO 8601."""

    path: str
    type: str
    size: int
    modified: str
    changed: str
    accessed: str
    created: str | None = None
    mode: str
    links: int
    target: str | None = None
    writable: bool
    media_type: str | None = None
    encoding: str | None = None
    bom: bool | None = None
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
            changed=found.changed,
            accessed=found.accessed,
            created=found.created,
            mode=found.mode,
            links=found.links,
            target=found.target,
            writable=found.writable,
            media_type=content.media_type if content else None,
            encoding=content.encoding if content else None,
            bom=content.bom if content else None,
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
        room = STRUCTURE_CHARACTERS
        for entry in found.found:
            room -= len(entry.path) + 3
            if room < 0:
                break
            paths.append(entry.path)
        return cls(folder=found.folder, paths=paths, total=found.total, complete=found.complete)


class FoundLine(Structure):
    """One line; `match` is false for a line of context."""

    line: int
    text: str
    match: bool | None = None


class FileWithMatches(Structure):
    """One file and what is shown of its matches."""

    path: str
    count: int
    lines: list[FoundLine] | None = None


class ContentMatches(Structure):
    """Matches below `place`; the totals count those that were left out too."""

    place: str
    files: list[FileWithMatches]
    total_files: int
    total_lines: int
    complete: bool

    @classmethod
    def of(cls, found: ContentSearch) -> Self:
        """The structure of what was found."""
        room = STRUCTURE_CHARACTERS
        files: list[FileWithMatches] = []
        for file in found.files:
            part, size = _matches(file, room)
            room -= size
            if room < 0:
                break
            files.append(part)
        return cls(
            place=found.place,
            files=files,
            total_files=found.total_files,
            total_lines=found.total_lines,
            complete=found.complete,
        )


def _matches(file: FileMatches, room: int) -> tuple[FileWithMatches, int]:
    """One file's part and its size; lines for which there is no room are left out."""
    lines: list[FoundLine] = []
    size = len(file.path) + _KEYS_OF_A_LINE
    for line in file.lines:
        cost = len(line.text) + _KEYS_OF_A_LINE
        if size + cost > room:
            break
        size += cost
        lines.append(FoundLine(line=line.number, text=line.text, match=None if line.matched else False))
    return FileWithMatches(path=file.path, count=file.count, lines=lines or None), size
