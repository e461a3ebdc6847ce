"""Which replacements a list of edits asks for: all of them found in the original, or none made."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mcp_curated_filesystem.editing.fitting import Splice, fit, fit_reindented
from mcp_curated_filesystem.editing.matching import Span, View, find_exact, line_numbers, overlapping, unified_breaks
from mcp_curated_filesystem.editing.near_misses import SECONDS, describe, find_near_miss
from mcp_curated_filesystem.editing.tolerance import find_tolerated
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError
from mcp_curated_shared.work import Work

_MOST_LISTED = 20
_MOST_TOLD = 5
_TOLD_CHARACTERS = 20_000
_LEAST_SECONDS = 0.01
_MOST_PLACES = 200_000
_QUOTED_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Edit:
    """One replacement as it was asked for.

    Attributes:
        old_text: What stands in the file; LF in it fits any line end.
        new_text: What comes in its place.
        replace_all: Replace every place, not just the only one.
        expected_count: How many places there must be; all of them are replaced.
    """

    old_text: str
    new_text: str
    replace_all: bool = False
    expected_count: int | None = None


class EditError(CuratedError):
    """An edit that cannot be made; nothing was written."""

    kind = "no_match"


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where an edit applies.

    Attributes:
        spans: The places in the view, ascending.
        splices: What is replaced there, ascending.
        note: For the reader, when the match was not exact.
    """

    spans: tuple[Span, ...]
    splices: tuple[Splice, ...]
    note: str = ""


def check(edits: Sequence[Edit]) -> None:
    """Refuse edits that mean nothing, before any file is opened.

    Raises:
        InvalidArgumentError: No edits, an empty or blank old text, a new text that is the old one, a count below 1.
    """
    if not edits:
        raise InvalidArgumentError("There are no edits.", "Give at least one {oldText, newText}.")
    for number, edit in enumerate(edits, 1):
        name = _name(number, edits)
        if not edit.old_text.strip():
            raise InvalidArgumentError(
                f"{name}oldText is {'empty' if not edit.old_text else 'blank'}.",
                "Give the text to replace; to insert, quote a line beside the place and repeat it in newText.",
            )
        if unified_breaks(edit.old_text) == unified_breaks(edit.new_text):
            raise InvalidArgumentError(f"{name}newText is the same as oldText: nothing would change.")
        if edit.expected_count is not None and edit.expected_count < 1:
            raise InvalidArgumentError(f"{name}expectedCount must be 1 or more.")


def resolve(view: View, edits: Sequence[Edit], work: Work) -> list[Resolved]:
    """Find every edit in the original.

    Args:
        view: The file.
        edits: Checked by `check`.
        work: Cancels it.

    Raises:
        EditError: It tells each edit that fails, the first few in full.
        EncodingError: The file's encoding cannot hold a character of a new text.
    """
    resolved: list[Resolved] = []
    failures: list[EditError] = []
    deadline = time.monotonic() + SECONDS
    for number, edit in enumerate(edits, 1):
        work.check()
        until = deadline if len(failures) < _MOST_TOLD else 0.0
        try:
            resolved.append(_resolve(view, edit, resolved, _name(number, edits), until, work))
        except EditError as error:
            failures.append(error)
            resolved.append(Resolved((), ()))
    if failures:
        raise _told(failures)
    _refuse_overlaps(view, resolved)
    return resolved


def _told(failures: list[EditError]) -> EditError:
    texts: list[str] = []
    room = _TOLD_CHARACTERS
    for failure in failures[:_MOST_TOLD]:
        if len(failure.text) > room and texts:
            break
        texts.append(failure.text)
        room -= len(failure.text)
    if len(failures) > len(texts):
        left = len(failures) - len(texts)
        texts.append(f"{left:,} more edit{'s fail' if left > 1 else ' fails'}.")
    first = failures[0]
    return EditError("\n".join(texts) + "\nNothing was written.", first.next_step, kind=first.kind)


def _name(number: int, edits: Sequence[Edit]) -> str:
    return f"Edit {number} of {len(edits)}: " if len(edits) > 1 else ""


def _resolve(view: View, edit: Edit, earlier: list[Resolved], name: str, deadline: float, work: Work) -> Resolved:
    spans = find_exact(view, edit.old_text, at_most=_MOST_PLACES + 1)
    if not spans:
        return _resolve_tolerantly(view, edit, earlier, name, deadline)
    _check_count(view, edit, spans, name)
    splices: list[Splice] = []
    for span in spans:
        work.check()
        splices += fit(view, span, edit.old_text, edit.new_text)
    return Resolved(tuple(spans), tuple(splices))


