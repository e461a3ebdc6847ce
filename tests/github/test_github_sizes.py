"""Cutting texts: within the bytes, and without losing a character between two parts."""

import json

from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_github.reading.sizes import clip, count_parts, part_of, shares, size_of

texts = st.text(alphabet=st.sampled_from('ab\n"\\\x01é漢😀 '), max_size=300)


@given(texts)
def test_a_size_is_that_of_the_sent_string(text: str):
    assert size_of(text) == len(json.dumps(text, ensure_ascii=False).encode()) - 2


@given(texts, st.integers(3, 200))
def test_what_is_clipped_fits_and_says_so(text: str, most: int):
    shown, cut = clip(text, most)
    assert size_of(shown) <= most
    assert cut == (shown != text)
    assert not cut or (shown.endswith("…") and text.startswith(shown[:-1]))


@given(texts, st.integers(8, 120), st.one_of(st.none(), st.integers(8, 60)))
def test_the_parts_of_a_text_are_the_text(text: str, most: int, first: int | None):
    parts: list[str] = []
    more = True
    while more:
        part, more = part_of(text, len(parts) + 1, most, first)
        parts.append(part)
        assert size_of(part) <= (first if first is not None and len(parts) == 1 else most)
        assert part or not text
    assert "".join(parts) == text
    assert part_of(text, len(parts) + 1, most, first) == ("", False)
    if first is None:
        assert count_parts(text, most) == len(parts)


@given(texts, st.integers(8, 120), st.integers(1, 6))
def test_a_part_needs_no_more_of_the_text_than_could_fill_it(text: str, most: int, number: int):
    whole = part_of(text, number, most)
    enough = text[: number * most + 1]
    assert part_of(enough, number, most)[0] == whole[0]


@given(st.lists(st.integers(0, 50), max_size=12), st.integers(0, 200))
def test_shares_never_exceed_the_room_and_leave_none_that_is_needed(sizes: list[int], room: int):
    given_ = shares(sizes, room)
    assert sum(given_) <= room
    assert all(0 <= one <= need for one, need in zip(given_, sizes, strict=True))
    if sum(sizes) <= room:
        assert given_ == sizes
