"""The audit log: every tampering is found at its line, and several writers keep one chain."""

import json
import multiprocessing
import os
import resource
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.audit import AuditError, AuditKey, AuditLog, Head, Verdict, given_key, kept_key, verify

KEY = AuditKey.of(b"k" * 64)
EVENTS = 12


def written(folder: Path, count: int = EVENTS, *, limit: int = 10_000_000, keep: int = 10) -> AuditLog:
    log = AuditLog(str(folder), key=KEY, limit=limit, keep=keep)
    for number in range(count):
        log.append({"event": "call", "tool": f"tool{number}", "outcome": "ok"})
    return log


def lines_of(folder: Path) -> list[bytes]:
    return (folder / "audit.jsonl").read_bytes().splitlines(keepends=True)


def faults(folder: Path) -> list[int]:
    return [fault.line for fault in verify(str(folder), KEY).faults]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_a_log_that_nobody_touched_verifies(folder: Path) -> None:
    log = written(folder)
    verdict = verify(str(folder), KEY)
    assert verdict.faults == []
    assert (verdict.files, verdict.records) == (1, EVENTS + 1)
    assert verdict.head == log.close()


def test_a_record_is_one_json_object_a_line_with_time_and_number(folder: Path) -> None:
    written(folder, 2)
    begin, first, second = (json.loads(line) for line in lines_of(folder))
    assert (begin["event"], begin["file"], begin["seq"]) == ("begin", 1, 1)
    assert (first["tool"], first["seq"], second["seq"]) == ("tool0", 2, 3)
    assert first["time"].endswith("Z")
    assert second["prev"] == first["mac"]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_an_edit_is_found_at_its_line(data: st.DataObject, tmp_path: Path) -> None:
    folder = tmp_path / "edited"
    original = _fresh(folder)
    number = data.draw(st.integers(0, len(original) - 1))
    line = original[number]
    place = data.draw(st.integers(0, len(line) - 2))
    new = data.draw(st.integers(0, 255).filter(lambda value: value not in (line[place], 10)))
    edited = line[:place] + bytes([new]) + line[place + 1 :]
    _put(folder, [*original[:number], edited, *original[number + 1 :]])
    assert faults(folder)[0] == number + 1


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(first=st.integers(0, EVENTS - 1), count=st.integers(1, EVENTS))
def test_a_deletion_is_found_at_the_line_that_follows(first: int, count: int, tmp_path: Path) -> None:
    folder = tmp_path / "shortened"
    original = _fresh(folder)
    rest = original[first + count :]
    _put(folder, [*original[:first], *rest])
    if rest:
        assert faults(folder)[0] == first + 1
        assert f"{count} record" in str(verify(str(folder), KEY).faults) or first == 0


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(places=st.lists(st.integers(0, EVENTS), min_size=2, max_size=2, unique=True))
def test_a_swap_is_found_at_the_first_of_its_lines(places: list[int], tmp_path: Path) -> None:
    folder = tmp_path / "swapped"
    swapped = _fresh(folder)
    first, second = sorted(places)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    _put(folder, swapped)
    assert faults(folder)[0] == first + 1


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(source=st.integers(0, EVENTS), place=st.integers(0, EVENTS + 1), own=st.booleans())
def test_an_insertion_is_found_at_its_line(source: int, place: int, own: bool, tmp_path: Path) -> None:
    folder = tmp_path / "inserted"
    original = _fresh(folder)
    line = original[source] if own else b'{"seq":3,"event":"call","prev":"%b","mac":"%b"}\n' % (b"0" * 32, b"1" * 32)
    _put(folder, [*original[:place], line, *original[place:]])
    # A line that is repeated right behind or before itself cannot be told from the repetition.
    assert faults(folder)[0] == (source + 2 if own and place == source else place + 1)


def _fresh(folder: Path) -> list[bytes]:
    if not folder.exists():
        written(folder).close()
        (folder / "original").write_bytes((folder / "audit.jsonl").read_bytes())
    return (folder / "original").read_bytes().splitlines(keepends=True)


def _put(folder: Path, lines: list[bytes]) -> None:
    (folder / "audit.jsonl").write_bytes(b"".join(lines))


def test_lines_cut_off_at_the_end_are_seen_by_who_knows_the_head(folder: Path) -> None:
    head = written(folder).close()
    _put(folder, lines_of(folder)[:-2])
    assert verify(str(folder), KEY).faults == []
    (fault,) = verify(str(folder), KEY, head=head).faults
    assert f"record {EVENTS + 1} is not the one that this head names" in str(fault)


def test_an_earlier_head_is_still_on_the_chain(folder: Path) -> None:
    log = written(folder)
    head = Head.parse(str(log.close()))
    assert head is not None
    log.append({"event": "more"})
    assert verify(str(folder), KEY, head=head).reached is True
    assert verify(str(folder), KEY, head=Head(head.sequence, "f" * 32)).faults != []


