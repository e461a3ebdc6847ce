"""Which directory a root is, how a path is matched to one, and what a client may take away."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from mcp_curated_shared.errors import SettingsError, UnavailableError
from mcp_curated_shared.security.confinement import (
    AmbiguousPathError,
    Confinement,
    OutsideRootsError,
    PathDeniedError,
    ReadOnlyError,
    RootSpec,
    RootUnavailableError,
)
from tests.shared.confinement.conftest import Place, read


def test_a_root_is_the_directory_and_not_its_spelling(place: Place) -> None:
    (place.top / "alias").symlink_to(place.root)
    (place.top / "way").symlink_to(place.top)
    for configured in (place.root, place.top / "alias", place.top / "way" / "root"):
        confinement = place.confine(configured)
        for asked in (place.root, place.top / "alias", place.top / "way" / "root", place.top / "way" / "alias"):
            with confinement.open_file(f"{asked}/README.md") as file:
                assert file.location.path == f"{configured}/README.md"


def test_a_link_from_outside_into_a_root_is_followed(place: Place) -> None:
    (place.outside / "in").symlink_to(place.root / "docs")
    assert read(place.confine(), str(place.outside / "in" / "report.txt")) == "report"


def test_a_root_asked_for_in_another_unicode_form_is_found(place: Place) -> None:
    root = place.top / "cafe\u0301 x"
    root.mkdir()
    (root / "f").write_text("f")
    assert read(place.confine(root), f"{place.top}/caf\u00e9\u00a0x/f") == "f"


def test_a_root_may_be_the_whole_filesystem(place: Place) -> None:
    with place.confine("/").open_file(str(place.root / "README.md")) as file:
        assert file.location.path == str(place.root / "README.md")


def test_a_missing_root_stops_nobody_and_works_once_it_is_there(place: Place) -> None:
    late = place.top / "late"
    confinement = place.confine(place.root, late)
    assert [root.available for root in confinement.roots] == [True, False]
    with pytest.raises(RootUnavailableError, match="late is not available"):
        confinement.open_file(f"{late}/f")
    assert read(confinement, f"{place.root}/README.md") == "readme"
    late.mkdir()
    (late / "f").write_text("now")
    assert read(confinement, f"{late}/f") == "now"
    assert confinement.roots[1].available


def test_a_file_as_root_is_unavailable_and_says_so(place: Place) -> None:
    confinement = place.confine(place.root / "README.md")
    assert "not a directory" in confinement.roots[0].problem


def test_a_root_that_is_made_anew_in_its_place_is_used(place: Place) -> None:
    confinement = place.confine()
    shutil.rmtree(place.root)
    with pytest.raises(RootUnavailableError):
        confinement.open_file(f"{place.root}/README.md")
    place.root.mkdir()
    (place.root / "README.md").write_text("second")
    assert read(confinement, f"{place.root}/README.md") == "second"


def test_a_link_put_in_the_place_of_a_root_leads_nowhere(place: Place) -> None:
    confinement = place.confine()
    place.root.rename(place.top / "moved")
    place.root.symlink_to(place.outside)
    for asked in (f"{place.root}/secret.txt", f"{place.root}/README.md"):
        with pytest.raises(RootUnavailableError, match="another place"):
            confinement.open_file(asked)


def test_a_link_put_in_the_place_of_a_missing_root_leads_nowhere(place: Place) -> None:
    late = place.top / "late"
    confinement = place.confine(late)
    late.symlink_to(place.outside)
    with pytest.raises(RootUnavailableError):
        confinement.open_file(f"{late}/secret.txt")


def test_a_root_named_twice_keeps_its_first_spelling_and_its_stricter_rights(place: Place) -> None:
    (place.top / "alias").symlink_to(place.root)
    confinement = place.confine(place.top / "alias", RootSpec(str(place.root), writable=False))
    assert [root.path for root in confinement.roots] == [str(place.top / "alias")]
    with pytest.raises(ReadOnlyError):
        confinement.open_target(f"{place.top}/alias/new")


def test_labels_are_short_and_unique(place: Place) -> None:
    paths = [place.top / name for name in ("a/docs", "b/docs", "c/my files!")]
    confinement = place.confine(*paths, RootSpec(str(place.root), label="mine"))
    assert [root.label for root in confinement.roots] == ["docs", "docs-2", "my-files", "mine"]


@pytest.mark.parametrize(
    ("text", "path", "writable"),
    [
        ("/a/b", "/a/b", True),
        ("/a//b/./", "/a/b", True),
        ("/a:ro", "/a", False),
        ("/a:rw", "/a", True),
        ("/a:ro/", "/a:ro", True),
        ("//a", "/a", True),
        ("/", "/", True),
    ],
)
def test_a_directory_is_read_from_the_command_line(text: str, path: str, writable: bool) -> None:
    assert RootSpec.parse(text) == RootSpec(path, writable)


def test_the_home_directory_is_expanded_since_hosts_run_no_shell() -> None:
    assert RootSpec.parse("~/x:ro") == RootSpec(os.path.expanduser("~/x"), writable=False)


@pytest.mark.parametrize("text", ["", ":ro", "docs", "./docs", "${HOME}/x", "~someone/x", "/a\0b"])
def test_a_directory_that_is_not_absolute_or_not_expanded_is_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        RootSpec.parse(text)


def test_a_relative_path_starts_at_the_base_that_a_client_gives(place: Place) -> None:
    confinement = place.confine()
    assert read(confinement, "report.txt", base=str(place.root / "docs")) == "report"
    with pytest.raises(OutsideRootsError):
        confinement.open_file("secret.txt", base=str(place.outside))


def test_a_relative_path_among_several_roots_is_found_by_label_or_by_looking(place: Place) -> None:
    other = place.top / "other"
    other.mkdir()
    (other / "only-here.txt").write_text("other")
    (other / "README.md").write_text("other readme")
    confinement = place.confine(place.root, other)
    assert read(confinement, "other/README.md") == "other readme"
    assert read(confinement, "only-here.txt") == "other"
    with pytest.raises(AmbiguousPathError, match="root, other"):
        confinement.open_file("README.md")
    with pytest.raises(AmbiguousPathError, match=r'Write "root/absent\.txt"'):
        confinement.open_target("absent.txt")


def test_the_home_directory_and_file_uris_are_paths(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(place.root))
    (place.root / "a b#c.txt").write_text("uri")
    confinement = place.confine()
    assert read(confinement, "~/README.md") == "readme"
    assert read(confinement, f"file://{place.root}/a%20b%23c.txt") == "uri"
    assert read(confinement, f"FILE://localhost{place.root}/README.md") == "readme"
    assert read(confinement, "file://root/docs/report.txt") == "report"
    for asked in ("file://elsewhere/etc/passwd", f"file://{place.root}/%2e%2e/outside/secret.txt", "file:///"):
        with pytest.raises(OutsideRootsError):
            confinement.open_file(asked)


def test_a_client_narrows_to_directories_inside_and_never_widens(place: Place) -> None:
    (place.root / "out").symlink_to(place.outside)
    confinement = place.confine()
    with confinement.narrowed([f"file://{place.root}/docs"]) as narrow:
        assert read(narrow, "report.txt") == "report"
        assert narrow.roots[0].path == str(place.root / "docs")
        with pytest.raises(OutsideRootsError):
            narrow.open_file(str(place.root / "README.md"))
        (place.root / "docs" / "up").symlink_to("../README.md")
        with pytest.raises(OutsideRootsError):
            narrow.open_file("up")
    for uri in (f"file://{place.outside}", f"file://{place.root}/out", "https://example.org/", "docs", "file:///%00"):
        with confinement.narrowed([uri]) as narrow:
            assert narrow.roots == ()
            with pytest.raises(OutsideRootsError, match="no directory is open"):
                narrow.open_file("README.md")


def test_a_client_directory_above_the_roots_leaves_the_roots_as_they_are(place: Place) -> None:
    confinement = place.confine(RootSpec(str(place.root), writable=False))
    for uri in (f"file://{place.top}", "file:///"):
        with confinement.narrowed([uri]) as narrow:
            assert [root.path for root in narrow.roots] == [str(place.root)]
            with pytest.raises(ReadOnlyError):
                narrow.open_target("new")
            with pytest.raises(OutsideRootsError):
                narrow.open_file(str(place.outside / "secret.txt"))


def test_narrowing_keeps_the_rights_of_a_root_inside_the_clients_directory(place: Place) -> None:
    inner = RootSpec(str(place.root / "docs" / "deep"), writable=False)
    confinement = place.confine(RootSpec(str(place.root)), inner)
    with confinement.narrowed([f"file://{place.root}/docs"]) as narrow:
        narrow.open_target(str(place.root / "docs" / "new")).close()
        with pytest.raises(ReadOnlyError):
            narrow.open_target(str(place.root / "docs" / "deep" / "new"))


def test_narrowing_into_a_git_directory_does_not_open_it_for_writing(place: Place) -> None:
    (place.root / ".git" / "hooks").mkdir(parents=True)
    narrow = place.confine().narrowed([f"file://{place.root}/.git/hooks"])
    with narrow, pytest.raises(PathDeniedError, match=r"\.git"):
        narrow.open_target("pre-commit")


def test_without_configured_directories_the_clients_are_the_list(place: Place) -> None:
    with Confinement.from_client_roots([f"file://{place.root}", "https://example.org/"]) as confinement:
        assert [root.path for root in confinement.roots] == [str(place.root)]
        assert read(confinement, "README.md") == "readme"
        with pytest.raises(OutsideRootsError):
            confinement.open_file("../outside/secret.txt")


def test_closing_gives_up_the_roots(place: Place) -> None:
    confinement = place.confine()
    confinement.close()
    with pytest.raises(RootUnavailableError, match="closed"):
        confinement.open_file("README.md")


def test_a_directory_that_may_be_entered_but_not_listed_still_takes_targets(place: Place) -> None:
    if os.geteuid() == 0:
        pytest.skip("everything is permitted to root")
    (place.root / "docs").chmod(stat.S_IWUSR | stat.S_IXUSR)
    place.confine().open_target("docs/new.txt").close()
    (place.root / "docs").chmod(0o700)


def test_a_refusal_names_labels_and_no_path_of_a_root(place: Place) -> None:
    with pytest.raises(OutsideRootsError) as refused:
        place.confine().open_file("/etc/passwd")
    assert str(place.top) not in str(refused.value)
    assert "(root)" in str(refused.value)


def test_windows_is_refused_in_plain_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(UnavailableError, match="Windows is not supported yet"):
        Confinement([RootSpec(str(tmp_path))])
