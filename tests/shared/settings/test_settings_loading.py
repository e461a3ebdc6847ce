"""Reading settings: precedence, refusals, secrets, near misses."""

import os
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings import (
    Boolean,
    Choice,
    Duration,
    FolderPath,
    Integer,
    LogSettings,
    Parsed,
    Secret,
    SecretText,
    Settings,
    Size,
    StateSettings,
    Text,
    TransportSettings,
    defaults,
    describe,
    load,
    many,
    optional,
    render,
    setting,
)
from mcp_curated_shared.settings.names import distance, misspelt


def masked_address(value: str) -> str:
    return "db://***"


@dataclass(frozen=True, slots=True)
class ShopSettings(Settings):
    environment_prefix: ClassVar[str] = "MCP_SHOP_"

    folders: tuple[str, ...] = many(FolderPath(), help="Folders.", positional=True, separator="path")
    read_only: bool = setting(Boolean(), default=False, help="Read only.")
    guard: bool = setting(Boolean(), default=True, help="Guard.")
    rows: int = setting(Integer(1, 100, "rows"), default=10, help="Rows.")
    wait: float = setting(Duration(0.5, 3600), default=30.0, help="Wait.")
    body: int = setting(Size(1, 10_000_000), default=1000, help="Body.")
    mode: Literal["slow", "fast"] = setting(
        Choice[Literal["slow", "fast"]](("slow", "fast")), default="slow", help="Mode."
    )
    repos: tuple[str, ...] = many(
        Text("owner/name", r"[a-z]+/[a-z*]+"), help="Repos.", separator="space", environment=("SHOP_ALLOWED_REPOS",)
    )
    token: Secret | None = optional(SecretText(), help="Token.", environment=("GITHUB_TOKEN", "GH_TOKEN"))
    sources: tuple[str, ...] = many(
        Parsed(str, "an address", masked_address, secret=True), help="Sources.", environment=("SHOP_DATABASE_URL",)
    )
    state: StateSettings = field(default_factory=StateSettings)
    transport: TransportSettings = field(default_factory=TransportSettings)
    logs: LogSettings = field(default_factory=LogSettings)


def refusal(argv: list[str] | None = None, environ: dict[str, str] | None = None) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load(ShopSettings, argv or [], environ or {})
    assert "\n" not in str(caught.value)
    assert caught.value.next_step
    return caught.value


def test_a_flag_wins_over_the_environment_and_the_environment_over_the_default() -> None:
    environ = {"MCP_SHOP_ROWS": "20", "MCP_SHOP_MODE": "fast"}
    loaded = load(ShopSettings, ["--rows", "30"], environ)
    assert (loaded.settings.rows, loaded.settings.mode, loaded.settings.wait) == (30, "fast", 30.0)
    origins = {one.name: (one.source, one.origin) for one in loaded.effective}
    assert origins["rows"] == ("flag", "--rows")
    assert origins["mode"] == ("environment", "MCP_SHOP_MODE")
    assert origins["wait"] == ("default", "")


def test_defaults_need_nothing() -> None:
    assert defaults(ShopSettings).settings == ShopSettings()


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--read-only"], True),
        (["--read-only=yes"], True),
        (["--read-only=0"], False),
        (["--no-read-only"], False),
        (["--no-read-only=false"], True),
        ([], False),
    ],
)
def test_a_switch_is_written_in_every_usual_way(argv: list[str], expected: bool) -> None:
    assert load(ShopSettings, argv, {}).settings.read_only is expected


@pytest.mark.parametrize("text", ["TRUE", "1", "yes", "On", " true "])
def test_a_switch_in_the_environment_takes_the_usual_words(text: str) -> None:
    assert load(ShopSettings, [], {"MCP_SHOP_READ_ONLY": text}).settings.read_only is True


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), ("500ms", 0.5), ("2m", 120), ("1h", 3600), ("1.5 s", 1.5), ("2min", 120)]
)
def test_durations_are_seconds(text: str, seconds: float) -> None:
    assert load(ShopSettings, ["--wait", text], {}).settings.wait == seconds


@pytest.mark.parametrize(
    ("text", "size"), [("900", 900), ("64k", 64_000), ("1KiB", 1024), ("2MB", 2_000_000), ("1.5kB", 1500)]
)
def test_sizes_are_bytes_by_the_iec_prefixes(text: str, size: int) -> None:
    assert load(ShopSettings, ["--body", text], {}).settings.body == size