def test_another_key_neither_checks_nor_forges(folder: Path) -> None:
    written(folder)
    other = AuditKey.of(b"another secret, long enough to be one")
    assert "written with another key" in str(verify(str(folder), other).faults)
    forger = AuditLog(str(folder), key=other)
    forger.append({"event": "call", "tool": "forged"})
    assert "written with another key" in str(verify(str(folder), KEY).faults)


def test_a_changed_key_begins_a_new_file_and_the_chain_goes_on(folder: Path) -> None:
    head = written(folder).close()
    other = AuditKey.of(b"another secret, long enough to be one")
    AuditLog(str(folder), key=other).append({"event": "call"})
    verdict = verify(str(folder), other)
    assert [fault.line for fault in verdict.faults] == [1]
    assert verdict.head.sequence == head.sequence + 2


def test_a_line_that_a_crash_tore_is_found_and_the_next_ones_are_sound(folder: Path) -> None:
    written(folder)
    lines = lines_of(folder)
    _put(folder, [*lines[:-1], lines[-1][:40]])
    written(folder, 2)
    assert faults(folder) == [EVENTS + 1]


def rotated(folder: Path) -> Verdict:
    written(folder, 100, limit=2_000, keep=3).close()
    return verify(str(folder), KEY, keep=3)


def test_a_full_file_is_put_away_and_the_chain_goes_on(folder: Path) -> None:
    verdict = rotated(folder)
    assert verdict.faults == []
    assert verdict.files == 4
    assert verdict.dropped > 0
    assert verdict.head.sequence == verdict.dropped + verdict.records
    assert all(path.stat().st_size < 2_500 for path in folder.glob("audit*.jsonl"))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_missing_file_is_found(place: int, folder: Path) -> None:
    rotated(folder)
    sorted(folder.glob("audit-*.jsonl"))[place].unlink()
    assert verify(str(folder), KEY, keep=3).faults != []


def test_two_files_that_change_names_are_found(folder: Path) -> None:
    rotated(folder)
    first, second, *_ = sorted(folder.glob("audit-*.jsonl"))
    other = folder / "other"
    first.rename(other)
    second.rename(first)
    other.rename(second)
    assert "under another name" in str(verify(str(folder), KEY, keep=3).faults)


def test_everything_is_for_this_user_alone(folder: Path) -> None:
    previous = os.umask(0)
    try:
        AuditLog(str(folder)).append({"event": "call"})
    finally:
        os.umask(previous)
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"audit.jsonl": 0o600, "audit.key": 0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_link_in_place_of_the_log_is_not_followed(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(0o700)
    victim = tmp_path / "victim"
    victim.write_text("")
    (folder / "audit.jsonl").symlink_to(victim)
    with pytest.raises(AuditError):
        AuditLog(str(folder), key=KEY).append({"event": "call"})
    assert victim.read_text() == ""


def test_a_folder_that_others_may_write_is_refused(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(AuditError, match="Others may write"):
        AuditLog(str(folder)).append({"event": "call"})


def test_the_key_is_made_once_and_kept(folder: Path) -> None:
    AuditLog(str(folder)).append({"event": "call"})
    AuditLog(str(folder)).append({"event": "call"})
    key = kept_key(str(folder))
    assert key is not None
    assert verify(str(folder), key).faults == []
    assert repr(key) == f"AuditKey({key.id})"


def test_a_short_key_is_refused() -> None:
    with pytest.raises(SettingsError, match="too short"):
        given_key("k" * 31)


def test_a_write_that_the_disk_refuses_leaves_no_half_line(folder: Path) -> None:
    log = written(folder, 3)
    size = (folder / "audit.jsonl").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))  # the kernel cuts the write short, as a full disk does
    try:
        with pytest.raises(AuditError, match="cannot be written"):
            log.append({"event": "call", "tool": "x" * 100}, sync=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (folder / "audit.jsonl").stat().st_size == size
    log.append({"event": "call"})
    assert faults(folder) == []


def test_a_device_that_is_full_refuses_the_event(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = written(folder, 1)
    full = os.open("/dev/full", os.O_WRONLY)
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(full, data))
    with pytest.raises(AuditError, match="No space left on device"):
        log.append({"event": "call"}, sync=True)
    monkeypatch.undo()
    os.close(full)
    assert faults(folder) == []


def test_threads_write_one_chain(folder: Path) -> None:
    log = AuditLog(str(folder), key=KEY, limit=20_000)
    threads = [threading.Thread(target=lambda: [log.append({"event": "call"}) for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    verdict = verify(str(folder), KEY)
    assert verdict.faults == []
    assert verdict.head.sequence == 400 + verdict.files


def _write_many(folder: str) -> None:
    log = AuditLog(folder, limit=10_000)
    for number in range(60):
        log.append({"event": "call", "number": number})


def test_processes_write_one_chain_through_every_rotation(folder: Path) -> None:
    processes = [
        multiprocessing.get_context("spawn").Process(target=_write_many, args=(str(folder),)) for _ in range(4)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    key = kept_key(str(folder))
    assert key is not None
    verdict = verify(str(folder), key)
    assert verdict.faults == []
    assert verdict.files > 3
    assert verdict.head.sequence == 240 + verdict.files
