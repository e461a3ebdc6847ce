"""Writing a whole text file, making a new one, adding to its end."""

import stat
from dataclasses import dataclass
from typing import Literal

from mcp_curated_filesystem.text.forms import MARK, PLAIN, BinaryFileError, TextForm, detect, encode, encode_part
from mcp_curated_filesystem.text.newlines import NAMES, newline_style
from mcp_curated_filesystem.writing.changing import changing, check_version, not_a_file
from mcp_curated_filesystem.writing.replacing import create, replace
from mcp_curated_filesystem.writing.snapshots import Piece, Snapshot, read_snapshot, version_after
from mcp_curated_shared.errors import ConflictError
from mcp_curated_shared.security.confinement import Confinement, Location, Target
from mcp_curated_shared.work import Work

Mode = Literal["overwrite", "create", "append"]

KNOWN_BYTES = 128 << 20
"""The longest file whose encoding is kept by an overwrite, and to which text is added."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did.

    Attributes:
        location: The file.
        mode: What was asked for.
        created: Whether the file is new.
        written: How many bytes were written (of an append: added).
        size: How long the file is now, in bytes.
        form: Its encoding and line ends.
        version: Its version tag.
        notes: What the reader must know about how it was done.
    """

    location: Location
    mode: Mode
    created: bool
    written: int
    size: int
    form: TextForm
    version: str
    notes: tuple[str, ...] = ()


def write_file(
    confinement: Confinement,
    path: str,
    content: str,
    *,
    work: Work,
    mode: Mode = "overwrite",
    if_version: str | None = None,
    base: str | None = None,
) -> Written:
    """Write a text file in one step.

    A file that exists keeps its encoding and byte order mark, once even if the text begins with U+FEFF. Line ends are
    written as they are given; where they differ from those the file has, the reply says so. Missing directories are
    made.

    Args:
        confinement: Where the file must be.
        path: The file.
        content: The text; for "append" what is added, and nothing else is.
        work: Cancels before the file is replaced.
        mode: "overwrite" replaces or makes it, "create" refuses one that exists, "append" adds to its end or makes it.
        if_version: Refuse if the file is not at this version (or is gone).
        base: Absolute directory that a relative path starts from.

    Raises:
        ConflictError: It exists (create), is at another version, or was changed at the same moment.
        EncodingError: Its encoding cannot hold the text; nothing was written.
        NotAFileError: A directory, pipe, socket or device is there.
        CuratedError: It cannot be written.
    """
    with changing(confinement, path, work, base=base, parents=True, exact=True) as (target, directory):
        before = _existing(target, mode, if_version)
        if before is None:
            form = PLAIN
            pieces: list[Piece] = [encode(content, form)]
            done, added = create(target, pieces, directory, work), len(pieces[0])
        else:
            form, pieces, added = _content(target, before, content, mode)
            done = replace(target, pieces, before, directory, work)
    notes = [target.location.note, *_form_notes(before, form, content, mode), *done.notes]
    return Written(
        location=target.location,
        mode=mode,
        created=before is None,
        written=added,
        size=done.stat.st_size,
        form=form,
        version=version_after(pieces, done.stat),
        notes=tuple(note for note in notes if note),
    )


def _existing(target: Target, mode: Mode, if_version: str | None) -> Snapshot | None:
    if target.stat is None:
        if if_version is not None:
            raise ConflictError(f"{target.location.shown} does not exist any more; nothing was written.")
        return None
    if not stat.S_ISREG(target.stat.st_mode):
        raise not_a_file(target, target.stat)
    if mode == "create":
        raise ConflictError(
            f"{target.location.shown} exists already; nothing was written.",
            "Use mode overwrite to replace it, or edit_file to change a part.",
        )
    before = read_snapshot(target, limit=KNOWN_BYTES)
    check_version(target, before, if_version)
    return before


def _content(target: Target, before: Snapshot, content: str, mode: Mode) -> tuple[TextForm, list[Piece], int]:
    if mode == "append":
        return _appended(target, before, content)
    form = _form_to_keep(before)
    data = encode(_without_mark(content, form), form)
    return form, [data], len(data)


def _without_mark(content: str, form: TextForm) -> str:
    """The text that comes behind the file's own mark: a second one would be a letter for most readers."""
    return content.lstrip(MARK) if form.bom else content


def _form_to_keep(before: Snapshot) -> TextForm:
    """The form of the old text; a binary file, or one too long to look at, is replaced by plain UTF-8."""
    if not before.data:
        return PLAIN
    try:
        return detect(before.data, whole=True)
    except BinaryFileError:
        return PLAIN


def _appended(target: Target, before: Snapshot, content: str) -> tuple[TextForm, list[Piece], int]:
    if before.data is None:
        raise ConflictError(
            f"{target.location.shown} has {before.stat.st_size:,} bytes; at most {KNOWN_BYTES:,} can be added to.",
            kind="too_large",
        )
    try:
        form = detect(before.data, whole=True) if before.data else PLAIN
    except BinaryFileError as error:
        raise error.named(target.location.shown, len(before.data)) from None
    starts = before.data == form.bom  # the text begins here
    added = encode_part(_without_mark(content, form) if starts else content, form)
    return form, [before.data, added], len(added)


def _form_notes(before: Snapshot | None, form: TextForm, content: str, mode: Mode) -> list[str]:
    if before is None or not before.data:
        return []
    notes: list[str] = []
    if form.encoding != "utf-8" or form.bom:
        mark = " with its byte order mark" if form.bom else ""
        guess = "" if form.certain else " (a guess)"
        notes.append(f"Kept the file's encoding: {form.encoding}{guess}{mark}.")
    if form.bom and content.startswith(MARK) and (mode == "overwrite" or before.data == form.bom):
        notes.append("It has one byte order mark; the one at the start of the text was not added to it.")
    given = newline_style(content)
    if given and form.newline and given != form.newline:
        verb = "The added lines end" if mode == "append" else "Lines end as you gave them,"
        notes.append(f"{verb} in {NAMES[given]}; the file had {NAMES[form.newline]}.")
    return notes


def render(written: Written) -> str:
    """Tell what a write did, in a line and its notes."""
    name = written.location.shown
    if written.created:
        head = f"Created {name}: {written.written:,} bytes."
    elif written.mode == "append":
        head = f"Added {written.written:,} bytes to {name}, which has {written.size:,} now."
    else:
        head = f"Replaced the content of {name}: {written.written:,} bytes."
    return "\n".join([f"{head} Version {written.version}.", *written.notes])