@given(st.integers(1, 10_000_000))
def test_a_size_shown_is_read_back_as_itself(size: int) -> None:
    kind = Size(1, 10_000_000)
    assert kind.parse(kind.show(size)) == size


@given(st.floats(0.5, 3600).map(lambda value: round(value, 3)))
def test_a_duration_shown_is_read_back_as_itself(seconds: float) -> None:
    kind = Duration(0.5, 3600)
    assert kind.parse(kind.show(seconds)) == pytest.approx(seconds, rel=1e-5)


@pytest.mark.parametrize(
    "argv",
    [
        ["--rows", "many"],
        ["--rows", "0"],
        ["--rows", "101"],
        ["--rows", "1.5"],
        ["--rows", "٣"],
        ["--rows="],
        ["--wait", "soon"],
        ["--wait", "2d"],
        ["--body", "1parsec"],
        ["--body", "-1"],
        ["--mode", "medium"],
        ["--read-only=perhaps"],
        ["--repos", "noslash"],
    ],
)
def test_a_value_of_the_wrong_type_names_the_flag_and_what_is_allowed(argv: list[str]) -> None:
    error = refusal(argv)
    assert error.text.startswith(argv[0].partition("=")[0])
    assert error.next_step.startswith(("Give ", "Write ", "Did you mean"))


def test_a_flag_without_its_value_is_said() -> None:
    assert refusal(["--rows"]).text.startswith("--rows needs a value")
    assert refusal(["--rows", "--read-only"]).text.startswith("--rows needs a value")


def test_a_flag_given_twice_with_two_values_is_refused() -> None:
    assert "twice" in refusal(["--rows", "1", "--rows", "2"]).text
    assert load(ShopSettings, ["--rows", "1", "--rows=1"], {}).settings.rows == 1


@pytest.mark.parametrize(
    ("flag", "right"), [("--raed-only", "--read-only"), ("--readonly", "--read-only"), ("--log_level", "--log-level")]
)
def test_an_unknown_flag_names_the_nearest_right_one(flag: str, right: str) -> None:
    error = refusal([flag, "/srv"])
    assert flag in error.text
    assert right in error.next_step


def test_a_shortened_flag_is_unknown() -> None:
    assert "Unknown flag" in refusal(["--row", "5"]).text


def test_what_follows_two_dashes_is_no_flag() -> None:
    assert "--rows" in refusal(["--", "--rows"]).text
    assert load(ShopSettings, ["--", "/srv"], {}).settings.folders == ("/srv",)


@pytest.mark.parametrize("name", ["MCP_SHOP_READONLY", "MCP_SHOP_READ_ONYL", "mcp_shop_read_only"])
def test_an_unknown_variable_of_ours_names_the_nearest_right_one(name: str) -> None:
    error = refusal(environ={name: "1"})
    assert name in error.text
    assert "MCP_SHOP_READ_ONLY" in error.next_step


def test_an_unknown_variable_of_ours_that_is_near_to_none_lists_the_known() -> None:
    assert "MCP_SHOP_" in refusal(environ={"MCP_SHOP_ZZZZZZZZ": "1"}).next_step


@pytest.mark.parametrize(
    "name", ["MCP_SHPO_READ_ONLY", "MCPSHOP_READ_ONLY", "GITHUB_TOKN", "Github_Token", "SHOP_ALLOWED_REPO"]
)
def test_a_near_miss_outside_our_prefix_is_refused(name: str) -> None:
    assert name in refusal(environ={name: "1"}).text


OTHERS = """
    GITHUB_ACTION GITHUB_ACTIONS GITHUB_ACTOR GITHUB_API_URL GITHUB_BASE_REF GITHUB_ENV GITHUB_EVENT_NAME GITHUB_JOB
    GITHUB_EVENT_PATH GITHUB_GRAPHQL_URL GITHUB_HEAD_REF GITHUB_OUTPUT GITHUB_PATH GITHUB_REF GITHUB_REF_TYPE GITHUB_SHA
    GITHUB_REPOSITORY GITHUB_RUN_ID GITHUB_SERVER_URL GITHUB_STEP_SUMMARY GITHUB_WORKFLOW GITHUB_WORKSPACE
    GITHUB_CODESPACE_TOKEN GITLAB_TOKEN GL_TOKEN HF_TOKEN DATABASE_URL MCP_SHOPPING SHOP HOME PATH
"""


