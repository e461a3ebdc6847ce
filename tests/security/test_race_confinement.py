"""Nothing outside is touched while another process swaps a directory of the path with a link to outside."""

import contextlib
import os
from pathlib import Path

import pytest

from mcp_curated_shared.security.confinement import Confinement
from tests.security.race_confinement import OPERATIONS, Method, race
from tests.security.race_swapper import PUBLIC, Ground

TRIES = 1_500


@pytest.mark.parametrize("method", ["openat2", "walk"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_no_try_touches_the_outside_while_a_directory_is_swapped_with_a_link(
    tmp_path: Path, name: str, method: Method
) -> None:
    outcome = race(tmp_path, OPERATIONS[name], method, TRIES)
    assert outcome.escaped == 0
    assert outcome.met > 0, "no try met the swap: this run proves nothing"
    assert outcome.inside > 0, "no try worked: this run proves nothing"


def test_the_race_catches_a_way_to_open_that_resolves_names_twice(tmp_path: Path) -> None:
    def checked_then_opened(_: Confinement, ground: Ground, __: int) -> bool:
        path = ground.root / "d" / "file.txt"
        with contextlib.suppress(OSError):  # a link that became a directory under realpath's hands
            if os.path.realpath(path).startswith(f"{ground.root}/"):
                return path.read_text() != PUBLIC
        return False

    assert race(tmp_path, checked_then_opened, "walk", 20_000).escaped > 0
