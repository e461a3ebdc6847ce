"""JSON-like values."""

import json

from mcp_curated_shared.security.redaction import Redactor, redact_json
from tests.shared.redaction.making import ALPHANUMERIC, PROVIDERS, Maker


def test_a_value_under_a_sensitive_name_is_hidden_as_a_whole() -> None:
    value = {"user": "bob", "password": "letmein", "nested": [{"apiKey": "some-thing-9"}], "tokenCount": 7}
    assert redact_json(value) == {
        "user": "bob",
        "password": "[REDACTED:password]",
        "nested": [{"apiKey": "[REDACTED:key]"}],
        "tokenCount": 7,
    }


def test_a_number_under_a_passwords_name_is_hidden_and_truth_values_stay() -> None:
    assert redact_json({"password": 123456, "token": True, "secret": None}) == {
        "password": "[REDACTED:password]",
        "token": True,
        "secret": None,
    }


def test_a_value_beside_a_sensitive_name_is_hidden() -> None:
    value = Maker().of(ALPHANUMERIC, 12)
    assert redact_json([{"name": "DB_PASSWORD", "value": value}]) == [
        {"name": "DB_PASSWORD", "value": "[REDACTED:password]"}
    ]


def test_secrets_in_texts_and_in_keys_are_hidden() -> None:
    token = PROVIDERS["npm"](Maker())
    assert redact_json({f"use {token}": f"see {token}"}) == {"use [REDACTED:npm-token]": "see [REDACTED:npm-token]"}


def test_keys_that_become_equal_stay_apart() -> None:
    make = Maker()
    shown = redact_json({PROVIDERS["npm"](make): 1, PROVIDERS["npm"](make): 2})
    assert shown == {"[REDACTED:npm-token]": 1, "[REDACTED:npm-token] (2)": 2}


def test_schemas_placeholders_and_references_stay() -> None:
    value = {"password": {"type": "string", "minLength": 8}, "token": "${TOKEN}", "secret": "", "apiKey": "<key>"}
    assert redact_json(value) == value


def test_the_data_of_a_kubernetes_secret_is_hidden() -> None:
    value = {"kind": "Secret", "data": {"a": "Zm9v"}, "metadata": {"name": "x"}}
    assert redact_json(value) == {
        "kind": "Secret",
        "data": {"a": "[REDACTED:kubernetes-secret]"},
        "metadata": {"name": "x"},
    }


def test_what_is_nested_too_deeply_is_replaced_and_does_not_end_the_process() -> None:
    token = PROVIDERS["npm"](Maker())
    text = "[" * 800 + f'"{token}"' + "]" * 800
    shown = json.dumps(redact_json(json.loads(text)))
    assert token not in shown
    assert "[REDACTED:depth]" in shown


def test_the_argument_is_not_changed() -> None:
    value = {"password": ["letmein"]}
    Redactor().redact_json(value)
    assert value == {"password": ["letmein"]}
