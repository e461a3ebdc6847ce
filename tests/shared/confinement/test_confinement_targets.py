"""The place of a mutation: made safely, refused where nothing may change."""

import os
import threading

import pytest

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import (
    InvalidPathError,
    NotADirectoryError,
    OutsideRootsError,
    PathDeniedError,
    PathNotFoundError,
    ReadOnlyError,
    RootSpec,
)
from tests.shared.confinement.conftest import Place


def test_a_new_file_is_placed_by_its_open_parent_and_its_name(place: Place) -> None:
    with place.confine().open_target("docs/new.txt", exact=True) as target:
        assert (target.name, target.stat, target.location.relative) == ("new.txt", None, "docs/new.txt")
        os.close(os.open(target.name, os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=target.directory))
        os.fsync(target.directory)
    assert (place.root / "docs/new.txt").exists()


def test_an_existing_file_comes_with_its_own_stat(place: Place) -> None:
    with place.confine().open_target("docs/report.txt") as target:
        assert target.stat is not None
        assert target.stat.st_ino == (place.root / "docs/report.txt").stat().st_ino


def test_a_link_as_target_stands_for_what_it_points_at_or_for_itself(place: Place) -> None:
    (place.root / "short").symlink_to("docs/report.txt")
    confinement = place.confine()
    with confinement.open_target("short") as target:
        assert target.location.relative == "docs/report.txt"
    with confinement.open_target("short", follow=False) as target:
        assert target.location.relative == "short"


def test_a_step_through_a_file_is_refused_without_telling_what_the_link_points_at(place: Place) -> None:
    (place.root / "short").symlink_to("docs/report.txt")
    with pytest.raises(NotADirectoryError) as refused:
        place.confine().open_target("short/../other")
    assert "report" not in str(refused.value)


@pytest.mark.parametrize("parents", [False, True])
@pytest.mark.parametrize("inside", ["", "/new.txt"])
def test_a_link_to_nothing_is_no_place_to_write_and_its_target_is_not_told(
    place: Place, parents: bool, inside: str
) -> None:
    (place.root / "dangling").symlink_to("docs/not-there-yet")
    with pytest.raises(PathNotFoundError, match="link that leads to nothing") as refused:
        place.confine().open_target(f"dangling{inside}", parents=parents)
    assert "not-there-yet" not in str(refused.value)
    assert not (place.root / "docs" / "not-there-yet").exists()


@pytest.mark.parametrize("target", ["../outside/new.txt", "../outside", "../absent/new.txt"])
def test_a_link_out_is_no_place_to_write(place: Place, target: str) -> None:
    (place.root / "out").symlink_to(target)
    confinement = place.confine()
    for asked in ("out", "out/deeper"):
        with pytest.raises(OutsideRootsError):
            confinement.open_target(asked, parents=True)
    with confinement.open_target("out", follow=False) as itself:
        assert itself.location.relative == "out"
    assert os.listdir(place.outside) == ["secret.txt"]


def test_missing_parents_are_made_only_when_asked_for(place: Place) -> None:
    confinement = place.confine()
    with pytest.raises(PathNotFoundError):
        confinement.open_target("a/b/c.txt")
    with confinement.open_target("a/b/c.txt", parents=True) as target:
        assert target.location.relative == "a/b/c.txt"
    assert (place.root / "a" / "b").is_dir()


def test_parents_are_not_made_through_a_parent_step(place: Place) -> None:
    with pytest.raises(PathNotFoundError):
        place.confine().open_target("absent/../new.txt", parents=True)
    assert not (place.root / "absent").exists()


def test_nothing_is_made_on_the_way_to_a_name_that_is_refused(place: Place) -> None:
    confinement = place.confine(deny=(".env",))
    for asked in ("new/sub/.env", "new/.git/hooks/pre-commit"):
        with pytest.raises(PathDeniedError):
            confinement.open_target(asked, parents=True)
    assert not (place.root / "new").exists()


def test_twenty_threads_may_make_the_same_parents_at_once(place: Place) -> None:
    confinement = place.confine()
    barrier, failures = threading.Barrier(20), list[Exception]()

    def make(number: int) -> None:
        barrier.wait(10)
        try:
            for step in range(10):
                confinement.open_target(f"p{step}/q/{number}.txt", parents=True).close()
        except CuratedError as error:
            failures.append(error)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert failures == []


