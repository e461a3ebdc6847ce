"""The byte order mark in an edit: the file keeps the one it has, whatever the request says of it.

A text that was read elsewhere often begins with U+FEFF. Taken as a character it would be a second mark, which compilers
and parsers then meet as a letter (Unicode 16.0, section 23.8: U+FEFF at the very start of a text is its signature).
"""

from collections.abc import Sequence
from dataclasses import replace

from mcp_curated_filesystem.editing.edits import Edit, EditError
from mcp_curated_filesystem.editing.fitting import Splice
from mcp_curated_filesystem.editing.matching import View, find_exact
from mcp_curated_filesystem.text.forms import MARK


def without_mark(view: View, edits: Sequence[Edit]) -> list[Edit]:
    """Take the mark off texts that quote the start of a file with it, where the file stores it apart from its text.

    Raises:
        EditError: Nothing but the mark is quoted or would change.
    """
    return [_plain(view, edit) for edit in edits]


def _plain(view: View, edit: Edit) -> Edit:
    if not (view.form.bom and edit.old_text.startswith(MARK)) or find_exact(view, edit.old_text, at_most=1):
        return edit
    plain = replace(edit, old_text=edit.old_text.lstrip(MARK), new_text=edit.new_text.lstrip(MARK))
    if not plain.old_text.strip():
        raise EditError(
            "oldText is only the byte order mark, which is no part of the text.",
            "To insert at the start quote the first line and repeat it in newText.",
        )
    if plain.old_text == plain.new_text:
        raise EditError(
            "oldText and newText differ only in the byte order mark, which an edit keeps.",
            "To store the file in another way write it anew.",
        )
    return plain


def with_one_mark(view: View, splices: Sequence[Splice]) -> tuple[list[Splice], str]:
    """Leave out a mark that a new text would put behind the file's own.

    Args:
        view: The file.
        splices: What is replaced, ascending.

    Returns:
        The splices, and a note for the reader if one changed.
    """
    if not (view.form.bom and splices and splices[0].start == 0):
        return list(splices), ""
    first, mark = splices[0], view.written(MARK)
    text = first.text
    while text.startswith(mark):
        text = text[len(mark) :]
    if text == first.text:
        return list(splices), ""
    return [replace(first, text=text), *splices[1:]], "The file keeps its one byte order mark."
