"""What a running server records: calls in both eras, refusals, forged states, cancellations, writes with consent."""

import json
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver import Context, Resolve
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import Field

from mcp_curated_shared.errors import NotAllowedError, NotFoundError
from mcp_curated_shared.security.audit import AuditKey, AuditLevel, AuditLog, Trail, WriteWitness, verify
from mcp_curated_shared.security.audit import trail as trail_module
from mcp_curated_shared.security.audit.trail import keyed_digest
from mcp_curated_shared.security.confirmation import Confirmation, Plan
from mcp_curated_shared.security.confirmation.sqlite import SqliteLedger
from mcp_curated_shared.testing.clients import ERAS, MODERN, Era, Person, over_memory
from mcp_curated_shared.transport.asking import Asked, Asking, ConfirmedOperation, ask, told
from mcp_curated_shared.transport.audit_middleware import close_trail, watch
from mcp_curated_shared.transport.identity import Identity
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.transport.tools import reads, writes

pytestmark = pytest.mark.anyio

KEY = AuditKey.of(b"k" * 64)
NAME = Annotated[str, Field(description="What.")]
State = tuple[Confirmation, list[str]]


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    chosen: Era = request.param
    return chosen


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


async def look(name: NAME) -> str:
    """Look at one thing."""
    if name == "outside":
        raise NotAllowedError("That is outside.")
    if name == "missing":
        raise NotFoundError("There is none.")
    if name == "crash":
        raise RuntimeError("inside")
    if name == "slow":
        await anyio.sleep_forever()
    return name


async def change(name: NAME) -> str:
    """Change one thing."""
    return name


def plan_of(name: str) -> Plan:
    return Plan("send", f"Send {name}?", name, name.encode(), not_done="NOT sent")


async def asked(name: str, ctx: Context[Any, Any], confirmed_operation_id: str | None) -> Asked:
    return await ask(ctx.request_context.lifespan_context[0], plan_of(name), ctx, confirmed_operation_id)


async def send(
    name: NAME,
    ctx: Context[Any, Any],
    outcome: Annotated[ElicitationResult[Any], Resolve(asked)],
    confirmed_operation_id: ConfirmedOperation = None,
) -> CallToolResult:
    """Send one thing after asking."""
    confirmation, sent = ctx.request_context.lifespan_context

    async def act() -> str:
        sent.append(name)
        return f"Sent {name}."

    return told(await Asking(confirmation, ctx, outcome, confirmed_operation_id).perform(plan_of(name), act))


def build(
    folder: Path, level: AuditLevel = "all", *, own: tuple[str, ...] = ()
) -> tuple[CuratedServer[State], list[str]]:
    trail = Trail(AuditLog(str(folder), key=KEY), server="sample", version="1", level=level, secrets=own)
    ledger = SqliteLedger(str(folder))
    sent: list[str] = []

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncGenerator[State]:
        yield Confirmation(ledger, approve_command="sample approve", witness=WriteWitness(trail)), sent
        close_trail(trail)

    server: CuratedServer[State] = CuratedServer(
        Identity("sample", title="Sample", version="1", instructions=""), lifespan=lifespan
    )
    server.add_tool(look, annotations=reads())
    server.add_tool(change, annotations=writes(destructive=True, idempotent=False))
    server.add_tool(send, annotations=writes(destructive=False, idempotent=False))
    watch(server, trail)
    return server, sent


def events(folder: Path, *kinds: str) -> list[dict[str, Any]]:
    path = folder / "audit.jsonl"
    lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
    assert verify(str(folder), KEY).faults == [] if lines else True
    found: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [one for one in found if one["event"] in kinds] if kinds else found


def open_to_others(folder: Path) -> None:
    """A state folder that is refused: others may write in it."""
    folder.mkdir()
    folder.chmod(0o777)


def close_again(folder: Path) -> None:
    folder.chmod(0o700)


