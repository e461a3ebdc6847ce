"""The doctor: every finding has its fix, and the exit status tells."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_curated_filesystem import doctor as filesystem_doctor
from mcp_curated_filesystem.doctor import checks, examine_root
from mcp_curated_filesystem.settings import FilesystemSettings
from mcp_curated_filesystem.surroundings import case_sensitivity, mount_of, trash_size
from mcp_curated_shared.doctor import Finding, check_state_folder
from mcp_curated_shared.security.confinement import RootSpec
from mcp_curated_shared.settings import load


def run(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MCP_", "XDG_"))}
    return subprocess.run(
        [sys.executable, "-P", "-m", "mcp_curated_filesystem", "doctor", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**kept, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        check=False,
    )


def looked_at(path: object, *, read_only: bool = False, writable: bool = True) -> list[Finding]:
    return list(examine_root(RootSpec(str(path), writable), read_only=read_only))


def everything(*argv: str) -> list[Finding]:
    return list(checks(load(FilesystemSettings, argv, {})))


def test_nothing_failed_is_status_0_and_one_failure_is_1(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    file = tmp_path / "file"
    file.write_text("")
    fine = run("--offline", str(folder), home=tmp_path)
    assert fine.returncode == 0, fine.stdout
    assert "0 broken" in fine.stdout
    broken = run("--offline", str(file), home=tmp_path)
    assert broken.returncode == 1
    assert "is a file" in broken.stdout
    assert run("--ofline", home=tmp_path).returncode == 2


def test_the_running_server_is_part_of_the_examination(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    found = run("--json", str(folder), home=tmp_path)
    report = json.loads(found.stdout)
    server = next(one for one in report["findings"] if one["subject"] == "server")
    assert server["level"] == "ok", server
    assert "read_file" in server["text"]
    assert found.returncode == 0
    assert report["ok"] is True


def test_a_settings_error_is_a_finding_with_its_fix(tmp_path: Path) -> None:
    report = json.loads(run("--json", "--offline", "notes", home=tmp_path).stdout)
    finding = next(one for one in report["findings"] if one["subject"] == "settings")
    assert finding["level"] == "fail"
    assert finding["fix"]


def test_every_finding_that_is_not_fine_has_a_fix(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    os.mkfifo(tmp_path / "pipe")
    argv = ["/", "/proc", "/nowhere", str(file), str(tmp_path / "pipe"), str(tmp_path), f"{tmp_path}:ro", "/dev/null"]
    found = [*everything(*argv), *everything()]
    assert [one for one in found if one.level != "ok" and not one.fix] == []


def test_a_missing_folder_is_a_warning_since_the_server_starts() -> None:
    (found,) = looked_at("/nowhere/at/all")
    assert found.level == "warn"
    assert "unavailable" in found.text


@pytest.mark.parametrize("kind", ["file", "named pipe", "socket", "device"])
def test_what_is_no_folder_fails_by_its_kind(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x"
    if kind == "file":
        path.write_text("")
    elif kind == "named pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("x")
    else:
        path = Path("/dev/null")
    (found,) = looked_at(path)
    assert found.level == "fail"
    assert kind in found.text


def test_a_folder_that_works_says_rights_filesystem_and_letter_case(tmp_path: Path) -> None:
    (tmp_path / "Name").write_text("")
    (found,) = looked_at(tmp_path)
    assert found.level == "ok"
    assert "read and write" in found.text
    assert "letter case counts" in found.text
    assert "read only" in looked_at(tmp_path, writable=False)[0].text
    assert "read only" in looked_at(tmp_path, read_only=True)[0].text


def test_the_whole_disk_and_the_home_folder_are_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    (tmp_path / "me").mkdir()
    assert any("whole disk" in one.text for one in looked_at("/"))
    assert any("home folder" in one.text for one in looked_at(tmp_path / "me"))
    assert any("home folder" in one.text for one in looked_at(tmp_path))


def test_the_kernel_s_own_filesystems_are_warned_of() -> None:
    assert any("kernel" in one.text and one.level == "warn" for one in looked_at("/proc"))


def test_a_folder_named_twice_and_a_read_only_one_inside_a_writable_one_are_warned_of(tmp_path: Path) -> None:
    inner = tmp_path / "a"
    inner.mkdir()
    assert any("same folder" in one.text for one in everything(str(inner), str(tmp_path / "." / "a")))
    assert any("read-only" in one.text for one in everything(str(tmp_path), f"{inner}:ro"))


def test_a_folder_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    release = threading.Event()
    monkeypatch.setattr(filesystem_doctor, "ROOT_SECONDS", 0.1)
    monkeypatch.setattr(filesystem_doctor, "examine_root", lambda root, read_only: release.wait(10) and [])
    try:
        found = everything(str(tmp_path))
    finally:
        release.set()
    assert any("did not answer" in one.text and one.level == "fail" for one in found)


def test_trash_is_told_with_its_size(tmp_path: Path) -> None:
    trash = tmp_path / ".mcp-curated-trash" / "1"
    trash.mkdir(parents=True)
    (trash / "gone.txt").write_bytes(b"12345")
    found = next(one for one in looked_at(tmp_path) if one.subject == "trash")
    assert "2 entries, 5 bytes" in found.text
    assert trash_size(str(trash)) is None


def test_a_malformed_deny_pattern_is_found(tmp_path: Path) -> None:
    found = next(one for one in everything(str(tmp_path), "--deny", "!x") if one.subject == "confinement")
    assert found.level == "fail"


def test_landlock_is_told_with_the_reason_it_is_not_used(tmp_path: Path) -> None:
    off = next(one for one in everything(str(tmp_path), "--no-landlock") if one.subject == "Landlock")
    assert (off.level, "switched off" in off.text) == ("ok", True)
    client = next(one for one in everything() if one.subject == "Landlock")
    assert "not used" in client.text


def test_the_mount_is_the_deepest_and_the_last_of_its_place(tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(
        "1 0 8:1 / / rw - ext4 /dev/a rw\n"
        "2 1 0:5 / /srv/my\\040disk rw shared:1 - nfs4 host:/x rw\n"
        "3 1 0:6 / /srv/my\\040disk rw - cifs //host/x rw\n"
        "broken\n"
    )
    kinds = {path: mount_of(path, str(table)) for path in ("/srv/my disk/a", "/srv/my diskette", "/")}
    assert [mount.kind for mount in kinds.values() if mount] == ["cifs", "ext4", "ext4"]
    assert mount_of("/", str(tmp_path / "absent")) is None


def test_letter_case_is_unknown_where_nothing_tells(tmp_path: Path) -> None:
    (tmp_path / "123").write_text("")
    assert case_sensitivity(str(tmp_path)) == "letter case unknown"


def test_a_state_folder_is_ours_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    assert "made when it is needed" in check_state_folder(str(folder / "deep")).text
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    assert check_state_folder(str(folder)).level == "warn"
    folder.chmod(0o700)
    assert check_state_folder(str(folder)).level == "ok"
    file = tmp_path / "file"
    file.write_text("")
    assert check_state_folder(str(file)).level == "fail"
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert check_state_folder(str(link)).level == "fail"
