"""Secrets in JSON-like values: names decide about whole values, text about the rest."""

from collections.abc import Callable, Mapping
from typing import Final, cast

from mcp_curated_shared.security.redaction.keys import kind_of, level_of
from mcp_curated_shared.security.redaction.manifests import KIND
from mcp_curated_shared.security.redaction.spans import MARK
from mcp_curated_shared.security.redaction.values import (
    is_placeholder,
    is_plain,
    is_pointer,
    is_template,
    is_uuid,
    looks_random,
)

DEEPEST: Final = 200
"""What is nested more deeply is replaced as a whole: it may have been made to exhaust the stack."""

TOO_DEEP: Final = "[REDACTED:depth]"
_NAMES: Final = ("name", "key", "Name", "Key", "variable")
_VALUES: Final = ("value", "Value", "val", "default")


class ObjectRedactor:
    """Redacts a value made of dicts, lists, tuples and scalars.

    Args:
        redact: What hides the secrets of a text.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact

    def redact(self, value: object) -> object:
        """A copy of the same shape; see `Redactor.redact_json`."""
        return self._value(value, "", 0)

    def _value(self, value: object, name: str, depth: int) -> object:
        if isinstance(value, str):
            return self._text(value, name)
        if isinstance(value, (dict, list, tuple)):
            return self._container(cast("dict[object, object] | list[object] | tuple[object, ...]", value), name, depth)
        if isinstance(value, int) and not isinstance(value, bool) and level_of(name) == "password":
            return f"[REDACTED:{kind_of(name)}]"
        return value

    def _container(
        self, value: dict[object, object] | list[object] | tuple[object, ...], name: str, depth: int
    ) -> object:
        if depth >= DEEPEST:
            return TOO_DEEP
        if isinstance(value, dict):
            return self._mapping(value, depth)
        items = [self._value(item, name, depth + 1) for item in value]
        return items if isinstance(value, list) else tuple(items)

    def _mapping(self, mapping: Mapping[object, object], depth: int) -> dict[object, object]:
        manifest = mapping.get("kind") == "Secret"
        announced = next((name for key in _NAMES if level_of(name := self._name(mapping.get(key)))), "")
        result: dict[object, object] = {}
        for key, value in mapping.items():
            shown = self._redact(key) if isinstance(key, str) else key
            name = announced if announced and key in _VALUES else self._name(key)
            if manifest and key in ("data", "stringData") and isinstance(value, dict):
                result[_unused(shown, result)] = _all_hidden(cast("dict[object, object]", value))
            else:
                result[_unused(shown, result)] = self._value(value, name, depth + 1)
        return result

    def _name(self, key: object) -> str:
        """What a key announces, the same before and after it was redacted itself."""
        return MARK.sub("", self._redact(key)) if isinstance(key, str) else ""

    def _text(self, value: str, name: str) -> str:
        if _is_announced_secret(value, name):
            return f"[REDACTED:{kind_of(name)}]"
        return self._redact(value)


def _is_announced_secret(value: str, name: str) -> bool:
    """Whether a whole value is a secret because of its name; unlike in text, nothing else can be meant by it."""
    level = level_of(name) if name else None
    if level in (None, "bare") or not value.strip() or MARK.search(value):
        return False
    if is_placeholder(value) or is_template(value) or is_pointer(value):
        return False
    if level == "password":
        return " " not in value.strip() or not is_plain(value)
    if level == "weak":
        return looks_random(value, least=12) or is_uuid(value)
    return len(value) >= 4 and not is_plain(value)


def _all_hidden(values: dict[object, object]) -> dict[object, object]:
    return {key: _hidden(value) for key, value in values.items()}


def _hidden(value: object) -> object:
    return f"[REDACTED:{KIND}]" if isinstance(value, str) and not MARK.fullmatch(value) and value else value


def _unused(key: object, taken: dict[object, object]) -> object:
    """A key that two redacted keys do not share."""
    number, candidate = 2, key
    while candidate in taken:
        number, candidate = number + 1, f"{key} ({number})"
    return candidate
