"""The packed description of GitHub's API: well-formed, whole, and a rule that wrong answers break."""

import gzip
import json
import socket
from copy import deepcopy
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from scripts import pack_openapi
from tests.github.double import ContractError, serve
from tests.github.double.client import client
from tests.github.double.contract import PACKED, Contract, contract
from tests.github.double.routes import HANDLERS
from tests.github.double.shaping import accounts

# Examples that GitHub publishes and that its own schemas do not allow: `language` and a team's `type` are missing, and
# an item stands as "...".
UNFIT_EXAMPLES = {"pulls/get": 1, "repos/get": 1, "search/issues-and-pull-requests": 1}

DESCRIPTION: dict[str, Any] = {
    "info": {"license": {"name": "MIT"}},
    "paths": {
        "/things/{id}": {
            "get": {
                "operationId": "things/get",
                "parameters": [
                    {"$ref": "#/components/parameters/id"},
                    {
                        "name": "q",
                        "in": "query",
                        "required": True,
                        "schema": {"type": "string", "description": "Prose."},
                    },
                ],
                "responses": {
                    "200": {
                        "content": {
                            "application/json": {
                                "schema": {"$ref": "#/components/schemas/thing"},
                                "examples": {"default": {"$ref": "#/components/examples/thing"}},
                            }
                        }
                    },
                    "304": {"description": "Not modified"},
                },
            }
        }
    },
    "components": {
        "parameters": {"id": {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}},
        "examples": {"thing": {"value": {"description": None, "kind": None, "owner": None}}},
        "schemas": {
            "thing": {
                "type": "object",
                "description": "Prose.",
                "required": ["description"],
                "properties": {
                    "description": {"type": "string", "nullable": True, "example": "x"},
                    "kind": {"type": "string", "enum": ["a"], "nullable": True},
                    "owner": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/owner"}]},
                },
            },
            "owner": {"type": "object", "properties": {"login": {"type": "string"}}},
            "stranger": {"type": "string"},
        },
    },
}


def test_the_packed_description_holds_every_operation_and_only_schemas_that_they_reach():
    packed = json.loads(gzip.decompress(PACKED.read_bytes()))
    assert set(packed["operations"]) == set(pack_openapi.OPERATIONS)
    assert packed["source"] == {"package": "@octokit/openapi", "version": pack_openapi.VERSION, "license": "MIT"}
    reached, waiting = set[str](), set(pack_openapi.references(packed["operations"]))
    while waiting:
        reached |= waiting
        waiting = {name for one in waiting for name in pack_openapi.references(packed["schemas"][one])} - reached
    assert reached == set(packed["schemas"])


def test_the_packed_schemas_are_schemas():
    for schema in contract().schemas.values():
        Draft202012Validator.check_schema(schema)
    for operation in contract().operations.values():
        for described in operation.responses.values():
            for schema in described.values():
                Draft202012Validator.check_schema(schema)


def test_every_published_example_is_valid_but_for_those_that_github_itself_got_wrong():
    unfit: dict[str, int] = {}
    for name, operation in contract().operations.items():
        schemas = [one for status, media in operation.responses.items() if status < "3" for one in media.values()]
        for example in operation.examples:
            if not any(contract().validator(schema).is_valid(example) for schema in schemas):  # type: ignore[arg-type] # JSON
                unfit[name] = unfit.get(name, 0) + 1
    assert unfit == UNFIT_EXAMPLES


def test_packing_translates_nullable_and_leaves_prose_and_strangers_out():
    packed = pack_openapi.pack(DESCRIPTION, ["things/get"])
    assert set(packed["schemas"]) == {"thing", "owner"}
    assert "Prose" not in json.dumps(packed)
    thing = packed["schemas"]["thing"]["properties"]
    assert thing["description"] == {"type": ["string", "null"]}
    assert thing["kind"] == {"type": ["string", "null"], "enum": ["a", None]}
    assert thing["owner"] == {"anyOf": [{"allOf": [{"$ref": "#/schemas/owner"}]}, {"type": "null"}]}
    operation = packed["operations"]["things/get"]
    assert operation["query_parameters"] == {"q": {"type": "string"}}
    assert operation["required_query"] == ["q"]
    assert operation["responses"] == {"200": {"application/json": {"$ref": "#/schemas/thing"}}, "304": {}}
    made = Contract(packed)
    example = made.operations["things/get"].examples[0]
    assert list(made.faults_of_answer(made.operations["things/get"], 200, "application/json", example)) == []


