"""Values that a name announces."""

import pytest

from mcp_curated_shared.security.redaction import redact
from tests.shared.redaction.making import ALPHANUMERIC, Maker

NOTATIONS = (
    "{k}={v}",
    "export {k}={v}",
    '{k}="{v}"',
    "{k}: {v}",
    "{k} = '{v}'",
    '"{k}": "{v}"',
    '\\"{k}\\": \\"{v}\\"',
    '{k} := "{v}"',
    "'{k}' => '{v}',",
    "<{k}>{v}</{k}>",
    '<add key="{k}" value="{v}" />',
    '{{"name": "{k}", "value": "{v}"}}',
    "- name: {k}\n  value: {v}\n",
    'const {k}: string = "{v}";',
    "--{k} {v} --yes",
    "-D{k}={v}",
    "?{k}={v}&page=2",
    "| {k} | {v} |",
    'define("{k}", "{v}");',
    "os.environ['{k}'] = '{v}'",
    "ENV {k} {v}",
    "the {k} is `{v}`",
    "{k}: !secret {v}",
    "&quot;{k}&quot;: &quot;{v}&quot;",
)
NAMES = (
    "password",
    "DB_PASSWORD",
    "dbPassword",
    "clientSecret",
    "API_KEY",
    "apiToken",
    "x-api-key",
    "secret_key",
    "STRIPE_SECRET_PROD",
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_value_under_a_sensitive_name_is_hidden_and_all_else_stays(notation: str, name: str) -> None:
    value = Maker().of(ALPHANUMERIC, 18) + "7a"
    before, after = notation.format(k=name, v="\0").split("\0")
    shown = redact(notation.format(k=name, v=value))
    assert shown.startswith(before + "[REDACTED:")
    assert shown.endswith("]" + after)


@pytest.mark.parametrize(
    "word",
    [
        "密码",
        "密碼",
        "口令",
        "密钥",
        "令牌",
        "пароль",
        "токен",
        "секретный ключ",
        "contraseña",
        "パスワード",
        "비밀번호",
        "Passwort",
    ],
)
@pytest.mark.parametrize("notation", ["{k}\uff1a{v}", "{k}: {v}", "{k}={v}", '{k}: "{v}"'])
def test_sensitive_words_of_other_languages_announce_too(word: str, notation: str) -> None:
    value = Maker().of(ALPHANUMERIC, 14) + "7a"
    assert value not in redact(notation.format(k=word, v=value))


@pytest.mark.parametrize(
    "name",
    [
        "tokenCount",
        "passwordPolicy",
        "token_type",
        "secretName",
        "password_min_length",
        "PASSWORD_FILE",
        "keyboard",
        "author",
        "compass",
        "primary_key",
        "cacheKey",
        "public_key",
        "keyId",
    ],
)
def test_a_name_whose_head_is_no_secret_announces_nothing(name: str) -> None:
    text = f'{name} = "{Maker().of(ALPHANUMERIC, 14)}"'
    assert redact(text) == text


def test_a_weak_password_is_hidden() -> None:
    for value in ("hunter42", "Summer2026!", "Tiger_Adm1n", "48151623"):
        assert redact(f"password={value}") == "password=[REDACTED:password]"


def test_several_values_in_brackets_are_all_hidden() -> None:
    make = Maker()
    first, second = make.of(ALPHANUMERIC, 20), make.of(ALPHANUMERIC, 20)
    assert redact(f'tokens = ["{first}", "{second}"]') == 'tokens = ["[REDACTED:token]", "[REDACTED:token]"]'


def test_a_value_longer_than_what_is_judged_is_hidden_to_its_end() -> None:
    value = Maker().of(ALPHANUMERIC, 5000)
    assert redact(f"token={value}&a=1") == "token=[REDACTED:token]&a=1"


def test_a_zero_width_character_in_the_name_does_not_hide_the_value() -> None:
    value = Maker().of(ALPHANUMERIC, 20)
    assert redact(f"pass\u200bword: {value}") == "pass\u200bword: [REDACTED:password]"


def test_a_default_in_a_template_is_hidden() -> None:
    assert redact("${DB_PASSWORD:-hunter42}") == "${DB_PASSWORD:-[REDACTED:password]}"
