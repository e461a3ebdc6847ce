"""The tools that write: previewed first, asked about, sent once. Registered only where something may be written."""

from dataclasses import replace
from typing import Annotated, Any, Final

from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Resolve
from mcp_types import CallToolResult
from pydantic import Field

from mcp_curated_github.names import RepoName
from mcp_curated_github.server.state import GitHub, GitHubContext, state_of
from mcp_curated_github.writing import planning, preview, sending
from mcp_curated_github.writing.drafts import Draft, Rules
from mcp_curated_github.writing.planning import Write
from mcp_curated_github.writing.results import WriteResult
from mcp_curated_github.writing.sending import Written
from mcp_curated_shared.security.confirmation import Consent, Done, Held
from mcp_curated_shared.security.confirmation.command import approve_command
from mcp_curated_shared.security.redaction import Redactor
from mcp_curated_shared.transport.asking import (
    CONFIRMATION_META_KEY,
    Asked,
    Asking,
    ConfirmedOperation,
    NotAsked,
    ask,
    caller_of,
    can_be_asked,
    told,
)
from mcp_curated_shared.transport.replies import reply
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import writes
from mcp_curated_shared.work import Work

DRAFT_SECONDS: Final = 20.0

Repo = Annotated[str, Field(description="owner/name, one that the operator allowed")]
Title = Annotated[str, Field(description="One line, at most 256 characters")]
Body = Annotated[str, Field(description="Markdown")]
Labels = Annotated[list[str] | None, Field(description="Names of labels")]
Number = Annotated[int, Field(ge=1, description="Number of the issue or pull request")]
DryRun = Annotated[bool, Field(description="Only show what would be sent; false to send it once a person agreed")]


async def _drafted(state: GitHub, title: str | None, body: str, labels: list[str] | None) -> Draft:
    settings = state.settings
    policy = settings.on_secret

    def draft(_: Work) -> Draft:
        rules = Rules(Redactor(state.secrets), settings.max_body, policy == "block")
        return rules.comment(body) if title is None else rules.issue(title, body, labels)

    return await state.pool.run(draft, seconds=DRAFT_SECONDS, lane="draft")


async def planned_issue(
    repo: str, title: str, body: str, labels: list[str] | None, ctx: GitHubContext
) -> planning.Write:
    """Resolver: what would be created, in the repository as it is now."""
    state = state_of(ctx)
    name = RepoName.parse(repo)
    planning.check_allowed(state.settings.allowed_repos, name)
    draft = await _drafted(state, title, body, labels)
    target = await planning.find_target(state.api, state.settings.allowed_repos, name)
    return planning.plan_issue(target, draft)


async def planned_comment(repo: str, number: int, body: str, ctx: GitHubContext) -> planning.Write:
    """Resolver: what would be said, in the issue as it is now."""
    state = state_of(ctx)
    name = RepoName.parse(repo)
    planning.check_allowed(state.settings.allowed_repos, name)
    draft = await _drafted(state, None, body, None)
    target = await planning.find_target(state.api, state.settings.allowed_repos, name)
    return await planning.plan_comment(state.api, target, number, draft)


PlannedIssue = Annotated[Write, Resolve(planned_issue)]
PlannedComment = Annotated[Write, Resolve(planned_comment)]


async def asked_issue(
    write: PlannedIssue, ctx: GitHubContext, dry_run: bool, confirmed_operation_id: str | None
) -> Asked:
    """Resolver: the question to the user; none for a dry run."""
    return await _asked(write, ctx, dry_run, confirmed_operation_id)


async def asked_comment(
    write: PlannedComment, ctx: GitHubContext, dry_run: bool, confirmed_operation_id: str | None
) -> Asked:
    """Resolver: the question to the user; none for a dry run."""
    return await _asked(write, ctx, dry_run, confirmed_operation_id)


async def _asked(write: Write, ctx: GitHubContext, dry_run: bool, operation_id: str | None) -> Asked:
    if dry_run:
        return NotAsked()
    return await ask(state_of(ctx).confirmation, write.plan, ctx, operation_id)


async def create_issue(
    repo: Repo,
    title: Title,
    ctx: GitHubContext,
    write: PlannedIssue,
    outcome: Annotated[ElicitationResult[Any], Resolve(asked_issue)],
    body: Body = "",
    labels: Labels = None,
    dry_run: DryRun = True,
    confirmed_operation_id: ConfirmedOperation = None,
) -> Annotated[CallToolResult, WriteResult]:
    """Create an issue in an allowed repository, once, after its user agreed: they are asked in the client or approve it
    in a terminal. By default it only previews: nothing exists until a reply says created. Secrets are replaced. To
    answer in an issue that exists use add_issue_comment."""
    return await _write(write, ctx, outcome, dry_run, confirmed_operation_id)


