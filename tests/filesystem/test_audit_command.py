"""The audit of the filesystem server from the outside: what it says at its end, and `audit verify`."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_curated_shared.testing.clients import ERAS, Command, Era
from mcp_curated_shared.testing.wire import running


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    chosen: Era = request.param
    return chosen


def used(era: Era, root: Path, state: Path, *more: str, **environment: str) -> bytes:
    """Let a server write a file, and give what it says on standard error."""
    arguments = ["-m", "mcp_curated_filesystem", "--state-dir", str(state), *more, str(root)]
    with running(Command([sys.executable, *arguments], environment=environment), era) as server:
        server.call("tools/call", {"name": "read_file", "arguments": {"path": str(root / "missing")}})
        server.call("tools/call", {"name": "write_file", "arguments": {"path": str(root / "a"), "content": "text"}})
        assert server.close() == 0
        return server.error_output


def verified(state: Path, *more: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mcp_curated_filesystem", "audit", "verify", *more, "--state-dir", str(state)],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment or None,
        check=False,
    )


def test_a_server_tells_the_head_that_verify_takes(era: Era, root: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    found = re.search(rb"The audit ends with ([0-9]+:[0-9a-f]{32})", used(era, root, state))
    assert found is not None
    done = verified(state, found[1].decode())
    assert done.returncode == 0, done.stdout
    assert done.stdout == f"Nothing is wrong with 5 records in 1 file. Head: {found[1].decode()}\n"


def test_verify_names_the_line_of_an_edit(root: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    used("legacy", root, state)
    log = state / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"tool":"write_file"', b'"tool":"read_file"', 1))
    done = verified(state)
    assert done.returncode == 1
    assert f"{log}:3: it was changed\n" in done.stdout


def test_verify_sees_a_cut_end_by_the_head(root: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    found = re.search(rb"The audit ends with (\S+);", used("legacy", root, state))
    assert found is not None
    log = state / "audit.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    assert verified(state).returncode == 0
    assert verified(state, found[1].decode()).returncode == 1


def test_a_key_from_the_environment_is_not_kept_beside_the_log(root: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    key = {"MCP_FILESYSTEM_AUDIT_KEY": "k" * 40}
    said = used("legacy", root, state, **key)
    assert b"k" * 40 not in said
    assert sorted(path.name for path in state.iterdir()) == ["audit.jsonl"]
    assert verified(state, **key).returncode == 0


def test_a_key_that_is_too_short_stops_the_start(tmp_path: Path) -> None:
    done = verified(tmp_path, MCP_FILESYSTEM_AUDIT_KEY="short")
    assert done.returncode == 2
    assert "too short" in done.stderr


def test_without_a_log_there_is_nothing_to_verify(tmp_path: Path) -> None:
    done = verified(tmp_path / "state")
    assert done.returncode == 0
    assert "There is no audit log in" in done.stdout
    assert verified(tmp_path / "state", "5:" + "0" * 32).returncode == 1
    assert not (tmp_path / "state").exists()


def test_audit_off_keeps_no_log(root: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    said = used("legacy", root, state, "--audit", "off")
    assert b"The audit ends" not in said
    assert not state.exists()


def test_a_state_folder_that_cannot_be_made_costs_the_log_and_nothing_else(root: Path, tmp_path: Path) -> None:
    (tmp_path / "in the way").write_text("")
    said = used("legacy", root, tmp_path / "in the way" / "state")
    assert (root / "a").read_text() == "text"
    assert b"There will be no audit log" in said
