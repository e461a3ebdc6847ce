"""Schemas as plain as the pickiest host wants them."""

from collections.abc import Callable
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from mcp.server.mcpserver.tools import Tool
from pydantic import BaseModel, Field

from mcp_curated_shared.transport.arguments import StrictMetadata
from mcp_curated_shared.transport.schemas import SchemaError, plain_schema, schema_at, undescribed

D = Field(description="Words.")


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    tool = Tool.from_function(function, name="tool", description="A tool.")
    return StrictMetadata.of("tool", tool.fn_metadata, tool.parameters).input_schema


class Part(BaseModel):
    title: str = Field(description="A property may have the name of a schema word.")
    format: str | None = Field(default=None, description="So may this.")


def test_a_schema_keeps_what_hosts_understand_and_nothing_else() -> None:
    def function(
        path: Annotated[str, Field(description="Path.", min_length=1, pattern="^/", title="The Path")],
        limit: Annotated[int | None, Field(description="Limit.", gt=0, lt=11)] = None,
        share: Annotated[float, Field(description="Share.", gt=0, le=1)] = 0.5,
        mode: Annotated[Literal["a", "b"], Field(description="Mode.")] = "a",
        only: Annotated[Literal["x"], Field(description="Only.")] = "x",
        parts: Annotated[list[Part] | None, Field(description="Parts.", max_length=9)] = None,
        either: Annotated[int | str | None, Field(description="Either.")] = None,
        table: Annotated[dict[str, int] | None, Field(description="Table.")] = None,
    ) -> None: ...

    part = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "A property may have the name of a schema word."},
            "format": {"type": "string", "description": "So may this."},
        },
        "required": ["title"],
    }
    assert schema_of(function) == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Path.", "minLength": 1, "pattern": "^/"},
            "limit": {"type": "integer", "description": "Limit.", "minimum": 1, "maximum": 10},
            "share": {"type": "number", "description": "Share.", "maximum": 1, "default": 0.5},
            "mode": {"type": "string", "description": "Mode.", "enum": ["a", "b"], "default": "a"},
            "only": {"type": "string", "description": "Only.", "enum": ["x"], "default": "x"},
            "parts": {"type": "array", "description": "Parts.", "maxItems": 9, "items": part},
            "either": {"description": "Either.", "anyOf": [{"type": "integer"}, {"type": "string"}]},
            "table": {"type": "object", "description": "Table."},
        },
        "required": ["path"],
    }


def test_a_tool_without_parameters_has_an_empty_object() -> None:
    def function() -> None: ...

    assert schema_of(function) == {"type": "object", "properties": {}}


def test_the_description_at_the_parameter_wins_over_the_models_own() -> None:
    def function(part: Annotated[Part, Field(description="At the parameter.")]) -> None: ...

    assert schema_of(function)["properties"]["part"]["description"] == "At the parameter."


class Node(BaseModel):
    children: "list[Node]" = Field(default=[], description="Children.")


class Colour(Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Node, "refers to itself"),
        (Colour, "Literal"),
        (datetime, "date-time"),
        (UUID, "uuid"),
        (list[int | None], "null"),
    ],
)
def test_a_type_that_has_no_plain_schema_is_refused(kind: Any, words: str) -> None:
    def function(value: Any) -> None: ...

    function.__annotations__["value"] = Annotated[kind, D]
    with pytest.raises(SchemaError, match=words):
        schema_of(function)


def test_an_undescribed_parameter_is_refused_at_any_depth() -> None:
    class Bare(BaseModel):
        name: str

    def function(path: str, parts: Annotated[list[Bare], D]) -> None: ...

    with pytest.raises(SchemaError, match=r"path, parts\[\]\.name"):
        schema_of(function)


def test_a_nullable_result_is_optional_and_plain() -> None:
    class Result(BaseModel):
        size: int | None = D
        kind: Literal["a"] = Field(default="a", description="Kind.")

    plain = plain_schema(Result.model_json_schema())
    assert plain == {
        "type": "object",
        "properties": {
            "size": {"type": "integer", "description": "Words."},
            "kind": {"type": "string", "description": "Kind.", "enum": ["a"], "default": "a"},
        },
    }


def test_a_place_in_a_schema_is_found_by_an_errors_location() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}}
    assert schema_at(schema, ("a", 3)) == {"type": "string"}
    assert schema_at(schema, ("a", 3, "x")) is None
    assert undescribed(schema) == ["a"]
