"""delete_file through the protocol: asked in both eras, done once, never without a person."""

import json
import os
import pty
import select
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp_types import CallToolResult, ElicitResult, InputRequiredResult, InputResponses, TextContent

from mcp_curated_filesystem.server import build_server
from mcp_curated_filesystem.settings import FilesystemSettings
from mcp_curated_shared.security.confirmation.sqlite import LedgerFile
from mcp_curated_shared.settings import load
from mcp_curated_shared.testing.clients import ERAS, LEGACY, MODERN, WAYS, Command, Era, Person, Way, connect
from mcp_curated_shared.transport.asking import CONFIRMATION_META_KEY

pytestmark = pytest.mark.anyio

TRASH = ".mcp-curated-trash"
SECONDS = 20.0


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    chosen: Era = request.param
    return chosen


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def file(root: Path) -> Path:
    made = root / "old.txt"
    made.write_text("farewell\n")
    return made


def serving(
    root: Path, state: Path, era: Era, person: Person | None = None, *more: str, way: Way = "memory"
) -> AbstractAsyncContextManager[Client]:
    arguments = ["--allow-delete", "--state-dir", str(state), *more, str(root)]
    return connect(
        way,
        era,
        build=lambda: build_server(load(FilesystemSettings, arguments, {})),
        command=Command([sys.executable, "-m", "mcp_curated_filesystem", *arguments]),
        person=person,
    )


def willing() -> Person:
    return Person(answers={"confirm": True})


