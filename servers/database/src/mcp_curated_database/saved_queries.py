"""Queries that the operator has saved under a name, with typed parameters: `db://query/NAME?parameter=value`."""

import datetime
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from mcp_curated_database.engines.border import Cell
from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.nearest import nearest

ParameterType = Literal["text", "integer", "number", "boolean", "date"]

_EXPECTED: Final[Mapping[ParameterType, str]] = {
    "text": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "date": "a date such as 2026-07-28",
}


@dataclass(frozen=True, slots=True)
class SavedParameter:
    """One parameter.

    Attributes:
        name: As the URI gives it.
        type: What its text is read as.
        default: Taken where none is given; `required` says whether there is one.
        required: Whether it must be given.
        description: For people; empty for none.
    """

    name: str
    type: ParameterType = "text"
    default: Cell = None
    required: bool = True
    description: str = ""


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """One saved query.

    Attributes:
        name: Its name.
        sql: The statement; its placeholders are bound to the parameters in order.
        source: Of which database; empty for the only one.
        description: For people and models; empty for none.
        parameters: In the order in which they are bound.
    """

    name: str
    sql: str
    source: str = ""
    description: str = ""
    parameters: tuple[SavedParameter, ...] = ()

    def bind(self, given: Mapping[str, str]) -> tuple[Cell, ...]:
        """The values to bind.

        Args:
            given: Texts by the parameters' names.

        Raises:
            InvalidArgumentError: One is unknown, missing or of another type.
        """
        names = [parameter.name for parameter in self.parameters]
        for name in given:
            if name not in names:
                close = nearest(name, names)
                hint = f"Did you mean {close}?" if close else f"It takes {', '.join(names) or 'none'}."
                raise InvalidArgumentError(f"The query {self.name} has no parameter {name[:60]!r}.", hint)
        return tuple(self._value(parameter, given) for parameter in self.parameters)

    def _value(self, parameter: SavedParameter, given: Mapping[str, str]) -> Cell:
        text = given.get(parameter.name)
        if text is not None:
            return read_value(text, parameter)
        if parameter.required:
            what = _EXPECTED[parameter.type]
            raise InvalidArgumentError(
                f"The query {self.name} needs {parameter.name}, {what}.",
                f"Add ?{parameter.name}=... to the URI.",
            )
        return parameter.default


def read_value(text: str, parameter: SavedParameter) -> Cell:
    """The value that a text is for a parameter.

    Raises:
        InvalidArgumentError: It is none of its type.
    """
    value = _READERS[parameter.type](text)
    if value is None:
        raise InvalidArgumentError(f"{parameter.name} is {_EXPECTED[parameter.type]}, not {text[:60]!r}.")
    return value


def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,19}", text.strip(), re.ASCII) else None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _boolean(text: str) -> bool | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower())


def _date(text: str) -> str | None:
    try:
        return datetime.date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        return None


_READERS: Final = {"text": str, "integer": _integer, "number": _number, "boolean": _boolean, "date": _date}
