"""Finding a text in a view, and the way back to bytes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_filesystem.editing.matching import View, find_exact, found_by_bytes, line_numbers
from mcp_curated_filesystem.text.forms import EncodingError, TextForm, detect


def _view(data: bytes) -> View:
    return View.of(data, detect(data, whole=True))


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "iso8859-15", "koi8-r", "cp866", "mac-roman"])
def test_bytes_are_searched_where_a_character_cannot_hide_another(encoding: str) -> None:
    assert found_by_bytes(encoding)


@pytest.mark.parametrize("encoding", ["gb18030", "cp932", "utf-16-le", "utf-32-be", "cp037", "iso2022_jp", "big5"])
def test_bytes_are_not_searched_where_one_can(encoding: str) -> None:
    assert not found_by_bytes(encoding)


@given(st.text(alphabet="ab\n\r", max_size=30), st.text(alphabet="ab\n", min_size=1, max_size=5))
def test_places_are_those_of_the_text_with_unified_line_ends(text: str, asked: str) -> None:
    view = _view(text.encode() or b" ")
    plain = text.replace("\r\n", "\n").replace("\r", "\n") or " "
    assert len(find_exact(view, asked)) == plain.count(asked)


@given(st.text(alphabet="a\u00e9\u4e16\U0001f600\n", max_size=20), st.sampled_from(["utf-16-le", "gb18030", "utf-8"]))
def test_a_span_leads_to_the_bytes_of_its_text(text: str, encoding: str) -> None:
    data = f"{text}<x>{text}".encode(encoding)
    view = View.of(data, TextForm(encoding, b"", "\n", certain=True))
    (span,) = find_exact(view, "<x>")
    ((start, end),) = view.byte_spans([span])
    assert data[start:end] == "<x>".encode(encoding)
    assert data[:start] == text.encode(encoding)


def test_a_stateful_encoding_is_not_spliced() -> None:
    data = "\u65e5\u672c abc".encode("iso2022_jp")
    view = View.of(data, TextForm("iso2022_jp", b"", "", certain=True))
    with pytest.raises(EncodingError, match="cannot be replaced alone"):
        view.byte_spans(find_exact(view, "abc"))


def test_line_numbers_are_those_of_reads() -> None:
    assert line_numbers(_view(b"a\r\nb\rc\nd"), [0, 3, 7]) == [1, 2, 3]
    assert line_numbers(_view(b"a\rb\rc"), [0, 2, 4]) == [1, 2, 3]


def test_lines_that_are_all_alike_are_looked_for_quickly_among_mixed_breaks() -> None:
    """A regular expression tried each of the places for as long as it fitted: this took hours."""
    data = b"line\r\n" * 100_000 + b"line\n"
    view = _view(data)
    assert find_exact(view, "line\n" * 30_000 + "end") == []
    assert len(find_exact(view, "line\n" * 50_000)) == 2
    assert find_exact(view, "line\r" * 30_000) == []


@given(
    st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "\r"]), max_size=30),
    st.lists(st.sampled_from(["a", "b", "\n", "\r"]), min_size=1, max_size=4),
)
def test_mixed_breaks_are_matched_as_an_expression_would(there: list[str], sought: list[str]) -> None:
    text, needle = "".join(there) + "\r\nx\ny", "".join(sought).replace("\r\n", "\n")
    any_break = r"(?:\r\n|(?<!\r)\n|\r(?!\n))"
    pieces = {"\n": any_break, "\r": r"\r(?!\n)"}
    pattern = re.compile("".join(pieces.get(one, one) for one in needle))
    assert find_exact(_view(text.encode()), needle) == [hit.span() for hit in pattern.finditer(text)]