def _check_count(view: View, edit: Edit, spans: list[Span], name: str) -> None:
    if len(spans) > _MOST_PLACES:
        raise EditError(
            f"{name}oldText is there more than {_MOST_PLACES:,} times.",
            "Quote more text around the right place.",
            kind="ambiguous",
        )
    if edit.expected_count is not None:
        if len(spans) != edit.expected_count:
            raise EditError(
                f"{name}oldText is there {_times(len(spans))}, at {_lines(view, spans)}; expectedCount is"
                f" {edit.expected_count}.",
                "Correct expectedCount, or quote more text around the right place.",
                kind="ambiguous",
            )
        return
    if edit.replace_all:
        return
    if len(spans) == 1:
        hidden = overlapping(view, edit.old_text, spans[0])
        spans = spans if hidden is None else [*spans, hidden]
    if len(spans) > 1:
        raise EditError(
            f"{name}oldText is there {_times(len(spans))}, at {_lines(view, spans)}.",
            "Quote more text around the right place, or set replaceAll.",
            kind="ambiguous",
        )


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count:,} times"


def _lines(view: View, spans: Sequence[Span]) -> str:
    numbers = line_numbers(view, [start for start, _ in spans[:_MOST_LISTED]])
    listed = ", ".join(map(str, numbers))
    more = f" and {len(spans) - _MOST_LISTED:,} more" if len(spans) > _MOST_LISTED else ""
    return f"line{'s' if len(spans) > 1 else ''} {listed}{more}"


def _resolve_tolerantly(view: View, edit: Edit, earlier: list[Resolved], name: str, deadline: float) -> Resolved:
    """Take a place that differs only in white space at the ends of lines, if there is exactly one."""
    found = find_tolerated(view, edit.old_text)
    if len(found) > 1:
        raise EditError(
            f"{name}oldText is not there exactly. Without regard to indentation and spaces at the ends of lines it is"
            f" there more than once, first at {_lines(view, [place.span for place in found])}.",
            "Quote it exactly, with more text around the right place.",
            kind="ambiguous",
        )
    if found and (edit.expected_count or 1) == 1:
        place = found[0]
        splices = fit_reindented(view, place.span, edit.old_text, edit.new_text, place.reindent)
        if splices:
            return Resolved((place.span,), tuple(splices), _tolerance_note(view, place.span, name, place.shifted))
    raise _miss(view, edit, earlier, name, deadline)


def _tolerance_note(view: View, span: Span, name: str, shifted: bool) -> str:
    where = f"line {line_numbers(view, [span[0]])[0]}"
    if shifted:
        return (
            f"{name}oldText matched at {where} only without regard to indentation; newText was indented like the file."
        )
    return f"{name}oldText matched at {where} only without regard to spaces at the ends of lines."


def _miss(view: View, edit: Edit, earlier: list[Resolved], name: str, deadline: float) -> EditError:
    """The error for a text that is not there, with what was probably meant."""
    head = f"{name}oldText was not found: {_quoted(edit.old_text)}"
    before = _after_earlier(view, edit, earlier)
    if before:
        return EditError(
            f"{head} It is there only after an earlier edit of this call; each is looked for in the file as it is.",
            "Put the two into one edit, or make a second call.",
        )
    if not deadline:
        return EditError(head)  # there are more failures than are told
    rows = [head]
    done = find_exact(view, edit.new_text) if edit.new_text.strip() else []
    if len(done) == 1:
        rows.append(f"newText is already there, at {_lines(view, done)}: was this edit made before?")
    near = find_near_miss(view, edit.old_text, seconds=max(_LEAST_SECONDS, deadline - time.monotonic()))
    rows.append(describe(near) if near is not None else "Nothing in the file is like it.")
    return EditError("\n".join(rows), "Read the place again and quote it as it is.")


def _after_earlier(view: View, edit: Edit, earlier: list[Resolved]) -> bool:
    splices = sorted((splice for one in earlier for splice in one.splices), key=lambda splice: splice.start)
    if not splices:
        return False
    changed = replace(view, text="".join(_applied(view, splices)))
    return bool(find_exact(changed, edit.old_text))


def _applied(view: View, splices: Sequence[Splice]) -> list[str]:
    parts: list[str] = []
    at = 0
    for splice in splices:
        parts += [view.text[at : splice.start], splice.text]
        at = max(at, splice.end)
    return [*parts, view.text[at:]]


def _quoted(text: str) -> str:
    first = text.strip().splitlines()[0].strip()
    shown = first if len(first) <= _QUOTED_CHARACTERS else first[:_QUOTED_CHARACTERS] + "..."
    more = text.strip().count("\n")
    return f'"{shown}"' + (f" and {more} more line{'s' if more > 1 else ''}." if more else ".")


def _refuse_overlaps(view: View, resolved: Sequence[Resolved]) -> None:
    places = sorted((*span, number) for number, one in enumerate(resolved, 1) for span in one.spans)
    for (_, end, first), (start, _, second) in pairwise(places):
        if start < end:
            raise EditError(
                f"Edits {min(first, second)} and {max(first, second)} overlap at {_lines(view, [(start, end)])}."
                " Nothing was written.",
                "Put them into one edit.",
                kind="ambiguous",
            )
