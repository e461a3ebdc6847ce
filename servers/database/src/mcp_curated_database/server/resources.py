"""Schemas, tables and saved queries as `db:` resources, with completion; see `uris` for the forms."""

from collections.abc import Sequence
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resources import FunctionResource
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplate,
    ResourceTemplateReference,
)

from mcp_curated_database.databases import Databases
from mcp_curated_database.describing import SchemaQuestion, describe
from mcp_curated_database.engines.border import QueryRequest, SchemaRequest
from mcp_curated_database.engines.names import NamePart, NamePattern
from mcp_curated_database.results.rows import Asked, render
from mcp_curated_database.server.state import DatabaseState
from mcp_curated_database.settings import DatabaseSettings
from mcp_curated_database.sources import Source
from mcp_curated_database.uris import OfQuery, OfSource, OfTable, read_uri
from mcp_curated_shared.errors import CuratedError, NotFoundError
from mcp_curated_shared.nearest import nearest
from mcp_curated_shared.transport.requests import current_request
from mcp_curated_shared.transport.resources import ResourceContent, ResourceReply
from mcp_curated_shared.transport.server import CuratedServer

SOURCE = "db://{source}"
SCHEMA = "db://{source}/{schema}"
TABLE = "db://{source}/{schema}/{table}"
TABLE_SCHEMA = "db://{table}/schema"
SAVED_QUERY = "db://query/{name}"

_MOST_COMPLETED = 1_000
_TEXT = "text/plain"
_JSON = "application/json"


async def read_resource(uri: str, context: Context[DatabaseState, Any]) -> ResourceReply:
    """Read what a `db:` URI names.

    Raises:
        CuratedError: It names nothing, or the database cannot tell.
    """
    state: DatabaseState = context.request_context.lifespan_context
    meant = read_uri(uri)
    if isinstance(meant, OfQuery):
        return await _saved(state, meant)
    if isinstance(meant, OfTable):
        return await _table_anywhere(state.databases, meant)
    if meant.schema is None:
        return ResourceContent(await describe(state.databases, SchemaQuestion(meant.source)), _TEXT)
    return await _in_schema(state.databases, meant)


async def _in_schema(databases: Databases, meant: OfSource) -> ResourceContent:
    schema = NamePart(meant.schema or "", quoted=True)
    if meant.table is None:
        every = NamePattern(schema, NamePart("*"), f'"{schema.text}".*')
        return ResourceContent(await describe(databases, SchemaQuestion(meant.source, every, "tables")), _TEXT)
    return ResourceContent(await _table(databases, meant.source, schema, meant.table), _TEXT)


async def _table(databases: Databases, source: str, schema: NamePart | None, table: str) -> str:
    """One table in full: of exactly this name, or else of this name in another case.

    Clients change the case of what stands where a URI has its host.
    """
    exact = NamePattern(schema, NamePart(table, quoted=True), table)
    try:
        return await describe(databases, SchemaQuestion(source, exact, "full"))
    except NotFoundError:
        if "*" in table or "?" in table:
            raise
        return await describe(databases, SchemaQuestion(source, NamePattern(schema, NamePart(table), table), "full"))


async def _table_anywhere(databases: Databases, meant: OfTable) -> ResourceReply:
    found: list[ResourceContent] = []
    unreachable: CuratedError | None = None
    for source in databases.sources:
        try:
            found.append(ResourceContent(await _table(databases, source.name, None, meant.table), _TEXT))
        except NotFoundError:
            continue
        except CuratedError as error:  # a dead source must not hide the table of another
            unreachable = error
    if found:
        return found
    if any(source.name.casefold() == meant.table.casefold() for source in databases.sources):
        return await _in_schema(databases, OfSource(meant.table, "schema"))
    if unreachable is not None:
        raise unreachable
    raise NotFoundError(f"There is no table {meant.table[:60]!r}.", "describe_schema shows what there is.")


