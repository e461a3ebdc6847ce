"""One server's entry for one host: as a value, as text to paste, and merged into the host's file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.hosts.jsontext import Json, remove_member, scan, set_member
from mcp_curated_shared.hosts.places import Host, input_name
from mcp_curated_shared.hosts.tomltext import Toml, parse, remove_table, set_table

START_SECONDS = 60
"""Time that Codex gives a server to start; its default of 10 s is less than a first `uvx` may need."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How a host shall start the server.

    Attributes:
        name: The word that stands for it in the host.
        command: Absolute path of the program.
        arguments: Its arguments.
        environment: Plain variables.
        secrets: Variables that the host must fill from its own prompt or environment, with their descriptions.
        variables: Every variable that the server knows; an older entry's values of these are not kept.
        slow: Whether the first start may take long (a package may have to be fetched).
    """

    name: str
    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    secrets: Mapping[str, str]
    variables: frozenset[str]
    slow: bool = False


def merge(text: str, host: Host, entry: Entry) -> str:
    """The host's file with the entry in it; what the user added to an older entry of the name stays.

    Args:
        text: The file's text; empty for a missing file.
        host: Whose file it is.
        entry: What to put in.

    Raises:
        SettingsError: The file is broken; names line and column.
    """
    if host.form == "toml":
        return _merge_toml(text, host, entry)
    comments = host.form == "jsonc"
    text = text if text.strip() else "{}\n"
    old = _old_entry(text, host, entry, comments)
    for key, value in _json_entry(host, entry, _kept(old.get("env"), entry)).items():
        if value is None or (value == {} and key not in old):
            continue
        text = set_member(text, (host.key, entry.name, key), value, comments=comments)
    if host.name == "vscode" and entry.secrets:
        text = set_member(text, ("inputs",), _inputs(text, entry, comments), comments=comments)
    return text


def remove(text: str, host: Host, name: str) -> str:
    """The host's file without the entry of that name. What VS Code would have asked for stays: others may use it.

    Raises:
        SettingsError: The file is broken; names line and column.
    """
    if host.form == "toml":
        return remove_table(text, (host.key, name))
    if not text.strip():
        return text
    return remove_member(text, (host.key, name), comments=host.form == "jsonc")


def paste(host: Host, entry: Entry) -> str:
    """The entry as a file that holds nothing else."""
    return merge("", host, entry)


def _json_entry(host: Host, entry: Entry, kept: Mapping[str, str]) -> dict[str, Json]:
    environment: dict[str, Json] = {**kept, **entry.environment}
    environment |= {name: host.secret(name) or "" for name in entry.secrets}
    return {
        "type": "stdio" if host.typed else None,
        "command": entry.command,
        "args": list(entry.arguments),
        "env": environment,
    }


def _old_entry(text: str, host: Host, entry: Entry, comments: bool) -> dict[str, Json]:
    value = scan(text, comments=comments).data
    for key in (host.key, entry.name):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _kept(environment: object, entry: Entry) -> dict[str, str]:
    """Of an older entry's variables those that are none of the server's: a proxy, an index, a locale."""
    if not isinstance(environment, dict):
        return {}
    old = cast("dict[str, object]", environment)
    return {name: value for name, value in old.items() if isinstance(value, str) and name not in entry.variables}


def _inputs(text: str, entry: Entry, comments: bool) -> list[Json]:
    whole = scan(text, comments=comments).data
    old: Json = whole.get("inputs") if isinstance(whole, dict) else None
    if old is not None and not isinstance(old, list):
        raise SettingsError('"inputs" is not a list in it.', "Mend the file first; nothing was written.")
    inputs: list[Json] = list(old or [])
    known = [one.get("id") for one in inputs if isinstance(one, dict)]
    for variable, description in entry.secrets.items():
        if input_name(variable) not in known:
            prompt: dict[str, Json] = {
                "type": "promptString",
                "id": input_name(variable),
                "description": description,
                "password": True,
            }
            inputs.append(prompt)
    return inputs


def _merge_toml(text: str, host: Host, entry: Entry) -> str:
    path = (host.key, entry.name)
    old: object = parse(text)
    for key in path:
        old = cast("dict[str, object]", old).get(key) if isinstance(old, dict) else None
    found = cast("dict[str, object]", old) if isinstance(old, dict) else {}
    environment = {**_kept(found.get("env"), entry), **entry.environment}
    forwarded = _forwarded(found.get("env_vars"), entry)
    values: dict[str, Toml | None] = {"command": entry.command, "args": list(entry.arguments)}
    own_table = f"[{host.key}." in text and isinstance(found.get("env"), dict) and _has_table(text, (*path, "env"))
    if not own_table:
        values["env"] = environment or None
    values["env_vars"] = forwarded or None
    if entry.slow and "startup_timeout_sec" not in found:
        values["startup_timeout_sec"] = START_SECONDS
    if not own_table:
        return set_table(text, path, values)
    gone = {name: None for name in cast("dict[str, object]", found["env"]) if name not in environment}
    # Its own table first: the other change checks the whole.
    return set_table(set_table(text, (*path, "env"), {**gone, **environment}), path, values)


def _has_table(text: str, path: tuple[str, ...]) -> bool:
    from mcp_curated_shared.hosts.tomltext import table_span

    return table_span(text, path) is not None


def _forwarded(old: object, entry: Entry) -> list[str]:
    names = [name for name in cast("list[object]", old) if isinstance(name, str)] if isinstance(old, list) else []
    return [name for name in names if name not in entry.variables] + list(entry.secrets)


def shell_line(host: Host, entry: Entry) -> str | None:
    """The host's own command that adds the entry, where it has one."""
    if host.name != "claude-code":
        return None
    whole = {key: value for key, value in _json_entry(host, entry, {}).items() if value}
    import shlex

    return f"claude mcp add-json --scope user {shlex.quote(entry.name)} {shlex.quote(json.dumps(whole))}"
