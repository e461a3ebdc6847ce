"""execute: tried first, asked about, then done once in a transaction."""

import json
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Resolve
from mcp_types import CallToolResult
from pydantic import Field

from mcp_curated_database.engines.border import ExecuteRequest, ExecuteResult
from mcp_curated_database.results.rows import Asked, render
from mcp_curated_database.server.arguments import Parameters, SourceName, Statement
from mcp_curated_database.server.state import DatabaseContext, DatabaseState, state_of
from mcp_curated_database.sources import Source
from mcp_curated_shared.security.confirmation import Plan
from mcp_curated_shared.transport.asking import Asked as Question
from mcp_curated_shared.transport.asking import Asking, ConfirmedOperation, NotAsked, ask, told
from mcp_curated_shared.transport.replies import reply
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import writes

DryRun = Annotated[bool, Field(description="Try it in a transaction that is rolled back; false does it")]


@dataclass(frozen=True, slots=True)
class Tried:
    """A statement, and what it did in a transaction that was rolled back."""

    source: Source
    request: ExecuteRequest
    result: ExecuteResult


async def tried(sql: str, ctx: DatabaseContext, params: list[Any] | None, source: str | None, dry_run: bool) -> Tried:
    """Resolver: what the statement would do now."""
    del dry_run  # the same either way: somebody who is asked wants to know how many rows it is about
    databases = state_of(ctx).databases
    found = databases.source(source)
    request = ExecuteRequest(sql, tuple(params or ()), budget=databases.budget())
    engine = await databases.engine(found)
    return Tried(found, request, await engine.execute(request))


Trial = Annotated[Tried, Resolve(tried)]


async def asked(trial: Trial, ctx: DatabaseContext, dry_run: bool, confirmed_operation_id: str | None) -> Question:
    """Resolver: the question to the user; a dry run asks nothing."""
    if dry_run:
        return NotAsked()
    return await ask(state_of(ctx).confirmation, _plan(trial), ctx, confirmed_operation_id)


async def execute(
    sql: Statement,
    ctx: DatabaseContext,
    trial: Trial,
    outcome: Annotated[ElicitationResult[Any], Resolve(asked)],
    params: Parameters = None,
    source: SourceName = None,
    dry_run: DryRun = True,
    confirmed_operation_id: ConfirmedOperation = None,
) -> CallToolResult:
    """Run one SQL statement that writes, in a transaction of its own. By default a dry run: it is tried, the affected
    rows are told, and it is rolled back. With dry_run=false its user is asked and it is committed only if it affects as
    many rows as it was tried with. To read use query."""
    state = state_of(ctx)
    if dry_run:
        return reply(f"Dry run, nothing was changed: {_effect(trial.result)}.{_returned(trial, trial.result, state)}")

    async def act() -> str:
        engine = await state.databases.engine(trial.source)
        request = ExecuteRequest(
            trial.request.sql, trial.request.params, True, trial.result.affected, trial.request.budget
        )
        done = await engine.execute(request)
        return f"Committed in {trial.source.name}: {_effect(done)}.{_returned(trial, done, state)}"

    asking = Asking(state.confirmation, ctx, outcome, confirmed_operation_id)
    return told(await asking.perform(_plan(trial), act))


def _effect(result: ExecuteResult) -> str:
    command = result.command or "the statement"
    if result.affected is None:
        return f"{command} ran"
    return f"{command}, {result.affected:,} row{'' if result.affected == 1 else 's'} affected"


def _returned(trial: Tried, result: ExecuteResult, state: DatabaseState) -> str:
    if result.returned is None:
        return ""
    most = state.settings.limits.most_rows
    return "\n" + render(result.returned, Asked("", (), trial.source.name, trial.request.budget, most))


def _plan(trial: Tried) -> Plan:
    request = trial.request
    values = json.dumps(request.params, ensure_ascii=False)
    return Plan(
        operation="execute",
        question=f"Run this statement on the database {trial.source.name}? It {_would(trial.result)}.",
        lines=(request.sql, f"Parameters: {values}") if request.params else (request.sql,),
        word=trial.source.name,
        content=json.dumps([trial.source.name, request.sql, values, trial.result.affected]).encode(),
        not_done="NOT executed",
        remembered_seconds=0,  # the same statement again is another change, and is asked about again
    )


def _would(result: ExecuteResult) -> str:
    if result.affected is None:
        return f"does not say how many rows it affects ({result.command or 'no write'})"
    return f"affects {result.affected:,} row{'' if result.affected == 1 else 's'} ({result.command})"


def add_writing_tool(server: CuratedServer[DatabaseState]) -> None:
    """Register it."""
    server.add_tool(execute, annotations=writes(destructive=True, idempotent=False))
