"""A root with a few files, and both eras."""

from pathlib import Path

import pytest

from mcp_curated_shared.testing.clients import ERAS, Era


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    chosen: Era = request.param
    return chosen


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    (folder / "deep" / "b.py").write_bytes(b"def main():\r\n    return 1\r\n")
    (folder / "deep" / "deeper" / "c.md").write_text("# Titel\n\nGrüße aus Köln\n", encoding="utf-8")
    private = tmp_path / "private"
    private.mkdir()
    (private / "secret.txt").write_text("not for you\n", encoding="utf-8")
    (folder / "out").symlink_to(private)
    return folder