def text_of(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def standing(result: CallToolResult) -> dict[str, Any]:
    return dict((result.meta or {}).get(CONFIRMATION_META_KEY, {}))


async def delete(client: Client, path: Path, **more: Any) -> CallToolResult:
    return await client.call_tool("delete_file", {"path": str(path), **more})


def there(path: Path) -> bool:
    return os.path.lexists(path)


def put(path: Path, text: str) -> None:
    path.write_text(text)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def trashed(root: Path) -> list[str]:
    folder = root / TRASH
    return [name for name in os.listdir(folder) if not name.endswith(".json")] if folder.exists() else []


@pytest.mark.parametrize("way", WAYS)
async def test_a_file_is_deleted_after_the_user_ticked_yes(
    way: Way, era: Era, root: Path, state: Path, file: Path
) -> None:
    person = willing()
    async with serving(root, state, era, person, way=way) as client:
        result = await delete(client, file)
    assert not result.is_error, text_of(result)
    assert standing(result) == {"status": "done", "assurance": "elicited", "repeated": False}
    assert not there(file)
    (name,) = trashed(root)
    assert (root / TRASH / name).read_text() == "farewell\n"
    assert f"{root}/{TRASH}/{name}" in text_of(result)


async def test_the_question_names_the_path_the_amount_and_the_trash(era: Era, root: Path, state: Path) -> None:
    folder = root / "old"
    (folder / "inner").mkdir(parents=True)
    (folder / "a").write_bytes(b"x" * 1000)
    (folder / "inner" / "b").write_bytes(b"y" * 234)
    person = willing()
    async with serving(root, state, era, person) as client:
        await delete(client, folder)
    (question,) = person.asked
    assert f"Delete {folder} (a directory, 2 files in 2 directories, 1,234 bytes)?" in question
    assert f"{root}/{TRASH}" in question
    assert not folder.exists()


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_refusal_deletes_nothing_and_says_how_it_may_have_come(
    action: Any, era: Era, root: Path, state: Path, file: Path
) -> None:
    async with serving(root, state, era, Person(answers={}, action=action)) as client:
        result = await delete(client, file)
    assert there(file)
    assert trashed(root) == []
    assert "NOT deleted: declined, or your client never showed the question" in text_of(result)
    assert standing(result)["status"] == "declined"


@pytest.mark.parametrize("answers", [{}, {"confirm": False}])
async def test_an_answer_without_the_tick_deletes_nothing(
    answers: dict[str, Any], era: Era, root: Path, state: Path, file: Path
) -> None:
    async with serving(root, state, era, Person(answers=answers)) as client:
        result = await delete(client, file)
    assert there(file)
    assert standing(result)["status"] == "declined"


async def test_a_client_that_cannot_ask_is_told_how_a_person_approves(
    era: Era, root: Path, state: Path, file: Path
) -> None:
    async with serving(root, state, era) as client:
        result = await delete(client, file)
        again = await delete(client, file)
    assert there(file)
    assert not result.is_error
    operation = standing(result)["operationId"]
    assert standing(result)["status"] == "needs_confirmation"
    assert standing(again)["operationId"] == operation
    assert f"approve --state-dir {state} {operation}" in text_of(result)
    assert f'confirmed_operation_id="{operation}"' in text_of(result)


async def test_an_operation_approved_elsewhere_deletes_once(era: Era, root: Path, state: Path, file: Path) -> None:
    async with serving(root, state, era) as client:
        operation = standing(await delete(client, file))["operationId"]
        LedgerFile(str(state)).approve(operation)
        result = await delete(client, file, confirmed_operation_id=operation)
        assert standing(result) == {"status": "done", "assurance": "approved_out_of_band", "repeated": False}
        assert not there(file)
        await delete(client, file, confirmed_operation_id=operation)
    assert len(trashed(root)) == 1


async def test_an_operation_that_nobody_approved_deletes_nothing(era: Era, root: Path, state: Path, file: Path) -> None:
    async with serving(root, state, era) as client:
        operation = standing(await delete(client, file))["operationId"]
        result = await delete(client, file, confirmed_operation_id=operation)
    assert result.is_error
    assert "nobody has approved this operation" in text_of(result)
    assert there(file)


@pytest.mark.parametrize("guess", ["op_" + "a" * 29, "", "old.txt", "op_%"])
async def test_a_made_up_operation_deletes_nothing(guess: str, era: Era, root: Path, state: Path, file: Path) -> None:
    async with serving(root, state, era) as client:
        await delete(client, file)
        result = await delete(client, file, confirmed_operation_id=guess)
    assert standing(result).get("status") != "done"
    assert there(file)


async def test_a_made_up_operation_does_not_spare_the_question(era: Era, root: Path, state: Path, file: Path) -> None:
    person = Person(answers={}, action="decline")
    async with serving(root, state, era, person) as client:
        await delete(client, file, confirmed_operation_id="op_" + "a" * 29)
    assert len(person.asked) == 1
    assert there(file)


async def test_an_approval_does_not_fit_what_the_file_has_become(era: Era, root: Path, state: Path, file: Path) -> None:
    async with serving(root, state, era) as client:
        operation = standing(await delete(client, file))["operationId"]
        LedgerFile(str(state)).approve(operation)
        put(file, "something else now\n")
        result = await delete(client, file, confirmed_operation_id=operation)
    assert result.is_error
    assert "this operation is for another content" in text_of(result)
    assert there(file)


async def test_an_approval_does_not_fit_another_file(era: Era, root: Path, state: Path, file: Path) -> None:
    other = root / "other.txt"
    other.write_text("farewell\n")
    async with serving(root, state, era) as client:
        operation = standing(await delete(client, file))["operationId"]
        LedgerFile(str(state)).approve(operation)
        result = await delete(client, other, confirmed_operation_id=operation)
    assert result.is_error
    assert there(other)
    assert there(file)


async def test_what_was_deleted_and_taken_back_is_asked_about_anew(
    era: Era, root: Path, state: Path, file: Path
) -> None:
    person = willing()
    async with serving(root, state, era, person) as client:
        await delete(client, file)
        (name,) = trashed(root)
        await client.call_tool("move_file", {"source": f"{root}/{TRASH}/{name}", "destination": str(file)})
        assert there(file)
        result = await delete(client, file)
    assert standing(result)["repeated"] is False
    assert len(person.asked) == 2
    assert not there(file)


async def test_an_approval_used_before_does_not_delete_what_was_taken_back(
    era: Era, root: Path, state: Path, file: Path
) -> None:
    async with serving(root, state, era) as client:
        operation = standing(await delete(client, file))["operationId"]
        LedgerFile(str(state)).approve(operation)
        await delete(client, file, confirmed_operation_id=operation)
        (name,) = trashed(root)
        await client.call_tool("move_file", {"source": f"{root}/{TRASH}/{name}", "destination": str(file)})
        result = await delete(client, file, confirmed_operation_id=operation)
    assert result.is_error
    assert there(file)


async def _asked_by_hand(client: Client, file: Path) -> tuple[dict[str, Any], InputRequiredResult]:
    arguments = {"path": str(file)}
    first = await client.session.call_tool("delete_file", arguments, allow_input_required=True)
    assert isinstance(first, InputRequiredResult)
    return arguments, first


async def _answered(client: Client, arguments: dict[str, Any], question: InputRequiredResult) -> Any:
    answers: InputResponses = {
        key: ElicitResult(action="accept", content={"confirm": True}) for key in question.input_requests or {}
    }
    return await client.session.call_tool(
        "delete_file",
        arguments,
        allow_input_required=True,
        input_responses=answers,
        request_state=question.request_state,
    )


async def test_one_accepted_answer_replayed_deletes_once(root: Path, state: Path, file: Path) -> None:
    async with serving(root, state, MODERN, willing()) as client:
        arguments, question = await _asked_by_hand(client, file)
        results: list[Any] = []

        async def replay() -> None:
            results.append(await _answered(client, arguments, question))

        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                for _ in range(5):
                    tasks.start_soon(replay)
            for _ in range(3):
                await replay()
    done = [one for one in results if standing(one).get("status") == "done" and not standing(one)["repeated"]]
    assert len(done) == 1
    assert len(trashed(root)) == 1


async def test_one_accepted_answer_does_not_delete_what_was_taken_back(root: Path, state: Path, file: Path) -> None:
    async with serving(root, state, MODERN, willing()) as client:
        arguments, question = await _asked_by_hand(client, file)
        await _answered(client, arguments, question)
        (name,) = trashed(root)
        os.rename(root / TRASH / name, file)
        again = await _answered(client, arguments, question)
    assert there(file)
    assert isinstance(again, InputRequiredResult) or standing(again).get("status") != "done"


async def test_a_file_that_changes_while_its_question_is_open_is_asked_about_again(
    root: Path, state: Path, file: Path
) -> None:
    async with serving(root, state, MODERN, willing()) as client:
        arguments, question = await _asked_by_hand(client, file)
        put(file, "farewell!")  # of the same size
        again = await _answered(client, arguments, question)
    assert isinstance(again, InputRequiredResult)
    assert there(file)


async def test_a_file_that_changes_while_an_old_client_asks_is_not_deleted(root: Path, state: Path, file: Path) -> None:
    class Slow(Person):
        async def answer(self, context: Any, params: Any) -> ElicitResult:
            put(file, "changed under the question\n")
            return await super().answer(context, params)

    async with serving(root, state, LEGACY, Slow(answers={"confirm": True})) as client:
        result = await delete(client, file)
    assert result.is_error
    assert "changed since its deletion was planned; nothing was deleted" in text_of(result)
    assert there(file)


async def test_the_policy_elicit_takes_no_approval(era: Era, root: Path, state: Path, file: Path) -> None:
    async with serving(root, state, era, None, "--confirm", "elicit") as client:
        result = await delete(client, file)
    assert result.is_error
    assert "confirm = elicit" in text_of(result)
    assert there(file)


async def test_the_policy_deny_deletes_nothing(era: Era, root: Path, state: Path, file: Path) -> None:
    person = willing()
    async with serving(root, state, era, person, "--confirm", "deny") as client:
        result = await delete(client, file)
    assert result.is_error
    assert person.asked == []
    assert there(file)


async def test_the_policy_host_takes_a_second_call_and_says_so(era: Era, root: Path, state: Path, file: Path) -> None:
    async with serving(root, state, era, None, "--confirm", "host") as client:
        first = await delete(client, file)
        assert there(file)
        result = await delete(client, file, confirmed_operation_id=standing(first)["operationId"])
    assert standing(result)["assurance"] == "host_only"
    assert not there(file)


async def test_after_a_refusal_the_policy_host_takes_no_second_call(
    era: Era, root: Path, state: Path, file: Path
) -> None:
    async with serving(root, state, era, Person(answers={}, action="decline"), "--confirm", "host") as client:
        operation = standing(await delete(client, file))["operationId"]
    async with serving(root, state, era, None, "--confirm", "host") as client:
        result = await delete(client, file, confirmed_operation_id=operation)
        assert result.is_error
        assert there(file)
        LedgerFile(str(state)).approve(operation)
        result = await delete(client, file, confirmed_operation_id=operation)
    assert standing(result)["assurance"] == "approved_out_of_band"
    assert not there(file)


async def test_delete_file_is_not_offered_unless_it_is_allowed(era: Era, root: Path) -> None:
    def build() -> Any:
        return build_server(load(FilesystemSettings, [str(root)], {}))

    async with connect("memory", era, build=build, command=Command([])) as client:
        assert "delete_file" not in [tool.name for tool in (await client.list_tools()).tools]


async def test_the_hints_of_delete_file_say_that_it_destroys(era: Era, root: Path, state: Path) -> None:
    async with serving(root, state, era) as client:
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "delete_file"]
    assert tool.annotations is not None
    assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (False, True)


