"""What opens, what is refused, and in which words."""

import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import (
    InvalidPathError,
    NotADirectoryError,
    NotAFileError,
    OutsideRootsError,
    PathDeniedError,
    PathNotFoundError,
    from_os_error,
)
from tests.shared.confinement.conftest import Place, read


@pytest.mark.parametrize(
    "asked",
    [
        "docs/deep/file.txt",
        "./docs//deep/./file.txt",
        "docs/../docs/deep/file.txt",
        "docs/deep/../../docs/deep/file.txt",
        "../root/docs/deep/file.txt",
    ],
)
def test_every_spelling_of_a_path_inside_opens_the_one_file(place: Place, asked: str) -> None:
    with place.confine().open_file(asked) as file:
        assert file.location.relative == "docs/deep/file.txt"
        assert file.location.path == str(place.root / "docs/deep/file.txt")


def test_an_absolute_path_opens_and_its_stat_is_that_of_the_file(place: Place) -> None:
    path = place.root / "README.md"
    with place.confine().open_file(str(path)) as file:
        assert file.stat.st_ino == path.stat().st_ino
        assert file.location.name == "README.md"


def test_a_link_that_stays_inside_is_followed_to_its_true_path(place: Place) -> None:
    (place.root / "short").symlink_to("docs/deep")
    with place.confine().open_file("short/file.txt") as file:
        assert file.location.relative == "docs/deep/file.txt"


def test_an_absolute_link_into_another_root_is_followed(place: Place) -> None:
    other = place.top / "other"
    other.mkdir()
    (other / "note.txt").write_text("note")
    (place.root / "there").symlink_to(other)
    confinement = place.confine(place.root, other)
    with confinement.open_file(str(place.root / "there" / "note.txt")) as file:
        assert (file.location.root.label, file.location.relative) == ("other", "note.txt")


def test_a_parent_step_after_a_link_goes_above_what_the_link_points_at(place: Place) -> None:
    (place.root / "short").symlink_to("docs/deep")
    assert read(place.confine(), "short/../report.txt") == "report"


def test_a_link_out_and_back_in_is_followed(place: Place) -> None:
    (place.root / "around").symlink_to("../root/docs")
    assert read(place.confine(), "around/report.txt") == "report"


@pytest.mark.parametrize("target", ["../outside", "/", "../outside/secret.txt", "docs/../../outside"])
def test_a_link_that_leads_outside_is_refused_without_telling_where_to(place: Place, target: str) -> None:
    (place.root / "out").symlink_to(target)
    confinement = place.confine()
    for operation in (confinement.open_file, confinement.open_directory, confinement.open_entry):
        with pytest.raises(OutsideRootsError) as refused:
            operation("out")
        assert "outside/" not in str(refused.value)
        assert str(place.outside) not in str(refused.value)
        assert "out" in str(refused.value)
        assert "root" in str(refused.value)


def test_missing_and_existing_outside_paths_are_refused_in_the_same_words(place: Place) -> None:
    confinement = place.confine()
    texts: set[str] = set()
    for name in ("secret.txt", "absent.txt"):
        (place.root / "link").symlink_to(place.outside / name)
        for asked in (f"{place.outside}/{name}", f"../outside/{name}", "link"):
            with pytest.raises(OutsideRootsError) as refused:
                confinement.open_file(asked)
            texts.add(str(refused.value).replace(name, "NAME"))
        (place.root / "link").unlink()
    assert len(texts) == 3


def test_a_sibling_whose_name_starts_with_the_roots_name_is_outside(place: Place) -> None:
    for suffix in ("-evil", " ", "'", "."):
        sibling = place.top / f"root{suffix}"
        sibling.mkdir()
        (sibling / "file").write_text("evil")
        with pytest.raises(OutsideRootsError):
            place.confine().open_file(str(sibling / "file"))


def test_a_fifo_a_socket_and_a_device_are_refused_at_once(place: Place) -> None:
    os.mkfifo(place.root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place.root / "socket"))
    (place.root / "null").symlink_to("/dev/null")
    confinement = place.confine(place.root, "/dev")
    for name, kind in (("fifo", "named pipe"), ("socket", "socket"), ("null", "device")):
        started = time.monotonic()
        with pytest.raises(NotAFileError, match=kind):
            confinement.open_file(str(place.root / name))
        assert time.monotonic() - started < 5


def test_fifty_fifos_asked_for_at_once_hold_nobody_up(place: Place) -> None:
    os.mkfifo(place.root / "fifo")
    confinement = place.confine()

    def try_it(_: int) -> type[CuratedError] | None:
        try:
            confinement.open_file("fifo").close()
        except CuratedError as error:
            return type(error)
        return None

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(try_it, range(50), timeout=10)) == {NotAFileError}
    assert read(confinement, "README.md") == "readme"


def test_a_directory_is_no_file_and_a_file_is_no_directory(place: Place) -> None:
    confinement = place.confine()
    with pytest.raises(NotAFileError, match="a directory"):
        confinement.open_file("docs")
    with pytest.raises(NotADirectoryError, match="a file"):
        confinement.open_directory("README.md")
    with pytest.raises(NotADirectoryError, match="README"):
        confinement.open_file("README.md/inside")
    with pytest.raises(NotAFileError, match="a directory"):
        confinement.open_file(".")