def test_variables_of_other_programs_are_left_alone() -> None:
    assert load(ShopSettings, [], {name: "x" for name in OTHERS.split()}).settings == ShopSettings()


def test_a_near_miss_does_not_matter_where_the_right_one_is_set_too() -> None:
    token = secrets.token_hex(8)
    assert load(ShopSettings, [], {"GITHUB_TOKEN": token, "GITHUB_TOKN": "x"}).settings.token == Secret(token)


@pytest.mark.parametrize(
    "text",
    [
        "${HOME}",
        "${HOME}/notes",
        "/srv/${PROJECT}",
        "${env:HOME}",
        "${HOME:-/root}",
        "$HOME",
        "$HOME/notes",
        "%USERPROFILE%",
        "%APPDATA%\\x",
    ],
)
def test_a_variable_that_no_host_expanded_is_refused_by_name(text: str) -> None:
    for error in (refusal([text]), refusal(["--state-dir", text]), refusal(environ={"MCP_SHOP_FOLDERS": text})):
        assert "was not expanded" in error.text
        assert any(word in error.text for word in ("HOME", "PROJECT", "USERPROFILE", "APPDATA", "env"))


def test_the_default_in_an_unexpanded_reference_is_not_repeated() -> None:
    hidden = secrets.token_hex(8)
    assert hidden not in str(refusal(environ={"GITHUB_TOKEN": "${GITHUB_TOKEN:-" + hidden + "}"}))


def test_a_secret_that_was_not_expanded_is_refused_without_repeating_it() -> None:
    for text in ("${GITHUB_TOKEN}", "${env:GITHUB_TOKEN}", "$GITHUB_TOKEN", "%GH_TOKEN%", "${OTHER}"):
        assert "was not expanded" in refusal(environ={"GITHUB_TOKEN": text}).text
    hidden = "x" + secrets.token_hex(8)
    assert hidden not in str(refusal(environ={"GITHUB_TOKEN": "a${" + hidden + "}"}))


@pytest.mark.parametrize("start", ["$", "$A", "a${", "%", "$$"])
def test_a_secret_may_look_a_little_like_a_variable(start: str) -> None:
    secret = start + secrets.token_hex(8)
    assert load(ShopSettings, [], {"GITHUB_TOKEN": secret}).settings.token == Secret(secret)


def test_a_secret_s_file_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("a${B}c")
    assert load(ShopSettings, [], {"GITHUB_TOKEN_FILE": str(file)}).settings.token == Secret("a${B}c")
    assert "HOME" in refusal(environ={"GITHUB_TOKEN_FILE": "${HOME}/token"}).text


def test_dollar_and_percent_within_a_path_are_names_like_others() -> None:
    assert load(ShopSettings, ["/srv/a$b", "/srv/50%"], {}).settings.folders == ("/srv/a$b", "/srv/50%")


@pytest.mark.parametrize("path", ["notes", "./notes", "../notes", ".", "C:notes"])
def test_a_relative_path_is_refused_with_its_absolute_spelling(path: str) -> None:
    error = refusal([path])
    assert "relative" in error.text
    assert os.path.abspath(path) in error.next_step


@pytest.mark.parametrize("path", ["", "/srv/\0x", "/srv/\nx"])
def test_what_is_no_path_is_refused_on_one_line(path: str) -> None:
    assert "is not a path" in refusal(["--state-dir=" + path]).text


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load(ShopSettings, ["~/x", "~"], {}).settings.folders == (f"{tmp_path}/x", str(tmp_path))


def test_a_list_in_a_variable_is_split_as_declared() -> None:
    environ = {"MCP_SHOP_FOLDERS": "/a:ro:/b::/c:rw", "SHOP_ALLOWED_REPOS": "a/b, c/*\n d/e,,"}
    settings = load(ShopSettings, [], environ).settings
    assert settings.folders == ("/a:ro", "/b", "/c:rw")
    assert settings.repos == ("a/b", "c/*", "d/e")


def test_a_malformed_item_of_a_list_is_named() -> None:
    assert '"nonsense"' in refusal(environ={"SHOP_ALLOWED_REPOS": "a/b nonsense"}).text


def test_an_empty_variable_is_not_set() -> None:
    assert load(ShopSettings, [], {"MCP_SHOP_ROWS": "", "GITHUB_TOKEN": " "}).settings == ShopSettings()


