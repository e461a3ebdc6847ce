"""The threat model names promises that exist, so that each of its defences is held by tests."""

import re
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "threat-model.md"
_ROW = re.compile(r"^\| (?P<threat>[^|]+) \| [^|]+ \| (?P<behaviours>(?:`[a-z][a-z_.-]*`(?:, )?)+) \|$", re.MULTILINE)
_TABLE_LINE = re.compile(r"^\|.*\|$", re.MULTILINE)


def defences() -> list[tuple[str, list[str]]]:
    page = PAGE.read_text(encoding="utf-8")
    page = page[page.index("## What is defended") :]
    lines = [line for line in _TABLE_LINE.findall(page) if "---" not in line and not line.startswith("| threat |")]
    rows = [_ROW.fullmatch(line) for line in lines]
    assert None not in rows, [line for line, row in zip(lines, rows, strict=True) if row is None]
    return [(row["threat"], re.findall(r"`([^`]+)`", row["behaviours"])) for row in rows if row is not None]


@pytest.mark.parametrize(
    ("threat", "behaviours"), defences(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_defence_names_behaviours_of_the_manifest(threat: str, behaviours: list[str]) -> None:
    manifest = tomllib.loads((REPOSITORY / "tests" / "behaviours.toml").read_text(encoding="utf-8"))
    known = {entry["id"] for entry in manifest["behaviour"]}
    assert set(behaviours) <= known, threat
