"""A cut fits, says what is missing and names the exact next call."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.security.limits import DEFAULT_BUDGET, Budget, call_text, cut, cut_rows


def test_the_default_budget_stays_below_what_hosts_refuse() -> None:
    assert DEFAULT_BUDGET.characters < 50_000
    assert DEFAULT_BUDGET.base64_bytes < 1_000_000


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Budget)])
def test_a_limit_of_nothing_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        dataclasses.replace(DEFAULT_BUDGET, **{field: 0})


def test_a_call_is_written_so_that_it_can_be_repeated() -> None:
    assert call_text("read_file", path='a "b".txt', offset=2001, limit=None) == (
        'read_file {"path": "a \\"b\\".txt", "offset": 2001}'
    )


def test_a_text_that_fits_is_not_touched() -> None:
    text = "x" * 100
    assert cut(text, 100, "more") is text


def test_a_cut_ends_at_a_line_and_names_the_next_call() -> None:
    text = "".join(f"line {number}\n" for number in range(1_000))
    short = cut(text, 1_000, lambda shown: call_text("read_file", offset=shown.count("\n") + 1))
    assert len(short) <= 1_000
    body, _, note = short.rpartition("\n")
    assert text.startswith(body + "\n")
    shown = body.count("\n") + 1
    assert note == (
        f'[Cut: {len(body) + 1:,} of {len(text):,} characters. The rest: read_file {{"offset": {shown + 1}}}]'
    )


def test_a_single_long_line_is_cut_inside() -> None:
    short = cut("x" * 5_000, 1_000, "read_more")
    assert 900 < len(short) <= 1_000
    assert short.endswith("The rest: read_more]")


@given(st.text(alphabet="ab\n", max_size=400), st.integers(80, 300))
def test_a_cut_text_always_fits_and_always_tells(text: str, characters: int) -> None:
    short = cut(text, characters, lambda shown: f"next {len(shown)}")
    assert len(short) <= characters
    if short != text:
        said = int(short.rpartition("next ")[2].removesuffix("]"))
        assert short.startswith(text[:said])
        assert f"[Cut: {said:,} of {len(text):,} characters" in short


def test_a_budget_too_small_for_the_note_is_kept_all_the_same() -> None:
    assert len(cut("x" * 100, 10, "read_more")) <= 10


def test_rows_that_fit_are_joined() -> None:
    assert cut_rows(["a", "b"], 100, lambda shown: f"from {shown}") == "a\nb"


def test_rows_are_cut_between_two_and_the_rest_is_named() -> None:
    rows = [f"row {number:04}" for number in range(500)]
    short = cut_rows(rows, 1_000, lambda shown: f"list {shown}", total=9_000)
    *body, note = short.split("\n")
    assert len(short) <= 1_000
    assert body == rows[: len(body)]
    assert note == f"[Cut: {len(body):,} of 9,000. The rest: list {len(body)}]"
    assert len(short) + len(rows[0]) + 1 > 1_000


def test_rows_at_hand_that_are_not_all_say_so_even_when_they_fit() -> None:
    assert cut_rows(["a"], 100, lambda shown: f"from {shown}", total=3) == "a\n[Cut: 1 of 3. The rest: from 1]"


@given(st.lists(st.text(alphabet="ab", max_size=60), max_size=30), st.integers(40, 400))
def test_cut_rows_always_fit(rows: list[str], characters: int) -> None:
    short = cut_rows(rows, characters, lambda shown: f"from {shown}")
    assert len(short) <= characters
