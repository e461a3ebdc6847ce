import os
import socket
from pathlib import Path

import pytest

from mcp_curated_filesystem.finding.listing import Listing, SortBy, list_directory, render
from mcp_curated_shared.errors import CancelledError, CuratedError
from mcp_curated_shared.security.confinement import Confinement, NotADirectoryError, RootSpec
from mcp_curated_shared.work import Work
from tests.filesystem.finding import plant


def listed(
    confinement: Confinement, path: Path, *, sort_by: SortBy = "name", pattern: str | None = None, limit: int = 500
) -> Listing:
    return list_directory(confinement, str(path), sort_by=sort_by, pattern=pattern, limit=limit, work=Work())


def names(listing: Listing) -> list[str]:
    return [entry.name for entry in listing.entries]


def test_each_entry_is_one_line_with_time_size_and_name(confinement: Confinement, root: Path) -> None:
    plant(root, {"b.txt": "x" * 1_234, "a/inner": ""})
    for name in ("b.txt", "a"):
        os.utime(root / name, (1_700_000_000, 1_700_000_000))
    assert render(listed(confinement, root)).splitlines() == [
        f"{root} has 1 directory and 1 other entry; 1,234 bytes in its own files; by name (time in UTC, bytes, name):",
        "2023-11-14T22:13Z             - a/",
        "2023-11-14T22:13Z         1,234 b.txt",
    ]


def test_an_empty_directory_says_so(confinement: Confinement, root: Path) -> None:
    assert render(listed(confinement, root)) == f"{root} has nothing in it."


@pytest.mark.parametrize(
    ("sort_by", "expected"),
    [("name", ["d", "A", "b", "c"]), ("size", ["b", "c", "A", "d"]), ("modified", ["c", "A", "d", "b"])],
)
def test_the_orders(confinement: Confinement, root: Path, sort_by: SortBy, expected: list[str]) -> None:
    plant(root, {"A": "1", "b": "333", "c": "22"})
    (root / "d").mkdir()
    for age, name in enumerate(["c", "A", "d", "b"]):
        os.utime(root / name, (1_000 - age, 1_000 - age))
    assert names(listed(confinement, root, sort_by=sort_by)) == expected


def test_a_pattern_chooses_names(confinement: Confinement, root: Path) -> None:
    plant(root, {"a.py": "", "README.md": "", "b.txt": "", "c.py/x": ""})
    assert names(listed(confinement, root, pattern="*.py")) == ["c.py", "a.py"]
    assert names(listed(confinement, root, pattern="*.py/")) == ["c.py"]
    assert names(listed(confinement, root, pattern="readme")) == ["README.md"]
    assert names(listed(confinement, root, pattern="b.txt")) == ["b.txt"]


def test_ignored_entries_are_listed_all_the_same(confinement: Confinement, root: Path) -> None:
    plant(root, {".gitignore": "*.log\n", "a.log": "", "node_modules/x": ""})
    assert names(listed(confinement, root)) == ["node_modules", ".gitignore", "a.log"]


def test_what_the_operator_closed_is_counted_and_not_named(root: Path) -> None:
    plant(root, {"a": "", ".env": "", "sub/key.pem": ""})
    with Confinement([RootSpec(str(root))], deny=[".env", "sub/key.pem"]) as confinement:
        text = render(listed(confinement, root))
        below = render(listed(confinement, root / "sub"))
    assert ".env" not in text
    assert "Closed by the operator: 1 entry." in text
    assert "key.pem" not in below


def test_the_servers_own_files_are_not_listed(confinement: Confinement, root: Path) -> None:
    plant(root, {".mcp-curated-trash/x": "", ".mcp-curated-1.tmp": "", "a": ""})
    assert names(listed(confinement, root)) == ["a"]


def test_a_link_shows_its_target_only_if_that_is_inside(confinement: Confinement, root: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"outside/secret-name": "x" * 999})
    plant(root, {"docs/real.txt": ""})
    (root / "inside").symlink_to("docs/real.txt")
    (root / "outside").symlink_to(tmp_path / "outside/secret-name")
    (root / "dangling").symlink_to("nothing-here")
    text = render(listed(confinement, root))
    assert f"inside -> {root}/docs/real.txt" in text
    assert "outside -> (a link that leads nowhere, or outside)" in text
    assert "dangling -> (a link that leads nowhere, or outside)" in text
    assert "secret-name" not in text
    assert "999" not in text


def test_special_files_are_named_as_such(confinement: Confinement, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("sock")
        text = render(listed(confinement, root))
    assert "- pipe (named pipe (FIFO))" in text
    assert "- sock (socket)" in text


def test_names_cannot_forge_an_entry_and_can_be_read_back(confinement: Confinement, root: Path) -> None:
    odd = ["a\n2023-11-14T22:13Z             - forged/", "caf\udce9", "x\u202egnp", "tab\there", "back\\x0aslash"]
    plant(root, {name.replace("/", ""): "content" for name in odd})
    listing = listed(confinement, root)
    text = render(listing)
    assert len(text.splitlines()) == 1 + len(odd)
    text.encode()
    for name in names(listing):
        with confinement.open_file(f"{root}/{name}") as opened:
            assert os.read(opened.descriptor, 100) == b"content"


def test_a_cut_says_how_many_there_are_and_the_next_call(confinement: Confinement, root: Path) -> None:
    plant(root, {f"{number:02}": "" for number in range(20)})
    text = render(listed(confinement, root, limit=4))
    assert f'[Cut: 4 of 20. The rest: list_directory {{"path": "{root}", "limit": 20}}]' in text
    assert len(text.splitlines()) == 6


def test_a_listing_stays_within_its_characters_and_names_a_narrower_call(confinement: Confinement, root: Path) -> None:
    plant(root, {f"{number:03}{'n' * 200}": "" for number in range(400)})
    text = render(listed(confinement, root, limit=5_000))
    assert len(text) <= 48_000
    assert f'list_directory {{"path": "{root}", "pattern": "2*"}}' in text
    assert listed(confinement, root, pattern="2*").total == 100


def test_a_file_is_no_directory(confinement: Confinement, root: Path) -> None:
    plant(root, {"a": ""})
    with pytest.raises(NotADirectoryError):
        listed(confinement, root / "a")
    with pytest.raises(CuratedError, match="does not exist"):
        listed(confinement, root / "b")


def test_listing_stops_when_it_is_cancelled(confinement: Confinement, root: Path) -> None:
    plant(root, {"a": ""})
    work = Work()
    work.cancel()
    with pytest.raises(CancelledError):
        list_directory(confinement, str(root), work=work)


def test_a_time_of_long_ago_or_far_ahead_is_no_failure(confinement: Confinement, root: Path) -> None:
    plant(root, {"old": "", "far": ""})
    os.utime(root / "old", (-1, -1))
    os.utime(root / "far", (2**33, 2**33))
    assert len(render(listed(confinement, root)).splitlines()) == 3


def test_another_spelling_of_the_folder_is_told(confinement: Confinement, root: Path) -> None:
    plant(root, {"Docs/a": ""})
    assert 'Found as "Docs".' in render(listed(confinement, root / "docs"))
