"""delete_file: asked first, done once, moved to the trash."""

from typing import Annotated, Any

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Resolve
from mcp_types import CallToolResult

from mcp_curated_filesystem.server.arguments import AnyPath
from mcp_curated_filesystem.server.roots import CallRoots, PathRoots
from mcp_curated_filesystem.server.state import Filesystem, FilesystemContext, state_of
from mcp_curated_filesystem.writing import trash
from mcp_curated_shared.security.confirmation import Plan
from mcp_curated_shared.transport.asking import Asked, Asking, ConfirmedOperation, ask, told
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import writes
from mcp_curated_shared.work import Work

_LONGEST_WORD = 40


async def planned(path: str, ctx: FilesystemContext, roots: PathRoots) -> trash.DeletionPlan:
    """Resolver: what would be deleted, as it is now."""

    def plan(call: CallRoots, work: Work) -> trash.DeletionPlan:
        return trash.plan_deletion(call.confinement, path, base=call.base, work=work)

    return await state_of(ctx).run(ctx, roots, path, plan, long=True)


Deletion = Annotated[trash.DeletionPlan, Resolve(planned)]


async def asked(deletion: Deletion, ctx: FilesystemContext, confirmed_operation_id: str | None) -> Asked:
    """Resolver: the question to the user."""
    return await ask(state_of(ctx).confirmation, _plan(deletion), ctx, confirmed_operation_id)


async def delete_file(
    path: AnyPath,
    ctx: FilesystemContext,
    roots: PathRoots,
    deletion: Deletion,
    outcome: Annotated[ElicitationResult[Any], Resolve(asked)],
    confirmed_operation_id: ConfirmedOperation = None,
) -> CallToolResult:
    """Delete a file, link or whole folder after its user agreed: they are asked in the client or approve it in a
    terminal. It goes into a trash folder of its root, and move_file takes it back from there."""
    state = state_of(ctx)

    def delete(call: CallRoots, work: Work) -> str:
        return trash.render(trash.delete(call.confinement, deletion, work=work))

    async def act() -> str:
        return await state.run(ctx, roots, path, delete, long=True)

    asking = Asking(state.confirmation, ctx, outcome, confirmed_operation_id)
    return told(await asking.perform(_plan(deletion), act))


def _plan(deletion: trash.DeletionPlan) -> Plan:
    name = deletion.location.name
    return Plan(
        operation="delete_file",
        question=f"Delete {deletion.describe()}?",
        lines=(f"It is moved to {deletion.trash.shown}, and move_file can take it back from there.",),
        word=name if _can_be_typed(name) else "delete",
        content=deletion.identity.encode() + b"\0" + deletion.location.path.encode("utf-8", "surrogateescape"),
        not_done="NOT deleted",
        remembered_seconds=0,  # what is deleted is gone; the same thing put back is asked about anew
    )


def _can_be_typed(name: str) -> bool:
    return len(name) <= _LONGEST_WORD and name.isascii() and name.isprintable() and name == name.strip()


def add_deleting_tool(server: CuratedServer[Filesystem]) -> None:
    """Register it."""
    server.add_tool(delete_file, annotations=writes(destructive=True, idempotent=False))
