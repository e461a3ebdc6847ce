"""JSON schemas as plain as the pickiest host wants them.

Some hosts reject a tool, or drop all of a server's tools, over `$schema`, `$ref`, `additionalProperties`, a union
with null, `exclusiveMinimum` or `format: uri`. What is published keeps the words that every host understands;
what was left out is still enforced when a call comes in.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

Schema = dict[str, Any]
"""One JSON schema object. Its values are any JSON."""

_KEPT: Final = (
    "type", "description", "enum", "default", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems",
    "maxItems",
)  # fmt: skip


class SchemaError(ValueError):
    """A type cannot be published as a plain schema."""


def plain_schema(schema: Mapping[str, Any]) -> Schema:
    """Reduce a schema that pydantic generated to its plain form.

    References are replaced by what they name, a union with null by its other arm (the property is then not required),
    an exclusive bound of an integer by the next integer, `const` by an enum of one.

    Args:
        schema: An object schema, with its `$defs`.

    Raises:
        SchemaError: A type refers to itself, or holds null inside an array.
    """
    definitions = cast("Mapping[str, Schema]", schema.get("$defs", {}))
    return _Plain(definitions).object(schema)


def lean_schema(schema: Mapping[str, Any]) -> Schema:
    """The plain form of a result's schema without its descriptions: a model reads the result itself."""
    return _undescribed_form(plain_schema(schema))


def _undescribed_form(schema: Schema) -> Schema:
    lean = {word: value for word, value in schema.items() if word != "description"}
    if "properties" in lean:
        lean["properties"] = {name: _undescribed_form(value) for name, value in lean["properties"].items()}
    if "items" in lean:
        lean["items"] = _undescribed_form(lean["items"])
    if "anyOf" in lean:
        lean["anyOf"] = [_undescribed_form(arm) for arm in lean["anyOf"]]
    return lean


class _Plain:
    """One reduction: the definitions that references name, and the references being followed."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions
        self._following: list[str] = []

    def object(self, schema: Mapping[str, Any]) -> Schema:
        plain = self.node(schema)
        if plain.get("type") == "object" and "properties" not in plain:
            plain["properties"] = {}
        return plain

    def node(self, schema: Mapping[str, Any]) -> Schema:
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._referenced(reference, schema)
        arms = cast("Sequence[Schema] | None", schema.get("anyOf") or schema.get("oneOf"))
        if arms:
            return self._union(arms, schema)
        plain = {word: schema[word] for word in _KEPT if word in schema}
        if "const" in schema:
            plain["enum"] = [schema["const"]]
        _include_bounds(schema, plain)
        if "items" in schema:
            plain["items"] = self._item(schema["items"])
        if "properties" in schema:
            self._properties(schema, plain)
        return plain

    def _referenced(self, reference: str, schema: Mapping[str, Any]) -> Schema:
        name = reference.removeprefix("#/$defs/")
        if name in self._following:
            raise SchemaError(f"{name} refers to itself, which no plain schema can say")
        definition = self._definitions[name]
        self._following.append(name)
        plain = self.node(definition)
        self._following.pop()
        return plain | {word: schema[word] for word in ("description", "default") if word in schema}

    def _union(self, arms: Sequence[Schema], schema: Mapping[str, Any]) -> Schema:
        others = [arm for arm in arms if arm.get("type") != "null"]
        around = {word: schema[word] for word in ("description", "default") if word in schema}
        if len(others) < len(arms) and around.get("default", 0) is None:
            del around["default"]
        if len(others) == 1:
            return self.node(others[0]) | around
        return {"anyOf": [self.node(arm) for arm in others]} | around

    def _item(self, schema: Mapping[str, Any]) -> Schema:
        if allows_null(schema):
            raise SchemaError("a list whose items may be null has no plain schema; leave the item out instead")
        return self.node(schema)

    def _properties(self, schema: Mapping[str, Any], plain: Schema) -> None:
        properties = cast("Mapping[str, Schema]", schema["properties"])
        plain["properties"] = {name: self.node(value) for name, value in properties.items()}
        required = [name for name in schema.get("required", ()) if not allows_null(properties[name])]
        if required:
            plain["required"] = required


def allows_null(schema: Mapping[str, Any]) -> bool:
    """Whether null is an arm of this generated schema."""
    arms = cast("Sequence[Schema]", schema.get("anyOf") or schema.get("oneOf") or ())
    return any(arm.get("type") == "null" for arm in arms)


def _include_bounds(schema: Mapping[str, Any], plain: Schema) -> None:
    """Say an exclusive bound as an inclusive one, where the numbers are whole."""
    if schema.get("type") != "integer":
        return
    if "exclusiveMinimum" in schema:
        plain["minimum"] = int(schema["exclusiveMinimum"]) + 1
    if "exclusiveMaximum" in schema:
        plain["maximum"] = int(schema["exclusiveMaximum"]) - 1


def undescribed(schema: Schema, path: str = "") -> list[str]:
    """The properties of a plain schema, at any depth, that have no description."""
    missing: list[str] = []
    properties = cast("Mapping[str, Schema]", schema.get("properties", {}))
    for name, value in properties.items():
        here = f"{path}{name}"
        if not str(value.get("description", "")).strip():
            missing.append(here)
        missing += undescribed(value, f"{here}.")
    if "items" in schema:
        missing += undescribed(cast("Schema", schema["items"]), f"{path.removesuffix('.')}[].")
    for arm in cast("Sequence[Schema]", schema.get("anyOf", ())):
        missing += undescribed(arm, path)
    return missing


def schema_at(schema: Schema, location: Sequence[int | str]) -> Schema | None:
    """The part of a plain schema that an error's location names, or None where the schema has no word on it."""
    here = schema
    for step in location:
        if isinstance(step, int):
            following = here.get("items")
        else:
            following = cast("Mapping[str, Schema]", here.get("properties", {})).get(step)
        if following is None:
            return None
        here = cast("Schema", following)
    return here
