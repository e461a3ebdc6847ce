"""Kernels and containers without openat2, and systems without O_PATH, get the same answers from the walk."""

import ctypes
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_curated_shared.errors import UnavailableError
from mcp_curated_shared.security.confinement import (
    Confinement,
    OutsideRootsError,
    RootSpec,
    descriptors,
    openat2,
    walking,
)
from tests.shared.confinement.conftest import Place, read

# A seccomp filter (seccomp(2), classic BPF) that answers openat2 with an error number, as container runtimes do.
_UNDER_SECCOMP = """
import ctypes, struct, sys
number, root = int(sys.argv[1]), sys.argv[2]
program = b"".join(struct.pack("HBBI", *line) for line in (
    (0x20, 0, 0, 0),                      # load the system call's number
    (0x15, 0, 1, 437),                    # is it openat2?
    (0x06, 0, 0, 0x00050000 | number),    # SECCOMP_RET_ERRNO
    (0x06, 0, 0, 0x7FFF0000),             # SECCOMP_RET_ALLOW
))
buffer = ctypes.create_string_buffer(program)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
filter_ = Program(4, ctypes.addressof(buffer))
if libc.prctl(22, 2, ctypes.byref(filter_)) != 0:
    sys.exit(77)
import os
from mcp_curated_shared.security.confinement import Confinement, OutsideRootsError, RootSpec
confinement = Confinement([RootSpec(root)])
with confinement.open_file("docs/report.txt") as file:
    print(confinement.method, os.read(file.descriptor, 100).decode())
try:
    confinement.open_file("../outside/secret.txt")
except OutsideRootsError:
    print("refused")
"""


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_a_system_that_forbids_openat2_is_walked(place: Place, number: int) -> None:
    command = [sys.executable, "-c", _UNDER_SECCOMP, str(number), str(place.root)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if ran.returncode == 77:
        pytest.skip("this system lets no process set a seccomp filter")
    assert ran.stdout.split("\n") == ["walk report", "refused", ""], ran.stderr


def test_forcing_openat2_where_there_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openat2, "_call", None)
    with pytest.raises(UnavailableError, match="openat2 is not available"):
        Confinement([RootSpec(str(tmp_path))], method="openat2")
    with Confinement([RootSpec(str(tmp_path))]) as confinement:
        assert confinement.method == "walk"


def test_an_openat2_that_keeps_saying_again_is_retried_and_then_walked(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    confinement = place.confine()
    calls: list[int] = []

    def again(*_: object) -> int:
        calls.append(1)
        ctypes.set_errno(errno.EAGAIN)
        return -1

    monkeypatch.setattr(openat2, "_call", again)
    assert read(confinement, "docs/report.txt") == "report"
    assert len(calls) == (5 if place.method == "openat2" else 0)


def test_directories_held_without_o_path_are_walked_as_well(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS: held for reading, an ENOTDIR or ELOOP for a link."""
    for module in (descriptors, walking):
        monkeypatch.setattr(module, "HOLD_DIRECTORY", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    (place.root / "short").symlink_to("docs/deep")
    (place.root / "out").symlink_to("../outside")
    with Confinement([RootSpec(str(place.root))], method="walk") as confinement:
        assert read(confinement, "short/../report.txt") == "report"
        with pytest.raises(OutsideRootsError):
            confinement.open_file("out/secret.txt")
        with confinement.open_target("short/made/new.txt", parents=True) as target:
            assert target.location.relative == "docs/deep/made/new.txt"