@pytest.mark.parametrize(
    ("name", "outcome", "kind"),
    [
        ("a", "ok", None),
        ("outside", "refused", "not_allowed"),
        ("missing", "failed", "not_found"),
        ("crash", "failed", "internal"),
    ],
)
async def test_a_call_is_recorded_with_what_became_of_it(
    name: str, outcome: str, kind: str | None, era: Era, folder: Path
) -> None:
    async with over_memory(build(folder)[0], era) as client:
        await client.call_tool("look", {"name": name})
    (call,) = events(folder, "call")
    assert (call["tool"], call["outcome"], call.get("kind"), call["caller"]) == ("look", outcome, kind, "local")
    assert call["args"] == keyed_digest(KEY.digest, {"name": name})


async def test_a_call_is_recorded_twice_and_digested_once(
    era: Era, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digested: list[object] = []

    def digest(key: bytes, value: object) -> str:
        digested.append(value)
        return keyed_digest(key, value)

    monkeypatch.setattr(trail_module, "keyed_digest", digest)
    async with over_memory(build(folder)[0], era) as client:
        await client.call_tool("change", {"name": "a"})
    (change,), (call,) = events(folder, "change"), events(folder, "call")
    assert change["args"] == call["args"] == keyed_digest(KEY.digest, {"name": "a"})
    assert digested == [{"name": "a"}]


async def test_the_process_is_recorded_once_with_its_start_and_its_end(era: Era, folder: Path) -> None:
    async with over_memory(build(folder)[0], era) as client:
        for _ in range(3):
            await client.call_tool("look", {"name": "a"})
    everything = events(folder)
    assert [one["event"] for one in everything] == ["begin", "start", "call", "call", "call", "stop"]
    assert (everything[1]["server"], everything[1]["level"]) == ("sample", "all")
    assert len({one["by"] for one in everything[1:]}) == 1


async def test_at_changes_a_read_leaves_a_record_only_when_it_is_refused(era: Era, folder: Path) -> None:
    async with over_memory(build(folder, "changes")[0], era) as client:
        for name in ("a", "missing", "outside"):
            await client.call_tool("look", {"name": name})
        await client.call_tool("change", {"name": "b"})
    assert [one["outcome"] for one in events(folder, "call")] == ["refused", "ok"]
    assert [one["tool"] for one in events(folder, "change")] == ["change"]


async def test_reads_alone_at_changes_leave_the_disk_alone(era: Era, folder: Path) -> None:
    async with over_memory(build(folder, "changes")[0], era) as client:
        await client.call_tool("look", {"name": "a"})
    assert events(folder) == []


async def test_a_write_with_consent_is_one_operation_from_question_to_end(era: Era, folder: Path) -> None:
    server, sent = build(folder)
    async with over_memory(server, era, Person(answers={"confirm": True})) as client:
        await client.call_tool("send", {"name": "a"})
    assert sent == ["a"]
    everything = events(folder, "change", "call", "write_start", "write_end")
    assert len({one["op"] for one in everything}) == 1
    start, end = events(folder, "write_start", "write_end")
    assert (start["assurance"], end["assurance"], end["outcome"]) == ("elicited", "elicited", "done")
    assert start["plan"] == end["plan"]
    told_rounds = [(one["outcome"], one.get("assurance")) for one in events(folder, "call")]
    assert told_rounds == ([("asked", None)] if era == MODERN else []) + [("ok", "elicited")]
    if era == MODERN:
        first, second = events(folder, "call")
        assert first["question"] == second["answers"]


async def test_a_refused_question_is_recorded_as_such(era: Era, folder: Path) -> None:
    server, sent = build(folder)
    async with over_memory(server, era, Person(answers={}, action="decline")) as client:
        await client.call_tool("send", {"name": "a"})
    assert sent == []
    assert events(folder, "call")[-1]["status"] == "declined"
    assert events(folder, "write_start") == []


async def test_an_operation_id_that_is_made_up_is_recorded_as_refused(era: Era, folder: Path) -> None:
    server, sent = build(folder)
    async with over_memory(server, era) as client:
        await client.call_tool("send", {"name": "a", "confirmed_operation_id": "op_made_up"})
    assert sent == []
    assert (events(folder, "call")[-1]["outcome"], events(folder, "call")[-1]["kind"]) == ("refused", "unconfirmed")


async def _question(client: Client) -> InputRequiredResult:
    result = await client.session.call_tool("send", {"name": "a"}, allow_input_required=True)
    assert isinstance(result, InputRequiredResult)
    return result


@pytest.mark.parametrize("how", ["forged", "of other arguments"])
async def test_a_forged_state_is_recorded(how: str, folder: Path) -> None:
    server, sent = build(folder)
    async with over_memory(server, MODERN, Person(answers={"confirm": True})) as client:
        state = (await _question(client)).request_state or ""
        name = "a" if how == "forged" else "b"
        sealed = state[:-6] + ("aaaaaa" if state[-6:] != "aaaaaa" else "bbbbbb") if how == "forged" else state
        with pytest.raises(MCPError):
            await client.session.call_tool("send", {"name": name}, request_state=sealed, allow_input_required=True)
    assert sent == []
    assert events(folder, "call")[-1]["outcome"] == "forged_state"


async def test_a_cancelled_call_is_recorded(era: Era, folder: Path) -> None:
    async with over_memory(build(folder, "changes")[0], era) as client:
        with anyio.move_on_after(0.2):
            await client.call_tool("look", {"name": "slow"})
        with anyio.fail_after(5):
            while not events(folder, "call"):
                await client.call_tool("look", {"name": "a"})
    assert events(folder, "call")[0]["outcome"] == "cancelled"


async def test_an_unknown_tool_is_recorded_without_the_secret_in_its_name(era: Era, folder: Path) -> None:
    token = "ghp_" + secrets.token_hex(18)
    own = secrets.token_urlsafe(24)
    async with over_memory(build(folder, own=(own,))[0], era) as client:
        for name in (token, own, "x" * 5000):
            with pytest.raises(MCPError):
                await client.call_tool(name, {"secret": own})
    text = (folder / "audit.jsonl").read_text(encoding="ascii")
    assert token not in text
    assert own not in text
    assert [one["outcome"] for one in events(folder, "call")] == ["refused"] * 3
    assert len(text) < 4000


async def test_no_argument_appears_in_the_log_even_of_a_write(era: Era, folder: Path) -> None:
    word = secrets.token_hex(8)
    async with over_memory(build(folder)[0], era, Person(answers={"confirm": True})) as client:
        for tool in ("look", "change", "send"):
            await client.call_tool(tool, {"name": word})
    assert word not in (folder / "audit.jsonl").read_text(encoding="ascii")


async def test_a_write_that_cannot_be_recorded_does_not_happen(
    era: Era, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, sent = build(folder)
    real = AuditLog.append

    def refusing(self: AuditLog, *records: Any, sync: bool = False) -> Any:
        if sync:
            (folder / "audit.jsonl").chmod(0o600)  # the log is there, as on a disk that has just become full
            raise self._failed(OSError(28, "No space left on device"))
        return real(self, *records, sync=sync)

    async with over_memory(server, era, Person(answers={"confirm": True})) as client:
        await client.call_tool("look", {"name": "a"})
        monkeypatch.setattr(AuditLog, "append", refusing)
        result = await client.call_tool("send", {"name": "a"})
        monkeypatch.undo()
    assert sent == []
    assert result.is_error
    assert "NOT sent: it could not be recorded" in str(result.content)


async def test_a_read_goes_on_when_the_log_cannot_be_written(
    era: Era, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    open_to_others(folder)
    async with over_memory(build(folder)[0], era) as client:
        for _ in range(3):
            assert not (await client.call_tool("look", {"name": "a"})).is_error
    assert len([record for record in caplog.records if "audit log" in record.getMessage()]) == 1


async def test_events_that_were_lost_are_counted_once_the_log_can_be_written_again(era: Era, folder: Path) -> None:
    open_to_others(folder)
    async with over_memory(build(folder)[0], era) as client:
        for _ in range(3):
            await client.call_tool("look", {"name": "a"})
        close_again(folder)
        await client.call_tool("look", {"name": "a"})
    assert [one["count"] for one in events(folder, "lost")] == [3]
