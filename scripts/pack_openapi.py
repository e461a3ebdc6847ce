"""Pack the part of GitHub's OpenAPI description that our operations use, as JSON Schema.

    pack_openapi.py            write tests/github/openapi/github.json.gz from npm's @octokit/openapi (29 MB)
    pack_openapi.py FILE.json  the same from an unpacked api.github.com.json

Run by hand when an operation or the version changes; the packed file is committed. The description is OpenAPI 3.0,
whose `nullable` no JSON Schema validator knows: it is translated here, prose is dropped, and references are made to
point into the packed file. Names, types, enumerations, required fields and examples stay as GitHub publishes them.
"""

import gzip
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

REPOSITORY = Path(__file__).resolve().parent.parent
PACKED = REPOSITORY / "tests" / "github" / "openapi" / "github.json.gz"
PACKAGE = "@octokit/openapi"
VERSION = "23.0.2"
_MEMBER = "package/generated/api.github.com.json"

OPERATIONS = (
    "activity/list-repos-starred-by-authenticated-user",
    "issues/create",
    "issues/create-comment",
    "issues/get",
    "issues/list-comments",
    "issues/list-for-repo",
    "pulls/get",
    "pulls/list-files",
    "rate-limit/get",
    "repos/get",
    "repos/get-content",
    "repos/get-readme",
    "search/code",
    "search/issues-and-pull-requests",
    "search/repos",
    "users/get-authenticated",
)

# What a schema may hold besides these is prose, or belongs to tools that generate code.
_PLAIN = frozenset(
    {"type", "enum", "format", "pattern", "required", "default", "minimum", "maximum"}
    | {"minLength", "maxLength", "minItems", "maxItems", "uniqueItems"}
)
_LISTS = frozenset(("allOf", "anyOf", "oneOf"))

Node = Mapping[str, Any]  # a part of the description, as JSON gives it


class Description:
    """One OpenAPI 3.0 document, read by reference."""

    def __init__(self, document: Node) -> None:
        self.document = document

    def resolved(self, node: Node) -> Node:
        """What `node` stands for, where it is only a reference."""
        while "$ref" in node:
            found: Any = self.document
            for part in str(node["$ref"]).removeprefix("#/").split("/"):
                found = found[part]
            node = found
        return node

    def operation(self, identity: str) -> tuple[str, str, Node]:
        """Method, path template and description of an operation; raises SystemExit where there is none."""
        for path, methods in self.document["paths"].items():
            for method, node in methods.items():
                if node["operationId"] == identity:
                    return method.upper(), path, node
        raise SystemExit(f"The description has no operation {identity!r}.")


def schema(node: Node) -> dict[str, Any]:
    """`node` as JSON Schema 2020-12: no prose, `nullable` as a type of its own, references into the packed file."""
    if "$ref" in node:  # OpenAPI 3.0 ignores whatever stands beside a reference
        return {"$ref": "#/schemas/" + str(node["$ref"]).rpartition("/")[2]}
    made: dict[str, Any] = {key: node[key] for key in node if key in _PLAIN}
    made |= {key: [schema(part) for part in node[key]] for key in node if key in _LISTS}
    if "properties" in node:
        made["properties"] = {name: schema(part) for name, part in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in node:
            made[key] = schema(node[key]) if isinstance(node[key], Mapping) else node[key]
    return _nullable(made) if node.get("nullable") else made


def _nullable(made: dict[str, Any]) -> dict[str, Any]:
    if "type" not in made:
        return {"anyOf": [made, {"type": "null"}]} if made else made
    if "enum" in made:
        made["enum"] = [*made["enum"], *([] if None in made["enum"] else [None])]
    return made | {"type": [made["type"], "null"]}


def references(value: Any) -> Iterator[str]:
    """The names of the schemas that a packed schema, or a packed operation, refers to."""
    if isinstance(value, dict):
        for key, part in cast("dict[str, Any]", value).items():
            if key == "$ref" and isinstance(part, str):
                yield part.removeprefix("#/schemas/")
            elif key != "examples":
                yield from references(part)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from references(part)


def pack(document: Node, operations: Iterable[str] = OPERATIONS) -> dict[str, Any]:
    """The packed description: its source, the operations by name, and every schema that they reach."""
    description = Description(document)
    packed = {identity: _operation(description, identity) for identity in sorted(operations)}
    schemas: dict[str, Any] = {}
    waiting = list(references(packed))
    while waiting:
        name = waiting.pop()
        if name not in schemas:
            schemas[name] = schema(document["components"]["schemas"][name])
            waiting += references(schemas[name])
    source = {"package": PACKAGE, "version": VERSION, "license": document["info"]["license"]["name"]}
    return {"source": source, "operations": packed, "schemas": dict(sorted(schemas.items()))}


def _operation(description: Description, identity: str) -> dict[str, Any]:
    method, path, node = description.operation(identity)
    parameters = [description.resolved(one) for one in node.get("parameters", [])]
    body = description.resolved(node.get("requestBody", {})).get("content", {}).get("application/json")
    responses = {status: description.resolved(one) for status, one in node["responses"].items()}
    return {
        "method": method,
        "path": path,
        "path_parameters": {one["name"]: schema(one["schema"]) for one in parameters if one["in"] == "path"},
        "query_parameters": {one["name"]: schema(one["schema"]) for one in parameters if one["in"] == "query"},
        "required_query": sorted(one["name"] for one in parameters if one["in"] == "query" and one.get("required")),
        "body": schema(body["schema"]) if body else None,
        "responses": {status: _content(one) for status, one in responses.items()},
        "examples": [example for one in responses.values() for example in _examples(description, one)],
    }


def _content(response: Node) -> dict[str, Any]:
    """The schema of a response by its media type; none for an answer without a body."""
    return {media: schema(one["schema"]) for media, one in response.get("content", {}).items()}


def _examples(description: Description, response: Node) -> Iterator[Any]:
    for media, content in response.get("content", {}).items():
        if media.endswith("json"):
            for example in content.get("examples", {}).values():
                value = description.resolved(example)["value"]
                yield description.resolved(value)["value"] if "$ref" in value else value


def download(folder: Path) -> Path:
    """The description out of npm's package, which npm checks against the registry's digest."""
    command = ["npm", "pack", "--silent", f"{PACKAGE}@{VERSION}"]
    archive = folder / subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    with tarfile.open(archive) as files:
        files.extract(_MEMBER, folder, filter="data")
    return folder / _MEMBER


def write(packed: Node, path: Path) -> None:
    """Write the packed description; the same input gives the same bytes."""
    text = json.dumps(packed, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main(arguments: list[str]) -> None:
    """Pack the named file, or the one that npm gives."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(arguments[0]) if arguments else download(Path(folder))
        document = json.loads(path.read_bytes())
    packed = pack(document)
    write(packed, PACKED)
    print(
        f"{PACKED.relative_to(REPOSITORY)}: {len(packed['operations'])} operations, {len(packed['schemas'])} schemas, "
        f"{PACKED.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
