"""Consent: plans and their questions, the ledger's single use, and what becomes of a write."""

import json
import multiprocessing
import os
import secrets
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_curated_shared.errors import CuratedError, NotAllowedError, UnavailableError
from mcp_curated_shared.security.confirmation import (
    Answer,
    Attempt,
    Confirmation,
    Consent,
    Done,
    Held,
    Plan,
    Policy,
    UnconfirmedError,
    UnknownOutcomeError,
)
from mcp_curated_shared.security.confirmation import sqlite as ledger_in_sqlite
from mcp_curated_shared.security.confirmation.ledger import OPERATION_SECONDS
from mcp_curated_shared.security.confirmation.sqlite import LedgerFile, SqliteLedger
from mcp_curated_shared.security.confirmation.transactions import LEASE_SECONDS, WAITING_OPERATIONS, new_operation_id

pytestmark = pytest.mark.anyio

DAY = 86_400.0
texts = st.text(max_size=20)
plans = st.builds(
    Plan,
    operation=texts,
    question=texts,
    word=texts,
    content=st.binary(max_size=20),
    lines=st.lists(texts, max_size=3).map(tuple),
)


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "state")


@pytest.fixture
def file(folder: str, clock: Clock) -> LedgerFile:
    return LedgerFile(folder, clock=clock)


def plan(body: str = "body", **more: Any) -> Plan:
    return Plan("send", f"Send {body}?", "octo/hello", body.encode(), not_done="NOT sent", **more)


def consent(key: str, of: Plan | None = None, caller: str = "local") -> Consent:
    return Consent(key, caller, (of or plan()).digest, "elicited")


def begin(file: LedgerFile, given: Consent, remembered: float = DAY, **more: Any) -> Any:
    return file.begin(given, remembered_seconds=remembered, **more)


# Plans


@given(plans)
def test_a_question_is_the_same_every_time(made: Plan) -> None:
    again = Plan(made.operation, made.question, made.word, made.content, made.lines)
    assert (made.text, made.digest, made.mark) == (again.text, again.digest, again.mark)


@given(plans, plans)
def test_plans_that_differ_have_questions_and_digests_that_differ(one: Plan, other: Plan) -> None:
    same = (one.operation, one.question, one.word, one.content, one.lines) == (
        other.operation,
        other.question,
        other.word,
        other.content,
        other.lines,
    )
    assert (one.digest == other.digest) is same
    if not same:
        assert one.text != other.text


def test_a_question_shows_every_line_and_the_mark_of_its_plan() -> None:
    made = plan(lines=("First.", "Second."))
    assert made.text == f"Send body?\nFirst.\nSecond.\n(Plan {made.digest[:4]}-{made.digest[4:8]}.)"


# Operations


def test_an_operation_id_is_random_and_of_144_bits() -> None:
    ids = {new_operation_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(one) == 3 + 29 and one[3:].isalnum() and one.islower() for one in ids)  # 29 * 5 bits


def test_the_same_plan_waits_under_one_operation(file: LedgerFile) -> None:
    first = file.offer(plan(), "local")
    assert file.offer(plan(), "local") == first
    assert file.offer(plan(), "somebody else").id != first.id
    assert file.offer(plan("other"), "local").id != first.id
    assert len(file.waiting()) == 3


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(one=plans, other=plans)
def test_an_approval_of_one_content_never_fits_another(one: Plan, other: Plan, tmp_path: Path) -> None:
    file = LedgerFile(str(tmp_path / secrets.token_hex(8)))
    operation = file.offer(one, "local")
    file.approve(operation.id)
    begun = begin(file, consent(f"op:{operation.id}", other))
    if one.digest == other.digest:
        assert isinstance(begun, Attempt)
        assert begun.fresh
    else:
        assert begun == "other_content"


def test_an_operation_is_of_no_use_to_another_caller(file: LedgerFile) -> None:
    operation = file.offer(plan(), "alice")
    file.approve(operation.id)
    assert begin(file, consent(f"op:{operation.id}", caller="mallory")) == "other_caller"
    assert begin(file, consent(f"op:{operation.id}", caller="alice")).fresh


