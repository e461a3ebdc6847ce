"""Holds tests/behaviours.toml and the tests to each other, in both directions."""

import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
MANIFEST = REPOSITORY / "tests" / "behaviours.toml"
Entry = Mapping[str, Any]  # as TOML gives it, form not yet checked
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One promise and the patterns of the tests that would fail if it were broken."""

    id: str
    sentence: str
    source: str
    tests: tuple[str, ...]


def malformed(entries: Sequence[Entry]) -> list[str]:
    """Entries that do not have the form that the manifest's header gives."""
    faults: list[str] = []
    for number, entry in enumerate(entries, 1):
        name = f"entry {number} ({entry.get('id', 'no id')})"
        if set(entry) != {"id", "sentence", "source", "tests"}:
            faults.append(f"{name}: has {sorted(entry)}, should have id, sentence, source, tests")
            continue
        if not _IDENTIFIER.fullmatch(str(entry["id"])):
            faults.append(f"{name}: the id should look like area.words")
        faults += [f"{name}: {key} is empty" for key in ("sentence", "source", "tests") if not entry[key]]
        if not str(entry["sentence"]).rstrip().endswith("."):
            faults.append(f"{name}: the sentence should end with a full stop")
    repeated = Counter(str(entry.get("id")) for entry in entries)
    return faults + [f"id {name} is used {count} times" for name, count in repeated.items() if count > 1]


def untested(behaviours: list[Behaviour], collected: set[str]) -> list[str]:
    """Patterns that match no collected test."""
    return [
        f"{behaviour.id}: no test matches {pattern}"
        for behaviour in behaviours
        for pattern in behaviour.tests
        if not any(fnmatchcase(test, pattern) for test in collected)
    ]


def unpromised(behaviours: list[Behaviour], collected: set[str]) -> list[str]:
    """Collected tests that no behaviour's pattern matches."""
    patterns = {pattern for behaviour in behaviours for pattern in behaviour.tests}
    return sorted(test for test in collected if not any(fnmatchcase(test, pattern) for pattern in patterns))


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["behaviour"]


@pytest.fixture(scope="module")
def behaviours(entries: Sequence[Entry]) -> list[Behaviour]:
    assert not malformed(entries), "\n".join(malformed(entries))
    return [Behaviour(entry["id"], entry["sentence"], entry["source"], tuple(entry["tests"])) for entry in entries]


@pytest.fixture(scope="module")
def collected(request: pytest.FixtureRequest) -> set[str]:
    """Node ids of every test, without parameters: this run's own if it is a whole one, else asked of pytest again."""
    option = request.config.option
    if request.config.args == ["tests"] and not (option.keyword or option.markexpr or option.deselect):
        nodes = [item.nodeid for item in request.session.items]
    else:
        command = [sys.executable, "-m", "pytest", "--collect-only", "--no-cov", "-p", "no:xdist", "tests"]
        run = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=100)
        assert run.returncode == 0, run.stdout + run.stderr
        nodes = [line for line in run.stdout.splitlines() if "::" in line]
    return {node.partition("[")[0] for node in nodes}


def test_every_entry_of_the_manifest_has_its_four_parts_and_an_id_of_its_own(entries: Sequence[Entry]):
    assert not malformed(entries), "\n".join(malformed(entries))


def test_every_behaviour_has_a_test_that_would_fail_if_it_broke(behaviours: list[Behaviour], collected: set[str]):
    missing = untested(behaviours, collected)
    assert not missing, "\n".join(["These patterns match no test:", *missing])


def test_every_test_belongs_to_a_behaviour(behaviours: list[Behaviour], collected: set[str]):
    missing = unpromised(behaviours, collected)
    assert not missing, "\n".join(["No behaviour of tests/behaviours.toml names these tests:", *missing])


def test_a_broken_manifest_entry_is_named():
    good = {"id": "area.words", "sentence": "It holds.", "source": "a page", "tests": ["tests/a.py::test_b"]}
    assert malformed([good]) == []
    assert "should have" in malformed([{"id": "area.words"}])[0]
    assert "area.words" in malformed([good | {"id": "words"}])[0]
    assert malformed([good | {"tests": []}]) == ["entry 1 (area.words): tests is empty"]
    assert malformed([good, good]) == ["id area.words is used 2 times"]


def test_a_gap_between_manifest_and_tests_is_seen_from_either_side():
    behaviour = Behaviour("area.words", "It holds.", "a page", ("tests/a.py::test_*kept*", "tests/a.py::test_gone"))
    collected = {"tests/a.py::test_it_is_kept", "tests/a.py::test_stray"}
    assert untested([behaviour], collected) == ["area.words: no test matches tests/a.py::test_gone"]
    assert unpromised([behaviour], collected) == ["tests/a.py::test_stray"]
