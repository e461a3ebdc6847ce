"""Notations in which a name and its value are joined by more than a sign."""

import pytest

from mcp_curated_shared.security.redaction import redact
from tests.shared.redaction.making import ALPHANUMERIC, Maker

_VALUE = "q7" + Maker(41).of(ALPHANUMERIC, 16)

_WRITTEN = (
    f"const smtpPassword = process.env.SMTP_PASSWORD || '{_VALUE}';",
    f"apiToken = options.apiToken ?? '{_VALUE}'",
    f'public string ClientSecret {{ get; set; }} = "{_VALUE}";',
    f'clientSecret = <string>"{_VALUE}"',
    f"<key>api_key</key>\n<string>{_VALUE}</string>",
    f'Content-Disposition: form-data; name="access_token"\r\n\r\n{_VALUE}\r\n--b',
    f"wifi_psk={_VALUE}",
    f"bind_pw: {_VALUE}",
    f"recovery_code = '{_VALUE}'",
    f"zip -P {_VALUE} a.zip f",
    f"7z x -p{_VALUE} a.7z",
    f"az login --service-principal -u x -p {_VALUE} --tenant y",
    f"twine upload -u __token__ -p {_VALUE} dist/a",
    f"gh secret set NAME --body {_VALUE}",
    f"net use Z: \\\\host\\share /user:bob {_VALUE}",
    f"wpa_passphrase net {_VALUE}",
    f"openssl enc -aes-256-cbc -k {_VALUE} -in a",
)


@pytest.mark.parametrize("text", _WRITTEN)
def test_a_secret_is_hidden_in_each_notation_and_nothing_else_is(text: str) -> None:
    shown = redact(text)
    before, _, after = text.partition(_VALUE)
    assert shown.startswith(before + "[REDACTED:")
    assert shown.endswith("]" + after)


@pytest.mark.parametrize(
    "text",
    (
        f"session {Maker(42).uuid()} closed",
        "tar -p x && unzip -p a.zip b.txt",
        "password || confirmation",
        'public string Password { get; set; } = "";',
        'Content-Disposition: form-data; name="password"\r\n\r\n\r\n--b',
        "zip -P",
        "the pw field and the recovery mode",
    ),
)
def test_the_same_notations_without_a_secret_stay(text: str) -> None:
    assert redact(text) == text


def test_full_width_letters_hide_no_token() -> None:
    token = "gh" + "p_" + Maker(43).of(ALPHANUMERIC, 36)
    wide = "".join("\uff3f" if sign == "_" else chr(ord(sign) + 0xFEE0) for sign in token)
    assert redact(f"见 {wide} 完") == "见 [REDACTED:github-token] 完"
