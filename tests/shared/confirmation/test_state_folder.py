"""The state folder: for this user alone, and closed where it lies in a served folder."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.confinement.denying import DenyRules
from mcp_curated_shared.security.state_folder import StateFolderError, closed_patterns, make_state_folder

components = st.text(
    st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1, max_size=12
).filter(lambda text: text not in (".", ".."))


def test_the_folder_and_those_above_it_are_made_for_this_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    previous = os.umask(0)
    try:
        make_state_folder(str(folder))
    finally:
        os.umask(previous)
    assert [path.stat().st_mode & 0o777 for path in (folder.parent, folder)] == [0o700, 0o700]


def test_a_folder_that_is_there_keeps_its_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_state_folder(str(tmp_path))
    assert tmp_path.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_may_write_is_not_used(mode: int, tmp_path: Path) -> None:
    tmp_path.chmod(mode)
    with pytest.raises(StateFolderError, match="Others may write"):
        make_state_folder(str(tmp_path))


def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(StateFolderError, match="belongs to another user"):
        make_state_folder(str(tmp_path))


def test_what_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        with pytest.raises(StateFolderError, match=r"--state-dir"):
            make_state_folder(str(tmp_path / place))


def test_only_a_state_folder_inside_a_served_one_is_closed(tmp_path: Path) -> None:
    served = tmp_path / "served"
    served.mkdir()
    assert closed_patterns(str(tmp_path / "state"), [str(served)]) == ()
    assert closed_patterns(str(tmp_path / "served-too"), [str(served)]) == ()
    assert closed_patterns(str(served / "x"), [str(served)]) == ("/x/",)


def test_a_link_to_the_state_folder_is_seen_through(tmp_path: Path) -> None:
    (tmp_path / "home" / "state").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "home")
    assert closed_patterns(str(tmp_path / "link" / "state"), [str(tmp_path / "home")]) == ("/state/",)
    assert closed_patterns(str(tmp_path / "home" / "state"), [str(tmp_path / "link")]) == ("/state/",)


def test_the_state_folder_itself_is_not_served(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be served"):
        closed_patterns(str(tmp_path), [str(tmp_path)])


@given(parts=st.lists(components, min_size=1, max_size=3), other=components)
def test_whatever_the_state_folder_is_called_it_and_all_in_it_is_closed(parts: list[str], other: str) -> None:
    relative = "/".join(parts)
    (pattern,) = closed_patterns(f"/no-such-folder/{relative}", ["/no-such-folder"])
    rules = DenyRules([pattern])
    assert rules.match(relative)
    assert rules.match(f"{relative}/ledger.sqlite")
    assert not rules.match(f"{other}-not-it/{relative}")
