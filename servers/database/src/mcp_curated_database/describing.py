"""What `describe_schema` and the resources answer: as much of a schema as a reply holds, and how to get the rest."""

from dataclasses import dataclass
from typing import Final

from mcp_curated_database.databases import Databases
from mcp_curated_database.engines.border import Detail, SchemaFacts, SchemaRequest
from mcp_curated_database.engines.names import NamePattern
from mcp_curated_database.results.schemas import blocks_of, fitted, lines_of, one_line, overview
from mcp_curated_database.sources import Source
from mcp_curated_shared.errors import InvalidArgumentError, NotFoundError
from mcp_curated_shared.security.limits import call_text

ROOM: Final = 24_000
"""Bytes of one answer."""

MOST_IN_FULL: Final = 60
MOST_LINES: Final = 500

_MOST_ENUMS: Final = 40


@dataclass(frozen=True, slots=True)
class SchemaQuestion:
    """What was asked.

    Attributes:
        source: The source by name; None for the only one.
        pattern: Which tables; None for all.
        detail: How much of each; None to choose by the pattern.
        sample_rows: Rows of each table, 0 to 3.
        cursor: Where an earlier answer ended; None to begin.
    """

    source: str | None = None
    pattern: NamePattern | None = None
    detail: Detail | None = None
    sample_rows: int = 0
    cursor: str | None = None

    @property
    def offset(self) -> int:
        """How many tables to pass over.

        Raises:
            InvalidArgumentError: The cursor is none of ours.
        """
        if self.cursor is None:
            return 0
        if not self.cursor.isascii() or not self.cursor.isdecimal() or len(self.cursor) > 9:
            raise InvalidArgumentError("cursor comes from an earlier answer and is not changed.")
        return int(self.cursor)


async def describe(databases: Databases, question: SchemaQuestion) -> str:
    """The answer as text.

    Raises:
        NotFoundError: Nothing matches the pattern.
        CuratedError: From the engine.
    """
    source = databases.source(question.source)
    pattern = question.pattern
    detail = question.detail or ("overview" if pattern is None else "full")
    request = SchemaRequest(
        pattern=pattern,
        detail=detail,
        limit={"overview": 10_000, "tables": MOST_LINES, "full": MOST_IN_FULL}[detail],
        offset=question.offset,
        sample_rows=question.sample_rows if detail == "full" else 0,
        seconds=databases.settings.limits.query_seconds,
    )
    engine = await databases.engine(source)
    facts = await engine.describe(request)
    if pattern is not None and not facts.total:
        close = ", ".join(facts.close)
        hint = f"Close names: {close}." if close else "describe_schema without a pattern shows what there is."
        raise NotFoundError(f"No table or view matches {one_line(pattern.whole)!r}.", hint)
    return "\n".join([_head(facts, source, databases), *_notes(facts), *_body(facts, question, detail)])


def _head(facts: SchemaFacts, source: Source, databases: Databases) -> str:
    tables = sum(count.tables for count in facts.schemas)
    views = sum(count.views for count in facts.schemas)
    schemas = f" in {len(facts.schemas)} schemas" if len(facts.schemas) > 1 else ""
    description = f" ({one_line(source.description)})" if source.description else ""
    name = f"{source.name}{description}, " if len(databases.sources) > 1 or description else ""
    return f"{name}{facts.version}: {tables} tables, {views} views{schemas}"


def _notes(facts: SchemaFacts) -> list[str]:
    notes = [f"note: {one_line(note)}" for note in facts.notes]
    for enum in facts.enums[:_MOST_ENUMS]:
        labels = ", ".join(one_line(label, 60) for label in enum.labels[:50])
        more = f" and {len(enum.labels) - 50} more" if len(enum.labels) > 50 else ""
        notes.append(f"enum {enum.schema}.{enum.name}: {labels}{more}")
    if len(facts.enums) > _MOST_ENUMS:
        notes.append(f"... and {len(facts.enums) - _MOST_ENUMS} more enumerated types")
    return notes


def _body(facts: SchemaFacts, question: SchemaQuestion, detail: Detail) -> list[str]:
    if detail == "overview":
        how = 'describe_schema with a pattern ("orders", "sales.*") tells columns and keys.' if facts.total else ""
        return [part for part in (overview(facts, ROOM - 500), how) if part]
    parts = lines_of(facts) if detail == "tables" else blocks_of(facts)
    if not parts:
        return ["(no more)"]

    def note(shown: int) -> str:
        end = question.offset + shown
        if end >= facts.total:
            return ""
        call = call_text(
            "describe_schema",
            pattern=None if question.pattern is None else question.pattern.whole,
            source=question.source,
            detail=detail,
            sample_rows=question.sample_rows or None,
            cursor=str(end),
        )
        return f"[{end:,} of {facts.total:,}. The rest: {call}]"

    return [fitted(parts, ROOM, note)]
