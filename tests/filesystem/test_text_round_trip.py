"""Bytes that become text and bytes again are the same bytes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_curated_filesystem.text.forms import (
    EncodingError,
    TextForm,
    decode,
    detect,
    encode,
    encode_part,
    reading_decoder,
    show_undecodable,
)

ENCODINGS = [
    *("utf-8", "cp1252", "iso8859-1", "cp1250", "cp1251", "koi8-r", "cp437", "cp850", "mac-roman", "cp037", "cp874"),
    *("gb18030", "gbk", "gb2312", "cp932", "shift_jis", "euc_jp", "euc_jis_2004", "cp949", "euc_kr", "johab", "big5"),
    *(
        "cp950",
        "big5hkscs",
        "utf-16-le",
        "utf-16-be",
        "utf-32-le",
        "utf-32-be",
        "iso2022_jp",
        "iso2022_kr",
        "hz",
        "utf-7",
    ),
]
ALWAYS_EXACT = [
    "utf-8",
    "cp1252",
    "iso8859-1",
    "cp1250",
    "cp1251",
    "koi8-r",
    "cp437",
    "cp850",
    "mac-roman",
    "cp037",
    "gb18030",
    "cp932",
    "cp949",
]
texts = st.text(st.sampled_from("aé中日ア한я=\n\r\t <"), max_size=20)
junk = st.binary(max_size=12) | st.lists(
    st.sampled_from(b"\x81\x30\xed\x40\xfa\x5c\x7e\x0a\x87\x90\xa1\xff\x80\x1b$B~{")
).map(bytes)


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=150)
@given(text=texts, tail=junk)
def test_any_bytes_come_back_as_they_were_or_are_cleanly_refused(encoding: str, text: str, tail: bytes) -> None:
    data = text.encode(encoding, "ignore") + tail
    form = TextForm(encoding, b"", "\n", True)
    try:
        decoded = decode(data, form)
    except EncodingError:
        assert encoding not in ALWAYS_EXACT
        return
    assert encode(decoded, form) == data


@settings(max_examples=400)
@given(st.binary(max_size=60))
def test_whatever_is_detected_comes_back_as_it_was(data: bytes) -> None:
    from mcp_curated_filesystem.text.forms import BinaryFileError

    try:
        form = detect(data, whole=True)
        decoded = decode(data, form)
    except (BinaryFileError, EncodingError):
        return
    assert encode(decoded, form) == data


def test_a_character_with_two_codes_keeps_the_one_that_it_has() -> None:
    form = TextForm("cp932", b"", "\n", True)
    data = "名前\n".encode("cp932") + b"\x87\x90=\xed\x40\n" + "値\n".encode("cp932")
    assert encode(decode(data, form), form) == data
    assert "名前\n" in decode(data, form)


def test_an_unpaired_surrogate_of_utf16_comes_back() -> None:
    form = TextForm("utf-16-le", b"\xff\xfe", "\n", True)
    data = b"\xff\xfea\x00\x3d\xd8b\x00"
    assert encode(decode(data, form), form) == data


def test_utf16_cut_inside_a_character_is_not_rewritten() -> None:
    with pytest.raises(EncodingError, match="byte for byte"):
        decode(b"a\x00b", TextForm("utf-16-le", b"", "\n", True))


def test_the_mark_is_written_once_and_not_into_parts() -> None:
    form = TextForm("utf-8", b"\xef\xbb\xbf", "\n", True)
    assert encode("a", form) == b"\xef\xbb\xbfa"
    assert encode_part("a", form) == b"a"


def test_characters_that_an_encoding_cannot_hold_are_named() -> None:
    with pytest.raises(EncodingError, match=r"cp1252, cannot hold '日' \(U\+65E5\), '本' \(U\+672C\)"):
        encode("a日本é", TextForm("cp1252", b"", "\n", True))


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(max_examples=100)
@given(data=st.binary(max_size=60), cut=st.integers(0, 60))
def test_reading_decodes_anything_in_pieces_and_leaves_nothing_unsendable(encoding: str, data: bytes, cut: int) -> None:
    decoder = reading_decoder(TextForm(encoding, b"", "\n", True))
    text = decoder.decode(data[:cut]) + decoder.decode(data[cut:]) + decoder.decode(b"", True)
    shown, _ = show_undecodable(text)
    shown.encode("utf-8")
    assert "\0" not in shown


def test_undecodable_bytes_are_shown_as_escapes_and_counted() -> None:
    text = decode(b"caf\xe9\n\xff", TextForm("utf-8", b"", "\n", True))
    assert show_undecodable(text) == ("caf\\xe9\n\\xff", 2)
    assert show_undecodable("plain é") == ("plain é", 0)
