"""What a public linter of tool definitions says of each server's tools."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any, TypedDict

import pytest

from scripts.generate_docs import Server, servers
from tests.packaging.support import REPOSITORY, run


class Finding(TypedDict):
    """One remark."""

    rule: str
    severity: str
    tool: str
    message: str


class Report(TypedDict):
    """What the linter prints."""

    findings: list[Finding]
    tools: list[Any]


KNOWN = {
    # It takes the cheaper of two tools with alike names for a rival; one edits a text, the other copies a file.
    ("filesystem", "edit_file", "shadow-candidate"),
}


@pytest.mark.parametrize("server", servers(REPOSITORY), ids=lambda server: server.folder.name)
def test_a_linter_of_tool_definitions_has_nothing_to_say(server: Server, tmp_path: Path) -> None:
    arguments = [one.replace("{folder}", str(tmp_path)) for one in server.everything]
    command = shlex.join([sys.executable, "-m", server.module, "--state-dir", str(tmp_path / "state"), *arguments])
    tdqs = Path(sys.executable).with_name("tdqs")
    report: Report = json.loads(run([tdqs, "lint", "--command", command, "--format", "json"], cwd=tmp_path).stdout)
    assert report["tools"], "it saw no tool"
    grave = [one for one in report["findings"] if one["severity"] != "info"]
    assert {(server.folder.name, one["tool"], one["rule"]) for one in grave} <= KNOWN, grave
