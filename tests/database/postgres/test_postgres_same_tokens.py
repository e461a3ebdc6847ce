"""Our lexer and PostgreSQL's own scanner agree on what is code and what is quoted."""

import random

import pytest

from mcp_curated_database.engines.postgres.driver import asyncpg, connect
from mcp_curated_database.engines.postgres.lexing import LexingError, tokens
from tests.postgres import Database

pytestmark = pytest.mark.anyio

FRAGMENTS = [
    *("'", "'", "''", "E'", "e'", "U&'", "u&'", "N'", "B'", "X'", "\\", "\\'", "\n", "\r", "\t", " ", "--", "/*", "*/"),
    *(
        "$$",
        "$q$",
        "$q",
        "1",
        "a",
        "+",
        "||",
        "-",
        "!",
        "UESCAPE",
        "'!'",
        "::text",
        ",",
        "0",
        '"',
        '""',
        'U&"',
        "\\0041",
    ),
    *("E'a'\n", "'a'\n", "'b'", "'\\''", "--x\n", "/*x*/", "*", "/"),
]
PREFIXES = ["", "E", "e", "N", "U&", "B", "X"]
GAPS = ["\n", " ", "\r", "\n\n", " -- x\n", "/* x */", "\n-- '\n", "\t\n\t", "/*\n*/", "--\r", ""]
INSIDE = ["a", "\\", "''", "\\'", " ", "1", "--", "/*", "$$", "\n", '"']
MARK = "zz9"


def segments(dice: random.Random) -> str:
    """A string of some segments, right or nearly right."""
    parts = ["".join(dice.choice(INSIDE) for _ in range(dice.randint(0, 3))) for _ in range(dice.randint(1, 3))]
    return dice.choice(PREFIXES) + dice.choice(GAPS).join(f"'{part}'" for part in parts)


def fragments(dice: random.Random) -> str:
    """Anything."""
    return "".join(dice.choice(FRAGMENTS) for _ in range(dice.randint(1, 7)))


async def test_what_postgresql_sees_behind_any_quotation_is_seen_here_and_nothing_else(database: Database) -> None:
    dice = random.Random(20261201)
    connection = await connect({"dsn": database.dsn})
    seen = hidden = 0
    try:
        for _ in range(6_000):
            middle = dice.choice((segments, fragments))(dice)
            # In the second form the mark is seen only if what stands before it has ended.
            sql = f"SELECT {middle} AS {MARK}" if dice.random() < 0.5 else f"SELECT {middle} {MARK} -- '"
            try:
                columns = [one.name for one in (await connection.prepare(sql)).get_attributes()]
            except asyncpg.PostgresError:
                continue
            try:
                names = [token.text for token in tokens(sql) if token.kind == "name"]
            except LexingError:
                continue  # refused: nothing can hide in it
            if MARK in columns:
                seen += 1
                assert MARK in names, sql
            elif MARK not in names:
                hidden += 1
            else:
                assert any(MARK in one for one in columns) or len(columns) > 1, sql
    finally:
        await connection.close()
    assert seen > 100, "too few statements were any"
