"""The facts of an entry."""

import datetime
import os
import re
import socket
from pathlib import Path

import pytest

from mcp_curated_filesystem.reading.information import get_information, iso_time, render
from mcp_curated_shared.security.confinement import Confinement, OutsideRootsError, PathNotFoundError, RootSpec


@pytest.fixture
def confinement(tmp_path: Path) -> Confinement:
    (tmp_path / "in").mkdir()
    return Confinement([RootSpec(str(tmp_path / "in"))])


def test_a_text_file_is_told_with_all_its_facts(confinement: Confinement, tmp_path: Path) -> None:
    path = tmp_path / "in" / "f.txt"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    path.chmod(0o640)
    os.utime(path, ns=(1_700_000_000_000_000_000, 1_600_000_000_999_999_999))
    found = get_information(confinement, "f.txt")
    assert (found.location.shown, found.type, found.size, found.links) == (str(path), "file", 9, 1)
    assert found.mode == "0640 -rw-r-----"
    assert datetime.datetime.fromisoformat(found.modified).timestamp() == 1_600_000_000
    assert datetime.datetime.fromisoformat(found.modified).tzinfo is not None
    content = found.content
    assert content is not None
    assert (content.media_type, content.encoding, content.bom, content.line_ending) == (
        "text/plain",
        "utf-8",
        True,
        "CRLF",
    )
    said = render(found)
    assert "encoding: utf-8 with a byte order mark" in said
    assert re.search(r"^version: v:[0-9a-f]{12}$", said, re.M)
    assert "None" not in said


def test_a_binary_has_a_type_by_content_and_no_encoding(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "in" / "f.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    content = get_information(confinement, "f.txt").content
    assert content is not None
    assert (content.media_type, content.encoding, content.line_ending) == ("image/png", None, None)


def test_a_guessed_encoding_is_called_a_guess(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "in" / "f.txt").write_bytes("café\n".encode("cp1252"))
    assert "encoding: cp1252 (a guess)" in render(get_information(confinement, "f.txt"))


def test_hard_links_are_counted_when_there_are_several(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "in" / "a").write_text("x")
    assert "hard links" not in render(get_information(confinement, "a"))
    os.link(tmp_path / "in" / "a", tmp_path / "in" / "b")
    assert "names (hard links): 2" in render(get_information(confinement, "a"))


def test_every_type_is_told_without_opening_what_may_block(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    (folder / "d").mkdir()
    os.mkfifo(folder / "pipe")
    monkeypatch.chdir(folder)  # the name of a socket may have 107 bytes at most
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock")
        types = {name: get_information(confinement, name).type for name in ("d", "pipe", "sock")}
    assert types == {"d": "directory", "pipe": "FIFO", "sock": "socket"}
    assert get_information(confinement, str(folder)).type == "directory"


def test_a_link_inside_is_followed_and_its_target_told(confinement: Confinement, tmp_path: Path) -> None:
    (tmp_path / "in" / "a").write_text("text")
    (tmp_path / "in" / "l").symlink_to("a")
    found = get_information(confinement, "l")
    assert (found.type, found.size, found.target) == ("file", 4, str(tmp_path / "in" / "a"))
    assert f"link leads to: {tmp_path}/in/a" in render(found)


@pytest.mark.parametrize("target", ["../secret", "/etc/passwd", "missing"])
def test_a_link_that_leads_outside_or_nowhere_does_not_tell_where(
    confinement: Confinement, tmp_path: Path, target: str
) -> None:
    (tmp_path / "secret").write_text("secret text")
    (tmp_path / "in" / "l").symlink_to(target)
    found = get_information(confinement, "l")
    assert (found.type, found.target, found.content) == ("symlink", None, None)
    assert target not in render(found)


def test_what_is_outside_or_missing_is_an_error(confinement: Confinement) -> None:
    with pytest.raises(OutsideRootsError):
        get_information(confinement, "/etc/passwd")
    with pytest.raises(PathNotFoundError):
        get_information(confinement, "gone")


def test_the_rules_tell_whether_it_may_be_changed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("x")
    with Confinement([RootSpec(str(tmp_path))]) as rules:
        assert get_information(rules, "a").writable
        assert get_information(rules, str(tmp_path)).writable
        assert not get_information(rules, ".git/config").writable
    with Confinement([RootSpec(str(tmp_path), writable=False)]) as rules:
        assert not get_information(rules, "a").writable
    with Confinement([RootSpec(str(tmp_path))], read_only=True) as rules:
        assert not get_information(rules, "a").writable
        assert not get_information(rules, str(tmp_path)).writable


def test_a_name_that_is_no_utf8_is_shown_in_a_form_that_leads_back(confinement: Confinement, tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path / "in") + b"/caf\xe9\n", "wb") as file:
        file.write(b"x")
    shown = get_information(confinement, str(tmp_path / "in") + "/caf\\xe9\\x0a").location.shown
    assert get_information(confinement, shown).size == 1
    shown.encode()


def test_times_outside_the_calendar_do_no_harm() -> None:
    assert iso_time(0) == datetime.datetime.fromtimestamp(0, tz=datetime.UTC).astimezone().isoformat()
    assert iso_time(-1_500_000_000).startswith("19")
    assert iso_time(10**30) == f"{10**21} s after 1970-01-01T00:00:00+00:00"