async def add_issue_comment(
    repo: Repo,
    number: Number,
    body: Body,
    ctx: GitHubContext,
    write: PlannedComment,
    outcome: Annotated[ElicitationResult[Any], Resolve(asked_comment)],
    dry_run: DryRun = True,
    confirmed_operation_id: ConfirmedOperation = None,
) -> Annotated[CallToolResult, WriteResult]:
    """Comment on an issue or pull request of an allowed repository, once, after its user agreed, as create_issue does.
    By default it only previews."""
    return await _write(write, ctx, outcome, dry_run, confirmed_operation_id)


async def _write(
    write: Write, ctx: GitHubContext, outcome: ElicitationResult[Any], dry_run: bool, operation_id: str | None
) -> CallToolResult:
    if dry_run:
        return await _previewed(write, ctx)
    state = state_of(ctx)

    async def act() -> str:
        await planning.check_unchanged(state.api, state.settings.allowed_repos, write)
        return (await sending.send(state.api, write)).stored()

    async def recover() -> str | None:
        found = await sending.find(state.api, write, since=sending.earliest(write.plan.remembered_seconds))
        return None if found is None else found.stored()

    result = await Asking(state.confirmation, ctx, outcome, operation_id).perform(write.plan, act, recover)
    return _held(write, result) if isinstance(result, Held) else _done(write, result)


async def _previewed(write: Write, ctx: GitHubContext) -> CallToolResult:
    state, plan, caller = state_of(ctx), write.plan, caller_of(ctx)
    confirmation = state.confirmation
    before = await confirmation.ledger.earlier(
        Consent("", caller, plan.digest, "elicited"), remembered_seconds=plan.remembered_seconds
    )
    if before is not None and before.state == "done":
        return _done(write, Done(before.result, before.assurance, repeated=True))
    operation_id = await confirmation.offer(plan, caller) if confirmation.policy in {"ask", "host"} else None
    step = preview.next_step(
        confirmation.policy,
        can_ask=can_be_asked(ctx),
        operation_id=operation_id,
        command=approve_command("mcp-curated-github", "mcp_curated_github", state.settings.state.folder),
    )
    begins = f"{plan.not_done}: this is only a preview."
    text = f"{begins}\n{preview.shown(plan.text)}\n{step}"
    result = _result(write, "preview", f"{begins} {step}", operation_id=operation_id)
    meta: dict[str, object] = {"status": "preview"}
    if operation_id is not None:
        text += f"\nOperation: {operation_id}"
        meta["operationId"] = operation_id
    return reply(text, result, meta={CONFIRMATION_META_KEY: meta})


def _held(write: Write, held: Held) -> CallToolResult:
    whole = write.plan.text
    short = held.text.replace(whole, write.plan.question)
    replied = told(replace(held, text=held.text.replace(whole, preview.shown(whole))))
    return _structured(replied, _result(write, held.status, short, operation_id=held.operation_id))


def _done(write: Write, done: Done) -> CallToolResult:
    written = Written.read(done.result)
    replied = told(replace(done, result=preview.created(write, written)))
    result = _result(write, "created", "", number=written.number, url=written.url, assurance=done.assurance)
    result.message = "\n".join(block.text for block in replied.content if block.type == "text")
    result.repeated = done.repeated or None
    result.warnings = list(written.warnings) or None
    return _structured(replied, result)


def _result(write: Write, status: Any, message: str, **facts: Any) -> WriteResult:
    draft, target = write.draft, write.target
    return WriteResult(
        status=status,
        message=message,
        repo=str(target.repo),
        visibility=target.visibility,
        redacted=list(draft.redacted) or None,
        invisible_removed=draft.removed or None,
        **facts,
    )


def _structured(replied: CallToolResult, result: WriteResult) -> CallToolResult:
    return replied.model_copy(update={"structured_content": result.structured()})


def add_writing_tools(server: CuratedServer[GitHub]) -> None:
    """Register them."""
    for tool in (create_issue, add_issue_comment):
        server.add_tool(tool, annotations=writes(destructive=False, idempotent=True, open_world=True))