def test_an_operation_is_of_no_use_before_its_approval_or_after_its_time(file: LedgerFile, clock: Clock) -> None:
    operation = file.offer(plan(), "local")
    given = consent(f"op:{operation.id}")
    assert begin(file, given) == "not_approved"
    clock.now += OPERATION_SECONDS + 1
    assert file.approve(operation.id) == file.look(operation.id)
    assert begin(file, given) == "expired"
    again = file.offer(plan(), "local")
    file.approve(again.id)
    clock.now += OPERATION_SECONDS + 1
    assert begin(file, consent(f"op:{again.id}")) == "expired"
    assert begin(file, consent("op:op_unknown")) == "unknown"


def test_a_declined_operation_takes_an_approval_but_no_mere_second_call(file: LedgerFile) -> None:
    operation = file.offer(plan(), "local")
    assert file.offer(plan(), "local", declined=True).id == operation.id
    given = consent(f"op:{operation.id}")
    assert begin(file, given, redeeming="pending") == "declined"
    file.approve(operation.id)
    assert begin(file, given, redeeming="pending").assurance == "approved_out_of_band"


def test_the_ledger_says_who_vouches_for_an_operation(file: LedgerFile) -> None:
    operation = file.offer(plan(), "local")
    given = Consent(f"op:{operation.id}", "local", plan().digest, "approved_out_of_band")
    assert begin(file, given, redeeming="pending").assurance == "host_only"


def test_a_flood_of_operations_pushes_the_oldest_of_its_caller_out(file: LedgerFile, clock: Clock) -> None:
    kept = file.offer(plan(), "somebody else")
    first = file.offer(plan("first"), "local")
    for number in range(WAITING_OPERATIONS):
        clock.now += 0.01
        file.offer(plan(str(number)), "local")
    assert file.look(first.id) is None
    assert file.look(kept.id) is not None
    assert len(file.waiting()) == WAITING_OPERATIONS + 1


# Single use


def test_a_consent_counts_once(file: LedgerFile) -> None:
    assert begin(file, consent("state:1"), 0).fresh
    assert not begin(file, consent("state:1"), 0).fresh
    assert begin(file, consent("state:2"), 0).fresh
    assert begin(file, consent("state:1", plan("other")), 0) == "other_content"


def test_the_same_content_by_the_same_caller_is_one_write_while_it_is_remembered(
    file: LedgerFile, clock: Clock
) -> None:
    assert begin(file, consent("state:1")).fresh
    file.finish("state:1", "done", "number 7")
    assert begin(file, consent("state:2")) == Attempt("state:1", "done", "number 7", "elicited")
    assert begin(file, consent("state:3", caller="somebody else")).fresh
    assert begin(file, consent("state:4", plan("other"))).fresh
    clock.now += DAY + 1
    assert begin(file, consent("state:5")).fresh


def test_what_surely_failed_may_be_tried_again_with_a_new_consent(file: LedgerFile) -> None:
    begin(file, consent("state:1"))
    file.finish("state:1", "failed", "no")
    assert begin(file, consent("state:1")).state == "failed"
    assert begin(file, consent("state:2")).fresh


def test_how_an_attempt_ended_is_not_rewritten(file: LedgerFile) -> None:
    begin(file, consent("state:1"))
    file.finish("state:1", "unknown", "")
    file.finish("state:1", "failed", "no")
    assert begin(file, consent("state:1")).state == "unknown"
    file.finish("state:1", "done", "found")
    file.finish("state:1", "unknown", "")
    assert begin(file, consent("state:1")) == Attempt("state:1", "done", "found", "elicited")


def test_an_attempt_that_runs_too_long_is_taken_for_lost(file: LedgerFile, clock: Clock) -> None:
    begin(file, consent("state:1"))
    assert begin(file, consent("state:1")).state == "running"
    clock.now += LEASE_SECONDS + 1
    assert begin(file, consent("state:1")).state == "unknown"


