"""Finding out how a text is stored."""

# ruff: noqa: RUF001 - letters of many scripts are the subject

import codecs

import pytest

from mcp_curated_filesystem.text.forms import TextForm, decode, detect
from mcp_curated_filesystem.text.guessing import BinaryFileError
from mcp_curated_shared.errors import InvalidArgumentError

SENTENCES = {
    "cp1252": "Todos los seres humanos nacen libres e iguales en dignidad; ¿y en razón? «Sí», dijo el niño.\n",
    "cp1250": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.\n",
    "iso8859-2": "Příliš žluťoučký kůň úpěl ďábelské ódy.\n",
    "cp1251": "Все люди рождаются свободными и равными в своем достоинстве и правах.\n",
    "koi8-r": "Все люди рождаются свободными и равными в своем достоинстве и правах.\n",
    "cp866": "Файл конфигурации не найден\n",
    "cp1253": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια\n",
    "cp1254": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.\n",
    "cp1255": "כל בני אדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה\n",
    "cp1256": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق\n",
    "cp874": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน\n",
    "cp932": "すべての人間は、生まれながらにして自由であり\nkey=値\n",
    "euc_jp": "すべての人間は、生まれながらにして自由であり\n",
    "gb18030": "人人生而自由，在尊严和权利上一律平等。\nkey=1\n",
    "big5": "人人生而自由，在尊嚴和權利上一律平等。\n",
    "cp949": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.\n",
}


@pytest.mark.parametrize("encoding", SENTENCES)
def test_a_sentence_in_a_legacy_encoding_is_read_right(encoding: str) -> None:
    text = SENTENCES[encoding]
    form = detect(text.encode(encoding), whole=True)
    assert decode(text.encode(encoding), form) == text
    assert not form.certain


@pytest.mark.parametrize(
    "word", ["café\nkey=1\n", "# Auteur: François\n", "Größe: 5\n", "“Hello” – naïve\n", "50 £ or 40 €\n"]
)
def test_a_few_western_letters_are_enough_for_cp1252(word: str) -> None:
    assert detect(word.encode("cp1252"), whole=True).encoding == "cp1252"


@pytest.mark.parametrize("encoding", ["gbk", "shift_jis", "euc_jp", "big5"])
def test_a_sample_cut_inside_a_character_is_still_recognized(encoding: str) -> None:
    line = {"gbk": "人人生而自由在尊严和权利上一律平等\n", "big5": "人人生而自由在尊嚴和權利上一律平等\n"}.get(
        encoding, "すべての人間は生まれながらにして\n"
    )
    data = line.encode(encoding) * 200
    cut = next(at for at in range(4_000, 4_100) if not _decodes(data[:at], encoding))
    assert detect(data[:cut], whole=False) == detect(data, whole=True)


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_decides(mark: bytes, encoding: str) -> None:
    data = mark + "é\r\nb\r\n".encode(encoding)
    form = detect(data, whole=True)
    assert form == TextForm(encoding, mark, "\r\n", True)
    assert decode(data, form) == "é\r\nb\r\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_utf16_and_utf32_without_a_mark_are_recognized(encoding: str) -> None:
    assert detect("name = 1\n中文 текст\n".encode(encoding), whole=True) == TextForm(encoding, b"", "\n", True)


def test_utf8_is_never_taken_for_anything_else() -> None:
    data = "日本語 café привет 😀\n".encode() * 100
    assert detect(data, whole=True) == TextForm("utf-8", b"", "\n", True)
    for end in range(len(data) - 40, len(data)):
        assert detect(data[:end], whole=False).encoding == "utf-8"


def test_utf8_with_one_broken_byte_stays_utf8() -> None:
    form = detect("Ünïcödé text, plenty of it: äöüß éèê\n".encode() + b"\xff\n", whole=True)
    assert (form.encoding, form.certain) == ("utf-8", False)


