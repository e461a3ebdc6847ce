"""Entries: merged into the files of hosts without touching another byte."""

import dataclasses
import json
import os
import random
import secrets
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.errors import ConflictError, SettingsError
from mcp_curated_shared.hosts import (
    HOSTS,
    Entry,
    Host,
    Surroundings,
    change_file,
    find_command,
    find_host,
    merge,
    paste,
    remove,
)
from mcp_curated_shared.hosts.command import in_uv_cache, uvx_source
from mcp_curated_shared.hosts.jsontext import remove_member, scan, set_member
from mcp_curated_shared.hosts.tomltext import set_table

ENTRY = Entry(
    name="filesystem",
    command="/opt/bin/mcp-curated-filesystem",
    arguments=("--read-only", "/srv/a b", 'C:\\x "y"', "/srv/ü"),
    environment={"MCP_FILESYSTEM_DENY": ".env"},
    secrets={},
    variables=frozenset({"MCP_FILESYSTEM_DENY", "MCP_FILESYSTEM_READ_ONLY", "GITHUB_TOKEN", "GITHUB_TOKEN_FILE"}),
)
SECRET_ENTRY = dataclasses.replace(ENTRY, environment={}, secrets={"GITHUB_TOKEN": "Token for GitHub."})
JSON_HOSTS = [host for host in HOSTS if host.form != "toml"]


def read(host: Host, text: str) -> dict[str, Any]:
    if host.form == "toml":
        return tomllib.loads(text.replace("\r\n", "\n"))
    return scan(text, comments=host.form == "jsonc").data  # type: ignore[return-value]  # an object by construction


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_an_entry_pasted_says_how_to_start_the_server(host: Host) -> None:
    entry = read(host, paste(host, ENTRY))[host.key]["filesystem"]
    assert entry["command"] == ENTRY.command
    assert entry["args"] == list(ENTRY.arguments)
    assert entry["env"] == {"MCP_FILESYSTEM_DENY": ".env"}
    assert entry.get("type") == ("stdio" if host.typed else None)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_merging_twice_changes_nothing_more(host: Host) -> None:
    entry = SECRET_ENTRY if host.secret("X") else ENTRY
    once = merge("", host, entry)
    assert merge(once, host, entry) == once


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claude-code", "${GITHUB_TOKEN}"),
        ("cursor", "${env:GITHUB_TOKEN}"),
        ("gemini", "${GITHUB_TOKEN}"),
        ("vscode", "${input:github-token}"),
    ],
)
def test_a_secret_is_the_host_s_own_reference(name: str, expected: str) -> None:
    host = find_host(name)
    assert read(host, paste(host, SECRET_ENTRY))[host.key]["filesystem"]["env"]["GITHUB_TOKEN"] == expected


def test_vs_code_asks_for_a_secret_with_a_hidden_prompt_and_only_once() -> None:
    host = find_host("vscode")
    text = '{\n\t"inputs": [{"id": "other", "type": "promptString"}], // mine\n\t"servers": {},\n}\n'
    merged = merge(merge(text, host, SECRET_ENTRY), host, SECRET_ENTRY)
    inputs = read(host, merged)["inputs"]
    assert [one["id"] for one in inputs] == ["other", "github-token"]
    assert inputs[1]["password"] is True


def test_codex_forwards_a_secret_by_name_and_waits_for_a_slow_start() -> None:
    host = find_host("codex")
    entry = read(host, paste(host, dataclasses.replace(SECRET_ENTRY, slow=True)))["mcp_servers"]["filesystem"]
    assert entry["env_vars"] == ["GITHUB_TOKEN"]
    assert entry["startup_timeout_sec"] == 60


COMMENTED = """// My servers
{
    // keep this
    "theme" : "dark",   /* and this */
    "servers": {
        "other": { "command": "x", }, // trailing
    },
}
"""


def test_comments_and_trailing_commas_of_vs_code_survive() -> None:
    merged = merge(COMMENTED, find_host("vscode"), ENTRY)
    assert [line for line in COMMENTED.splitlines() if line not in merged.splitlines()] == []
    assert read(find_host("vscode"), merged)["servers"]["other"] == {"command": "x"}


