"""Changing the keys of one table of a TOML text without touching another byte.

Codex keeps its settings in TOML. `tomllib` says what a text means but not where it stands, so this finds the lines of
one table by itself, changes them, and then holds the result against what `tomllib` says it should mean: a spelling that
the line scan does not know (dotted keys, an inline table) ends in a refusal, never in a wrong file.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from mcp_curated_shared.errors import SettingsError

Toml = str | int | bool | list[str] | dict[str, str]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(r"[ \t]*\[(?!\[)[^\r\n]*\]")
_ANY_HEADER = re.compile(r"[ \t]*\[")
_STRINGS = re.compile(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL)


def set_table(text: str, path: Sequence[str], values: Mapping[str, Toml | None]) -> str:
    """The text with keys of one table set, or removed where the value is None; the table is made if it is absent.

    Raises:
        SettingsError: The text is no TOML (naming line and column), or spells the table in a way that cannot be
            changed safely.
    """
    before = parse(text)
    expected = _expected(before, path, values)
    if expected == before:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    span = table_span(text, path)
    if span is None:
        changed = _append(text, path, {key: value for key, value in values.items() if value is not None}, newline)
    else:
        body = text[span[0] : span[1]]
        for key, value in values.items():
            body = _set_key(body, key, value, newline)
        changed = text[: span[0]] + body + text[span[1] :]
    try:
        correct = tomllib.loads(changed.replace("\r\n", "\n")) == expected
    except tomllib.TOMLDecodeError:
        correct = False
    if not correct:
        raise SettingsError(
            f"The table [{_header(path)}] is spelt in a way that cannot be changed without risk.",
            "Remove it and try again, or change it by hand; nothing was written.",
        )
    return changed


def remove_table(text: str, path: Sequence[str]) -> str:
    """The text without one table and those inside it; everything else keeps its bytes.

    Raises:
        SettingsError: The text is no TOML, or spells the table in a way that cannot be removed safely.
    """
    before = parse(text)
    expected = _without(before, path)
    if expected == before:
        return text
    kept: list[str] = []
    inside = False
    for start, end in _lines(text):
        line = text[start:end]
        if _ANY_HEADER.match(line):
            named = _path_of(line)
            inside = named is not None and named[: len(path)] == list(path)
        if inside and not line.lstrip().startswith("#"):
            continue
        kept.append(line)
    changed = "".join(kept)
    try:
        correct = tomllib.loads(changed.replace("\r\n", "\n")) in (expected, _without(expected, path[:-1]))
    except tomllib.TOMLDecodeError:
        correct = False
    if not correct:
        raise SettingsError(
            f"The table [{_header(path)}] is spelt in a way that cannot be removed without risk.",
            "Remove it by hand; nothing was written.",
        )
    return changed


def _without(data: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    copy = dict(data)
    if len(path) == 1:
        copy.pop(path[0], None)
    elif isinstance(copy.get(path[0]), dict):
        copy[path[0]] = _without(cast("dict[str, Any]", copy[path[0]]), path[1:])
    return copy


def parse(text: str) -> dict[str, Any]:
    """What a TOML text means.

    Raises:
        SettingsError: It is no TOML; names line and column.
    """
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"It is no valid TOML: {error}", "Mend the file first; nothing was written.") from None


def _expected(before: Mapping[str, Any], path: Sequence[str], values: Mapping[str, Toml | None]) -> dict[str, Any]:
    copy: dict[str, Any] = dict(before)
    if not path:
        merged: dict[str, Any] = {**copy, **values}
        return {key: value for key, value in merged.items() if value is not None}
    inner: object = copy.get(path[0], {})
    if not isinstance(inner, dict):
        raise SettingsError(f'"{path[0]}" is not a table in it.', "Mend the file first; nothing was written.")
    copy[path[0]] = _expected(cast("dict[str, Any]", inner), path[1:], values)
    return copy


def _lines(text: str) -> list[tuple[int, int]]:
    """Spans of the statements' first lines: a line that begins inside a string, array or table is not one."""
    blanked = _STRINGS.sub(lambda match: re.sub(r"[^\n]", "\x00", match[0]).replace("\n", "\x01"), text)
    spans: list[tuple[int, int]] = []
    start = 0
    for end in [*(match.start() for match in re.finditer("\n", blanked)), len(blanked)]:
        statement = blanked[start:end]
        # A header's brackets open and close on their line, so one count serves both.
        depth = statement.count("[") + statement.count("{") - statement.count("]") - statement.count("}")
        if depth <= 0:
            spans.append((start, min(end + 1, len(text))))
            start = end + 1
    return [span for span in spans if span[0] < span[1]]


def table_span(text: str, path: Sequence[str]) -> tuple[int, int] | None:
    """From behind the table's header to the next header; None if the table has no header of its own."""
    found: int | None = None
    for start, end in _lines(text):
        line = text[start:end]
        if found is not None and _ANY_HEADER.match(line):
            return found, start
        if found is None and _HEADER.match(line) and _path_of(line) == list(path):
            found = end
    return None if found is None else (found, len(text))


def _path_of(header: str) -> list[str] | None:
    try:
        table: Any = tomllib.loads(header.strip("\r\n"))
    except tomllib.TOMLDecodeError:
        return None
    path: list[str] = []
    while isinstance(table, dict) and len(cast("dict[str, Any]", table)) == 1:
        key, table = next(iter(cast("dict[str, Any]", table).items()))
        path.append(key)
    return path


def _set_key(body: str, key: str, value: Toml | None, newline: str) -> str:
    spans = _lines(body)
    for start, end in spans:
        try:
            meant = tomllib.loads(body[start:end].replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError:
            continue
        if list(meant) == [key]:
            if meant[key] == value:
                return body
            written = "" if value is None else f"{_key(key)} = {_render(value)}{newline}"
            return body[:start] + written + body[end:]
    if value is None:
        return body
    used = [end for start, end in spans if body[start:end].strip()]
    position = used[-1] if used else 0
    gap = newline if position and not body[:position].endswith("\n") else ""
    return f"{body[:position]}{gap}{_key(key)} = {_render(value)}{newline}{body[position:]}"


def _append(text: str, path: Sequence[str], values: Mapping[str, Toml], newline: str) -> str:
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    lines = [f"[{_header(path)}]", *(f"{_key(key)} = {_render(value)}" for key, value in values.items())]
    return text + gap + newline.join(lines) + newline


def _header(path: Sequence[str]) -> str:
    return ".".join(_key(part) for part in path)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _render(value: Toml) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    return "{ " + ", ".join(f"{_key(key)} = {_text(item)}" for key, item in value.items()) + " }" if value else "{}"


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _text(text: str) -> str:
    """A TOML basic string (TOML 1.0, section String)."""
    return '"' + "".join(_ESCAPES.get(c, c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in text) + '"'
