"""Names shown to a reader read back to the same name, and can forge nothing."""

import os
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcp_curated_shared.security.confinement import escape_name, is_git_name, quoted, unescape_name
from mcp_curated_shared.security.confinement.names import canonical, case_key, rule_key
from tests.shared.confinement.conftest import Place

NAMES = st.binary(min_size=1, max_size=40).map(lambda name: os.fsdecode(name.replace(b"\0", b""))) | st.text(
    alphabet=st.sampled_from("\\xuU0aAfe9\n\u202e\u200b\udcc3\udca9\u00e9\x85\u2028 ~/."), min_size=1, max_size=12
).map(canonical)


@given(NAMES)
@example("a\\x0a")
@example("a\\\n")
@example("\\\\x0a\n\\u202e\u202e")
@example("\\\udce9")
def test_a_shown_name_reads_back_to_the_same_bytes(name: str) -> None:
    assert unescape_name(escape_name(name)) == name


@given(NAMES)
def test_a_shown_name_is_visible_text_on_one_line(name: str) -> None:
    shown = escape_name(name)
    shown.encode()
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in shown)
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\ufeff")


@given(NAMES)
def test_escaping_changes_nothing_in_a_name_without_a_hidden_character_or_escape(name: str) -> None:
    plain = "".join(character for character in name if character.isalnum())
    assert escape_name(plain) == plain


@pytest.mark.parametrize(
    "text", ["\\x2e\\x2e", "\\x2f", "\\x00", "\\u0041", "\\u002f", "\\U0000002e", "\\xZZ", "C:\\x"]
)
def test_only_what_is_written_as_an_escape_is_read_as_one(text: str) -> None:
    assert unescape_name(text) == text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb", "a\\x0ab"),
        ("\udce9t\udce9", "\\xe9t\\xe9"),
        ("x\u202egnp.exe", "x\\u202egnp.exe"),
        ("a\\b", "a\\b"),
        ("a\\x0a", "a\\\\x0a"),
        ("caf\u00e9 \u00a0", "caf\u00e9 \u00a0"),
        ("\U000e0041", "\\U000e0041"),
        ("\u2764\ufe0f", "\u2764\ufe0f"),
    ],
)
def test_a_name_is_shown_as_readers_expect(name: str, shown: str) -> None:
    assert escape_name(name) == shown


def test_a_long_path_in_a_message_is_shortened_and_stays_one_line() -> None:
    assert len(quoted("a\n" * 5_000)) < 320


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12))
def test_names_equal_for_a_rule_do_not_depend_on_case_or_form(text: str) -> None:
    assert rule_key(unicodedata.normalize("NFD", text)) == rule_key(unicodedata.normalize("NFC", text))
    assert rule_key(rule_key(text)) == rule_key(text)


def test_the_keys_of_ascii_names_are_plain() -> None:
    assert case_key("README.md") == "readme.md"
    assert rule_key("A/b.TXT") == "a/b.txt"


@pytest.mark.parametrize(
    "name", [".git", ".GIT", ".g\u200cit", ".git.", ".git ", "GIT~1", "git~2", ".git::$INDEX", ".G\u0131T"]
)
def test_spellings_of_git_are_known(name: str) -> None:
    assert is_git_name(name) == (name != ".G\u0131T")


def test_a_shown_name_opens_the_file_it_was_shown_for(place: Place) -> None:
    names = [
        b"new\nline",
        b"caf\xe9",
        "x\u202egnp".encode(),
        b"a\\x0a",
        b"a\n",
        b"back\\slash",
        b"\\\\x0a",
        b"\xc3\xa9",
    ]
    for number, name in enumerate(names):
        with open(os.path.join(os.fsencode(place.root / "docs"), name), "w") as file:
            file.write(str(number))
    confinement = place.confine()
    for number, name in enumerate(names):
        with confinement.open_file(
            f"docs/{os.fsdecode(name)}" if b"\\" not in name else f"docs/{escape_name(os.fsdecode(name))}"
        ) as raw:
            assert os.read(raw.descriptor, 9) == str(number).encode()
            shown = raw.location.shown
        with confinement.open_file(shown) as again:
            assert os.read(again.descriptor, 9) == str(number).encode()


def test_an_escaped_directory_may_be_part_of_a_new_path(place: Place) -> None:
    os.mkdir(os.path.join(os.fsencode(place.root), b"caf\xe9"))
    with place.confine().open_target("caf\\xe9/new\\x0a.txt") as target:
        assert target.location.relative == "caf\udce9/new\\x0a.txt"
        assert target.location.shown.endswith("caf\\xe9/new\\\\x0a.txt")