def test_creating_tolerates_the_unicode_form_of_a_name_but_not_its_case(place: Place) -> None:
    (place.root / "cafe\u0301.txt").write_text("x")
    confinement = place.confine()
    with confinement.open_target("caf\u00e9.txt", exact=True) as target:
        assert target.name == "cafe\u0301.txt"
        assert target.stat is not None
    with confinement.open_target("Readme.MD", exact=True) as target:
        assert (target.name, target.stat) == ("Readme.MD", None)
    with confinement.open_target("Readme.MD") as target:
        assert target.name == "README.md"


def test_a_root_itself_is_no_target(place: Place) -> None:
    for asked in (str(place.root), ".", "docs/.."):
        with pytest.raises(InvalidPathError, match="allowed directory itself"):
            place.confine().open_target(asked)


def test_a_read_only_server_and_a_read_only_root_have_no_targets(place: Place) -> None:
    with pytest.raises(ReadOnlyError, match="server is read-only"):
        place.confine(read_only=True).open_target("docs/new.txt")
    confinement = place.confine(RootSpec(str(place.root), writable=False))
    with pytest.raises(ReadOnlyError, match="root is read-only"):
        confinement.open_target("docs/new.txt")
    with pytest.raises(ReadOnlyError):
        confinement.open_target("new/new.txt", parents=True)
    assert not (place.root / "new").exists()
    confinement.open_file("README.md").close()


def test_the_rights_of_the_most_specific_root_count(place: Place) -> None:
    closed = RootSpec(str(place.root / "docs"), writable=False)
    confinement = place.confine(RootSpec(str(place.root)), closed)
    (place.root / "short").symlink_to("docs")
    for asked in ("docs/new.txt", "short/new.txt", "short/../docs/deep/new.txt"):
        with pytest.raises(ReadOnlyError):
            confinement.open_target(f"{place.root}/{asked}")
    with confinement.open_target(f"{place.root}/new.txt") as target:
        assert target.location.root.label == "root"


def test_a_directory_that_differs_from_a_nested_root_in_case_only_is_another_one(place: Place) -> None:
    (place.root / "Docs").mkdir(exist_ok=True)
    if os.path.samefile(place.root / "Docs", place.root / "docs"):
        pytest.skip("letter case means nothing here")
    confinement = place.confine(RootSpec(str(place.root)), RootSpec(str(place.root / "docs"), writable=False))
    confinement.open_target(f"{place.root}/Docs/new.txt", exact=True).close()
    with pytest.raises(ReadOnlyError):
        confinement.open_target(f"{place.root}/Docs/../docs/new.txt")


def test_a_directory_that_holds_another_root_is_not_moved(place: Place) -> None:
    inner = RootSpec(str(place.root / "docs" / "deep"), writable=False)
    confinement = place.confine(RootSpec(str(place.root)), inner)
    with pytest.raises(PathDeniedError, match="deep"):
        confinement.open_target(str(place.root / "docs"), follow=False)
    confinement.open_target(str(place.root / "README.md"), follow=False).close()


@pytest.mark.parametrize(
    "asked",
    [
        ".git",
        ".git/config",
        "docs/.git/hooks/pre-commit",
        ".GIT/config",
        ".g\u200cit/config",
        ".git./config",
        ".git /config",
        "git~1/config",
        ".git:stream/x",
        "short/pre-commit",
        "\uff0egit/../.git/x",
    ],
)
def test_the_inside_of_a_git_directory_is_never_a_target_in_any_spelling(place: Place, asked: str) -> None:
    hooks = place.root / ".git" / "hooks"
    hooks.mkdir(parents=True)
    (place.root / "\uff0egit").mkdir()
    (place.root / "short").symlink_to(".git/hooks")
    with pytest.raises(PathDeniedError, match="git"):
        place.confine().open_target(asked, parents=True)


def test_a_root_inside_a_git_directory_has_no_targets(place: Place) -> None:
    hooks = place.root / ".git" / "hooks"
    hooks.mkdir(parents=True)
    with pytest.raises(PathDeniedError):
        place.confine(hooks).open_target("pre-commit")


@pytest.mark.parametrize("name", [".gitignore", ".github/x", "git", "my.git", "digit~1"])
def test_names_that_only_look_like_git_are_targets(place: Place, name: str) -> None:
    place.confine().open_target(name, parents=True).close()