def test_a_process_that_is_killed_in_the_middle_leaves_its_attempt_unknown(folder: str) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_begin_and_die, args=(folder,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    found = begin(LedgerFile(folder), consent("state:2"))
    assert (found.key, found.state, found.fresh) == ("state:1", "unknown", False)


def _begin_and_die(folder: str) -> None:
    begin(LedgerFile(folder), consent("state:1"))
    os.kill(os.getpid(), signal.SIGKILL)


def _race(folder: str, keys: list[str], gate: Any, wins: Any) -> None:
    file = LedgerFile(folder)
    gate.wait(60)
    for key in keys:
        if begin(file, consent(key), 0).fresh:
            wins.put(key)


def test_twenty_processes_and_threads_use_each_consent_once(folder: str) -> None:
    context = multiprocessing.get_context("spawn")
    keys = [f"state:{number}" for number in range(5)]
    gate, wins = context.Barrier(20), context.Queue()
    processes = [context.Process(target=_race, args=(folder, keys, gate, wins)) for _ in range(5)]
    for process in processes:
        process.start()
    threads = [threading.Thread(target=_race, args=(folder, keys, gate, wins)) for _ in range(15)]
    for thread in threads:
        thread.start()
    for runner in (*threads, *processes):
        runner.join(60)
    won = sorted(wins.get(timeout=10) for _ in keys)
    assert won == keys
    assert wins.empty()


def test_the_ledger_is_for_this_user_alone(file: LedgerFile, folder: str) -> None:
    previous = os.umask(0)
    try:
        file.offer(plan(), "local")
    finally:
        os.umask(previous)
    assert Path(folder).stat().st_mode & 0o777 == 0o700
    assert Path(file.path).stat().st_mode & 0o777 == 0o600


def test_a_link_in_place_of_the_ledger_is_not_followed(file: LedgerFile, tmp_path: Path) -> None:
    Path(file.path).parent.mkdir(0o700)
    Path(file.path).symlink_to(tmp_path / "victim")
    with pytest.raises(UnavailableError, match="cannot be opened"):
        file.offer(plan(), "local")
    assert not (tmp_path / "victim").exists()


def test_one_transaction_leaves_the_locks_of_another_alone(file: LedgerFile, monkeypatch: pytest.MonkeyPatch) -> None:
    file.offer(plan(), "local")
    monkeypatch.setattr(ledger_in_sqlite, "BUSY_SECONDS", 0.01)
    other = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute('BEGIN IMMEDIATE')"
    )
    with closing(sqlite3.connect(file.path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(UnavailableError, match="locked"):
            file.offer(plan("another"), "local")
        tried = subprocess.run([sys.executable, "-c", other, file.path], capture_output=True, text=True, check=False)
    assert "locked" in tried.stderr


def test_a_ledger_that_is_no_database_stops_the_write(file: LedgerFile) -> None:
    Path(file.path).parent.mkdir(0o700)
    Path(file.path).write_text("not a database, whatever its name says" * 100)
    with pytest.raises(UnavailableError, match="Nothing was done"):
        begin(file, consent("state:1"))


# Performing


class Writer:
    """Something that writes, and counts it."""

    def __init__(self, folder: str, policy: Policy = "ask", **ends: Any) -> None:
        self.confirmation = Confirmation(SqliteLedger(folder), policy=policy, approve_command="server approve")
        self.done: list[str] = []
        self.act: Callable[[], Any] = self._write
        self.recover: Any = ends.get("recover")

    async def _write(self) -> str:
        self.done.append("written")
        return f"number {len(self.done)}"

    async def perform(
        self,
        answer: Answer | None = None,
        operation: str | None = None,
        *,
        of: Plan | None = None,
        caller: str = "local",
    ) -> Held | Done:
        return await self.confirmation.perform(
            of or plan(),
            answer or Answer(),
            caller=caller,
            operation_id=operation,
            act=self.act,
            recover=self.recover,
        )


def yes(key: str | None = None) -> Answer:
    return Answer("accept", key or f"state:{secrets.token_hex(8)}")


async def test_replays_in_a_row_and_at_once_write_once_and_get_the_same_result(folder: str) -> None:
    writer = Writer(folder)
    key = "state:1"
    results: list[Held | Done] = [await writer.perform(yes(key)) for _ in range(3)]

    async def replay() -> None:
        results.append(await writer.perform(yes(key)))
        results.append(await writer.perform(yes()))  # the same content with a consent of its own

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(replay)
    assert writer.done == ["written"]
    assert {result.result for result in results if isinstance(result, Done)} == {"number 1"}
    assert [result.repeated for result in results if isinstance(result, Done)].count(False) == 1
    assert len(results) == 13


async def test_a_repetition_waits_for_the_attempt_that_runs(folder: str) -> None:
    writer = Writer(folder)
    begun, go_on = anyio.Event(), anyio.Event()

    async def slowly() -> str:
        begun.set()
        await go_on.wait()
        return await writer._write()  # pyright: ignore[reportPrivateUsage]  # its own

    writer.act = slowly
    results: list[Held | Done] = []

    async def run() -> None:
        results.append(await writer.perform(yes()))

    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await begun.wait()
            tasks.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            go_on.set()
    assert sorted(result.repeated for result in results if isinstance(result, Done)) == [False, True]
    assert writer.done == ["written"]


async def test_a_result_outlives_the_process(folder: str) -> None:
    await Writer(folder).perform(yes())
    later = Writer(folder)
    result = await later.perform(yes())
    assert result == Done("number 1", "elicited", repeated=True)
    assert later.done == []


async def test_a_write_whose_answer_was_lost_is_looked_for_and_never_repeated(folder: str) -> None:
    writer = Writer(folder)

    async def lost() -> str:
        writer.done.append("sent")
        raise UnknownOutcomeError("No answer came.")

    writer.act = lost
    with pytest.raises(UnknownOutcomeError):
        await writer.perform(yes())
    with pytest.raises(UnknownOutcomeError, match="not known; it was not repeated"):
        await writer.perform(yes())

    async def found() -> str:
        return "number 7"

    writer.recover = found
    assert await writer.perform(yes()) == Done("number 7", "elicited", repeated=True)
    writer.recover = None
    assert await writer.perform(yes()) == Done("number 7", "elicited", repeated=True)
    assert writer.done == ["sent"]


@pytest.mark.parametrize("how", ["crash", "cancel"])
async def test_a_write_that_broke_off_is_not_repeated(how: str, folder: str) -> None:
    writer = Writer(folder)

    async def break_off() -> str:
        writer.done.append("sent")
        if how == "crash":
            raise RuntimeError("inside")
        await anyio.sleep_forever()
        return ""

    writer.act = break_off
    if how == "crash":
        with pytest.raises(RuntimeError):
            await writer.perform(yes())
    else:
        with anyio.move_on_after(0.3) as scope:
            await writer.perform(yes())
        assert scope.cancelled_caught
    with pytest.raises(UnknownOutcomeError):
        await writer.perform(yes())
    assert writer.done == ["sent"]


async def test_a_failure_that_is_certain_spends_its_consent_and_no_other(folder: str) -> None:
    writer = Writer(folder)

    async def refuse() -> str:
        raise CuratedError("The other side said no.")

    writer.act = refuse
    with pytest.raises(CuratedError, match="said no"):
        await writer.perform(yes("state:1"))
    writer.act = writer._write  # pyright: ignore[reportPrivateUsage]  # its own
    with pytest.raises(UnconfirmedError, match=r"was used by an attempt that failed: The other side said no\."):
        await writer.perform(yes("state:1"))
    assert await writer.perform(yes("state:2")) == Done("number 1", "elicited")


async def test_a_dry_run_offers_an_operation_that_only_a_person_makes_useful(folder: str) -> None:
    writer = Writer(folder)
    operation = await writer.confirmation.offer(plan(), "local")
    with pytest.raises(UnconfirmedError, match="NOT sent: nobody has approved this operation"):
        await writer.perform(operation=operation)
    LedgerFile(folder).approve(operation)
    for body in ("changed",):
        with pytest.raises(UnconfirmedError, match="for another content"):
            await writer.perform(operation=operation, of=plan(body))
    with pytest.raises(UnconfirmedError, match="there is no such operation"):
        await writer.perform(operation=operation, caller="mallory")
    assert await writer.perform(operation=operation) == Done("number 1", "approved_out_of_band")
    assert await writer.perform(operation=operation) == Done("number 1", "approved_out_of_band", repeated=True)
    assert writer.done == ["written"]


async def test_an_id_computed_from_the_content_is_worth_nothing(folder: str) -> None:
    writer = Writer(folder)
    await writer.confirmation.offer(plan(), "local")
    for guess in (plan().digest, plan().digest[:12], plan().mark, f"op_{plan().digest[:29]}"):
        with pytest.raises(UnconfirmedError):
            await writer.perform(operation=guess)
    assert writer.done == []


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_refusal_writes_nothing_and_leaves_the_terminal_open(action: Any, folder: str) -> None:
    writer = Writer(folder)
    held = await writer.perform(Answer(action))
    assert isinstance(held, Held)
    assert held.status == "declined"
    assert held.text.startswith("NOT sent: declined, or your client never showed the question.")
    assert held.operation_id is not None
    assert f"server approve {held.operation_id}" in held.text
    LedgerFile(folder).approve(held.operation_id)
    assert await writer.perform(operation=held.operation_id) == Done("number 1", "approved_out_of_band")


async def test_who_cannot_be_asked_is_told_what_waits_and_how_it_is_approved(folder: str) -> None:
    held = await Writer(folder).perform(of=plan(lines=("The whole text.",)))
    assert isinstance(held, Held)
    assert held.status == "needs_confirmation"
    assert held.text.startswith("NOT sent: ")
    for part in ("Send body?\nThe whole text.\n", f"server approve {held.operation_id}", "within 10 minutes"):
        assert part in held.text


async def test_what_is_approved_already_is_not_asked_about(folder: str) -> None:
    confirmation = Writer(folder).confirmation
    operation = await confirmation.offer(plan(), "local")
    assert await confirmation.should_ask(plan(), "local", operation)
    LedgerFile(folder).approve(operation)
    assert not await confirmation.should_ask(plan(), "local", operation)
    assert await confirmation.should_ask(plan("other"), "local", operation)
    assert await confirmation.should_ask(plan(), "mallory", operation)
    assert await confirmation.should_ask(plan(), "local", None)


async def test_what_was_done_already_is_not_asked_about(folder: str) -> None:
    writer = Writer(folder)
    assert await writer.confirmation.should_ask(plan(), "local", None)
    await writer.perform(yes())
    assert not await writer.confirmation.should_ask(plan(), "local", None)


async def test_deny_allows_nothing_and_asks_nobody(folder: str) -> None:
    writer = Writer(folder, "deny")
    assert not await writer.confirmation.should_ask(plan(), "local", None)
    for answer in (Answer(), yes()):
        with pytest.raises(NotAllowedError, match="confirm = deny"):
            await writer.perform(answer)
    assert writer.done == []


async def test_elicit_takes_answers_only(folder: str) -> None:
    writer = Writer(folder, "elicit")
    operation = await writer.confirmation.offer(plan(), "local")
    LedgerFile(folder).approve(operation)
    assert await writer.confirmation.should_ask(plan(), "local", operation)
    with pytest.raises(NotAllowedError, match="confirm = elicit"):
        await writer.perform(operation=operation)
    held = await writer.perform(Answer("decline"))
    assert isinstance(held, Held)
    assert held.operation_id is None
    assert await writer.perform(yes()) == Done("number 1", "elicited")


async def test_an_unwritable_ledger_stops_the_write(folder: str) -> None:
    os.close(os.open(folder, os.O_CREAT | os.O_WRONLY))  # a file where the folder should be
    writer = Writer(folder)
    with pytest.raises(CuratedError, match="state folder"):
        await writer.perform(yes())
    assert writer.done == []


async def test_what_was_done_is_told_though_its_end_cannot_be_remembered(
    folder: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    writer = Writer(folder)

    async def away(*_: object) -> None:
        raise UnavailableError("The ledger is away.", "Nothing was done.")

    with monkeypatch.context() as broken:
        broken.setattr(writer.confirmation.ledger, "finish", away)
        done = await writer.perform(yes())
    assert isinstance(done, Done)
    assert "could not be remembered" in caplog.text
    assert len(writer.done) == 1


async def test_every_file_of_the_ledger_lies_in_the_state_folder(folder: str) -> None:
    await Writer(folder).perform(yes())
    assert json.dumps(sorted(os.listdir(folder))) == '["ledger.sqlite"]'
