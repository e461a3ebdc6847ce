"""What a consent that was used already tells, and to whom."""

from pathlib import Path

import pytest

from mcp_curated_shared.security.confirmation import Answer, Confirmation, Done, Plan, UnconfirmedError
from mcp_curated_shared.security.confirmation.sqlite import SqliteLedger

pytestmark = pytest.mark.anyio


def plan(body: str, notes: tuple[str, ...] = ()) -> Plan:
    return Plan("send", f"Send {body}?", "octo/hello", body.encode(), not_done="NOT sent", notes=notes)


@pytest.mark.parametrize(("body", "caller"), [("other", "local"), ("body", "somebody else")])
async def test_a_used_approval_tells_its_result_only_to_its_caller_and_for_its_content(
    body: str, caller: str, tmp_path: Path
):
    ledger = SqliteLedger(str(tmp_path / "state"))
    confirmation = Confirmation(ledger, approve_command="sample approve")
    done: list[str] = []

    async def act() -> str:
        done.append("sent")
        return "Sent."

    async def perform(one: Plan, who: str) -> object:
        return await confirmation.perform(one, Answer(), caller=who, operation_id=operation, act=act)

    operation = await confirmation.offer(plan("body"), "local")
    await ledger.approve(operation)
    assert isinstance(await perform(plan("body"), "local"), Done)
    with pytest.raises(UnconfirmedError):
        await perform(plan(body), caller)
    assert done == ["sent"]


async def test_a_note_is_shown_and_makes_no_other_plan():
    warned = plan("body", ("Warning: private things were read.",))
    assert (warned.digest, warned.mark) == (plan("body").digest, plan("body").mark)
    assert warned.text == f"Send body?\nWarning: private things were read.\n(Plan {warned.mark}.)"
