"""Writing whole files, new files, and at the end of files."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_curated_filesystem.text.forms import BinaryFileError
from mcp_curated_filesystem.text.versions import version_tag
from mcp_curated_filesystem.writing.writer import Mode, Written, render, write_file
from mcp_curated_shared.errors import ConflictError, CuratedError, InvalidArgumentError
from mcp_curated_shared.security.confinement import Confinement, NotAFileError, RootSpec
from mcp_curated_shared.work import Work

FRENCH = "Le caf\xe9 est tr\xe8s bon et la for\xeat est belle\n"


@pytest.fixture
def confinement(tmp_path: Path) -> Iterator[Confinement]:
    with Confinement([RootSpec(str(tmp_path))]) as made:
        yield made


def _write(confinement: Confinement, path: Path, text: str, mode: Mode = "overwrite", **options: str) -> Written:
    return write_file(confinement, str(path), text, work=Work(), mode=mode, **options)


def test_a_new_file_is_plain_utf8_and_its_parents_are_made(confinement: Confinement, tmp_path: Path) -> None:
    reply = _write(confinement, tmp_path / "a" / "b" / "f.txt", "h\u00e9\r\n")
    assert (tmp_path / "a" / "b" / "f.txt").read_bytes() == "h\u00e9\r\n".encode()
    assert reply.created
    assert "Created" in render(reply)


def test_an_overwrite_replaces_everything(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a long old content\n")
    reply = _write(confinement, tmp_path / "f", "new")
    assert (tmp_path / "f").read_bytes() == b"new"
    assert not reply.created


def test_a_file_may_be_made_empty(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    _write(confinement, tmp_path / "f", "")
    assert (tmp_path / "f").read_bytes() == b""


@pytest.mark.parametrize(
    ("mark", "encoding"), [(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"", "cp1252")]
)
def test_an_overwrite_keeps_the_encoding_and_the_mark(
    confinement: Confinement, tmp_path: Path, mark: bytes, encoding: str
) -> None:
    (tmp_path / "f").write_bytes(mark + FRENCH.encode(encoding))
    reply = _write(confinement, tmp_path / "f", "d\xe9j\xe0 vu\n")
    assert (tmp_path / "f").read_bytes() == mark + "d\xe9j\xe0 vu\n".encode(encoding)
    assert "Kept the file's encoding" in render(reply)


@pytest.mark.parametrize("mode", ["overwrite", "append"])
def test_text_that_the_encoding_cannot_hold_is_refused(confinement: Confinement, tmp_path: Path, mode: Mode) -> None:
    content = FRENCH.encode("cp1252")
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(CuratedError, match=r"U\+4E16") as caught:
        _write(confinement, tmp_path / "f", "\u4e16", mode)
    assert caught.value.kind == "encoding"
    assert (tmp_path / "f").read_bytes() == content


def test_line_ends_are_written_as_given_and_a_difference_is_told(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\r\nb\r\n")
    reply = _write(confinement, tmp_path / "f", "x\ny\n")
    assert (tmp_path / "f").read_bytes() == b"x\ny\n"
    assert "LF; the file had CRLF" in render(reply)


def test_an_append_adds_exactly_the_text(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"no newline at the end")
    _write(confinement, tmp_path / "f", ", more", "append")
    assert (tmp_path / "f").read_bytes() == b"no newline at the end, more"


def test_an_append_uses_the_files_encoding_without_another_mark(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("\ufeffabc".encode("utf-16-le"))
    _write(confinement, tmp_path / "f", "d\u00e9", "append")
    assert (tmp_path / "f").read_bytes() == "\ufeffabcd\u00e9".encode("utf-16-le")


def test_an_append_makes_a_missing_file(confinement: Confinement, tmp_path: Path) -> None:
    assert _write(confinement, tmp_path / "f", "a", "append").created


def test_an_append_to_a_binary_file_is_refused(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    with pytest.raises(BinaryFileError):
        _write(confinement, tmp_path / "f", "text", "append")


def test_create_refuses_a_file_that_exists(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    with pytest.raises(ConflictError, match="exists already"):
        _write(confinement, tmp_path / "f", "new", "create")
    assert (tmp_path / "f").read_bytes() == b"old"


def test_a_stale_version_is_refused(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    current = version_tag(b"old", (tmp_path / "f").stat())
    with pytest.raises(ConflictError, match=current):
        _write(confinement, tmp_path / "f", "new", if_version="v:123456789abc")
    reply = _write(confinement, tmp_path / "f", "new", if_version=current)
    assert reply.version == version_tag(b"new", (tmp_path / "f").stat())


def test_a_version_of_a_file_that_is_gone_is_refused(confinement: Confinement, tmp_path: Path) -> None:
    with pytest.raises(ConflictError, match="does not exist any more"):
        _write(confinement, tmp_path / "f", "new", if_version="v:123456789abc")
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize("mode", ["overwrite", "create", "append"])
def test_a_pipe_is_never_replaced(confinement: Confinement, tmp_path: Path, mode: Mode) -> None:
    os.mkfifo(tmp_path / "f")
    with pytest.raises(NotAFileError, match="pipe"):
        _write(confinement, tmp_path / "f", "x", mode)
    assert stat.S_ISFIFO((tmp_path / "f").stat().st_mode)


def test_a_directory_is_never_replaced(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with pytest.raises(NotAFileError, match="directory"):
        _write(confinement, tmp_path / "d", "x")


def test_a_name_of_ours_cannot_be_written(confinement: Confinement, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="keeps for itself"):
        _write(confinement, tmp_path / ".mcp-curated-trash" / "x", "x")


def test_twelve_megabytes_are_written(confinement: Confinement, tmp_path: Path) -> None:
    text = "0123456789abcdef" * 750_000
    assert _write(confinement, tmp_path / "f", text).size == 12_000_000
    assert (tmp_path / "f").read_text() == text


def test_a_write_through_a_link_changes_its_target(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    (tmp_path / "link").symlink_to("f")
    _write(confinement, tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "f").read_bytes() == b"new"


def test_a_case_different_name_is_a_new_file_where_case_counts(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "README").write_bytes(b"old")
    if (tmp_path / "readme").exists():
        pytest.skip("letter case does not count here")
    assert _write(confinement, tmp_path / "readme", "new").created
    assert (tmp_path / "README").read_bytes() == b"old"
