"""The database server's part of the tour: look, ask, explain, write with consent, and five ways to break out."""

import hashlib
import sqlite3
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from mcp.client import Client
from mcp.client.session import ClientRequestContext
from mcp.client.stdio import StdioServerParameters
from mcp_types import ElicitRequestParams, ElicitResult

from tour.stage import Stage, text_of

LAST_CHARACTER = 0x2FFF
SCHEMA = """
CREATE TABLE categories (code TEXT PRIMARY KEY, meaning TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE characters (
    code INTEGER PRIMARY KEY,
    character TEXT NOT NULL,
    name TEXT NOT NULL,
    category TEXT NOT NULL REFERENCES categories (code),
    decimal INTEGER
);
CREATE INDEX characters_by_category ON characters (category);
CREATE VIEW digits AS SELECT code, character, name, decimal FROM characters WHERE decimal IS NOT NULL;
"""
CATEGORIES = {
    "Lu": "uppercase letter", "Ll": "lowercase letter", "Lt": "titlecase letter", "Lm": "modifier letter",
    "Lo": "other letter", "Mn": "nonspacing mark", "Mc": "spacing mark", "Me": "enclosing mark", "Nd": "decimal digit",
    "Nl": "letter number", "No": "other number", "Pc": "connector", "Pd": "dash", "Ps": "opening bracket",
    "Pe": "closing bracket", "Pi": "opening quote", "Pf": "closing quote", "Po": "other punctuation",
    "Sm": "mathematical", "Sc": "currency", "Sk": "modifier symbol", "So": "other symbol", "Zs": "space",
    "Zl": "line end", "Zp": "paragraph end", "Cf": "format",
}  # fmt: skip


def named_characters() -> Iterator[tuple[int, str, str, str, int | None]]:
    """The characters of Python's own Unicode data that have a name, up to the CJK radicals."""
    for code in range(0x20, LAST_CHARACTER):
        character = chr(code)
        name = unicodedata.name(character, "")
        if name:
            yield code, character, name, unicodedata.category(character), unicodedata.decimal(character, None)


def make_sample(folder: str) -> Path:
    """An SQLite file of real data that every Python carries: the Unicode character database."""
    path = Path(folder).resolve() / "data" / "unicode.db"
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    with connection:
        connection.executescript(SCHEMA)
        connection.executemany("INSERT INTO categories VALUES (?, ?)", CATEGORIES.items())
        connection.executemany("INSERT INTO characters VALUES (?, ?, ?, ?, ?)", named_characters())
    connection.close()
    return path


def digest(path: Path) -> str:
    """The SHA-256 of a file, shortened for the eye."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


async def agree(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    """A person who ticks the box."""
    del context, params
    return ElicitResult(action="accept", content={"confirm": True})


async def tour(stage: Stage) -> None:
    """Run the tour on a sample that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="mcp-curated-tour-") as name:
        path = make_sample(name)
        arguments = ["-m", "mcp_curated_database", str(path), "--allow-write", f"--state-dir={name}/state"]
        command = StdioServerParameters(command=sys.executable, args=arguments, cwd="/")
        stage.heading(
            "Database server",
            f"One SQLite file of {path.stat().st_size // 1000} kB, written a moment ago from the Unicode data that "
            "Python carries; execute is allowed, to show that it asks.",
        )
        async with Client(command, elicitation_callback=agree) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            stage.verdict(listed == ["query", "describe_schema", "execute"], f"3 tools: {', '.join(listed)}")
            await look_and_ask(stage, client)
            await try_to_break_out(stage, client, path)
            await write(stage, client)


async def look_and_ask(stage: Stage, client: Client) -> None:
    """The schema, a query, a cut result, a plan, a mistake."""
    await stage.call(client, "describe_schema", {}, expect="an overview in a few lines")
    await stage.call(
        client, "describe_schema", {"pattern": "characters"}, expect="one table: columns, keys in both directions"
    )
    sql = "SELECT meaning, count(*) AS n FROM characters JOIN categories c ON c.code = category GROUP BY 1 ORDER BY 2"
    await stage.call(client, "query", {"sql": f"{sql} DESC LIMIT 3"}, expect="columns, types and rows, each once")
    await stage.call(
        client,
        "query",
        {"sql": "SELECT * FROM characters WHERE name LIKE ? ORDER BY code", "params": ["GREEK%"], "max_rows": 2},
        expect="a cut result says how to go on",
    )
    await stage.call(
        client, "query", {"sql": "SELECT * FROM digits", "explain": "plan"}, expect="the plan instead of the rows"
    )
    await stage.call(
        client, "query", {"sql": "SELECT nmae FROM characters"}, expect="a mistake is pointed at", error=True
    )


async def try_to_break_out(stage: Stage, client: Client, path: Path) -> None:
    """Statements that other servers let through; the file and its folder prove that these had no effect."""
    before = digest(path), sorted(one.name for one in path.parent.iterdir())
    stage.say(f"Now the query tool shall write; the file's SHA-256 begins {before[0]}.")
    for sql, way in (
        ("DROP TABLE characters", "a write is refused"),
        ("WITH x AS (SELECT 1) DELETE FROM characters", "so is one that begins like a query"),
        (f"VACUUM INTO '{path.parent}/copy.db'", "SQLite's read-only mode would let this make a file"),
        (f"ATTACH '{path.parent}/new.db' AS new", "and this"),
        ("PRAGMA query_only = 0", "the switch itself cannot be turned"),
    ):
        await stage.call(client, "query", {"sql": sql}, expect=way, error=True)
    after = digest(path), sorted(one.name for one in path.parent.iterdir())
    stage.verdict(after == before, f"the file is the same to the byte, and no other appeared: {after[0]}")


async def write(stage: Stage, client: Client) -> None:
    """execute: tried, asked about, committed."""
    change: dict[str, object] = {"sql": "DELETE FROM characters WHERE category = ?", "params": ["Cf"]}
    tried = await stage.call(client, "execute", change, expect="a dry run tells how many rows it is about")
    stage.verdict("nothing was changed" in text_of(tried), "and says that nothing was changed")
    done = await stage.call(client, "execute", change | {"dry_run": False}, expect="its user is asked, then it is done")
    stage.verdict("elicited" in text_of(done), "and the reply says who agreed")
