"""A file has one byte order mark or none, whatever a text that is written into it begins with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_curated_filesystem.editing.editor import Edit, edit_file
from mcp_curated_filesystem.editing.editor import render as render_edit
from mcp_curated_filesystem.writing.writer import Mode, render, write_file
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.work import Work

ENCODINGS = ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
MARK = "\ufeff"
TEXT = "first line\nsecond line\nfirst words\n"


@pytest.fixture
def confinement(tmp_path: Path) -> Iterator[Confinement]:
    with Confinement([RootSpec(str(tmp_path))]) as made:
        yield made


def _write(confinement: Confinement, file: Path, content: str, mode: Mode = "overwrite") -> str:
    return render(write_file(confinement, str(file), content, mode=mode, work=Work()))


def _edit(confinement: Confinement, file: Path, old: str, new: str) -> str:
    return render_edit(edit_file(confinement, str(file), [Edit(old, new)], work=Work()))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("marks", [1, 2, 3])
def test_an_overwrite_leaves_one_mark(confinement: Confinement, tmp_path: Path, encoding: str, marks: int) -> None:
    file = tmp_path / "f"
    file.write_bytes(f"{MARK}{TEXT}".encode(encoding))
    told = _write(confinement, file, f"{MARK * marks}new text\n")
    assert file.read_bytes() == f"{MARK}new text\n".encode(encoding)
    assert "one byte order mark" in told


def test_a_text_without_a_mark_is_told_nothing_of_a_second(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(f"{MARK}{TEXT}".encode())
    assert "one byte order mark" not in _write(confinement, tmp_path / "f", "new text\n")


@pytest.mark.parametrize("before", [None, b"", b"plain\n"])
def test_a_file_without_a_mark_takes_the_one_it_is_given(
    confinement: Confinement, tmp_path: Path, before: bytes | None
) -> None:
    if before is not None:
        (tmp_path / "f").write_bytes(before)
    _write(confinement, tmp_path / "f", f"{MARK}text\n")
    assert (tmp_path / "f").read_bytes() == b"\xef\xbb\xbftext\n"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_append_to_a_file_of_only_a_mark_leaves_one(confinement: Confinement, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "f").write_bytes(MARK.encode(encoding))
    told = _write(confinement, tmp_path / "f", f"{MARK}text\n", "append")
    assert (tmp_path / "f").read_bytes() == f"{MARK}text\n".encode(encoding)
    assert "one byte order mark" in told


def test_an_append_to_an_empty_file_writes_what_it_is_given(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    _write(confinement, tmp_path / "f", f"{MARK}text\n", "append")
    assert (tmp_path / "f").read_bytes() == b"\xef\xbb\xbftext\n"


def test_a_character_like_the_mark_in_the_middle_is_added_as_it_is(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(f"{MARK}one\n".encode())
    _write(confinement, tmp_path / "f", f"{MARK}two\n", "append")
    assert (tmp_path / "f").read_bytes() == f"{MARK}one\n{MARK}two\n".encode()


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("quoted", ["", MARK], ids=["plain", "marked"])
def test_an_insertion_at_the_start_leaves_one_mark(
    confinement: Confinement, tmp_path: Path, encoding: str, quoted: str
) -> None:
    file = tmp_path / "f"
    file.write_bytes(f"{MARK}{TEXT}".encode(encoding))
    _edit(confinement, file, f"{quoted}first line", f"{MARK}header\nfirst line")
    assert file.read_bytes() == f"{MARK}header\n{TEXT}".encode(encoding)


def test_an_edit_that_quotes_the_mark_finds_its_text(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(f"{MARK}{TEXT}".encode())
    _edit(confinement, tmp_path / "f", f"{MARK}first line\n", "line one\n")
    assert (tmp_path / "f").read_bytes() == f"{MARK}line one\nsecond line\nfirst words\n".encode()


def test_an_edit_says_that_the_mark_stays_one(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(f"{MARK}{TEXT}".encode())
    assert "one byte order mark" in _edit(confinement, tmp_path / "f", "first line", f"{MARK}line one")
    assert "one byte order mark" not in _edit(confinement, tmp_path / "f", "line one", "line 1")


@pytest.mark.parametrize(("old", "new"), [(MARK, f"{MARK}x"), (f"{MARK}first line", "first line"), (f"{MARK}\n", "x")])
def test_an_edit_of_the_mark_alone_is_refused(confinement: Confinement, tmp_path: Path, old: str, new: str) -> None:
    before = f"{MARK}{TEXT}".encode()
    (tmp_path / "f").write_bytes(before)
    with pytest.raises(CuratedError, match="byte order mark"):
        _edit(confinement, tmp_path / "f", old, new)
    assert (tmp_path / "f").read_bytes() == before


def test_a_character_like_the_mark_inside_a_text_can_be_edited(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(f"{MARK}one {MARK}two\n".encode())
    _edit(confinement, tmp_path / "f", f"{MARK}two", "2")
    assert (tmp_path / "f").read_bytes() == f"{MARK}one 2\n".encode()