def test_strict_hosts_refuse_comments_naming_line_and_column() -> None:
    with pytest.raises(SettingsError, match="line 1, column 1"):
        merge(COMMENTED, find_host("claude-desktop"), ENTRY)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1,}', "line 1, column 9"),
        ('{\n  "a": tru\n}', "line 2, column 8"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{"a": "x\ny"}', "line 1, column 7"),
        ('{"a": 1', "line 1, column 8"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 01}', "line 1, column 7"),
        ("{} x", "line 1, column 4"),
        ('{"a" 1}', "line 1, column 6"),
        ('{"mcpServers": {}, "mcpServers": {}}', "line 1, column 20"),
        ('{"mcpServers": []}', "line 1, column 16"),
        ("[]", "line 1, column 1"),
        ('{"a": NaN}', "line 1, column 7"),
        ("[" * 300, "line 1, column 201"),
    ],
)
def test_broken_json_is_refused_naming_line_and_column(text: str, place: str) -> None:
    with pytest.raises(SettingsError) as caught:
        merge(text, find_host("claude-desktop"), ENTRY)
    assert str(caught.value).find(place) > 0


def test_broken_toml_is_refused_naming_line_and_column() -> None:
    with pytest.raises(SettingsError, match="line 2, column"):
        merge('model = "x"\nbroken = \n', find_host("codex"), ENTRY)


def test_indentation_and_line_endings_are_those_of_the_file() -> None:
    text = '{\r\n\t"mcpServers": {\r\n\t\t"a": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n\t}\r\n}\r\n'
    merged = merge(text, find_host("claude-desktop"), ENTRY)
    assert "\n" not in merged.replace("\r\n", "")
    assert '\r\n\t\t"filesystem": {\r\n\t\t\t"command"' in merged


def test_an_object_on_one_line_stays_on_one_line() -> None:
    merged = merge('{"a": 1, "mcpServers": {"x": {"command": "y"}}}', find_host("claude-desktop"), ENTRY)
    assert "\n" not in merged
    assert merged.startswith('{"a": 1, "mcpServers": {"x": {"command": "y"}, "filesystem": ')


def test_what_a_user_added_to_an_older_entry_stays_and_our_old_variables_go() -> None:
    host = find_host("claude-desktop")
    old = {
        "command": "old",
        "args": [],
        "disabled": True,
        "env": {"HTTPS_PROXY": "http://p", "MCP_FILESYSTEM_READ_ONLY": "1"},
    }
    entry = read(host, merge(json.dumps({host.key: {"filesystem": old}}), host, ENTRY))[host.key]["filesystem"]
    assert entry["disabled"] is True
    assert entry["env"] == {"HTTPS_PROXY": "http://p", "MCP_FILESYSTEM_DENY": ".env"}
    bare = dataclasses.replace(ENTRY, environment={})
    gone = read(host, merge(json.dumps({host.key: {"filesystem": old}}), host, bare))[host.key]["filesystem"]
    assert gone["env"] == {"HTTPS_PROXY": "http://p"}


