"""The clients that tests are written with are what they say."""

import subprocess
import sys
from pathlib import Path

import pytest

from mcp_curated_shared.testing import ERAS, WAYS, Command, Era, Person, Way, connect, startup_cost, startup_ratios
from mcp_curated_shared.testing.costs import BARE
from tests.shared.testing.sample_server import build

SERVER = Path(__file__).with_name("sample_server.py")
COMMAND = Command((sys.executable, str(SERVER)))


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", WAYS)
async def test_a_client_speaks_its_era_over_every_way(way: Way, era: Era) -> None:
    async with connect(way, era, build=build, command=COMMAND) as client:
        assert client.session.protocol_version == ("2025-11-25" if era == "legacy" else era)
        result = await client.call_tool("look", {"name": "moon"})
    assert not result.is_error


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", WAYS)
async def test_a_person_answers_questions_and_has_folders_open(way: Way, era: Era, tmp_path: Path) -> None:
    person = Person(answers={"agree": True}, roots=[str(tmp_path)])
    async with connect(way, era, build=build, command=COMMAND, person=person) as client:
        asked = await client.call_tool("ask", {})
        folders = await client.call_tool("folders", {})
    assert person.asked == ["Go on?"]
    assert [block.text for block in asked.content if block.type == "text"] == ["accept"]
    assert str(tmp_path) in str(folders.content)


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_a_person_can_decline(era: Era) -> None:
    person = Person(answers={}, action="decline")
    async with connect("memory", era, build=build, command=COMMAND, person=person) as client:
        asked = await client.call_tool("ask", {})
    assert "decline" in str(asked.content)


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_without_a_person_declares_nothing(era: Era) -> None:
    async with connect("memory", era, build=build, command=COMMAND) as client:
        folders = await client.call_tool("folders", {})
    assert "'[]'" in str(folders.content)


@pytest.mark.slow
def test_a_bare_server_costs_as_much_as_itself() -> None:
    ratios = startup_ratios(BARE, runs=3)
    assert 0.7 < ratios.cpu < 1.4
    assert 0.95 < ratios.memory < 1.05


def test_a_command_that_does_not_serve_is_no_cost() -> None:
    with pytest.raises(AssertionError, match="before it listed"):
        startup_cost(Command((sys.executable, "-c", "")), runs=1)


def test_only_the_suite_needs_pytest() -> None:
    check = "import sys, mcp_curated_shared.testing; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
