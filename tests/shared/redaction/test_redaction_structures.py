"""Secrets whose surroundings tell what they are."""

import base64

import pytest

from mcp_curated_shared.security.redaction import redact
from tests.shared.redaction.making import ALPHANUMERIC, HEX, Maker

KEYS = (
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
)


@pytest.mark.parametrize("name", KEYS)
def test_the_data_of_a_private_key_is_hidden_and_its_armour_stays(name: str) -> None:
    block, _ = Maker().private_key(name)
    assert redact(f"x\n{block}\ny") == f"x\n-----BEGIN {name}-----\n[REDACTED:private-key]\n-----END {name}-----\ny"


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("newline", ["\\n", "\\\\n", "\\r\\n", "\r\n", "\n    ", '\\n" +\n"'])
def test_a_private_key_is_hidden_however_its_lines_are_broken(name: str, newline: str) -> None:
    block, body = Maker().private_key(name)
    shown = redact(f'{{"key": "{block.replace(chr(10), newline)}"}}')
    assert not any(line[:20] in shown for line in body)
    assert shown.endswith('"}')


def test_a_private_key_that_was_cut_is_hidden_to_the_cut() -> None:
    block, body = Maker().private_key()
    shown = redact(block[:400])
    assert shown.startswith("-----BEGIN")
    assert body[-3][:20] not in shown
    assert shown.endswith("[REDACTED:private-key]")


def test_a_private_key_in_base64_is_hidden() -> None:
    block, _ = Maker().private_key()
    encoded = base64.b64encode(block.encode()).decode()
    assert redact(f"tls.key: {encoded}") == "tls.key: [REDACTED:private-key]"


def test_a_key_without_its_armour_is_hidden_and_a_certificate_is_not() -> None:
    make = Maker()
    key = base64.b64encode(b"\x30\x82\x04\xa4\x02\x01\x00\x02\x82" + make.random.randbytes(400)).decode()
    certificate = base64.b64encode(b"\x30\x82\x04\xa4\x30\x82\x03\x8c" + make.random.randbytes(400)).decode()
    assert redact(key) == "[REDACTED:private-key]"
    assert redact(certificate) == certificate


@pytest.mark.parametrize("name", ["CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE REQUEST"])
def test_public_blocks_stay(name: str) -> None:
    block, _ = Maker().private_key(name)
    assert redact(block) == block


@pytest.mark.parametrize(
    "scheme",
    [
        "postgres",
        "postgresql+asyncpg",
        "mysql",
        "mongodb+srv",
        "redis",
        "amqps",
        "https",
        "ftp",
        "smtp",
        "ldap",
        "snowflake",
    ],
)
@pytest.mark.parametrize("user", ["app", ""])
def test_the_password_of_an_address_is_hidden_and_the_rest_stays(scheme: str, user: str) -> None:
    password = Maker().of(ALPHANUMERIC, 14)
    assert redact(f"at {scheme}://{user}:{password}@db.internal:5432/x?y=1 now") == (
        f"at {scheme}://{user}:[REDACTED:url-password]@db.internal:5432/x?y=1 now"
    )


@pytest.mark.parametrize("middle", ["@", "%40", "@x@", ":"])
def test_a_password_with_a_sign_of_addresses_in_it_is_hidden_whole(middle: str) -> None:
    make = Maker()
    password = make.of(ALPHANUMERIC, 7) + middle + make.of(ALPHANUMERIC, 7)
    assert redact(f"redis://u:{password}@h/0") == "redis://u:[REDACTED:url-password]@h/0"


def test_an_unescaped_slash_in_a_drivers_password_does_not_end_it() -> None:
    assert redact("postgres://app:aX7/bY9#c@db/prod") == "postgres://app:[REDACTED:url-password]@db/prod"


def test_a_token_in_the_place_of_the_user_is_hidden() -> None:
    token = Maker().of(ALPHANUMERIC, 40)
    assert redact(f"https://{token}@github.com/a/b") == "https://[REDACTED:url-token]@github.com/a/b"
    assert redact(f"https://{token}:x-oauth-basic@h/a") == "https://[REDACTED:url-token]:x-oauth-basic@h/a"


