"""What was probably meant when a text was not found: the closest block, and what differs, made visible.

Comparing every line of a large file with difflib would take minutes. Instead, words of the sought text vote: where
several of them stand as far apart as they should, a block is compared in full. All of it ends within its time.
"""

import re
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from mcp_curated_filesystem.editing.matching import View, line_end, line_numbers, line_start, unified_breaks
from mcp_curated_filesystem.text.forms import show_undecodable

SECONDS = 0.12
"""The time that looking for the closest block may take."""

_LEAST_ALIKE = 0.5
_MOST_LINES = 30
_MOST_REASONS = 8
_LINE_CHARACTERS = 200
_ROWS_CHARACTERS = 12_000
_WORD = re.compile(r"\w{2,}")
_PIECE = 8
_MOST_WORDS = 24
_MOST_PLACES = 64
_MOST_COMPARED = 24
_SMALL = 200_000
_LOOK_ALIKES = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201a": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u00ab": '"',
        "\u00bb": '"',
        "\u2010": "-",
        "\u2011": "-",
        "\u2012": "-",
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u00a0": " ",
        "\u2007": " ",
        "\u2009": " ",
        "\u202f": " ",
        "\u3000": " ",
        "\t": " ",
        "\u2026": "...",
        "\u200b": "",
        "\u200c": "",
        "\u200d": "",
        "\ufeff": "",
        "\u00ad": "",
    }
)


@dataclass(frozen=True, slots=True)
class NearMiss:
    """The block of a file that is most like what was sought.

    Attributes:
        line: Its first line, from 1.
        there: The file's lines, decoded, without their line breaks.
        asked: The sought lines.
        likeness: 0 to 1.
    """

    line: int
    there: tuple[str, ...]
    asked: tuple[str, ...]
    likeness: float


def find_near_miss(view: View, asked: str, *, seconds: float = SECONDS) -> NearMiss | None:
    """Find the block of the file that is most like `asked`.

    Args:
        view: The file.
        asked: What was not found.
        seconds: When to stop looking and give the best so far.

    Returns:
        None where nothing is even half alike.
    """
    deadline = time.monotonic() + seconds
    lines = unified_breaks(asked).strip("\n").split("\n")[:_MOST_LINES]
    wanted = [_plain(line) for line in lines]
    best: tuple[float, int] = (0.0, 0)
    for compared, start in enumerate(_candidates(view, lines, deadline)):
        if compared and time.monotonic() > deadline:
            break
        block = [_plain(line) for line in _block(view, start, len(lines))]
        likeness = _likeness(wanted, block, best[0], deadline)
        if likeness > best[0]:
            best = likeness, start
    if best[0] < _LEAST_ALIKE:
        return None
    there = tuple(_block(view, best[1], len(lines)))
    return NearMiss(line_numbers(view, [best[1]])[0], there, tuple(lines), best[0])


def _likeness(wanted: list[str], block: list[str], floor: float, deadline: float) -> float:
    """How much of both texts is in lines that are alike, from 0 to 1; 0 if it cannot be more than `floor`.

    After the deadline it is the upper bound: comparing lines of one letter letter by letter takes a millisecond each.
    """
    total = sum(map(len, wanted)) + sum(map(len, block))
    pairs = list(_paired(block, wanted))
    if not total or _weigh(pairs, _at_most) / total <= floor:
        return 0.0

    def alike(there: str, asked: str) -> float:
        return (_at_most if time.monotonic() > deadline else _exactly)(there, asked)

    return _weigh(pairs, alike) / total


_Pair = tuple[int | None, int | None]


def _paired(there: Sequence[str], asked: Sequence[str]) -> Iterator[tuple[str | None, str | None]]:
    """The lines of both texts side by side; None where one has no line."""
    for one, two in _aligned(there, asked):
        yield (None if one is None else there[one]), (None if two is None else asked[two])


