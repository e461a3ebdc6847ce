"""GitHub's published OpenAPI description of our operations, as rules for requests and answers.

Answers of success are held to more than the description asks: a field that it does not name is a fault too, since a
double that invents fields proves nothing about GitHub.
"""

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import unquote, urlsplit

from jsonschema import Draft202012Validator, FormatChecker

PACKED = Path(__file__).resolve().parent.parent / "openapi" / "github.json.gz"
Schema: TypeAlias = dict[str, object]

_BASIC_ERROR: Schema = {"$ref": "#/schemas/basic-error"}
_VALIDATION_ERROR: Schema = {
    "anyOf": [{"$ref": "#/schemas/validation-error"}, {"$ref": "#/schemas/validation-error-simple"}]
}
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)")

formats = FormatChecker(())


@formats.checks("date-time", raises=ValueError)
def _is_date_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return _DATE_TIME.fullmatch(value) is not None and bool(datetime.fromisoformat(value))


@formats.checks("uri", raises=ValueError)
def _is_uri(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return bool(urlsplit(value).scheme) and value.isascii() and not re.search(r"[\s\"<>\\^`]", value)  # RFC 3986


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its name in the description, and the form of its requests and answers."""

    identity: str
    method: str
    path: str
    query_parameters: Mapping[str, Schema]
    required_query: tuple[str, ...]
    body: Schema | None
    responses: Mapping[str, Mapping[str, Schema]]
    examples: tuple[object, ...]

    def matched(self, method: str, path: str) -> dict[str, str] | None:
        """The path's parameters, decoded, where this operation is meant; each lies within its own segment.

        `{path}` alone takes any number of segments, as GitHub reads it (an encoded slash parts them there too).
        """
        if method != self.method:
            return None
        asked, template = path.split("/"), self.path.split("/")
        if template[-1] == "{path}":
            head = len(template) - 1
            if len(asked) < head:
                return None
            asked = [*asked[:head], "/".join(asked[head:])]
        if len(asked) != len(template):
            return None
        found: dict[str, str] = {}
        for given, wanted in zip(asked, template, strict=True):
            if wanted.startswith("{"):
                if not given and wanted != "{path}":
                    return None
                found[wanted[1:-1]] = unquote(given)
            elif given != wanted:
                return None
        return found


class Contract:
    """The packed description."""

    def __init__(self, packed: Mapping[str, object]) -> None:
        self.source = cast("dict[str, str]", packed["source"])
        self.schemas = cast("dict[str, Schema]", packed["schemas"])
        self._closed = {name: closed(one) for name, one in self.schemas.items()}
        listed = cast("dict[str, dict[str, object]]", packed["operations"])
        self.operations = {name: _operation(name, one) for name, one in listed.items()}
        self._validators: dict[tuple[str, str, str], Draft202012Validator] = {}

    def find(self, method: str, path: str) -> tuple[Operation, dict[str, str]] | None:
        """The operation that a path (as sent, without its query) means, and its parameters."""
        for operation in self.operations.values():
            parameters = operation.matched(method, path)
            if parameters is not None:
                return operation, parameters
        return None

    def named(self, route: str) -> Operation:
        """An operation by its name (`issues/create`) or by its route (`POST /repos/{owner}/{repo}/issues`)."""
        for operation in self.operations.values():
            if route in (operation.identity, f"{operation.method} {operation.path}"):
                return operation
        raise KeyError(f"{route!r} is no operation; there are {', '.join(sorted(self.operations))}")

    def faults_of_answer(self, operation: Operation, status: int, media: str, document: Any) -> Iterator[str]:
        """Where `document` differs from what GitHub describes for this operation, status and media type."""
        key = (operation.identity, str(status), media)
        if key not in self._validators:
            described = self._described(operation, status, media)
            if described is None:
                yield f"{operation.identity} has no answer {status} of type {media}"
                return
            schemas = self._closed if status < 300 else self.schemas
            self._validators[key] = self.validator(closed(described) if status < 300 else described, schemas)
        for error in self._validators[key].iter_errors(document):
            yield f"{operation.identity} {status} at {error.json_path}: {error.message[:300]}"

    def faults_of_query(self, operation: Operation, query: Mapping[str, str]) -> Iterator[str]:
        """Parameters that GitHub would ignore or refuse, and needed ones that are missing."""
        for name, value in query.items():
            described = operation.query_parameters.get(name)
            if described is None:
                yield f"{operation.identity} has no parameter {name!r}"
            elif not self.validator(described, self.schemas).is_valid(_typed(value, described)):
                yield f"{operation.identity}: {name}={value!r} is not what GitHub describes"
        for name in operation.required_query:
            if name not in query:
                yield f"{operation.identity} needs the parameter {name!r}"

    def faults_of_body(self, operation: Operation, document: Any) -> Iterator[str]:
        """Where a request's JSON differs from what the operation takes."""
        if operation.body is not None:
            schemas = self._closed
            for error in self.validator(closed(operation.body), schemas).iter_errors(document):
                yield f"{operation.identity} request at {error.json_path}: {error.message[:300]}"

    def validator(self, schema: Schema, schemas: Mapping[str, Schema] | None = None) -> Draft202012Validator:
        """A validator of `schema`, which may refer to the packed schemas."""
        return Draft202012Validator({**schema, "schemas": schemas or self.schemas}, format_checker=formats)

    @staticmethod
    def _described(operation: Operation, status: int, media: str) -> Schema | None:
        described = operation.responses.get(str(status), {}).get(media)
        if described is None and status >= 300:
            return _VALIDATION_ERROR if status == 422 else _BASIC_ERROR
        return described


def closed(node: Schema) -> Schema:
    """The same schema, where an object has no other fields than the named ones."""
    made: Schema = {}
    for key, value in node.items():
        if key == "properties":
            made[key] = {name: closed(one) for name, one in cast("dict[str, Schema]", value).items()}
        elif key in ("allOf", "anyOf", "oneOf"):
            made[key] = [closed(one) for one in cast("list[Schema]", value)]
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            made[key] = closed(cast("Schema", value))
        else:
            made[key] = value
    if "properties" in made:
        made.setdefault("additionalProperties", False)
    return made


def _typed(value: str, described: Schema) -> str | int | bool:
    kind = described.get("type")
    if kind == "integer" and re.fullmatch(r"-?\d{1,18}", value):
        return int(value)
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    return value


def _operation(identity: str, packed: Mapping[str, object]) -> Operation:
    return Operation(
        identity,
        cast("str", packed["method"]),
        cast("str", packed["path"]),
        cast("dict[str, Schema]", packed["query_parameters"]),
        tuple(cast("list[str]", packed["required_query"])),
        cast("Schema | None", packed["body"]),
        cast("dict[str, dict[str, Schema]]", packed["responses"]),
        tuple(cast("list[object]", packed["examples"])),
    )


@cache
def contract() -> Contract:
    """The packed description, read once."""
    return Contract(json.loads(gzip.decompress(PACKED.read_bytes())))