def test_a_secret_is_read_from_its_file_once_and_stripped(tmp_path: Path) -> None:
    token = secrets.token_hex(16)
    file = tmp_path / "token"
    file.write_bytes(b"\xef\xbb\xbf" + token.encode() + b"\r\n")
    loaded = load(ShopSettings, [], {"GITHUB_TOKEN_FILE": str(file)})
    assert loaded.settings.token is not None
    assert loaded.settings.token.reveal() == token
    assert loaded.secrets == (token,)
    assert next(one for one in loaded.effective if one.name == "token").source == "file"


def test_a_secret_s_variable_wins_over_its_file(tmp_path: Path) -> None:
    token = secrets.token_hex(16)
    environ = {"GITHUB_TOKEN": token, "GITHUB_TOKEN_FILE": str(tmp_path / "missing")}
    assert load(ShopSettings, [], environ).settings.token == Secret(token)


def test_the_second_name_of_a_secret_counts_after_the_first() -> None:
    first, second = secrets.token_hex(8), secrets.token_hex(8)
    assert load(ShopSettings, [], {"GH_TOKEN": second}).settings.token == Secret(second)
    assert load(ShopSettings, [], {"GH_TOKEN": second, "GITHUB_TOKEN": first}).settings.token == Secret(first)


def test_a_secret_s_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    empty, binary, large = tmp_path / "empty", tmp_path / "binary", tmp_path / "large"
    empty.write_text(" \n")
    binary.write_bytes(b"\xff\xfe\x00")
    large.write_bytes(b"x" * 70_000)
    for path, problem in (
        (tmp_path / "missing", "cannot be read"),
        (tmp_path, "folder"),
        (empty, "empty"),
        (binary, "UTF-8"),
        (large, "more than"),
    ):
        error = refusal(environ={"GITHUB_TOKEN_FILE": str(path)})
        assert str(path) in error.text
        assert problem in error.text
        assert "GITHUB_TOKEN_FILE" in error.text
    assert "relative" in refusal(environ={"GITHUB_TOKEN_FILE": "token"}).text


def test_a_secret_s_file_may_be_a_pipe(tmp_path: Path) -> None:
    token = secrets.token_hex(16)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    keeper = os.open(pipe, os.O_RDWR)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.write(keeper, token.encode() + b"\n")
    os.close(reader)
    closing = threading.Timer(0.2, os.close, (keeper,))
    closing.start()
    try:
        assert load(ShopSettings, [], {"GITHUB_TOKEN_FILE": str(pipe)}).settings.token == Secret(token)
    finally:
        closing.join(5)


def test_a_pipe_that_nobody_writes_to_does_not_hang_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_curated_shared.settings.environment.SECRET_PIPE_SECONDS", 0.1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "nothing was written" in refusal(environ={"GITHUB_TOKEN_FILE": str(pipe)}).text
    keeper = os.open(pipe, os.O_RDWR)
    try:
        assert "nothing was written" in refusal(environ={"GITHUB_TOKEN_FILE": str(pipe)}).text
    finally:
        os.close(keeper)


def test_a_refused_secret_is_never_repeated() -> None:
    secret = f"{secrets.token_hex(8)}\n{secrets.token_hex(8)}"
    error = refusal(environ={"GITHUB_TOKEN": secret})
    assert error.text.startswith("GITHUB_TOKEN")
    assert not any(part in str(error) for part in secret.split())


def test_a_secret_has_no_flag_and_says_where_it_goes() -> None:
    secret = secrets.token_hex(8)
    error = refusal([f"--token={secret}"])
    assert "GITHUB_TOKEN_FILE" in error.next_step
    assert secret not in str(error)


def test_no_secret_is_shown_by_what_is_loaded() -> None:
    token, password = secrets.token_hex(8), secrets.token_hex(8)
    environ = {"GITHUB_TOKEN": token, "SHOP_DATABASE_URL": f"db://u:{password}@h/x"}
    loaded = load(ShopSettings, [], environ)
    shown = render(loaded) + repr(loaded.settings.token) + str(loaded.settings.token) + f"{loaded.settings.token}"
    assert token not in shown
    assert password not in shown
    assert "db://***" in shown
    assert set(loaded.secrets) == {token, environ["SHOP_DATABASE_URL"]}


