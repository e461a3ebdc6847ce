"""Strict arguments: what a tool is given is what was meant, or one line says what was wrong.

The SDK drops unknown arguments without a word and turns `"2"` into 2, so a misspelt `dryRun` would be ignored and
the write done. Here unknown names are refused at every depth, nothing is converted with a loss, and three habits of
hosts that lose nothing are accepted: 2.0 for 2, a list or an object as a JSON string, null for "not given".
"""

import json
import math
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, InputRequiredResult, TextContent
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, to_jsonable_python

from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.transport.argument_errors import Problem, explain
from mcp_curated_shared.transport.outgoing import sendable
from mcp_curated_shared.transport.schemas import Schema, SchemaError, lean_schema, plain_schema, undescribed

# Types that pydantic reads from a string but JSON has no value for; strict arguments could never be sent one.
_STRING_FORMS = frozenset({"date", "date-time", "time", "duration", "uuid", "binary", "path", "file-path"})
_LARGEST_EXACT = 2**53
_TAKES_A_CONTAINER = frozenset(
    {"list_type", "dict_type", "model_type", "model_attributes_type", "dataclass_type", "mapping_type"}
)
_TAKES_A_TUPLE_OR_SET = {"tuple_type": tuple, "set_type": set, "frozen_set_type": frozenset}


class StrictMetadata(FuncMetadata):
    """The SDK's metadata of a tool function, with strict validation of arguments and plain results.

    `Tool.run` calls the two methods; both replace the SDK's own.

    Attributes:
        tool_name: The name used in messages.
        input_schema: The plain schema that is published.
    """

    tool_name: str
    input_schema: dict[str, Any]

    @classmethod
    def of(cls, tool_name: str, metadata: FuncMetadata, generated: Schema) -> "StrictMetadata":
        """Make a tool's metadata strict.

        Args:
            tool_name: The name used in messages.
            metadata: What the SDK made of the function.
            generated: The schema of its arguments, as the SDK generated it.

        Raises:
            SchemaError: A parameter or a result has a type that cannot be published plainly, or a parameter, at any
                depth, has no description.
        """
        _refuse_unsendable(generated)
        schema = plain_schema(generated)
        if missing := undescribed(schema):
            raise SchemaError(f"no Field(description=...) for {', '.join(missing)}")
        published = None if metadata.output_schema is None else lean_schema(metadata.output_schema)
        return cls(
            tool_name=tool_name,
            input_schema=schema,
            arg_model=metadata.arg_model,
            output_model=metadata.output_model,
            output_schema=published,
            wrap_output=metadata.wrap_output,
        )

    def validate_arguments(self, arguments_to_validate: dict[str, Any]) -> dict[str, Any]:
        """Check a call's arguments against the tool's own types.

        Args:
            arguments_to_validate: As they came in the call.

        Returns:
            The arguments for the function, nested models built.

        Raises:
            InvalidArgumentError: One line that says for each wrong argument what is allowed and what came.
        """
        given = cast("dict[str, Any]", _exact(arguments_to_validate))
        try:
            model = self._validate(given)
        except ValidationError as error:
            model = self._validate_repaired(given, error)
        return model.model_dump_one_level()

    def _validate(self, given: dict[str, Any]) -> ArgModelBase:
        return self.arg_model.model_validate(given, strict=True, extra="forbid")

    def _validate_repaired(self, given: dict[str, Any], error: ValidationError) -> ArgModelBase:
        """Try again with the harmless habits of hosts undone; each round can only remove a level of them."""
        repaired = cast("dict[str, Any]", _copied(given))
        for _ in range(4):
            details = error.errors(include_url=False)
            changes = [_repair(repaired, detail) for detail in details]
            if not any(changes):
                break
            try:
                return self._validate(repaired)
            except ValidationError as following:
                error = following
        problems = [
            Problem(_path_in(repaired, detail), detail["type"], detail.get("ctx", {}), detail["input"])
            for detail in error.errors(include_url=False)
        ]
        raise InvalidArgumentError(explain(self.tool_name, self.input_schema, problems)) from None

    def convert_result(self, result: Any) -> CallToolResult | InputRequiredResult:
        """Build the reply; fields that are None are left out, as the published schema has no null.

        Where the tool gives a model and no text of its own, the text is the model as compact JSON.
        """
        if isinstance(result, (CallToolResult, InputRequiredResult)):
            return super().convert_result(result)
        if self.output_model is None or self.output_schema is None:
            return super().convert_result(sendable(result))
        adapter = self._output_adapter(self.output_model)
        wrapped = {"result": result} if self.wrap_output else result
        structured = _dumped(adapter, adapter.validate_python(wrapped, by_alias=True, by_name=True))
        text = json.dumps(structured, ensure_ascii=False, separators=(",", ":"))
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)


