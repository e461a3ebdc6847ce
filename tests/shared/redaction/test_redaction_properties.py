"""What holds for every text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_curated_shared.security.redaction import Redactor, redact, redact_json, scan
from mcp_curated_shared.security.redaction.spans import MARK
from tests.shared.redaction.making import ALPHANUMERIC, PROVIDERS, Maker

_pieces = st.sampled_from(
    [
        "password",
        "token",
        "api_key",
        "secret",
        "=",
        ": ",
        ":",
        '"',
        "'",
        "\\",
        "\\n",
        "\n",
        " ",
        "@",
        "://",
        "a",
        "Cookie: ",
        "Authorization: ",
        "Bearer ",
        "Basic ",
        "curl -u ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "[",
        "REDACTED:",
        "]",
        "[REDACTED:token]",
        "<",
        ">",
        "{",
        "}",
        "(",
        ")",
        ",",
        ";",
        "&",
        "|",
        "%",
        "\u200b",
        "密码",
        "\uff1a",
        "is ",
        "kind: Secret\ndata:\n  a: ",
        "machine a login b ",
        "eyJhbGciOiJIUzI1NiJ9.",
        "hunter42",
        "aX7bY9cZ1dW3eV5f",
        "x=1",
        "\ud800",
        "\U0001f600",
        "\u0130",
    ]
)
_providers = st.builds(
    lambda name, seed: PROVIDERS[name](Maker(seed)), st.sampled_from(sorted(PROVIDERS)), st.integers(0, 50)
)
_texts = st.lists(st.one_of(_pieces, _pieces, _providers, st.text(max_size=6)), max_size=24).map("".join)
_any_text = st.text(st.characters(), max_size=300)


@settings(max_examples=400, deadline=None)
@given(st.one_of(_texts, _any_text))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=300, deadline=None)
@given(st.one_of(_texts, _any_text))
def test_spans_are_ordered_disjoint_inside_the_text_and_outside_marks(text: str) -> None:
    position = 0
    marks = [match.span() for match in MARK.finditer(text)]
    for span in scan(text):
        assert position <= span.start < span.end <= len(text)
        assert MARK.fullmatch(span.mark)
        assert all(span.end <= start or end <= span.start for start, end in marks)
        position = span.end


@settings(max_examples=300, deadline=None)
@given(st.one_of(_texts, _any_text))
def test_all_that_is_no_span_stays(text: str) -> None:
    pieces: list[str] = []
    position = 0
    for span in scan(text):
        pieces += [text[position : span.start], span.mark]
        position = span.end
    assert redact(text) == "".join([*pieces, text[position:]])


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(categories=["Cs", "Lu", "Ll", "Cf", "Nd"]), max_size=200))
def test_lone_surrogates_and_invisible_characters_never_raise(text: str) -> None:
    redact(f"password={text}\x00token: {text}")


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(PROVIDERS)),
    st.integers(0, 1000),
    st.text("abcdefghij klmnop\n.,;:!?()", max_size=40),
    st.text("abcdefghij klmnop\n.,;:!?()", max_size=40),
)
def test_the_words_around_a_token_are_not_eaten(provider: str, seed: int, before: str, after: str) -> None:
    token = PROVIDERS[provider](Maker(seed))
    shown = redact(f"{before} {token} {after}")
    assert shown.startswith(f"{before} [REDACTED:")
    assert shown.endswith(f"] {after}")


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(['"', "'"]), st.sampled_from([": ", "=", " = ", ":"]))
def test_name_and_quotes_stay(seed: int, quote: str, joint: str) -> None:
    value = Maker(seed).of(ALPHANUMERIC, 22) + "7a"
    assert (
        redact(f"apiToken{joint}{quote}{value}{quote}, next") == f"apiToken{joint}{quote}[REDACTED:token]{quote}, next"
    )


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=12,
)


def _shape(value: object) -> object:
    if isinstance(value, dict):
        return [_shape(item) for item in value.values()]
    if isinstance(value, (list, tuple)):
        return [type(value), *map(_shape, value)]
    return None


@settings(max_examples=200, deadline=None)
@given(_json)
def test_redacting_json_keeps_its_structure_and_is_idempotent(value: object) -> None:
    once = redact_json(value)
    assert _shape(once) == _shape(value)
    assert redact_json(once) == once


@settings(max_examples=100, deadline=None)
@given(
    _texts,
    st.text(
        st.characters(min_codepoint=33, max_codepoint=0x2FFF, categories=["L", "N", "P", "S"]), min_size=6, max_size=30
    ),
)
def test_an_own_secret_survives_nowhere(text: str, secret: str) -> None:
    if secret in "[REDACTED:setting]":
        return
    shown = Redactor([secret]).redact(f"{text} {secret} {text}{secret}")
    assert secret not in MARK.sub(" ", shown)


@pytest.mark.parametrize("seed", range(5))
def test_many_secrets_in_one_text_are_all_hidden(seed: int) -> None:
    make = Maker(seed)
    tokens = [build(make) for build in PROVIDERS.values()]
    shown = redact(" and ".join(tokens))
    assert not any(token in shown for token in tokens)
    assert shown.count(" and ") == len(tokens) - 1