def test_the_rendered_settings_say_where_each_came_from() -> None:
    text = render(load(ShopSettings, ["/a", "--rows", "5"], {"MCP_SHOP_MODE": "fast"}))
    assert "folders = /a  (command line, DIR)" in text
    assert "rows = 5  (command line, --rows)" in text
    assert "mode = fast  (environment, MCP_SHOP_MODE)" in text
    assert "wait = 30s  (default)" in text
    assert len(text.splitlines()) == len(describe(ShopSettings))


def test_the_rendered_settings_are_text_whatever_the_folders_are_called() -> None:
    text = render(load(ShopSettings, ["/a\udce9b"], {}))
    text.encode("utf-8")
    assert "/a\\udce9b" in text


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "fe80::1", "::ffff:127.0.0.1"])
def test_listening_beyond_this_machine_is_refused(host: str) -> None:
    error = refusal(["--host", host])
    assert "authentication" in error.text
    assert "127.0.0.1" in error.next_step


@pytest.mark.parametrize(
    ("host", "address"), [("localhost", "127.0.0.1"), ("[::1]", "::1"), ("127.0.0.2", "127.0.0.2"), ("0:0::1", "::1")]
)
def test_loopback_addresses_are_taken_in_every_spelling(host: str, address: str) -> None:
    assert load(ShopSettings, ["--host", host], {}).settings.transport.host == address


@pytest.mark.parametrize("host", ["example.com", "", "2130706433", "0x7f000001", "127.1", "*"])
def test_a_listening_address_is_no_name(host: str) -> None:
    assert "--host" in refusal([f"--host={host}"]).text


@pytest.mark.parametrize("origin", ["*", "null", "https://a/b", "ftp://a", "https://*", "a.example", "https://a:0"])
def test_an_origin_is_exact(origin: str) -> None:
    assert "--allowed-origin" in refusal(["--allowed-origin", origin]).text


def test_origins_and_hosts_are_canonical() -> None:
    argv = ["--allowed-origin", "HTTPS://App.Example:443/", "--allowed-host", "Tools.Example:8443"]
    transport = load(ShopSettings, argv, {}).settings.transport
    assert transport.allowed_origins == ("https://app.example",)
    assert transport.allowed_hosts == ("tools.example:8443",)


def test_the_description_is_enough_for_tables_and_forms() -> None:
    infos = {info.name: info for info in describe(ShopSettings)}
    assert infos["folders"].form == "directory"
    assert infos["folders"].repeatable
    assert infos["rows"].minimum == 1
    assert infos["rows"].maximum == 100
    assert infos["rows"].default == "10"
    assert infos["mode"].choices == ("slow", "fast")
    assert infos["token"].files == ("GITHUB_TOKEN_FILE", "GH_TOKEN_FILE")
    assert infos["token"].flag is None
    assert infos["guard"].usage == "--[no-]guard"
    assert infos["logs.level"].environment == ("MCP_SHOP_LOG_LEVEL",)
    assert infos["transport.port"].prompted is False
    assert all(info.help and info.expected for info in infos.values())


def test_flags_and_variables_are_unique() -> None:
    infos = describe(ShopSettings)
    flags = [flag for info in infos for flag in (info.flag, info.opposite) if flag]
    variables = [name for info in infos for name in (*info.environment, *info.files)]
    assert len(flags) == len(set(flags))
    assert len(variables) == len(set(variables))


def test_a_field_without_a_declaration_is_a_mistake_of_the_programmer() -> None:
    @dataclass(frozen=True)
    class Bare(Settings):
        rows: int = 3

    with pytest.raises(TypeError, match="rows"):
        describe(Bare)


@given(st.text("abcde", max_size=8), st.text("abcde", max_size=8))
def test_the_distance_is_a_distance(left: str, right: str) -> None:
    assert distance(left, right) == distance(right, left)
    assert (distance(left, right) == 0) == (left == right)
    assert distance(left, right) <= max(len(left), len(right))


def test_swapped_letters_are_one_slip() -> None:
    assert distance("GTIHUB", "GITHUB") == 1
    assert misspelt("GTIHUB_TOKEN", "GITHUB_TOKEN")
    assert not misspelt("GITLAB_TOKEN", "GITHUB_TOKEN")


@given(st.lists(st.text(max_size=30), max_size=6))
def test_any_command_line_is_read_or_refused_in_one_line(argv: list[str]) -> None:
    try:
        load(ShopSettings, argv, {})
    except SettingsError as error:
        assert len(str(error).splitlines()) == 1
        assert error.next_step
