"""A server that is copied from the template passes the checks and its tests at once."""

import re
import tomllib
from pathlib import Path

import pytest

from scripts import new_server
from tests.packaging.support import REPOSITORY, copy_repository, run

CONFIGURATION = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")


def test_a_new_server_stands_in_every_list_in_which_another_stands() -> None:
    enlisted = new_server.enlisted(CONFIGURATION, "weather")
    for spelled in ("mcp-curated-{}", "mcp_curated_{}"):
        known, new = (len(re.findall(rf"\b{spelled.format(name)}\b", enlisted)) for name in ("filesystem", "weather"))
        assert known == new > 0
    before, after = tomllib.loads(CONFIGURATION), tomllib.loads(enlisted)
    assert "mcp-curated-weather" in after["project"]["dependencies"]
    assert after["tool"]["uv"]["sources"].keys() - before["tool"]["uv"]["sources"].keys() == {"mcp-curated-weather"}


@pytest.mark.parametrize("name", ["", "a", "Weather", "the-weather", "../weather", "9lives", "shared", "stencil"])
def test_what_is_no_name_for_a_server_is_refused(name: str) -> None:
    assert list(new_server.faults(name, REPOSITORY))


def test_a_server_that_is_there_is_not_overwritten() -> None:
    assert "servers/filesystem exists already" in " ".join(new_server.faults("filesystem", REPOSITORY))


def test_nothing_of_a_new_server_bears_the_name_of_the_template(tmp_path: Path) -> None:
    copy = copy_repository(tmp_path / "copy")
    new_server.copy_template("weather", copy)
    made = [path for area in ("servers", "tests") for path in (copy / area / "weather").rglob("*")]
    assert len(made) > 15
    named = [path for path in made if "stencil" in str(path.relative_to(copy)).lower()]
    named += [path for path in made if path.is_file() and "stencil" in path.read_text(encoding="utf-8").lower()]
    assert named == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_new_server_passes_the_checks_and_its_tests_at_once(tmp_path: Path, uv: Path) -> None:
    copy = copy_repository(tmp_path / "copy")
    extra = {"PATH": f"{uv.parent}:/usr/local/bin:/usr/bin:/bin"}
    run(["make", "new-server", "NAME=weather"], cwd=copy, extra=extra, seconds=280)
    tool = [copy / "scripts" / "uv.sh", "run", "--no-sync", "--quiet"]
    for check in (
        ["ruff", "check", "servers/weather", "tests/weather"],
        ["ruff", "format", "--check", "servers/weather", "tests/weather"],
        ["pyright", "servers/weather", "tests/weather"],
        ["lint-imports", "--no-logo"],
        ["python", "scripts/lock.py", "check", "uv.lock"],
        ["python", "scripts/versions.py", "check"],
        ["pytest", "tests/weather", "tests/test_behaviours.py"],
        ["mcp-curated-weather", "config", "--host", "claude-desktop"],
    ):
        run([*tool, *check], cwd=copy, extra=extra, seconds=280)