@pytest.mark.parametrize(
    "asked", ["", "a\0b", "\ud800", "x" * 300, "a/" * 20_000, "a/" * 3_000, "file:nonsense", "file://elsewhere/x"]
)
def test_a_text_that_no_file_can_have_as_name_is_refused_in_one_line(place: Place, asked: str) -> None:
    with pytest.raises(CuratedError) as refused:
        place.confine().open_file(asked)
    assert "\n" not in str(refused.value)
    str(refused.value).encode()


def test_a_path_deeper_than_the_walk_holds_is_refused_clearly(place: Place) -> None:
    with pytest.raises(CuratedError):
        place.confine().open_file("docs/../" * 200 + "absent")
    here = place.root
    for _ in range(140):
        here = here / "n"
    os.makedirs(here)
    (place.root / "start").symlink_to("n")
    with pytest.raises(InvalidPathError, match="deep"):
        place.confine().open_directory("start" + "/n" * 135)


def test_a_miss_says_what_was_probably_meant(place: Place) -> None:
    with pytest.raises(PathNotFoundError, match=r'Did you mean "docs/report\.txt"\?'):
        place.confine().open_file("docs/reprot.txt")
    with pytest.raises(PathNotFoundError, match=r'there is no "dcos".*Did you mean "docs"\?'):
        place.confine().open_file("dcos/report.txt")


def test_a_closed_name_is_never_suggested(place: Place) -> None:
    (place.root / "secrets.env").write_text("x")
    with pytest.raises(PathNotFoundError) as refused:
        place.confine(deny=("*.env",)).open_file("secrets.emv")
    assert "secrets.env" not in str(refused.value)


def test_letter_case_and_unicode_form_lead_to_the_one_true_entry_and_it_is_named(place: Place) -> None:
    (place.root / "cafe\u0301").mkdir()
    (place.root / "cafe\u0301" / "Shot 1.02\u202fPM.png").write_text("x")
    with place.confine().open_file("caf\u00e9/shot 1.02 pm.png") as file:
        assert file.location.relative == "cafe\u0301/Shot 1.02\u202fPM.png"
        assert file.location.note == 'Found as "cafe\u0301/Shot 1.02\u202fPM.png".'


def test_two_names_that_differ_in_case_are_not_guessed_between(place: Place) -> None:
    (place.root / "Note").write_text("1")
    (place.root / "nOte").write_text("2")
    with pytest.raises(PathNotFoundError, match="Did you mean"):
        place.confine().open_file("note")


def test_forty_links_are_followed_and_a_loop_is_not(place: Place) -> None:
    for number in range(40):
        (place.root / f"l{number}").symlink_to(f"l{number + 1}" if number < 39 else "README.md")
    (place.root / "loop").symlink_to("loop")
    assert read(place.confine(), "l0") == "readme"
    with pytest.raises(PathNotFoundError, match="40 links"):
        place.confine().open_file("loop")


def test_a_link_itself_can_be_held(place: Place) -> None:
    (place.root / "out").symlink_to(place.outside)
    with place.confine().open_entry("out", follow=False) as entry:
        assert entry.stat.st_ino == os.lstat(place.root / "out").st_ino


def test_the_process_own_state_is_closed_even_under_a_root_that_holds_it(place: Place) -> None:
    if not Path("/proc/self/environ").exists():
        pytest.skip("no procfs here")
    confinement = place.confine("/")
    for asked in ("/proc/self/environ", "/proc/self/root/proc/self/environ", "/proc/self/cwd"):
        with pytest.raises(CuratedError):
            confinement.open_file(asked)
    for operation in (confinement.open_directory, confinement.open_target):
        with pytest.raises(PathDeniedError):
            operation("/proc/sys")


def test_link_target_is_shown_only_when_it_is_inside(place: Place) -> None:
    for name, target in (
        ("in", "docs/report.txt"),
        ("out", "../outside/secret.txt"),
        ("none", "absent"),
        ("abs", "/etc"),
    ):
        (place.root / name).symlink_to(target)
    confinement = place.confine(deny=("closed",))
    (place.root / "closed").mkdir()
    (place.root / "shut").symlink_to("closed")
    with confinement.open_directory(".") as here:
        shown = {
            name: confinement.link_target(here.descriptor, name, here.location) for name in os.listdir(here.descriptor)
        }
    assert {name: target for name, target in shown.items() if target} == {"in": str(place.root / "docs/report.txt")}


def test_a_location_opens_again_without_being_read_as_text(place: Place) -> None:
    (place.root / "a\\x0a").write_text("literal")
    (place.root / "a\n").write_text("newline")
    confinement = place.confine()
    with confinement.open_file("a\\\\x0a") as file:
        location = file.location
    with confinement.open_file(location) as again:
        assert os.read(again.descriptor, 10) == b"literal"


def test_every_system_error_becomes_one_line_that_names_the_path() -> None:
    for number in range(1, 134):
        error = from_os_error(OSError(number, "x", "/a/secret/target"), "asked\n")
        assert '"asked\\x0a"' in str(error)
        assert "secret" not in str(error)
        assert "\n" not in str(error)


def test_what_may_not_be_read_is_a_permission_error(place: Place) -> None:
    if os.geteuid() == 0:
        pytest.skip("everything is permitted to root")
    (place.root / "README.md").chmod(0)
    with pytest.raises(CuratedError) as refused:
        place.confine().open_file("README.md")
    assert refused.value.kind == "permission"
