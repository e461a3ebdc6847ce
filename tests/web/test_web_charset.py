"""Which characters bytes mean, and how that was found."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_web.fetching.charset import decode, known

CHINESE = "\u5929\u5730\u7384\u9ec4\u5b87\u5b99\u6d2a\u8352" * 6
JAPANESE = "\u6625\u306f\u3042\u3051\u307c\u306e\u3084\u3046\u3084\u3046\u767d\u304f\u306a\u308a\u3086\u304f" * 6
RUSSIAN = (
    "\u0412\u0441\u0435 \u0441\u0447\u0430\u0441\u0442\u043b\u0438\u0432\u044b\u0435 \u0441\u0435\u043c\u044c\u0438 "
    "\u043f\u043e\u0445\u043e\u0436\u0438 \u0434\u0440\u0443\u0433 \u043d\u0430 \u0434\u0440\u0443\u0433\u0430 "
) * 4


def html(words: str, head: str = "") -> str:
    return f"<html><head>{head}<title>t</title></head><body><p>{words}</p></body></html>"


@pytest.mark.parametrize(
    ("body", "content_type", "charset", "source"),
    [
        (codecs.BOM_UTF8 + html(RUSSIAN).encode(), "text/html; charset=latin-1", "utf-8", "bom"),
        (html(RUSSIAN).encode("cp1251"), "text/html; charset=windows-1251", "windows-1251", "header"),
        (html(CHINESE, "<meta charset=gb18030>").encode("gb18030"), "text/html", "gb18030", "meta"),
        (html(CHINESE, "<meta charset=gb2312>").encode("gb18030"), "text/html", "gb18030", "meta"),
        (
            html(JAPANESE, '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">').encode("cp932"),
            "text/html; charset=no-such-charset",
            "cp932",
            "meta",
        ),
        (html(RUSSIAN).encode(), "text/html", "utf-8", "utf-8"),
        (html(RUSSIAN).encode("cp1251"), "text/html", "cp1251", "detected"),
        (html(RUSSIAN).encode("koi8-r"), "", "koi8-r", "detected"),
        (html("x").encode("utf-16"), "text/html", "utf-16-le", "bom"),
        (html(RUSSIAN, "<meta charset=utf-16>").encode(), "text/html", "utf-8", "meta"),
    ],
)
def test_the_charset_is_found_and_reported_with_its_source(body: bytes, content_type: str, charset: str, source: str):
    got = decode(body, content_type)
    assert (got.charset, got.source) == (charset, source)
    assert any(words.strip() in got.text for words in (CHINESE, JAPANESE, RUSSIAN, "x"))


def test_a_label_of_the_web_means_what_browsers_read_it_as():
    assert decode(b"it\x92s", "text/html; charset=iso-8859-1").text == "it\u2019s"


@pytest.mark.parametrize("label", ["utf-7", "punycode", "rot13", "base64", "zlib", "unicode_escape", "idna", "x" * 30])
def test_a_codec_that_is_no_charset_is_not_used(label: str):
    assert known(label) == ""
    assert decode(b"plain", f"text/html; charset={label}").text == "plain"


def test_a_last_character_that_was_cut_off_does_not_change_the_charset():
    assert decode(html(RUSSIAN).encode()[:-40].rstrip(b"<")[:101], "text/html").charset == "utf-8"


def test_the_detector_of_the_extra_reads_what_is_undeclared():
    got = decode(html(JAPANESE * 3).encode("cp932"), "text/html")
    assert got.source == "detected" and JAPANESE in got.text


@given(st.binary(max_size=300), st.sampled_from(["", "text/html; charset=utf-8", "text/html; charset=shift_jis"]))
def test_any_bytes_are_read_as_text_that_can_be_sent(body: bytes, content_type: str):
    assert isinstance(decode(body, content_type).text.encode("utf-8", "replace"), bytes)