def _aligned(there: Sequence[str], asked: Sequence[str]) -> Iterator[_Pair]:
    codes = SequenceMatcher(None, there, asked, autojunk=False).get_opcodes()
    for _, low, high, first, last in codes:
        for index in range(max(high - low, last - first)):
            one, two = low + index, first + index
            yield (one if one < high else None), (two if two < last else None)


def _at_most(there: str, asked: str) -> float:
    return SequenceMatcher(None, there, asked, autojunk=False).quick_ratio()


def _exactly(there: str, asked: str) -> float:
    return SequenceMatcher(None, there, asked, autojunk=False).ratio()


def _weigh(pairs: Sequence[tuple[str | None, str | None]], alike: Callable[[str, str], float]) -> float:
    weight = 0.0
    for there, asked in pairs:
        if there is not None and asked is not None:
            same = 1.0 if there == asked else alike(there, asked)
            weight += same * (len(there) + len(asked))
    return weight


def _plain(line: str) -> str:
    """A line as the eye reads it: look-alikes unified, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", line[:_LINE_CHARACTERS]).translate(_LOOK_ALIKES).split())


def _block(view: View, start: int, count: int) -> list[str]:
    lines: list[str] = []
    for _ in range(count):
        end = line_end(view, start)
        if end == start:
            break
        line = view.text[start:end]
        lines.append(view.shown(line[: view.whole_characters(line, 4_000)]).rstrip("\r\n"))
        start = end
    return lines


def _candidates(view: View, lines: list[str], deadline: float) -> Iterator[int]:
    """Where the block may begin, the most likely first."""
    votes: defaultdict[int, float] = defaultdict(float)
    for word, index in _words(lines):
        if time.monotonic() > deadline - SECONDS / 3:
            break
        starts = list(_line_starts_with(view, word))
        for start in starts:
            votes[_lines_up(view, start, index)] += 1 / len(starts)  # a rare word tells more than a common one
    yield from sorted(votes, key=lambda start: -votes[start])[:_MOST_COMPARED]
    if len(view.text) <= _SMALL:
        yield from _every_line(view)


def _every_line(view: View) -> Iterator[int]:
    start = 0
    while start < len(view.text):
        yield start
        start = line_end(view, start)


def _words(lines: list[str]) -> list[tuple[str, int]]:
    """The words to look for, with their line: long ones first, since they are rare; very long ones in pieces."""
    words: dict[str, int] = {}
    for index, line in enumerate(lines):
        for word in _WORD.findall(line):
            pieces = [word] if len(word) <= _PIECE + 4 else re.findall(f".{{{_PIECE}}}", word)
            for piece in pieces:
                words.setdefault(piece, index)
    return sorted(words.items(), key=lambda item: -len(item[0].encode("utf-8", "replace")))[:_MOST_WORDS]


def _line_starts_with(view: View, word: str) -> Iterator[int]:
    sought = view.sought(word)
    at = view.text.find(sought) if sought else -1
    for _ in range(_MOST_PLACES):
        if at < 0 or sought is None:
            return
        yield line_start(view, at)
        at = view.text.find(sought, line_end(view, at))


def _lines_up(view: View, start: int, count: int) -> int:
    for _ in range(count):
        start = line_start(view, max(0, start - 1))
    return start


def describe(near: NearMiss) -> str:
    """Show a near miss: the file's lines with their numbers, the sought line under each that differs, and why."""
    rows = [f"The closest text is at {_lines_named(near)}:"]
    reasons: list[str] = []
    for one, two in _aligned(near.there, near.asked):
        there = None if one is None else near.there[one]
        asked = None if two is None else near.asked[two]
        if there is not None and one is not None:
            rows.append(_row(near.line + one, there, same=there == asked))
        if asked is not None and there != asked:
            rows.append(f"   oldText: {_marked(asked)}")
        if there is not None and asked is not None and one is not None and there != asked:
            reasons += [f"line {near.line + one}: {reason}" for reason in differences(there, asked)]
    rows = _fitting(rows)
    rows += [f"- {reason}" for reason in reasons[:_MOST_REASONS]]
    if len(reasons) > _MOST_REASONS:
        rows.append(f"- and {len(reasons) - _MOST_REASONS} more")
    return "\n".join(rows)