@pytest.mark.parametrize(
    "text",
    [
        "Server=db;User Id=sa;Password={};Encrypt=True",
        "host=db user=app password={} dbname=x",
        "jdbc:postgresql://db/x?user=u&password={}&ssl=true",
        "jdbc:oracle:thin:scott/{}@db:1521:x",
        "app:{}@tcp(db:3306)/x",
        "db.internal:5432:prod:app:{}",
        "AccountName=a;AccountKey={};EndpointSuffix=core.windows.net",
        "Endpoint=sb://x;SharedAccessKeyName=Root;SharedAccessKey={}",
        "https://x.blob/c?sv=2024&sig={}&se=2027",
    ],
)
def test_the_password_of_a_connection_string_is_hidden(text: str) -> None:
    before, after = text.split("{}")
    shown = redact(text.format(Maker().of(ALPHANUMERIC, 31) + "7"))
    assert shown.startswith(before + "[REDACTED:")
    assert shown.endswith("]" + after)


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {}",
        "authorization: token {}",
        '-H "Authorization: Bearer {}"',
        '"Authorization": "Bearer {}"',
        '\\"Authorization\\":\\"Bearer {}\\"',
        "Proxy-Authorization: Bearer {}",
        "Authorization: ApiKey {}",
        "Authorization: {}",
        "auth with Bearer {} fails",
        "X-Vault-Token: {}",
        "PRIVATE-TOKEN: {}",
        "Ocp-Apim-Subscription-Key: {}",
        "Cookie: sid={}; theme=dark",
        "Set-Cookie: session={}; Path=/; HttpOnly",
        "cookie: a=b; connect.sid={}",
    ],
)
def test_a_credential_in_a_header_is_hidden_and_the_header_stays(text: str) -> None:
    before, after = text.split("{}")
    shown = redact(text.format(Maker().of(HEX, 40)))
    assert shown.startswith(before + "[REDACTED:")
    assert shown.endswith("]" + after)


@pytest.mark.parametrize(
    "text", ["Authorization: Basic {}", "-H 'Authorization: Basic {}'", '"auth": "{}"', "_auth={}", "Basic {}"]
)
def test_basic_credentials_are_hidden(text: str) -> None:
    value = base64.b64encode(f"bob:{Maker().password()}".encode()).decode()
    assert value[:8] not in redact(text.format(value))


@pytest.mark.parametrize(
    "command",
    [
        "curl -u a:{} https://x",
        'curl -sSu "bob:{}" https://x',
        "curl -X GET https://x --user bob:{}",
        "wget --password={} https://x",
        "mysql -uroot -p{} db",
        "sshpass -p '{}' ssh h",
        "redis-cli -h x -a {} ping",
        "docker login -u bob -p {} reg",
        "sqlcmd -S x -U sa -P {}",
        "ldapsearch -x -D cn=a -w {} -b x",
        "PGPASSWORD={} psql -h x",
        "machine h login bob password {}",
        "machine h\n  login bob\n  password {}\n",
        "ALTER USER bob WITH PASSWORD '{}';",
        "CREATE USER b IDENTIFIED BY '{}';",
        "echo {} | docker login --password-stdin",
        "openssl rsa -in k -passin pass:{}",
        "kubectl create secret generic x --from-literal=password={}",
        "npm config set //registry/:_authToken {}",
        "smbclient //h/s -U bob%{}",
        "requirepass {}",
    ],
)
def test_a_password_on_a_command_line_is_hidden(command: str) -> None:
    before, after = command.split("{}")
    shown = redact(command.format(Maker().password()))
    assert shown.startswith(before + "[REDACTED:")
    assert shown.endswith("]" + after)


def test_everything_in_a_kubernetes_secret_is_hidden_and_nothing_in_the_next_document() -> None:
    value = Maker().encoded(12)
    manifest = "kind: {}\nmetadata:\n  name: x\ndata:\n  any.thing: {}\n  other: YmFy\n"
    hidden = "[REDACTED:kubernetes-secret]"
    text = manifest.format("Secret", value, value) + "---\n" + manifest.format("ConfigMap", value)
    assert redact(text) == (
        manifest.format("Secret", hidden).replace("YmFy", hidden) + "---\n" + manifest.format("ConfigMap", value)
    )


def test_a_block_of_lines_in_a_kubernetes_secret_is_hidden() -> None:
    text = "kind: Secret\nstringData:\n  file: |\n    line one\n    line two\ntype: Opaque\n"
    shown = redact(text)
    assert "line" not in shown
    assert shown.endswith("\ntype: Opaque\n")


def test_a_kubernetes_secret_in_json_is_hidden() -> None:
    text = '{"kind": "Secret", "data": {"a": "Zm9vYmFy"}, "type": "Opaque"}'
    assert redact(text) == '{"kind": "Secret", "data": {"a": "[REDACTED:kubernetes-secret]"}, "type": "Opaque"}'