async def test_nothing_is_kept_on_the_disk_before_the_first_deletion(
    era: Era, root: Path, state: Path, file: Path
) -> None:
    async with serving(root, state, era) as client:
        await client.call_tool("read_file", {"path": str(file)})
    assert not there(state)


async def test_deleting_works_while_the_kernel_confines_the_server(
    era: Era, root: Path, state: Path, file: Path
) -> None:
    async with serving(root, state, era, willing(), way="stdio") as client:
        result = await delete(client, file)
    assert standing(result)["status"] == "done", text_of(result)
    assert (mode(state), mode(state / "ledger.sqlite")) == (0o700, 0o600)


@pytest.mark.parametrize("inside", ["state", "state/deep[1]*"])
async def test_state_inside_a_served_folder_is_closed_to_every_tool(
    inside: str, era: Era, root: Path, file: Path
) -> None:
    state = root / inside
    async with serving(root, state, era) as client:
        operation = standing(await delete(client, file))["operationId"]
        ledger = state / "ledger.sqlite"
        assert there(ledger)
        for tool, arguments in (
            ("read_file", {"path": str(ledger)}),
            ("write_file", {"path": str(ledger), "content": "approved"}),
            ("move_file", {"source": str(state), "destination": str(root / "elsewhere")}),
            ("copy_file", {"source": str(ledger), "destination": str(root / "copy")}),
            ("delete_file", {"path": str(state), "confirmed_operation_id": operation}),
            ("list_directory", {"path": str(state)}),
        ):
            assert (await client.call_tool(tool, arguments)).is_error, tool
    assert LedgerFile(str(state)).look(operation) is not None