def _dumped(adapter: TypeAdapter[Any], value: Any) -> dict[str, Any]:
    """A result as JSON, by its own class, so that a subclass keeps its fields.

    Lone surrogates are escaped before the values become JSON: that step would lose those in keys.
    """
    dump = value.model_dump if isinstance(value, BaseModel) else partial(adapter.dump_python, value)
    return cast("dict[str, Any]", to_jsonable_python(sendable(dump(mode="python", by_alias=True, exclude_none=True))))


def _refuse_unsendable(schema: Any) -> None:
    """Refuse parameter types that strict validation could never get from JSON."""
    if isinstance(schema, list):
        for item in cast("list[Any]", schema):
            _refuse_unsendable(item)
    if not isinstance(schema, dict):
        return
    for name, definition in cast("Schema", schema).get("$defs", {}).items():
        if "enum" in definition:
            raise SchemaError(f"{name} is an Enum; use Literal, whose values are the values on the wire")
    for word, value in cast("Schema", schema).items():
        if word == "format" and isinstance(value, str) and value in _STRING_FORMS:
            raise SchemaError(f"JSON has no value of the form {value}; take a str and parse it")
        _refuse_unsendable(value)


def _exact(value: object) -> object:
    """Whole floats as integers; JSON does not tell 2.0 from 2, and a strict integer would refuse it.

    Raises:
        InvalidArgumentError: A number that JSON does not have: NaN or an infinity.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgumentError(f"A number among the arguments is {value}; numbers must be finite.")
        return int(value) if value.is_integer() and abs(value) <= _LARGEST_EXACT else value
    if isinstance(value, list):
        return [_exact(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {name: _exact(member) for name, member in cast("dict[str, object]", value).items()}
    return value


def _copied(value: object) -> object:
    """The same JSON in new lists and dicts."""
    if isinstance(value, list):
        return [_copied(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in cast("dict[str, object]", value).items()}
    return value


def _path_in(arguments: object, detail: ErrorDetails) -> tuple[int | str, ...]:
    """An error's place among the arguments, without the steps that only name an arm of a union."""
    path: list[int | str] = []
    here = arguments
    steps = detail["loc"]
    for index, step in enumerate(steps):
        inside = _member(here, step)
        if inside is not _ABSENT:
            path.append(step)
            here = inside
        elif detail["type"] == "missing" and index == len(steps) - 1:
            path.append(step)
    return tuple(path)


_ABSENT = object()


def _member(container: object, step: int | str) -> object:
    if isinstance(container, dict):
        return cast("dict[int | str, object]", container).get(step, _ABSENT)
    if isinstance(container, (list, tuple)) and isinstance(step, int):
        items = cast("Sequence[object]", container)
        return items[step] if 0 <= step < len(items) else _ABSENT
    return _ABSENT


def _repair(arguments: dict[str, Any], detail: ErrorDetails) -> bool:
    """Undo, in place, one harmless habit of a host at the place of an error; say whether there was one."""
    path = _path_in(arguments, detail)
    if not path or detail["type"] in ("missing", "extra_forbidden"):
        return False
    container: Any = arguments
    for step in path[:-1]:
        container = container[step]
    last = path[-1]
    value = container[last]
    if value is None and isinstance(container, dict):
        del container[last]
        return True
    build = _TAKES_A_TUPLE_OR_SET.get(detail["type"])
    if build is not None and isinstance(value, list):
        try:
            container[last] = build(cast("list[Any]", value))
        except TypeError:  # an unhashable item
            return False
        return True
    if isinstance(value, str) and (build is not None or detail["type"] in _TAKES_A_CONTAINER):
        decoded = _decoded(value)
        if decoded is not None:
            container[last] = decoded
            return True
    return False


def _decoded(text: str) -> object:
    """The list or object that a string holds as JSON, else None."""
    try:
        value: object = json.loads(text)
        return _exact(cast("object", value)) if isinstance(value, (list, dict)) else None
    except (ValueError, RecursionError):
        return None
