"""The process's own secrets."""

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest

from mcp_curated_shared.security.redaction import Redactor
from tests.shared.redaction.making import ALPHANUMERIC, Maker


@pytest.fixture
def secret() -> str:
    return "a/b+c d&é\"'" + Maker().of(ALPHANUMERIC, 16)


def test_an_own_secret_is_hidden_whatever_it_looks_like() -> None:
    assert Redactor(["plain words"]).redact("some plain words here") == "some [REDACTED:setting] here"


def test_an_own_secret_is_hidden_in_every_usual_spelling(secret: str) -> None:
    redactor = Redactor([secret])
    spellings = {
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        quote(secret, safe="").replace("%2F", "%2f"),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        html.escape(secret),
        secret.encode().hex(),
    }
    for spelling in spellings:
        assert redactor.redact(f"<{spelling}>") == "<[REDACTED:setting]>"


@pytest.mark.parametrize("before", ["", "u:", "ab:", "abc:"])
def test_an_own_secret_is_hidden_in_base64_behind_any_prefix(secret: str, before: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(f"{before}{secret}".encode()).decode()
        shown = Redactor([secret]).redact(f"x {encoded} y")
        assert encoded[8:-8] not in shown
        assert "[REDACTED:" in shown


def test_an_own_secret_with_invisible_characters_inside_is_hidden() -> None:
    assert Redactor(["opensesame"]).redact("say open\u200bse\u2060same") == "say [REDACTED:setting]"


def test_an_own_secret_gives_the_kind_also_where_a_format_matches() -> None:
    token = "gh" + "p_" + Maker().of(ALPHANUMERIC, 36)
    assert Redactor([token]).redact(f"token={token}") == "token=[REDACTED:setting]"


def test_a_value_too_short_to_be_a_secret_is_not_looked_for() -> None:
    assert Redactor(["abc", ""]).redact("abcdef") == "abcdef"