def _in_terminal(arguments: list[str], typed: str) -> tuple[int, str]:
    """Run a command with a terminal of its own and type a line at its prompt."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-P", "-m", "mcp_curated_filesystem", *arguments])
    shown = b""
    sent = False
    try:
        while select.select([terminal], [], [], SECONDS)[0]:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            shown += part
            if not sent and b"anything else to leave it: " in shown:
                os.write(terminal, typed.encode() + b"\n")
                sent = True
    finally:
        os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


def test_a_person_approves_in_a_terminal_by_typing_the_name(root: Path, state: Path, file: Path) -> None:
    operation = anyio.run(_offer, root, state, file)
    status, shown = _in_terminal(["approve", operation, "--state-dir", str(state)], "old.txt")
    assert status == 0, shown
    assert f"Delete {file} (a file, 9 bytes)?" in shown
    assert "Approved" in shown
    approved = LedgerFile(str(state)).look(operation)
    assert approved is not None
    assert approved.state == "approved"


@pytest.mark.parametrize("typed", ["", "yes", "y", "OLD.TXT", "old.txt x"])
def test_a_person_who_types_something_else_approves_nothing(typed: str, root: Path, state: Path, file: Path) -> None:
    operation = anyio.run(_offer, root, state, file)
    status, shown = _in_terminal(["approve", operation, "--state-dir", str(state)], typed)
    assert status == 1, shown
    pending = LedgerFile(str(state)).look(operation)
    assert pending is not None
    assert pending.state == "pending"


def test_approving_without_a_terminal_is_refused_whatever_is_piped_in(root: Path, state: Path, file: Path) -> None:
    operation = anyio.run(_offer, root, state, file)
    done = subprocess.run(
        [sys.executable, "-m", "mcp_curated_filesystem", "approve", operation, "--state-dir", str(state)],
        input="old.txt\n",
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,  # a process without a controlling terminal, as a host starts one
        check=False,
    )
    assert done.returncode == 1
    assert "needs a person at a terminal" in done.stderr
    pending = LedgerFile(str(state)).look(operation)
    assert pending is not None
    assert pending.state == "pending"


def test_pending_lists_what_waits(root: Path, state: Path, file: Path) -> None:
    operation = anyio.run(_offer, root, state, file)
    done = subprocess.run(
        [sys.executable, "-m", "mcp_curated_filesystem", "pending", "--state-dir", str(state)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert operation in done.stdout
    assert f"Delete {file}" in done.stdout


async def _offer(root: Path, state: Path, file: Path) -> str:
    async with serving(root, state, MODERN) as client:
        result = await delete(client, file)
    return str(json.loads(json.dumps(standing(result)))["operationId"])