def test_packing_the_same_description_gives_the_same_bytes(tmp_path: Any):
    packed = pack_openapi.pack(DESCRIPTION, ["things/get"])
    pack_openapi.write(packed, tmp_path / "one")
    pack_openapi.write(deepcopy(packed), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_packing_an_operation_that_is_not_there_ends_with_its_name():
    with pytest.raises(SystemExit, match="things/put"):
        pack_openapi.pack(DESCRIPTION, ["things/put"])


def test_the_double_answers_every_packed_operation():
    assert set(HANDLERS) == set(contract().operations)


USER: dict[str, Any] = {**contract().operations["users/get-authenticated"].examples[0]}  # type: ignore[dict-item] # JSON


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"login": None}, "$"),
        ({"id": "1"}, "$"),
        ({"created_at": "yesterday"}, "$"),
        ({"avatar_url": "no address"}, "$"),
        ({"invented": 1}, "$"),
    ],
)
def test_an_answer_with_a_wrong_missing_malformed_or_invented_field_breaks_the_contract(
    changed: dict[str, object], told: str
):
    operation = contract().operations["users/get-authenticated"]
    assert list(contract().faults_of_answer(operation, 200, "application/json", USER)) == []
    faults = list(contract().faults_of_answer(operation, 200, "application/json", USER | changed))
    assert faults
    assert told in faults[0]


def test_an_answer_that_the_description_does_not_know_breaks_the_contract():
    operation = contract().operations["users/get-authenticated"]
    assert list(contract().faults_of_answer(operation, 201, "application/json", USER)) != []
    assert list(contract().faults_of_answer(operation, 200, "application/vnd.github.object", USER)) != []


def test_an_answer_against_the_description_is_not_sent_and_fails_the_test_that_uses_the_double(
    monkeypatch: pytest.MonkeyPatch,
):
    right = accounts.simple_user

    def wrong(view: Any, account: Any) -> dict[str, object]:
        return right(view, account) | {"id": "not a number"}

    monkeypatch.setattr("tests.github.double.shaping.repositories.simple_user", wrong)
    with pytest.raises(ContractError, match="not a number"), serve() as there, client(there) as http:
        there.github.repository("octo-org/hello")
        answer = http.get("/repos/octo-org/hello")
        assert answer.status_code == 500
        assert "octo-org" not in answer.text.replace("repos/get", "")


@pytest.mark.parametrize(
    "target",
    [
        "/repos/octo-org/hello/../secret",
        "/repos/octo-org/hello/contents/%2e%2e/x",
        "/repos//issues",
        "/user/emails",
        "/repos/octo-org/hello/issues?since=yesterday&pageSize=3",
        "/repos/octo-org/hello/issues?state=gone",
        "/repos/octo-org/hello/issues?page=two",
        "/search/code",
    ],
)
def test_a_request_that_no_client_should_send_fails_the_test_that_uses_the_double(target: str):
    with pytest.raises(ContractError), serve() as there:
        raw_request(there.origin, f"GET {target} HTTP/1.1\r\nHost: x\r\nUser-Agent: x\r\nConnection: close\r\n\r\n")
        assert there.journal.last.request.target == target


@pytest.mark.parametrize("body", [{"title": "x", "colour": "red"}, {"body": "no title"}, {"title": ["x"]}])
def test_a_body_that_the_operation_does_not_take_fails_the_test_that_uses_the_double(body: dict[str, object]):
    with pytest.raises(ContractError, match="request at"), serve() as there:
        there.github.repository("octo-org/hello")
        with client(there, there.github.token()) as http:
            http.post("/repos/octo-org/hello/issues", json=body)


def test_a_mistake_of_the_double_itself_fails_the_test_that_uses_it(monkeypatch: pytest.MonkeyPatch):
    def broken(view: Any, account: Any) -> dict[str, object]:
        raise ZeroDivisionError("the double's own")

    monkeypatch.setattr("tests.github.double.shaping.repositories.simple_user", broken)
    with pytest.raises(ContractError, match="the double's own"), serve() as there, client(there) as http:
        there.github.repository("octo-org/hello")
        with pytest.raises(httpx.RemoteProtocolError):
            http.get("/repos/octo-org/hello")


def test_the_error_of_the_test_itself_goes_first_and_names_the_violations():
    with pytest.raises(KeyError) as caught, serve() as there, client(there) as http:
        http.get("/user/emails")
        raise KeyError("the test's own")
    assert "/user/emails" in caught.value.__notes__[0]


def test_a_test_of_bad_requests_can_ask_not_to_be_failed():
    with serve(verify=False) as there, client(there) as http:
        assert http.get("/user/emails").status_code == 404
        assert len(there.violations) == 1


def raw_request(origin: str, text: str) -> bytes:
    """Send these bytes, whatever an HTTP client would make of them, and read to the end."""
    host, _, port = origin.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=5) as opened:
        opened.sendall(text.encode())
        parts: list[bytes] = []
        while part := opened.recv(65_536):
            parts.append(part)
    return b"".join(parts)
