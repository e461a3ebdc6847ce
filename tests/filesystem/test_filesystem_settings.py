"""The filesystem server's settings: every bad input gets one line that names the thing and the next step."""

from pathlib import Path

import pytest

from mcp_curated_filesystem.settings import FilesystemSettings
from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.confinement import RootSpec
from mcp_curated_shared.settings import describe, load


def settings(*argv: str, **environ: str) -> FilesystemSettings:
    return load(FilesystemSettings, argv, environ).settings


def refusal(*argv: str, **environ: str) -> str:
    with pytest.raises(SettingsError) as caught:
        settings(*argv, **environ)
    assert "\n" not in str(caught.value)
    assert caught.value.next_step
    return str(caught.value)


def test_folders_are_written_with_their_rights() -> None:
    assert settings("/srv/a", "/srv/b:ro", "/srv/c:rw").directories == (
        RootSpec("/srv/a"),
        RootSpec("/srv/b", writable=False),
        RootSpec("/srv/c"),
    )


def test_folders_in_the_variable_are_separated_as_in_path() -> None:
    found = settings(MCP_FILESYSTEM_DIRECTORIES="/srv/a:ro:/srv/b").directories
    assert found == (RootSpec("/srv/a", writable=False), RootSpec("/srv/b"))


def test_folders_on_the_command_line_replace_those_of_the_variable() -> None:
    assert settings("/srv/a", MCP_FILESYSTEM_DIRECTORIES="/srv/b").directories == (RootSpec("/srv/a"),)


def test_a_missing_folder_does_not_stop_the_start(tmp_path: Path) -> None:
    assert settings(str(tmp_path / "absent")).directories[0].path == str(tmp_path / "absent")


def test_a_file_as_a_root_does_not_stop_the_start_but_the_doctor_fails_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert settings(str(file)).directories == (RootSpec(str(file)),)


@pytest.mark.parametrize("path", ["notes", "notes:ro", "./notes", ".", "../x:rw"])
def test_a_relative_folder_is_refused_with_its_absolute_spelling(path: str) -> None:
    text = refusal(path)
    assert "relative path" in text
    assert "Give the absolute path" in text


@pytest.mark.parametrize("path", ["${HOME}", "${HOME}/notes:ro", "$HOME", "$HOME/notes", "%USERPROFILE%\\notes"])
def test_a_folder_that_no_host_expanded_is_refused_by_the_variable_s_name(path: str) -> None:
    for text in (refusal(path), refusal(MCP_FILESYSTEM_DIRECTORIES=path)):
        assert "HOME" in text or "USERPROFILE" in text
        assert "was not expanded" in text


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--readonly", "/srv"], ["--readonly", "--read-only"]),
        (["--allow-deletes"], ["--allow-delete"]),
        (["--roots", "widen"], ["--roots", "narrow"]),
        (["--max-reply-characters", "lots"], ["--max-reply-characters", "whole number"]),
        (["--max-reply-characters", "1"], ["4000"]),
        (["--call-timeout", "0"], ["--call-timeout", "30s"]),
        (["--read-only=maybe"], ["--read-only", "true or false"]),
        (["--deny", ""], ["--deny"]),
        ([""], ["is not a path"]),
    ],
)
def test_a_wrong_flag_or_value_is_named_with_the_next_step(argv: list[str], words: list[str]) -> None:
    text = refusal(*argv)
    assert all(word in text for word in words)


def test_over_http_folders_must_be_given() -> None:
    assert "folders must be given" in refusal("--transport", "http")
    assert settings("--transport", "http", "/srv").transport.transport == "http"


def test_listening_beyond_this_machine_is_refused() -> None:
    assert "authentication" in refusal("--transport", "http", "--host", "0.0.0.0", "/srv")


def test_reading_only_and_deleting_contradict_each_other() -> None:
    assert "contradict" in refusal("--read-only", "--allow-delete", "/srv")


def test_without_any_setting_nothing_dangerous_is_on() -> None:
    found = settings()
    assert (found.directories, found.allow_delete, found.landlock, found.roots) == ((), False, True, "base")
    assert found.transport.transport == "stdio"


def test_deny_is_repeatable_and_takes_commas_and_braces() -> None:
    assert settings("--deny", ".env", "--deny", "*.{pem,key}").deny == (".env", "*.{pem,key}")


def test_every_setting_has_a_variable_with_our_prefix_and_a_flag_or_a_place() -> None:
    for info in describe(FilesystemSettings):
        assert info.environment[0].startswith("MCP_FILESYSTEM_")
        assert info.flag or info.positional or info.secret
        assert info.help.endswith(".")
