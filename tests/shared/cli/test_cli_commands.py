"""The command line from the outside, on the filesystem server."""

import json
import os
import pty
import re
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

from mcp_curated_shared.cli import Command, ServerProgram, main
from mcp_curated_shared.cli.probe import ProbeError, probe
from mcp_curated_shared.settings import (
    FolderPath,
    LogSettings,
    Secret,
    SecretText,
    Settings,
    StateSettings,
    TransportSettings,
    many,
    optional,
)


def masked_address(value: str) -> str:
    return "db://***"


@dataclass(frozen=True, slots=True)
class DeskSettings(Settings):
    environment_prefix: ClassVar[str] = "MCP_DESK_"

    folders: tuple[str, ...] = many(FolderPath(), help="Folders.", positional=True, separator="path")
    token: Secret | None = optional(SecretText(), help="Token of the desk.", environment=("DESK_TOKEN",))
    state: StateSettings = field(default_factory=StateSettings)
    transport: TransportSettings = field(default_factory=TransportSettings)
    logs: LogSettings = field(default_factory=LogSettings)


def approve(program: ServerProgram, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    assert (program.name, environ["HOME"]) == ("desk", os.environ["HOME"])
    return 40 + len(arguments)


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ServerProgram:
    for name in list(os.environ):
        if name.startswith(("MCP_", "DESK_")):
            monkeypatch.delenv(name)
    module = ModuleType("desk_of_the_tests")
    module.__dict__.update(DeskSettings=DeskSettings, approve=approve)
    monkeypatch.setitem(sys.modules, "desk_of_the_tests", module)
    return ServerProgram(
        name="desk",
        distribution="mcp-curated-desk",
        module="desk_of_the_tests",
        summary="A desk.",
        settings="desk_of_the_tests:DeskSettings",
        build="desk_of_the_tests:build",
        commands=(Command("approve", "Approve something.", "desk_of_the_tests:approve"),),
        examples=(("mcp-curated-desk /srv", "Serve a folder."),),
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


def clean_environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MCP_")}
    return {**kept, **more}


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "mcp_curated_filesystem", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=clean_environment(**more),
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--help"], ["config", "--host", "vscode", "/srv"], ["doctor", "--offline", "/"], ["config"]],
    ids=lambda arguments: arguments[0],
)
def test_what_needs_no_server_does_not_import_the_protocol(arguments: list[str]) -> None:
    code = (
        "import sys; from mcp_curated_filesystem.__main__ import PROGRAM; from mcp_curated_shared.cli import main;"
        f"main(PROGRAM, {arguments!r}); loaded = [n for n in sys.modules if n.split('.')[0] in"
        " ('mcp', 'mcp_types', 'pydantic', 'anyio')]; sys.exit(99 if loaded else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, timeout=60, check=False, env=clean_environment()
    )
    assert done.returncode == 0, done.stderr


def test_the_version_costs_little_more_than_starting_python() -> None:
    def cost(*arguments: str) -> float:
        before = os.times()
        subprocess.run([sys.executable, "-P", *arguments], capture_output=True, timeout=60, check=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    bare = min(cost("-c", "pass") for _ in range(5))
    # The clock behind os.times ticks in hundredths; without compiled modules a start takes twice as long.
    assert min(cost("-m", "mcp_curated_filesystem", "--version") for _ in range(5)) - bare < 0.15


def test_the_version_is_the_distribution_s() -> None:
    done = run("--version")
    assert re.fullmatch(r"mcp-curated-filesystem \d+\.\d+\.\d+\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_names_every_setting_and_command(program: ServerProgram, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(program, ["--help"]) == 0
    text = capsys.readouterr().out
    for word in (
        "serve",
        "config",
        "doctor",
        "tools",
        "approve",
        "[DIR ...]",
        "DESK_TOKEN",
        "DESK_TOKEN_FILE",
        "--log-level",
    ):
        assert word in text
    assert "--token" not in text
    assert max(len(line) for line in text.splitlines()) <= 110


def test_help_after_two_dashes_is_a_folder(
    program: ServerProgram, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert main(program, ["config", "--host", "cursor", "--", "--help"]) == 0
    assert json.loads(capsys.readouterr().out)["mcpServers"]["desk"]["args"][-1] == "/--help"


def test_a_command_of_the_server_s_own_gets_its_arguments(program: ServerProgram) -> None:
    assert main(program, ["approve", "x", "y"]) == 42


@pytest.mark.parametrize(("word", "right"), [("docter", "doctor"), ("confg", "config"), ("aprove", "approve")])
def test_a_misspelt_command_names_the_right_one(
    program: ServerProgram, capsys: pytest.CaptureFixture[str], word: str, right: str
) -> None:
    assert main(program, [word]) == 2
    assert f"Did you mean {right}?" in capsys.readouterr().err


def test_an_error_is_one_line_on_stderr(program: ServerProgram, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(program, ["config", "--host", "cursor", "--bogus"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("mcp-curated-desk: ")


def test_config_prints_one_parsable_entry_and_the_words_go_to_stderr(
    program: ServerProgram, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(program, ["config", "--host", "claude-desktop", "/srv/notes"]) == 0
    out, err = capsys.readouterr()
    entry = json.loads(out)["mcpServers"]["desk"]
    assert os.path.isabs(entry["command"])
    assert entry["args"][-1] == "/srv/notes"
    assert str(home / ".config" / "Claude" / "claude_desktop_config.json") in err


def test_config_makes_relative_folders_absolute(
    program: ServerProgram, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    assert main(program, ["config", "--host", "cursor", ".", "notes"]) == 0
    assert json.loads(capsys.readouterr().out)["mcpServers"]["desk"]["args"][-2:] == [str(home), str(home / "notes")]


def test_config_refuses_settings_that_the_server_would_refuse(
    program: ServerProgram, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(program, ["config", "--host", "cursor", "--log-level", "loud"]) == 2
    assert "--log-level" in capsys.readouterr().err


def test_config_write_merges_backs_up_and_is_idempotent(
    program: ServerProgram, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{\n  // mine\n  "mcpServers": {}\n}\n')
    arguments = ["config", "--host", "cursor", "--write", "--name", "desk-2", "/srv"]
    assert main(program, arguments) == 0
    first = file.read_text()
    assert "// mine" in first
    assert '"desk-2"' in first
    assert main(program, arguments) == 0
    assert file.read_text() == first
    assert "already" in capsys.readouterr().err
    assert sorted(os.listdir(file.parent)) == ["mcp.json", "mcp.json.bak"]


def test_config_remove_takes_the_entry_out_and_keeps_the_rest(
    program: ServerProgram, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"other": {"command": "x"}}}')
    where = ["--file", str(file)]
    assert main(program, ["config", "--host", "cursor", "--write", "--name", "desk", *where, "/srv"]) == 0
    assert main(program, ["config", "--host", "cursor", "--remove", "--name", "desk", *where]) == 0
    assert file.read_text() == '{"mcpServers": {"other": {"command": "x"}}}'
    assert "The file as it was:" in capsys.readouterr().err
    assert main(program, ["config", "--host", "cursor", "--remove", "--name", "desk", *where]) == 0
    assert 'holds no entry "desk"' in capsys.readouterr().err
    assert main(program, ["config", "--host", "cursor", "--remove", "--file", str(tmp_path / "none")]) == 0
    assert main(program, ["config", "--host", "cursor", "--remove", "--write", *where]) == 2


def test_config_write_takes_another_file(program: ServerProgram, tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    assert main(program, ["config", "--host", "claude-code", "--write", "--file", str(file), "/srv"]) == 0
    assert json.loads(file.read_text())["mcpServers"]["desk"]["type"] == "stdio"


def test_config_write_names_the_broken_file(
    program: ServerProgram, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{\n  "mcpServers": {,}\n}')
    assert main(program, ["config", "--host", "cursor", "--write", "--file", str(file), "/srv"]) == 2
    err = capsys.readouterr().err
    assert str(file) in err
    assert "line 2, column 18" in err


@pytest.mark.parametrize("host", ["claude-code", "cursor", "vscode", "gemini", "codex"])
def test_config_refers_to_a_secret_and_never_holds_it(
    program: ServerProgram, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    token = secrets.token_hex(16)
    monkeypatch.setenv("DESK_TOKEN", token)
    assert main(program, ["config", "--host", host, "/srv"]) == 0
    out, err = capsys.readouterr()
    assert token not in out + err
    assert "DESK_TOKEN" in out


def test_config_for_a_host_that_cannot_fill_in_a_secret_asks_for_a_file(
    program: ServerProgram, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = secrets.token_hex(16)
    monkeypatch.setenv("DESK_TOKEN", token)
    assert main(program, ["config", "--host", "claude-desktop", "/srv"]) == 2
    out, err = capsys.readouterr()
    assert token not in out + err
    assert "DESK_TOKEN_FILE" in err
    file = home / "token"
    file.write_text(token)
    monkeypatch.delenv("DESK_TOKEN")
    monkeypatch.setenv("DESK_TOKEN_FILE", str(file))
    assert main(program, ["config", "--host", "claude-desktop", "/srv"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out)["mcpServers"]["desk"]["env"] == {"DESK_TOKEN_FILE": str(file)}


def test_config_carries_our_variables_over_but_none_of_the_transport(
    program: ServerProgram, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_DESK_LOG_LEVEL", "debug")
    monkeypatch.setenv("MCP_DESK_TRANSPORT", "http")
    assert main(program, ["config", "--host", "cursor", "/srv"]) == 0
    assert json.loads(capsys.readouterr().out)["mcpServers"]["desk"]["env"] == {"MCP_DESK_LOG_LEVEL": "debug"}
    assert main(program, ["config", "--host", "cursor", "--transport", "http", "/srv"]) == 2


def test_a_folder_whose_name_no_host_can_carry_is_refused(
    program: ServerProgram, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(program, ["config", "--host", "cursor", "--write", "/srv/\udce9"]) == 2
    assert "UTF-8" in capsys.readouterr().err
    assert not (home / ".cursor" / "mcp.json").exists()


def test_in_a_terminal_a_settings_error_ends_the_process_with_status_2() -> None:
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "mcp_curated_filesystem", "notes"],
            stdin=slave,
            capture_output=True,
            text=True,
            timeout=60,
            env=clean_environment(),
            check=False,
        )
    finally:
        os.close(slave)
        os.close(master)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "relative" in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--transport", "http"], ["--transport=http", "notes"], ["--transport", "http", "--port", "x", "/"]]
)
def test_over_http_a_settings_error_ends_the_process_with_status_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


def test_over_stdio_a_settings_error_is_served() -> None:
    """The handshake and the list are answered; the exit status still tells that no work was done."""
    command = [sys.executable, "-P", "-m", "mcp_curated_filesystem", "notes"]
    with pytest.raises(ProbeError) as caught:
        probe(command, clean_environment())
    assert "answered, but ended with exit status 2" in caught.value.text
    assert "relative path" in caught.value.text


SPEAKER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"serverInfo": {"name": "x", "version": "1"}}
    elif message["params"].get("cursor"):
        result = {"tools": [{"name": "b", "annotations": {"readOnlyHint": False}}]}
    else:
        result = {"tools": [{"name": "a", "description": "\u00fc"}], "nextCursor": "2"}
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message"}), flush=True)
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_the_probe_reads_every_page_and_measures_bytes() -> None:
    found = probe([sys.executable, "-c", SPEAKER], dict(os.environ))
    assert [(tool.name, tool.read_only) for tool in found.tools] == [("a", None), ("b", False)]
    assert found.tools[0].size == len('{"name":"a","description":"ü"}'.encode())


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.stderr.write('no such thing\\n'); sys.exit(3)", "exit status 3"),
        ("print('hello', flush=True); import sys; sys.stdin.read()", "no message"),
        ("import sys; sys.stdin.read()", "in time"),
    ],
)
def test_the_probe_says_what_went_wrong(code: str, said: str) -> None:
    with pytest.raises(ProbeError) as caught:
        probe([sys.executable, "-c", code], dict(os.environ), seconds=1.5)
    assert said in caught.value.text
    if "exit status" in said:
        assert "no such thing" in caught.value.text


def test_a_command_that_does_not_exist_is_said() -> None:
    with pytest.raises(ProbeError, match="cannot be started"):
        probe(["/nowhere/python"], {})


def test_tools_lists_them_with_their_size(tmp_path: Path) -> None:
    done = run("tools", "--json", str(tmp_path))
    assert done.returncode == 0, done.stderr
    listed = json.loads(done.stdout)
    assert {"read_file", "write_file"} <= {tool["name"] for tool in listed["tools"]}
    assert listed["size"] == sum(tool["size"] for tool in listed["tools"])
    text = run("tools", "--read-only", str(tmp_path)).stdout
    assert "read_file" in text
    assert "write_file" not in text
