"""Editing a text file: the quoted places change, every other byte stays."""

import stat
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_curated_filesystem.editing.differences import Difference, unified_diff
from mcp_curated_filesystem.editing.edits import Edit, EditError, Resolved, check, resolve
from mcp_curated_filesystem.editing.fitting import Splice
from mcp_curated_filesystem.editing.marks import with_one_mark, without_mark
from mcp_curated_filesystem.editing.matching import View
from mcp_curated_filesystem.text.forms import SAMPLE_BYTES, BinaryFileError, TextForm, detect
from mcp_curated_filesystem.writing.changing import changing, check_version, not_a_file, version_of
from mcp_curated_filesystem.writing.replacing import refuse_read_only, replace
from mcp_curated_filesystem.writing.snapshots import Piece, Snapshot, read_snapshot, version_after
from mcp_curated_shared.errors import ConflictError, TooLargeError
from mcp_curated_shared.security.confinement import Confinement, Location, PathNotFoundError, Target
from mcp_curated_shared.work import Work

__all__ = ["EDIT_BYTES", "Edit", "EditError", "Edited", "edit_file", "render"]

EDIT_BYTES = 128 << 20
"""The longest file that is edited: it is held in memory twice."""


@dataclass(frozen=True, slots=True)
class Edited:
    """What an edit did, or would do.

    Attributes:
        location: The file.
        replacements: How many places change.
        difference: The unified diff.
        version: The version tag of the file as it is now (in a dry run: as it was read).
        form: Its encoding and line ends.
        dry_run: Whether nothing was written.
        notes: What the reader must know about how it was done.
    """

    location: Location
    replacements: int
    difference: Difference
    version: str
    form: TextForm
    dry_run: bool
    notes: tuple[str, ...] = ()


def edit_file(
    confinement: Confinement,
    path: str,
    edits: Sequence[Edit],
    *,
    work: Work,
    dry_run: bool = False,
    if_version: str | None = None,
    base: str | None = None,
) -> Edited:
    """Replace quoted places in a text file.

    Every edit is looked for in the file as it is; if one fails, nothing is written. Bytes outside the replaced places
    stay identical, whatever the encoding, line ends or invalid bytes. The file is replaced in one step. A byte order
    mark stays, once: it is no part of the text that is quoted.

    Args:
        confinement: Where the file must be.
        path: The file.
        edits: What to replace.
        work: Cancels before the file is replaced.
        dry_run: Only tell what would change.
        if_version: Refuse if the file is not at this version.
        base: Absolute directory that a relative path starts from.

    Raises:
        InvalidArgumentError: An edit that means nothing.
        EditError: A text that is not there, or there more than once.
        ConflictError: Another version, or changed by another program at the same moment.
        BinaryFileError, TooLargeError, EncodingError, CuratedError: The file cannot be edited.
    """
    check(edits)
    with changing(confinement, path, work, base=base) as (target, directory):
        snapshot, data = _read(target)
        check_version(target, snapshot, if_version)
        refuse_read_only(target, snapshot.stat)
        view = View.of(data, _form(target, data))
        work.check()
        resolved = resolve(view, without_mark(view, edits), work)
        found = sorted((splice for one in resolved for splice in one.splices), key=_place)
        splices, mark_note = with_one_mark(view, found)
        pieces = _pieces(view, splices)
        version, notes = version_of(snapshot), (target.location.note, *(one.note for one in resolved), mark_note)
        difference = unified_diff(view, splices)
        if not dry_run:
            replaced = replace(target, pieces, snapshot, directory, work)
            version, notes = version_after(pieces, replaced.stat), (*notes, *replaced.notes)
    told = tuple(note for note in notes if note)
    return Edited(target.location, _count(resolved), difference, version, view.form, dry_run, told)


def _place(splice: Splice) -> tuple[int, int]:
    return splice.start, splice.end


def _count(resolved: Sequence[Resolved]) -> int:
    return sum(len(one.spans) for one in resolved)


def _read(target: Target) -> tuple[Snapshot, bytes]:
    if target.stat is None:
        raise PathNotFoundError(f"{target.location.shown} does not exist.", "Make it with write_file.")
    if not stat.S_ISREG(target.stat.st_mode):
        raise not_a_file(target, target.stat)
    snapshot = read_snapshot(target, limit=EDIT_BYTES)
    if snapshot.data is None:
        raise TooLargeError(
            f"{target.location.shown} has {snapshot.stat.st_size:,} bytes; at most {EDIT_BYTES:,} can be edited."
        )
    return snapshot, snapshot.data


def _form(target: Target, data: bytes) -> TextForm:
    try:
        return _detected(data)
    except BinaryFileError as error:
        raise error.named(target.location.shown, len(data)) from None


def _detected(data: bytes) -> TextForm:
    """As `detect` on all of it, without counting line ends in a long file: its view looks at those itself."""
    if len(data) > SAMPLE_BYTES:
        form = detect(data[:SAMPLE_BYTES], whole=False)
        if form.encoding == "utf-8" and _is_utf8(data):
            return form
    return detect(data, whole=True)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _pieces(view: View, splices: Sequence[Splice]) -> list[Piece]:
    """The new content: parts of the old bytes, and what comes between them.

    Raises:
        ConflictError: Nothing would change.
    """
    old = memoryview(view.data)
    pieces: list[Piece] = []
    at = 0
    same = True
    for splice, (start, end) in zip(splices, view.byte_spans([_place(s) for s in splices]), strict=True):
        new = view.stored(splice.text)
        same = same and view.data[start:end] == new
        pieces += [old[at:start], new]
        at = end
    if same:
        raise ConflictError("The edit would change nothing: the file already is as it would be.", kind="no_change")
    return [*pieces, old[at:]]


def render(edited: Edited) -> str:
    """Tell what an edit did: one line, its notes, the diff."""
    places = f"{edited.replacements:,} replacement{'s' if edited.replacements != 1 else ''}"
    if edited.dry_run:
        rows = [f"Dry run, nothing written: {places} in {edited.location.shown} (version {edited.version})."]
    else:
        rows = [f"Edited {edited.location.shown}: {places}. Version now {edited.version}."]
    rows += edited.notes
    rows.append(edited.difference.text)
    if edited.difference.left_out:
        rows.append(f"... {edited.difference.left_out:,} more places change in the same way; they are not shown.")
    return "\n".join(rows)
