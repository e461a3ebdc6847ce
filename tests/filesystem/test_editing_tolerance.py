"""Edits whose quoted text differs only in white space at the ends of lines, and near misses."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_curated_filesystem.editing.editor import Edit, Edited, EditError, edit_file
from mcp_curated_filesystem.editing.indentation import learn
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work


class Bench:
    def __init__(self, directory: Path) -> None:
        self.confinement = Confinement([RootSpec(str(directory))])
        self.file = directory / "file.py"

    def edit(self, content: str, old: str, new: str) -> tuple[str, Edited]:
        self.file.write_bytes(content.encode())
        reply = edit_file(self.confinement, str(self.file), [Edit(old, new)], work=Work())
        return self.file.read_bytes().decode(), reply

    def miss(self, content: str, old: str) -> str:
        self.file.write_bytes(content.encode())
        with pytest.raises(EditError) as caught:
            edit_file(self.confinement, str(self.file), [Edit(old, "new")], work=Work())
        assert self.file.read_bytes() == content.encode()
        return str(caught.value)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.confinement.close()


def test_spaces_quoted_for_tabs_are_matched_and_the_new_text_has_tabs(bench: Bench) -> None:
    after, reply = bench.edit(
        "\tif a:\n\t\tb()\n\tend\n", "    if a:\n        b()", "    if a:\n        c()\n        if d:\n            e()"
    )
    assert after == "\tif a:\n\t\tc()\n\t\tif d:\n\t\t\te()\n\tend\n"
    assert any("indentation" in note for note in reply.notes)


def test_tabs_quoted_for_spaces_are_matched_and_the_new_text_has_spaces(bench: Bench) -> None:
    after, _ = bench.edit("  a:\n    b\n", "\ta:\n\t\tb", "\ta:\n\t\tb\n\t\t\tc")
    assert after == "  a:\n    b\n      c\n"


def test_a_shifted_block_is_shifted_back(bench: Bench) -> None:
    after, _ = bench.edit("        if a:\n            b()\n", "    if a:\n        b()", "    if a:\n        c()")
    assert after == "        if a:\n            c()\n"


def test_spaces_at_line_ends_are_forgiven_and_kept_on_unchanged_lines(bench: Bench) -> None:
    after, reply = bench.edit("keep  \nold\t\nlast\n", "keep\nold\nlast", "keep\nnew\nlast")
    assert after == "keep  \nnew\nlast\n"
    assert any("spaces at the ends of lines" in note for note in reply.notes)


def test_line_ends_are_kept_in_a_tolerant_match(bench: Bench) -> None:
    after, _ = bench.edit("\ta\r\n\t\tb\r\n", "    a\n        b", "    a\n        c\n        d")
    assert after == "\ta\r\n\t\tc\r\n\t\td\r\n"


def test_a_tolerant_match_that_is_not_unique_is_refused(bench: Bench) -> None:
    text = bench.miss("\tx = 1\n\ty = 2\n---\n\t\tx = 1\n\t\ty = 2\n", "  x = 1\n  y = 2")
    assert "more than once" in text
    assert "lines 1, 4" in text


def test_an_exact_match_is_preferred_to_a_tolerant_one(bench: Bench) -> None:
    after, reply = bench.edit("\tx\n\ty\n  x\n  y\n", "  x\n  y", "  x\n  z")
    assert after == "\tx\n\ty\n  x\n  z\n"
    assert not reply.notes


def test_inconsistent_indentation_is_not_guessed(bench: Bench) -> None:
    assert "not found" in bench.miss("    a\n        b\n", "a\nb")


@pytest.mark.parametrize(
    ("pairs", "given", "wanted"),
    [
        ([("", "")], "  ", "  "),
        ([("", "    ")], "  ", "      "),
        ([("        ", "    ")], "            ", "        "),
        ([("    ", "        ")], "", "    "),
        ([("    ", "\t"), ("        ", "\t\t")], "            ", "\t\t\t"),
        ([("  ", "\t")], "    ", "\t\t"),
        ([("\t", "  ")], "\t\t", "    "),
        ([("        ", "    ")], "", None),
        ([("    ", "\t\t"), ("        ", "\t\t\t")], "", "\t"),
    ],
)
def test_a_rule_that_explains_all_lines_is_learned(
    pairs: list[tuple[str, str]], given: str, wanted: str | None
) -> None:
    rule = learn(pairs)
    assert rule is not None
    assert rule(given) == wanted


@pytest.mark.parametrize(
    "pairs",
    [
        [("", "    "), ("    ", "    ")],
        [("    ", "\t"), ("    ", "\t\t")],
        [(" \t", "\t ")],
        [("     ", "\t"), ("   ", "\t\t")],
    ],
)
def test_no_rule_is_learned_from_lines_that_contradict(pairs: list[tuple[str, str]]) -> None:
    assert learn(pairs) is None


def test_a_near_miss_shows_the_closest_lines_and_the_difference(bench: Bench) -> None:
    text = bench.miss("import x\n\n\ndef alpha(x):\n    return x\n", "def alpha(y):\n    return x")
    assert "lines 4-5" in text
    assert "> 4 | def alpha(x):" in text
    assert "oldText: def alpha(y):" in text
    assert 'column 11: the file has "x", oldText has "y"' in text


@pytest.mark.parametrize(
    ("content", "old", "told"),
    [
        ("a\u00a0= 1\n", "a = 1", "U+00A0"),
        ("say \u201chi\u201d\n", 'say "hi"', "U+201C"),
        ("it\u2019s here\n", "it's here", "U+2019"),
        ("foo\tbar\n", "foo bar", "a tab"),
        ("x\u202fPM now\n", "x PM now", "U+202F"),
        ("cafe\u0301 noir\n", "caf\u00e9 noir", "another Unicode form"),
        ("value = 10  # ten\n", "value  = 10  # ten", "a space"),
    ],
)
def test_a_near_miss_names_the_character_that_cannot_be_seen(bench: Bench, content: str, old: str, told: str) -> None:
    assert told in bench.miss(content, old)


def test_invisible_characters_are_shown_as_escapes(bench: Bench) -> None:
    text = bench.miss("a\u00a0b\tc\n", "a b c")
    assert "a\\u00a0b\\tc" in text


def test_nothing_alike_is_said_so(bench: Bench) -> None:
    assert "Nothing in the file is like it" in bench.miss("alpha beta\n", "{}[]#!?")


def test_a_miss_in_ten_megabytes_is_told_in_time(bench: Bench) -> None:
    content = "".join(f"row {number} has some ordinary words in it\n" for number in range(240_000))
    bench.file.write_text(content)
    old = "row 123456 has some ordinary wordz in it\nrow 123457 has some strange words in it"
    started = time.process_time()
    with pytest.raises(EditError) as caught:
        edit_file(bench.confinement, str(bench.file), [Edit(old, "x")], work=Work())
    assert time.process_time() - started < 1  # 0.1 s on an idle machine; processor time, so that a busy one passes
    assert "lines 123457-123458" in str(caught.value)


def test_a_miss_in_one_endless_line_is_told_in_time(bench: Bench) -> None:
    bench.file.write_bytes(b"word " * 400_000)
    started = time.process_time()
    with pytest.raises(EditError) as caught:
        edit_file(bench.confinement, str(bench.file), [Edit("word worx word", "x")], work=Work())
    assert time.process_time() - started < 1
    assert len(str(caught.value)) < 4_000