def _fitting(rows: list[str]) -> list[str]:
    """As many rows as there is room for: a line of invisible characters is six times as long when they are shown."""
    room = _ROWS_CHARACTERS
    for count, row in enumerate(rows):
        room -= len(row) + 1
        if room < 0:
            return [*rows[:count], f"  ... {len(rows) - count} more lines of this comparison"]
    return rows


def _row(number: int, line: str, *, same: bool) -> str:
    return f"  {number} | {_clipped(line)}" if same else f"> {number} | {_marked(line)}"


def _lines_named(near: NearMiss) -> str:
    last = near.line + len(near.there) - 1
    return f"line {near.line}" if last <= near.line else f"lines {near.line}-{last}"


def _clipped(text: str) -> str:
    text = show_undecodable(text)[0]
    return text if len(text) <= _LINE_CHARACTERS else f"{text[:_LINE_CHARACTERS]}..."


def _marked(text: str) -> str:
    r"""Make the invisible visible: a tab as `\t`, a no-break space as `\u00a0`, spaces at the end as dots."""
    text = _clipped(text)
    bare = text.rstrip(" ")
    hidden = {"Cc", "Cf", "Zs"} if unicodedata.is_normalized("NFC", text) else {"Cc", "Cf", "Zs", "Mn"}
    shown = "".join(_visible(character, hidden) for character in bare)
    return shown + "\u00b7" * (len(text) - len(bare))


def _visible(character: str, hidden: set[str]) -> str:
    if character == " " or not (ord(character) in _LOOK_ALIKES or unicodedata.category(character) in hidden):
        return character
    return {"\t": "\\t", "\r": "\\r"}.get(character, f"\\u{ord(character):04x}")


def differences(there: str, asked: str) -> list[str]:
    """Say in words what differs between a line of the file and the sought one; at most three reasons."""
    reasons: list[str] = []
    indentation = _indentation(there), _indentation(asked)
    if indentation[0] != indentation[1]:
        reasons.append(f"the file begins with {_spelled(indentation[0])}, oldText with {_spelled(indentation[1])}")
    ends = len(there) - len(there.rstrip(" \t")), len(asked) - len(asked.rstrip(" \t"))
    if ends[0] != ends[1]:
        reasons.append(f"the file has {ends[0]} spaces or tabs at the end, oldText {ends[1]}")
    left, right = there.strip(" \t"), asked.strip(" \t")
    if left == right:
        return reasons
    if unicodedata.normalize("NFC", left) == unicodedata.normalize("NFC", right):
        return [*reasons, "the same letters in another Unicode form (composed or decomposed accents)"]
    at = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    column = len(indentation[0]) + at + 1
    return [*reasons, f"column {column}: the file has {_named(left, at)}, oldText has {_named(right, at)}"]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _spelled(indentation: str) -> str:
    if not indentation:
        return "no indentation"
    runs = re.findall(r" +|\t+", indentation)
    return ", ".join(
        f"{len(run)} {'tab' if run[0] == chr(9) else 'space'}{'' if len(run) == 1 else 's'}" for run in runs
    )


def _named(text: str, at: int) -> str:
    if at >= len(text):
        return "the end of the line"
    character = text[at]
    if character == "\t":
        return "a tab"
    if character == " ":
        return "a space"
    if 0x20 < ord(character) < 0x7F:
        word = re.match(r"\w{1,24}", text[at:])
        return f'"{word.group() if word else character}"'
    if 0xDC80 <= ord(character) <= 0xDCFF:
        return f"the byte {ord(character) - 0xDC00:02X}, which is no text in its encoding"
    name = unicodedata.name(character, "an unnamed character").lower()
    in_json = f"; in JSON \\u{ord(character):04x}" if ord(character) < 0x10000 else ""
    return f"U+{ord(character):04X} ({name}{in_json})"
