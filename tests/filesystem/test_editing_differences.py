"""The unified diff of an edit, held against difflib and GNU patch's reading of it."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_filesystem.editing.differences import DIFF_CHARACTERS, unified_diff
from mcp_curated_filesystem.editing.fitting import Splice
from mcp_curated_filesystem.editing.matching import View
from mcp_curated_filesystem.text.forms import detect


def _view(text: str) -> View:
    data = text.encode()
    return View.of(data, detect(data, whole=True))


def _apply(text: str, splices: list[Splice]) -> str:
    for splice in reversed(splices):
        text = text[: splice.start] + splice.text + text[splice.end :]
    return text


def _patched(old: str, diff: str) -> str:
    """Apply a unified diff strictly: every context and removed line must be where the header says."""
    lines = old.splitlines(keepends=True)
    result: list[str] = []
    at = 0
    rows = diff.split("\n") if diff else []
    for index, row in enumerate(rows):
        bare = index + 1 < len(rows) and rows[index + 1].startswith("\\")
        text = row[1:] + ("" if bare else "\n")
        if row.startswith("@@"):
            begin = row.split()[1][1:].split(",")
            start = int(begin[0]) - (0 if len(begin) > 1 and begin[1] == "0" else 1)
            result += lines[at:start]
            at = start
        elif row[0] in " -":
            assert lines[at] == text
            at += 1
            if row[0] == " ":
                result.append(text)
        elif row[0] == "+":
            result.append(text)
    return "".join(result + lines[at:])


@given(st.data())
def test_a_diff_applied_to_the_old_text_gives_the_new_one(data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(["a", "b", "", "cc"]), min_size=1, max_size=40))
    old = "\n".join(lines) + data.draw(st.sampled_from(["", "\n"]))
    if not old:
        return
    cuts = sorted(data.draw(st.lists(st.integers(0, len(old)), max_size=8, unique=True)))
    cuts = cuts[: len(cuts) // 2 * 2]
    new = st.sampled_from(["", "X", "X\n", "\nY", "one\ntwo"])
    splices = [Splice(a, b, data.draw(new)) for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
    difference = unified_diff(_view(old), splices)
    assert difference.left_out == 0
    assert _patched(old, difference.text) == _apply(old, splices)


def test_a_diff_is_what_difflib_gives_for_the_same_change() -> None:
    old = "".join(f"line {number}\n" for number in range(1, 41))
    splices = [Splice(old.index("line 10"), old.index("line 11"), "ten\nand more\n")]
    wanted = list(difflib.unified_diff(old.splitlines(), _apply(old, splices).splitlines(), lineterm=""))[2:]
    assert unified_diff(_view(old), splices).text.split("\n") == wanted


def test_far_apart_changes_are_two_hunks_with_shifted_numbers() -> None:
    old = "".join(f"{number}\n" for number in range(1, 101))
    splices = [Splice(0, 2, "a\nb\nc\n"), Splice(old.index("50\n"), old.index("51\n"), "fifty\n")]
    text = unified_diff(_view(old), splices).text
    assert "@@ -1,4 +1,6 @@" in text
    assert "@@ -47,7 +49,7 @@" in text


def test_a_long_diff_is_cut_and_says_how_much_is_missing() -> None:
    old = "".join(f"{number} {'x' * 80}\n\n\n\n\n\n\n\n\n" for number in range(1_000))
    places = [old.index(f"{number} x") for number in range(1_000)]
    difference = unified_diff(_view(old), [Splice(at, at + 1, "#") for at in places])
    assert len(difference.text) <= DIFF_CHARACTERS
    assert difference.left_out == 1_000 - difference.text.count("@@ -")


def test_a_change_in_an_endless_line_is_shown_around_its_place() -> None:
    old = "a" * 100_000 + "needle" + "b" * 100_000
    text = unified_diff(_view(old), [Splice(100_000, 100_006, "thread")]).text
    assert len(text) < 3_000
    assert "needle" in text
    assert "thread" in text


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_other_line_ends_count_lines_as_reads_do(ending: str) -> None:
    old = ending.join(["a", "b", "c", ""])
    at = old.index("b")
    assert unified_diff(_view(old), [Splice(at, at + 1, "x")]).text == "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c"
