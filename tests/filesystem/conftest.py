"""One root, and a confinement to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_curated_shared.security.confinement import Confinement, RootSpec


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def confinement(root: Path) -> Iterator[Confinement]:
    with Confinement([RootSpec(str(root))]) as made:
        yield made