@pytest.mark.parametrize(
    ("text", "style"),
    [("a\nb\n", "\n"), ("a\r\nb\r\n", "\r\n"), ("a\rb\r", "\r"), ("a\r\nb\n", "mixed"), ("a\rb\n", "mixed"), ("a", "")],
)
def test_the_newline_style_is_told(text: str, style: str) -> None:
    for encoding in ("utf-8", "utf-16-le", "cp037"):
        assert detect(text.encode(encoding), whole=True, encoding=encoding).newline == style


def test_a_carriage_return_at_the_end_of_a_sample_may_be_half_of_a_crlf() -> None:
    assert detect(b"a\r\nb\r", whole=False).newline == "\r\n"
    assert detect(b"a\r\nb\r", whole=True).newline == "mixed"


def test_a_declaration_in_the_text_is_believed_if_the_text_bears_it_out() -> None:
    xml = '<?xml version="1.0" encoding="ISO-8859-5"?>\n<a>привет</a>\n'
    assert detect(xml.encode("iso8859-5"), whole=True).encoding == "iso8859-5"
    python = "# -*- coding: koi8-u -*-\nx = 'їжак'\n"
    assert detect(python.encode("koi8-u"), whole=True).encoding == "koi8-u"
    wrong = '<?xml version="1.0" encoding="ascii"?>\n<a>caf\xe9</a>\n'
    assert detect(wrong.encode("latin-1"), whole=True).encoding == "cp1252"


@pytest.mark.parametrize("spelling", ["Shift-JIS", "windows-1252", "UTF8", "latin 1", "GBK", "iso-8859-15"])
def test_the_caller_may_name_an_encoding_in_any_spelling(spelling: str) -> None:
    assert detect(b"abc\n", whole=True, encoding=spelling).encoding == codecs.lookup(spelling).name


def test_utf16_named_without_an_order_takes_the_one_of_the_mark() -> None:
    assert detect("\ufeffab".encode("utf-16-be"), whole=True, encoding="utf-16").encoding == "utf-16-be"
    assert detect("ab".encode("utf-16-le"), whole=True, encoding="UTF-16").encoding == "utf-16-le"


@pytest.mark.parametrize(
    "name", ["base64", "rot13", "zip", "hex", "unicode_escape", "idna", "undefined", "", "\0", "a/b", "x" * 5_000]
)
def test_what_is_no_text_encoding_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="no text encoding") as refused:
        detect(b"abc", whole=True, encoding=name)
    assert len(str(refused.value)) < 300


def test_a_misspelt_encoding_is_answered_with_near_names() -> None:
    with pytest.raises(InvalidArgumentError, match=r"Did you mean.*cp1252"):
        detect(b"abc", whole=True, encoding="cp12552")


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"),
        (b"PK\x03\x04\x14\x00\x00\x00", "application/zip"),
        (b"\x00\x01\x02\x03", "unknown type"),
        (bytes(range(1, 32)) * 8, "unknown type"),
        (b"text and then\x00a zero byte\n", "unknown type"),
        (b"\xff\xd8\xff\xe0" + bytes(range(128, 256)), "image/jpeg"),
    ],
)
def test_a_binary_is_refused_with_its_type_and_first_bytes(data: bytes, what: str) -> None:
    with pytest.raises(BinaryFileError, match=what) as refused:
        detect(data, whole=True)
    assert data[:8].hex(" ")[:8] in str(refused.value)
    assert "get_file_info" in str(refused.value)


def test_the_callers_encoding_overrides_the_verdict_that_a_file_is_binary() -> None:
    assert detect(b"a\x00b\n", whole=True, encoding="latin-1").encoding == "iso8859-1"


def test_terminal_colours_and_form_feeds_are_text() -> None:
    assert detect(b"\x1b[31mred\x1b[0m\x0c\n\x08\n" * 20, whole=True).encoding == "utf-8"


def test_an_empty_file_is_plain_text() -> None:
    form = detect(b"", whole=True)
    assert form.plain
    assert form.newline == ""
