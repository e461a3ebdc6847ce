"""Statements are split as PostgreSQL's own scanner splits them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_database.engines.postgres.lexing import LexingError, tokens

NAMES = st.text("abcXYZ_é0123$ \"\\!'-/*\n", min_size=1, max_size=12)


def texts(sql: str) -> list[str]:
    return [token.text for token in tokens(sql)]


def kinds(sql: str) -> list[str]:
    return [token.kind for token in tokens(sql)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT Foo.Bar", ["select", "foo", ".", "bar"]),
        ('SELECT "Foo""s"', ["select", 'Foo"s']),
        (r'U&"\0070g_read_file"', ["pg_read_file"]),
        (r'U&"\+000070g"', ["pg"]),
        ("U&\"d!0061t\" UESCAPE '!'", ["dat"]),
        ("u&\"!!\" /* c */ uescape --\n '!'", ["!"]),
        ("a /* b /* c */ d */ e", ["a", "e"]),
        ("a --b\nc", ["a", "c"]),
        ("a--b\rc", ["a", "c"]),
        ("E'\\'; b' c", ["E'\\'; b'", "c"]),
        ("'\\' b", ["'\\'", "b"]),
        ("'a''b' c", ["'a''b'", "c"]),
        ("$q$ ' $x$ $q$ b", ["$q$ ' $x$ $q$", "b"]),
        ("$é1$ b $é1$", ["$é1$ b $é1$"]),
        ("a$b$c", ["a$b$c"]),
        ("$1::int", ["$1", ":", ":", "int"]),
        ("1.5e3 .5 0x1F 1_000 1..2", ["1.5e3", ".5", "0x1F", "1_000", "1", ".", ".2"]),
        ("1a", ["1", "a"]),
        ("a*--b\n1", ["a", "*", "1"]),
        ("a*/*b*/1", ["a", "*", "1"]),
        ("a<-1 b@-1", ["a", "<", "-", "1", "b", "@-", "1"]),
        ("E'a'\n'\\'' b", ["E'a'\n'\\''", "b"]),
        ("e'a' -- c\n -- d\n '\\', x' b", ["e'a' -- c\n -- d\n '\\', x'", "b"]),
        ("E'a'\r'b'\n\t'\\'' c", ["E'a'\r'b'\n\t'\\''", "c"]),
        ("E'a' '\\' b", ["E'a'", "'\\'", "b"]),
        ("E'a' /* \n */ '\\' b", ["E'a'", "'\\'", "b"]),
        ("'a'\n'\\' b", ["'a'\n'\\'", "b"]),
        ("U&'a'\n'b' c", ["U&'a'\n'b'", "c"]),
        ("B'0'\n'1' c", ["B'0'\n'1'", "c"]),
        ("N'x' B'01' X'ff'", ["N'x'", "B'01'", "X'ff'"]),
        ("ne'x'", ["ne", "'x'"]),
        ("x" * 70, ["x" * 63]),
        ("é" * 40, ["é" * 31]),
    ],
)
def test_a_statement_is_split_into_the_tokens_that_postgresql_sees(sql: str, expected: list[str]) -> None:
    assert texts(sql) == expected


def test_a_gap_that_never_ends_is_read_in_linear_time() -> None:
    assert kinds("'a'" + " -- x" * 20_000) == ["string"]
    assert kinds("'a'\n" + "-- x\n" * 20_000) == ["string"]


@pytest.mark.parametrize(
    "sql", ["'a", "E'a'\n'\\'", '"a', "E'\\'", "$q$ a", "/* a /* b */", r'U&"\00"', 'U&"a" UESCAPE x']
)
def test_what_does_not_end_or_is_malformed_is_refused_with_its_place(sql: str) -> None:
    with pytest.raises(LexingError) as refused:
        list(tokens(sql))
    assert 0 <= refused.value.position <= len(sql)


@given(NAMES)
def test_a_quoted_name_is_itself(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    (token,) = tokens(quoted)
    assert (token.kind, token.text, token.quoted) == ("name", name, True)


@given(st.lists(NAMES, max_size=4), st.sampled_from([" ", "\n", "/**/", "--x\n", "\t"]))
def test_what_is_quoted_hides_nothing_and_shows_nothing(parts: list[str], between: str) -> None:
    strings = ["'" + part.replace("'", "''") + "'" for part in parts]
    sql = between.join(["a", *strings, "b"])
    segments = min(1, len(parts)) if "\n" in between else len(parts)
    assert kinds(sql) == ["name", *["string"] * segments, "name"]


@given(st.text(max_size=60))
def test_tokens_lie_in_order_and_apart(sql: str) -> None:
    try:
        found = list(tokens(sql))
    except LexingError:
        return
    places = [place for token in found for place in (token.start, token.end)]
    assert places == sorted(places)
    assert all(token.start < token.end for token in found)
