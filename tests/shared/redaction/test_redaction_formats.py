"""Tokens of providers, wherever they stand."""

import pytest

from mcp_curated_shared.security.redaction import redact, scan
from tests.shared.redaction.making import ALPHANUMERIC, PROVIDERS, Maker

PLACES = (
    "{}",
    "request with {} was refused",
    "it is {}.",
    "(see {})",
    "`{}`",
    "| a | {} |",
    "<td>{}</td>",
    '{{"value": "{}", "region": "eu"}}',
    '{{\\"value\\":\\"{}\\"}}',
    '"stdout": "line one\\n{}\\nline three"',
    "+  value: {}",
    "日志里是 {}\uff0c请撤销",
    "\x1b[31m{}\x1b[0m",
    "redirect?to=a%3D{}",
)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("place", PLACES)
def test_a_providers_token_is_hidden_wherever_it_stands(provider: str, place: str) -> None:
    token = PROVIDERS[provider](Maker())
    before, after = place.format("\0").split("\0")
    shown = redact(place.format(token))
    assert token[8:] not in shown
    assert shown.startswith(before + "[REDACTED:")
    assert shown.endswith("]" + after)


def test_an_installation_token_with_a_web_token_inside_is_hidden_to_its_end() -> None:
    token = PROVIDERS["GitHub installation"](Maker())
    assert redact(f"x {token} y") == "x [REDACTED:github-token] y"


def test_a_gitlab_token_with_the_prefix_of_an_instance_is_hidden() -> None:
    token = PROVIDERS["GitLab"](Maker())
    assert redact(f"use acme-{token} now") == "use acme-[REDACTED:gitlab-token] now"


def test_a_token_longer_than_documented_is_hidden_to_its_end() -> None:
    token = PROVIDERS["GitHub classic"](Maker()) + Maker(8).of(ALPHANUMERIC, 300)
    assert redact(token) == "[REDACTED:github-token]"


def test_a_token_whose_checksum_cannot_be_right_is_hidden() -> None:
    token = PROVIDERS["GitHub classic"](Maker())[:-6] + "000000"
    assert redact(token) == "[REDACTED:github-token]"


@pytest.mark.parametrize(
    "gap", ["\u200b", "\u200d", "\u2060", "\u2063", "\u00ad", "\ufeff", "\U000e0041", "\u202e", "\ufe0f"]
)
def test_invisible_characters_do_not_hide_a_token(gap: str) -> None:
    token = PROVIDERS["GitHub classic"](Maker())
    text = f"{gap}use {token[:17]}{gap}{token[17:]} ok{gap}"
    assert redact(text) == f"{gap}use [REDACTED:github-token] ok{gap}"


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\\\n  ", "\n> ", '" +\n    "', '" "'])
def test_a_token_wrapped_onto_a_second_line_is_hidden(gap: str) -> None:
    token = PROVIDERS["GitHub classic"](Maker())
    assert redact(f'x = "{token[:20]}{gap}{token[20:]}"') == 'x = "[REDACTED:github-token]"'


def test_the_line_after_a_whole_token_stays() -> None:
    token = PROVIDERS["GitHub classic"](Maker())
    assert redact(f"{token}\n{'abcdefgh' * 5}") == "[REDACTED:github-token]\n" + "abcdefgh" * 5


def test_a_token_is_not_let_through_because_the_word_example_follows() -> None:
    token = PROVIDERS["GitHub classic"](Maker())
    assert token[4:] not in redact(f"{token}example")


def test_the_secret_beside_an_access_key_id_is_hidden() -> None:
    make = Maker()
    key, secret = PROVIDERS["AWS"](make), "aB3/" + make.of(ALPHANUMERIC, 36)
    assert redact(f"Id,Secret\n{key},{secret}\n") == "Id,Secret\n[REDACTED:aws-access-key],[REDACTED:aws-secret-key]\n"


def test_a_span_gives_place_and_kind() -> None:
    token = PROVIDERS["npm"](Maker())
    [span] = scan(f"use {token} now")
    assert (span.start, span.end, span.kind, span.mark) == (4, 4 + len(token), "npm-token", "[REDACTED:npm-token]")
