"""A root with a tree in it, something outside, and both ways to resolve."""

import gc
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from mcp_curated_shared.security.confinement import Confinement, RootSpec


@dataclass
class Place:
    """`top/root` is allowed, `top/outside` is not."""

    top: Path
    method: Literal["auto", "openat2", "walk"]
    opened: list[Confinement] = field(default_factory=list[Confinement])

    @property
    def root(self) -> Path:
        return self.top / "root"

    @property
    def outside(self) -> Path:
        return self.top / "outside"

    def confine(
        self, *roots: str | Path | RootSpec, deny: tuple[str, ...] = (), read_only: bool = False
    ) -> Confinement:
        """A confinement to `roots`, or to `top/root`; closed after the test."""
        specs = [root if isinstance(root, RootSpec) else RootSpec(str(root)) for root in roots or (self.root,)]
        confinement = Confinement(specs, deny=deny, read_only=read_only, method=self.method)
        self.opened.append(confinement)
        return confinement


@pytest.fixture(params=["openat2", "walk"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    top = tmp_path / "top"
    (top / "root" / "docs" / "deep").mkdir(parents=True)
    (top / "outside").mkdir()
    (top / "root" / "README.md").write_text("readme")
    (top / "root" / "docs" / "report.txt").write_text("report")
    (top / "root" / "docs" / "deep" / "file.txt").write_text("deep")
    (top / "outside" / "secret.txt").write_text("secret")
    place = Place(top, request.param)
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    yield place
    for confinement in place.opened:
        confinement.close()
    if before is not None:
        if len(os.listdir("/proc/self/fd")) > len(before):
            gc.collect()  # a caught error's traceback holds what its frames held
        assert len(os.listdir("/proc/self/fd")) <= len(before), "a descriptor was left open"


def read(confinement: Confinement, asked: str, **options: str) -> str:
    """The content of a file, opened through confinement."""
    with confinement.open_file(asked, **options) as file:
        return os.read(file.descriptor, 1000).decode()
