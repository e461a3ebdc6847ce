"""A directory on a mount that never answers: it is waited for, for a moment, and the others work."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_curated_filesystem import kernel
from mcp_curated_filesystem.settings import FilesystemSettings
from mcp_curated_shared.security import landlock
from mcp_curated_shared.security.confinement import Confinement, RootSpec, confinement, probing
from mcp_curated_shared.security.confinement.denying import DenyRules
from mcp_curated_shared.security.state_folder import closed_patterns
from mcp_curated_shared.settings import Loaded

Hang = Callable[[Path], threading.Event]


@pytest.fixture
def hang(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hang]:
    """Make every look at a path, or below it, wait until the event is set; as `stat` on a dead mount does."""
    events: list[threading.Event] = []
    before = set(threading.enumerate())

    def begin(path: Path) -> threading.Event:
        answers = threading.Event()
        events.append(answers)
        for name in ("stat", "lstat", "open"):
            real: Callable[..., object] = getattr(os, name)

            def waits(
                asked: object, *arguments: object, _real: Callable[..., object] = real, **options: object
            ) -> object:
                if isinstance(asked, str) and f"{asked}/".startswith(f"{path}/"):
                    answers.wait(20)
                return _real(asked, *arguments, **options)

            monkeypatch.setattr(os, name, waits)
        monkeypatch.setattr(confinement, "PATIENCE_SECONDS", 0.2)
        return answers

    yield begin
    for event in events:
        event.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(5)


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("dead", "well"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.txt").write_text(name)
    return tmp_path / "dead", tmp_path / "well"


def test_a_directory_that_does_not_answer_does_not_stop_the_start_nor_the_others(
    two: tuple[Path, Path], hang: Hang
) -> None:
    dead, well = two
    hang(dead)
    started = time.monotonic()
    with Confinement([RootSpec(str(dead)), RootSpec(str(well))]) as confined:
        confined.open_file(str(well / "file.txt")).close()
        assert time.monotonic() - started < 5
        assert [root.label for root in confined.roots] == ["dead", "well"]


def test_a_directory_that_answers_later_is_used_then(two: tuple[Path, Path], hang: Hang) -> None:
    dead, well = two
    answers = hang(dead)
    with Confinement([RootSpec(str(dead)), RootSpec(str(well))]) as confined:
        answers.set()
        confined.open_file(str(dead / "file.txt")).close()


def test_a_directory_that_answers_later_from_another_place_is_not_used(two: tuple[Path, Path], hang: Hang) -> None:
    dead, well = two
    link = dead.parent / "link"
    link.symlink_to(well)
    answers = hang(link)
    with Confinement([RootSpec(str(link))]) as confined:
        answers.set()
        assert "another place" in confined.roots[0].problem


def test_giving_a_directory_up_does_not_wait_for_it(two: tuple[Path, Path], hang: Hang) -> None:
    dead, well = two
    confined = Confinement([RootSpec(str(dead)), RootSpec(str(well))])
    (dead / "file.txt").unlink()
    dead.rmdir()
    dead.mkdir()  # another one: it has to be opened again
    hang(dead)
    opening = threading.Thread(target=lambda: confined.roots[0].available, daemon=True)
    opening.start()
    started = time.monotonic()
    confined.close()
    assert time.monotonic() - started < 5


def test_the_state_folder_is_closed_although_a_directory_does_not_answer(
    two: tuple[Path, Path], hang: Hang, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, well = two
    hang(dead)
    monkeypatch.setattr(probing, "PATIENCE_SECONDS", 0.2)
    rules = DenyRules(closed_patterns(str(well / "state"), [str(dead), str(well)]))
    assert rules.match("state/ledger")


def test_landlock_is_left_out_when_a_directory_does_not_answer(
    two: tuple[Path, Path], hang: Hang, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, well = two
    hang(dead)
    monkeypatch.setattr(kernel, "PATIENCE_SECONDS", 0.2)
    entered: list[object] = []
    monkeypatch.setattr(landlock, "restrict", lambda roots, **_: entered.append(roots))
    settings = replace(FilesystemSettings(), directories=(RootSpec(str(dead)), RootSpec(str(well))))
    kernel.confine_process(Loaded(settings, (), ()))
    assert entered == []
