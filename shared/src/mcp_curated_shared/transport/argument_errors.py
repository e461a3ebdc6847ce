"""What was wrong with a call's arguments, in one line that a model can act on."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from mcp_curated_shared.nearest import nearest
from mcp_curated_shared.security.untrusted import safe_text
from mcp_curated_shared.transport.schemas import Schema, schema_at

_MOST_PROBLEMS = 3
_LONGEST_VALUE = 40


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that validation found.

    Attributes:
        path: Where, among the arguments as they were sent.
        type: The validator's own name for it, such as `missing` or `int_type`.
        context: The validator's details, such as the bound that was passed.
        value: What was there.
    """

    path: tuple[int | str, ...]
    type: str
    context: Mapping[str, Any]
    value: object


def explain(tool: str, schema: Schema, problems: Sequence[Problem]) -> str:
    """One line for all problems of a call: unknown names first, for they often explain the missing ones.

    Args:
        tool: The tool's name.
        schema: Its published schema.
        problems: At least one; several at one place (the arms of a union) count once.
    """
    unknown = [problem for problem in problems if problem.type == "extra_forbidden"]
    meant = {_meant(schema, problem.path) for problem in unknown}
    others = [problem for problem in problems if problem.type != "extra_forbidden" and problem.path not in meant]
    lines = list(dict.fromkeys(_line(tool, schema, problem) for problem in (*unknown, *others)))
    if len(lines) > _MOST_PROBLEMS:
        lines[_MOST_PROBLEMS:] = [f"And {len(lines) - _MOST_PROBLEMS} more."]
    return " ".join(lines)


def _line(tool: str, schema: Schema, problem: Problem) -> str:
    if problem.type == "extra_forbidden":
        return _unknown(tool, schema, problem.path)
    name = _shown_path(problem.path) or "The arguments"
    if problem.type == "missing":
        allowed = describe(schema_at(schema, problem.path))
        return f"{name} is required: {allowed}."
    if problem.type in ("value_error", "assertion_error"):
        return f"{name}: {_one_line(str(problem.context.get('error', 'not allowed')))}"
    return f"{name} must be {_allowed(schema, problem)}, not {came(problem.value)}."


def _known(schema: Schema, around: Sequence[int | str]) -> list[str]:
    place = schema_at(schema, around) or {}
    return list(cast("Mapping[str, Schema]", place.get("properties", {})))


def _meant(schema: Schema, path: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The place that an unknown name was probably for; a place that is nowhere when none is near."""
    *around, name = path
    meant = nearest(str(name), _known(schema, around))
    return (*around, meant) if meant is not None else ()


def _unknown(tool: str, schema: Schema, path: tuple[int | str, ...]) -> str:
    *around, name = path
    where = f"part of {_shown_path(around)}" if around else f"an argument of {tool}"
    if meant := _meant(schema, path):
        return f"{quoted(str(name))} is not {where}; did you mean {meant[-1]}?"
    known = _known(schema, around)
    names = f"it takes {', '.join(known)}." if known else "it takes none."
    return f"{quoted(str(name))} is not {where}; {names}"


def _allowed(schema: Schema, problem: Problem) -> str:
    """What the argument may be; the few bounds that plain schemas cannot say come from the validator."""
    limits = {"greater_than": ("more than", "gt"), "less_than": ("less than", "lt")}
    if problem.type in limits:
        words, key = limits[problem.type]
        bound = problem.context.get(key)
        return f"{words} {bound:g}" if isinstance(bound, float) else f"{words} {bound}"
    if problem.type == "multiple_of":
        return f"a multiple of {problem.context.get('multiple_of')}"
    if problem.type == "string_unicode":
        return "a string of valid Unicode"
    return describe(schema_at(schema, problem.path))


def describe(schema: Schema | None) -> str:
    """The values that a plain schema allows, in words that follow "must be"."""
    if schema is None:
        return "something else"
    if "anyOf" in schema:
        return " or ".join(describe(arm) for arm in cast("Sequence[Schema]", schema["anyOf"]))
    if "enum" in schema:
        values = [json.dumps(value, ensure_ascii=False) for value in cast("Sequence[object]", schema["enum"])]
        return values[0] if len(values) == 1 else f"one of {', '.join(values)}"
    words = _WORDS.get(cast("str", schema.get("type", "")))
    return "any value" if words is None else words(schema)


def _integer(schema: Schema) -> str:
    return f"an integer{_range(schema, 'minimum', 'maximum')}"


def _number(schema: Schema) -> str:
    return f"a number{_range(schema, 'minimum', 'maximum')}"


def _boolean(_: Schema) -> str:
    return "true or false"


def _range(schema: Schema, low: str, high: str, unit: str = "") -> str:
    least, most = schema.get(low), schema.get(high)
    if least is not None and most is not None:
        return f"{' of' if unit else ' from'} {least} to {most}{unit}"
    if least is not None:
        return f" of at least {least}{unit}"
    if most is not None:
        return f" of at most {most}{unit}"
    return ""


def _string(schema: Schema) -> str:
    if schema.get("minLength") == 1 and "maxLength" not in schema and "pattern" not in schema:
        return "a string that is not empty"
    matching = f" that matches {schema['pattern']}" if "pattern" in schema else ""
    return f"a string{_range(schema, 'minLength', 'maxLength', ' characters')}{matching}"


_PLURALS = {"string": "strings", "integer": "integers", "number": "numbers", "object": "objects", "array": "lists"}


def _array(schema: Schema) -> str:
    items = _PLURALS.get(cast("Schema", schema.get("items", {})).get("type", ""), "items")
    if schema.get("minItems") == 1 and "maxItems" not in schema:
        return f"a list of {items} that is not empty"
    return f"a list{_range(schema, 'minItems', 'maxItems', ' ' + items) or ' of ' + items}"


def _object(schema: Schema) -> str:
    names = list(cast("Mapping[str, Schema]", schema.get("properties", {})))
    return f"an object with {', '.join(names)}" if names else "an object"


_WORDS: Final[Mapping[str, Callable[[Schema], str]]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "string": _string,
    "array": _array,
    "object": _object,
}


def came(value: object) -> str:
    """What was sent, short and on one line: its kind, and the value itself when that is at most 40 characters."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        number = repr(value)
        return number if len(number) <= _LONGEST_VALUE else "so long a number"
    if isinstance(value, str):
        short = len(value) <= _LONGEST_VALUE
        return f"the string {quoted(value)}" if short else f"a string of {len(value):,} characters"
    if isinstance(value, (list, tuple, set, frozenset)):
        count = len(cast("Sequence[object]", value))
        return f"a list of {count:,}" if count else "an empty list"
    return "an object"


def quoted(text: str) -> str:
    """A text from outside between quotes: at most 40 characters, everything unprintable escaped."""
    short = text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
    visible = "".join(character if character.isprintable() else _escaped(character) for character in short)
    return f'"{visible}"'


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1] if ord(character) > 0x7E or ord(character) < 0x20 else f"\\u{ord(character):04x}"


def _shown_path(path: Sequence[int | str]) -> str:
    shown = ""
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        else:
            shown += f".{_plain_name(step)}" if shown else _plain_name(step)
    return shown


def _plain_name(name: str) -> str:
    """A name as it is when it is an ordinary word, else quoted: names of unknown keys come from outside."""
    ordinary = name.isascii() and name.replace("-", "_").isidentifier() and len(name) <= _LONGEST_VALUE
    return name if ordinary else quoted(name)


def _one_line(text: str) -> str:
    line = " ".join(safe_text(text).split())
    return line if line.endswith((".", "?", "!")) else f"{line}."