TOML = """# My settings
model = "o" # not [mcp_servers.filesystem]
notes = '''
[mcp_servers.filesystem]
command = "not this"
'''

[mcp_servers.other]
command = "x"
args = [
  "a", # [brackets
  "]",
]

[mcp_servers.filesystem]  # mine
command = "old"
tool_timeout_sec = 5
args = [
    "old",
]

[mcp_servers.filesystem.env]
HTTPS_PROXY = "http://p"
MCP_FILESYSTEM_READ_ONLY = "1"

[profiles.x]
model = "y"
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_toml_table_is_changed_in_place(newline: str) -> None:
    host = find_host("codex")
    text = TOML.replace("\n", newline)
    merged = merge(text, host, ENTRY)
    entry = read(host, merged)["mcp_servers"]["filesystem"]
    assert entry["command"] == ENTRY.command
    assert entry["args"] == list(ENTRY.arguments)
    assert entry["tool_timeout_sec"] == 5
    assert entry["env"] == {"HTTPS_PROXY": "http://p", "MCP_FILESYSTEM_DENY": ".env"}
    kept = text.replace("\r\n", "\n").split('command = "old"')[0]
    assert merged.replace("\r\n", "\n").startswith(kept)
    assert merged.endswith(f'[profiles.x]{newline}model = "y"{newline}')
    assert merged.count("\n") == merged.count(newline)
    assert merge(merged, host, ENTRY) == merged


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { filesystem = { command = "x" } }\n',
        'mcp_servers.filesystem.command = "x"\n',
        '[mcp_servers]\nfilesystem.command = "x"\n',
        "mcp_servers = 3\n",
    ],
)
def test_a_toml_spelling_that_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        merge(text, find_host("codex"), ENTRY)


def test_a_toml_file_without_a_last_newline_keeps_its_last_line() -> None:
    merged = merge('model = "o"', find_host("codex"), ENTRY)
    assert merged.startswith('model = "o"\n\n[mcp_servers.filesystem]\n')


KEYS = st.sampled_from(["mcpServers", "a", "b", "filesystem", 'q"', "ü"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def assert_the_rest_is_kept(text: str, changed: str, path: list[str], comments: bool) -> None:
    """What lies outside the replaced value is the same; where a member was added, nothing of the old text is gone."""
    value = scan(text, comments=comments)
    for key in path:
        member = value.member(key)
        if member is None:
            break
        value = member.value
    else:
        assert changed.startswith(text[: value.start])
        assert changed.endswith(text[value.end :])
        return
    if value.members or text[value.start + 1 : value.end - 1].strip():
        rest = iter(changed)
        assert all(character in rest for character in text)
    else:  # an empty object is opened
        assert changed.startswith(text[: value.start + 1])
        assert changed.endswith(text[value.end - 1 :])


def scattered(data: object, dice: random.Random, comments: bool) -> str:
    """JSON with white space, comments and trailing commas wherever they may stand."""
    choices = ["", " ", "\n  ", "\t", "\r\n"] + (["/* x, { */", "// y }\n"] if comments else [])

    def blank() -> str:
        return dice.choice(choices)

    if isinstance(data, dict):
        parts = [
            f"{blank()}{json.dumps(k)}{blank()}:{blank()}{scattered(v, dice, comments)}{blank()}"
            for k, v in data.items()
        ]
    elif isinstance(data, list):
        parts = [f"{blank()}{scattered(v, dice, comments)}{blank()}" for v in data]
    else:
        return json.dumps(data, ensure_ascii=dice.random() < 0.5)
    trailing = "," + blank() if parts and comments and dice.random() < 0.3 else ""
    inside = ",".join(parts) + trailing if parts else blank()
    return "{" + inside + "}" if isinstance(data, dict) else "[" + inside + "]"


@given(
    st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=3), max_size=4),
    st.lists(KEYS, min_size=1, max_size=3),
    VALUES,
    st.integers(0, 1 << 32),
    st.booleans(),
)
def test_setting_a_member_changes_that_member_only(
    document: dict[str, Any], path: list[str], value: Any, seed: int, comments: bool
) -> None:
    text = scattered(document, random.Random(seed), comments)
    expected = json.loads(json.dumps(document))
    owner = expected
    for key in path[:-1]:
        owner = owner.setdefault(key, {}) if isinstance(owner, dict) else None
    if not isinstance(owner, dict):
        with pytest.raises(SettingsError):
            set_member(text, path, value, comments=comments)
        return
    owner[path[-1]] = value
    changed = set_member(text, path, value, comments=comments)
    found = scan(changed, comments=comments).data
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)
    assert set_member(changed, path, value, comments=comments) == changed
    assert_the_rest_is_kept(text, changed, path, comments)


@given(
    st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=3), max_size=4),
    st.lists(KEYS, min_size=1, max_size=2),
    st.integers(0, 1 << 32),
    st.booleans(),
)
def test_removing_a_member_takes_out_that_member_only(
    document: dict[str, Any], path: list[str], seed: int, comments: bool
) -> None:
    text = scattered(document, random.Random(seed), comments)
    expected = json.loads(json.dumps(document))
    owner = expected if len(path) == 1 else expected.get(path[0], {})
    owner.pop(path[-1], None)
    changed = remove_member(text, path, comments=comments)
    found = scan(changed, comments=comments).data
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)
    rest = iter(text)
    assert all(character in rest for character in changed), "nothing is added or moved"


FILES = {
    "json": ["", "{}\n", '{\n  "mcpServers": {\n    "x": {"command": "y"}\n  },\n  "theme": "dark"\n}\n', '{"a": 1}'],
    "jsonc": ['{\r\n\t// mine\r\n\t"servers": {"x": {"command": "y"},},\r\n}\r\n'],
    "toml": ["", 'model = "x"\n\n[mcp_servers.x]\ncommand = "y"\n\n# mine\n[profiles.x]\nmodel = "y"\n', "a = 1\r\n"],
}


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_an_entry_that_was_added_and_removed_leaves_what_was_there(host: Host) -> None:
    for text in [*FILES[host.form], *(FILES["json"] if host.form == "jsonc" else [])]:
        merged = merge(text, host, ENTRY)
        assert "filesystem" in read(host, merged)[host.key]
        removed = remove(merged, host, "filesystem")
        after = read(host, removed)
        before = read(host, text) if text else {}
        assert after == before or after == {**before, host.key: {}}
        rest = iter(removed)
        assert all(character in rest for character in text), removed
        assert remove(removed, host, "filesystem") == removed


def test_a_toml_table_is_removed_with_those_inside_it_and_comments_stay() -> None:
    removed = remove(TOML, find_host("codex"), "filesystem")
    assert "filesystem" not in tomllib.loads(removed).get("mcp_servers", {})
    assert removed.endswith('[profiles.x]\nmodel = "y"\n')
    assert removed.startswith(TOML.partition("[mcp_servers.filesystem]")[0])


@pytest.mark.parametrize(
    "text", ['mcp_servers.filesystem.command = "x"\n', '[mcp_servers]\nfilesystem.command = "x"\n']
)
def test_a_toml_spelling_that_cannot_be_removed_safely_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="Remove it by hand"):
        remove(text, find_host("codex"), "filesystem")


@given(st.text(max_size=20))
def test_any_text_survives_toml(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    changed = set_table("", ("mcp_servers", "x"), {"command": text})
    assert tomllib.loads(changed)["mcp_servers"]["x"]["command"] == text


def places(platform: str, environ: dict[str, str], home: str) -> dict[str, str]:
    return {host.name: host.place(Surroundings(platform, home, environ)) for host in HOSTS}


def test_every_host_s_file_on_every_platform() -> None:
    linux = places("linux", {}, "/home/me")
    assert linux["claude-desktop"] == "/home/me/.config/Claude/claude_desktop_config.json"
    assert linux["vscode"] == "/home/me/.config/Code/User/mcp.json"
    assert linux["cursor"] == "/home/me/.cursor/mcp.json"
    assert linux["claude-code"] == "/home/me/.claude.json"
    assert linux["gemini"] == "/home/me/.gemini/settings.json"
    assert linux["codex"] == "/home/me/.codex/config.toml"
    mac = places("darwin", {}, "/Users/me")
    assert mac["claude-desktop"] == "/Users/me/Library/Application Support/Claude/claude_desktop_config.json"
    assert mac["vscode"] == "/Users/me/Library/Application Support/Code/User/mcp.json"
    windows = places("win32", {"APPDATA": r"C:\Users\me\AppData\Roaming"}, r"C:\Users\me")
    assert windows["claude-desktop"] == r"C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json"
    assert windows["cursor"] == r"C:\Users\me\.cursor\mcp.json"
    moved = places("linux", {"XDG_CONFIG_HOME": "/etc/me", "CODEX_HOME": "/c"}, "/home/me")
    assert moved["claude-desktop"].startswith("/etc/me/")
    assert moved["codex"] == "/c/config.toml"


def test_a_file_is_replaced_whole_with_its_mode_and_a_backup(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_bytes(b"\xef\xbb\xbf{}\r\n")
    file.chmod(0o640)
    written = change_file(str(file), lambda text: text.replace("{}", "[]"))
    assert written.changed
    assert file.read_bytes() == b"\xef\xbb\xbf[]\r\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    backup = tmp_path / "mcp.json.bak"
    assert written.backup == str(backup)
    assert backup.read_bytes() == b"\xef\xbb\xbf{}\r\n"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["mcp.json", "mcp.json.bak"]


def test_backups_are_never_overwritten_and_never_doubled(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("1")
    assert change_file(str(file), lambda _: "2").backup == f"{file}.bak"
    assert change_file(str(file), lambda _: "3").backup == f"{file}.bak.1"
    file.write_text("1")
    assert change_file(str(file), lambda _: "4").backup == f"{file}.bak"
    assert not change_file(str(file), lambda text: text).changed
    assert sorted(os.listdir(tmp_path)) == ["f", "f.bak", "f.bak.1"]


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    true = tmp_path / "dotfiles" / "mcp.json"
    true.parent.mkdir()
    true.write_text("old")
    link = tmp_path / "mcp.json"
    link.symlink_to(true)
    assert change_file(str(link), lambda _: "new").path == str(true)
    assert link.is_symlink()
    assert true.read_text() == "new"


def test_a_planted_link_at_the_backup_s_name_is_not_followed(tmp_path: Path) -> None:
    file, victim = tmp_path / "f", tmp_path / "victim"
    file.write_text("old")
    victim.write_text("old")
    (tmp_path / "f.bak").symlink_to(victim)
    assert change_file(str(file), lambda _: "new").backup == f"{file}.bak.1"
    assert victim.read_text() == "old"


def test_a_missing_file_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "f"
    written = change_file(str(file), lambda text: text + "x")
    assert written.changed
    assert written.backup is None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_the_host_writes_meanwhile_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("a")
    rounds: list[str] = []

    def change(text: str) -> str:
        rounds.append(text)
        if len(rounds) == 1:
            file.write_text("host was here")
        return text + "+"

    assert change_file(str(file), change).changed
    assert file.read_text() == "host was here+"


def test_a_file_that_never_rests_is_given_up_unharmed(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("a")

    def change(text: str) -> str:
        file.write_text(text + "b")
        return text + "+"

    with pytest.raises(ConflictError):
        change_file(str(file), change)
    assert "+" not in file.read_text()
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_a_refused_change_leaves_everything_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "claude_desktop_config.json"
    file.write_text("{broken")
    with pytest.raises(SettingsError):
        change_file(str(file), lambda text: merge(text, find_host("claude-desktop"), ENTRY))
    assert file.read_text() == "{broken"
    assert os.listdir(tmp_path) == ["claude_desktop_config.json"]


@pytest.mark.parametrize("data", [b"\xff\xfe{\x00", b"\xe9"])
def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "f"
    file.write_bytes(data)
    with pytest.raises(SettingsError, match="UTF-8"):
        change_file(str(file), lambda text: text + "x")
    assert file.read_bytes() == data


def test_a_folder_or_pipe_in_the_file_s_place_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SettingsError, match="not a file"):
        change_file(str(tmp_path / "pipe"), lambda text: text + "x")


def command(**changes: Any) -> Any:
    base: dict[str, Any] = {
        "invoked": "mcp-x",
        "prefix": "/srv/venv",
        "executable": "/srv/venv/bin/python",
        "environ": {"PATH": "/usr/bin"},
        "direct_url": None,
    }
    return find_command("mcp-x", "mcp_x", **(base | changes))


def script(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "mcp-x"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def test_the_running_script_is_named_by_its_absolute_path(tmp_path: Path) -> None:
    true = script(tmp_path / "tools" / "bin")
    link = tmp_path / "mcp-x"
    link.symlink_to(true)
    assert command(invoked=str(link)).program == str(link)


def test_under_python_m_the_script_beside_the_interpreter_is_named(tmp_path: Path) -> None:
    true = script(tmp_path)
    assert command(invoked="/lib/mcp_x/__main__.py", executable=str(tmp_path / "python")).program == str(true)


def test_without_a_script_the_interpreter_runs_the_module() -> None:
    found = command(invoked="/lib/mcp_x/__main__.py", executable="/nowhere/python")
    assert (found.program, found.arguments) == ("/nowhere/python", ("-P", "-m", "mcp_x"))


def test_in_uv_s_cache_the_entry_goes_through_uvx(tmp_path: Path) -> None:
    uvx = tmp_path / "bin" / "uvx"
    uvx.parent.mkdir()
    uvx.write_text("")
    found = command(
        prefix="/home/me/.cache/uv/archive-v0/abc", environ={"UV": str(tmp_path / "bin" / "uv"), "PATH": ""}
    )
    assert (found.program, found.arguments, found.ephemeral) == (str(uvx), ("mcp-x",), True)
    assert "uv tool install mcp-x" in found.note


def test_a_cache_elsewhere_is_known_by_its_variable(tmp_path: Path) -> None:
    assert in_uv_cache(str(tmp_path / "x" / "y"), {"UV_CACHE_DIR": str(tmp_path)})
    assert not in_uv_cache("/home/me/.local/share/uv/tools/mcp-x", {})
    assert not in_uv_cache("/srv/archive-v0", {})


def test_uvx_that_is_nowhere_is_said() -> None:
    with pytest.raises(SettingsError, match="uvx"):
        command(prefix="/home/me/.cache/uv/archive-v0/abc", environ={"PATH": ""})


def test_where_a_package_came_from_is_carried_over_without_credentials() -> None:
    token = secrets.token_hex(8)
    git = {
        "url": f"https://me:{token}@host.example/x.git",
        "vcs_info": {"vcs": "git", "commit_id": "abc", "requested_revision": "v1"},
        "subdirectory": "servers/x",
    }
    assert uvx_source(json.dumps(git)) == "git+https://host.example/x.git@v1#subdirectory=servers/x"
    assert uvx_source(json.dumps({"url": "file:///srv/a%20b", "dir_info": {}})) == "/srv/a b"
    assert uvx_source(None) is None