async def _saved(state: DatabaseState, meant: OfQuery) -> ResourceReply:
    queries = state.settings.queries
    saved = next((query for query in queries if query.name == meant.name), None)
    if saved is None:
        close = nearest(meant.name, [query.name for query in queries])
        hint = f"Did you mean {close}?" if close else "The operator saves queries in the file of --sources."
        raise NotFoundError(f"There is no saved query {meant.name[:60]!r}.", hint)
    values = saved.bind(meant.parameters)
    databases = state.databases
    source = databases.source(saved.source or None)
    engine = await databases.engine(source)
    budget = databases.budget()
    result = await engine.query(QueryRequest(saved.sql, values, budget))
    asked = Asked(saved.sql, values, source.name if len(databases.sources) > 1 else "", budget, budget.rows)
    return ResourceContent(render(result, asked), _JSON)


async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, given: CompletionContext | None
) -> Completion | None:
    """Complete sources, schemas, tables, saved queries and the prompt's table."""
    request = current_request()
    if request is None:
        return None
    state: DatabaseState = request.lifespan_context
    chosen = (given.arguments if given else None) or {}
    if argument.name == "source":
        values: Sequence[str] = [source.name for source in state.databases.sources]
    elif argument.name == "name" and isinstance(ref, ResourceTemplateReference):
        values = [query.name for query in state.settings.queries]
    else:
        values = await _names(state.databases, argument.name, chosen)
    typed = argument.value.casefold()
    return Completion(values=[value for value in values if value.casefold().startswith(typed)])


async def _names(databases: Databases, what: str, chosen: dict[str, str]) -> Sequence[str]:
    """Schemas or tables of the chosen source, or of all."""
    names: dict[str, None] = {}
    sources: Sequence[Source] = [databases.source(chosen["source"])] if "source" in chosen else databases.sources
    for source in sources:
        engine = await databases.engine(source)
        facts = await engine.describe(SchemaRequest(limit=_MOST_COMPLETED, seconds=5.0))
        if what == "schema":
            names |= dict.fromkeys(count.name for count in facts.schemas)
        elif what == "table":
            within = chosen.get("schema")
            names |= dict.fromkeys(table.name for table in facts.tables if within in {None, table.schema})
    return list(names)


def _templates(settings: DatabaseSettings) -> list[ResourceTemplate]:
    forms = [
        ("source", "Database", SOURCE, "The schemas of a database with the names of their tables."),
        ("schema", "Schema", SCHEMA, "The tables of a schema, a line each."),
        ("table", "Table", TABLE, "Columns, keys, checks and indexes of a table or view."),
        ("table-schema", "Table by its name", TABLE_SCHEMA, "The same by the table's name alone."),
    ]
    templates = [
        ResourceTemplate(name=name, title=title, uri_template=uri, description=description, mime_type=_TEXT)
        for name, title, uri, description in forms
    ]
    for query in settings.queries:
        names = ",".join(parameter.name for parameter in query.parameters)
        templates.append(
            ResourceTemplate(
                name=f"query-{query.name}",
                title=query.name,
                uri_template=f"db://query/{query.name}" + (f"{{?{names}}}" if names else ""),
                description=query.description or "A saved query.",
                mime_type=_JSON,
            )
        )
    saved = ResourceTemplate(
        name="query", title="Saved query", uri_template=SAVED_QUERY, description="The rows of a saved query.",
        mime_type=_JSON,
    )  # fmt: skip
    return [*templates, saved] if settings.queries else templates


def _unread() -> str:
    """Static resources of the scheme are read by `read_resource`; this is only their place in the list."""
    return ""


def add_resources(server: CuratedServer[Any], settings: DatabaseSettings) -> None:
    """Register the scheme, its templates, one resource a source, and completion."""
    server.resource_scheme("db", read_resource, templates=_templates(settings))
    for source in settings.sources:
        server.add_resource(
            FunctionResource(
                uri=f"db://{source.name}",
                name=source.name,
                title=f"Database {source.name}",
                description=source.description or "Its schemas with the names of their tables.",
                mime_type=_TEXT,
                fn=_unread,
            )
        )
    server.completion()(complete)
