"""What looks like a secret and is none."""

import pytest

from mcp_curated_shared.security.redaction import redact
from tests.shared.redaction.making import ALPHANUMERIC, HEX, UPPER, Maker

_make = Maker()
UUID, SHA1, SHA256, SHA512 = _make.uuid(), _make.of(HEX, 40), _make.of(HEX, 64), _make.encoded(64)

IDENTIFIERS = (
    f"request id {UUID} failed",
    f"trace-id: {_make.of(HEX, 32)}",
    f"Fixed in commit {SHA1} on main, see also {SHA1[:12]}",
    f"image: ghcr.io/o/r@sha256:{SHA256}",
    f'"integrity": "sha512-{SHA512}"',
    f"    --hash=sha256:{SHA256}",
    f'sha256 = "{SHA256}"',
    f"golang.org/x/net v0.17.0 h1:{_make.encoded(32)}",
    f"md5sum: {_make.of(HEX, 32)}  file.iso",
    f"resolved https://registry/-/a-1.2.3.tgz#{SHA1}",
    f'"etag": "{_make.of(HEX, 32)}"',
    f"ssh-ed25519 {'AAAA' + 'C3NzaC1lZDI1NTE5AAAAI'}{_make.of(ALPHANUMERIC, 43)} bob@host",
    f"data:image/png;base64,{SHA512}",
    f"AuthKey_{_make.of(UPPER, 10)}.p8",
    f'"private_key_id": "{SHA1}"',
)
PLACEHOLDERS = (
    "password: <your password here>",
    "token: ${GITHUB_TOKEN}",
    "API_KEY=your-api-key-here",
    "gh" + "p_" + "X" * 36,
    "gh" + "p_1234567890abcdefghijklmnopqrstuvwxyz",
    "AKIA" + "IOSFODNN7" + "EXAMPLE",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "password: ********",
    "password: [REDACTED]",
    "token: {{ token }}",
    "token=%s",
    "token: %(token)s",
    "password=$(cat /run/secrets/db)",
    "https://user:<password>@host/",
    "https://user:${PASS}@host/",
    "https://user:password@host/",
    "curl -u user:$PASS https://x",
    "密码\uff1a<你的密码>",
)
CODE = (
    'token = os.getenv("GITHUB_TOKEN")',
    'api_key = os.environ["API_KEY"]',
    "def login(user: str, password: str) -> Token:",
    "token = self._token",
    "password = None",
    'token = ""',
    "if password == confirm_password:",
    'raise ValueError("token expired")',
    "password: { type: String, required: true }",
    "token = serializers.CharField(write_only=True)",
    "apiKey: import.meta.env.VITE_API_KEY,",
    "token.kind == TokenKind::Semicolon",
    'let secret: &str = secrets.get("db")?;',
    'token := r.Header.Get("X-Token")',
    "valueFrom: {secretKeyRef: {name: db, key: password}}",
    'secret = f"{secrets.token_hex(8)}"',
    "url = 'x?token=' + token + '&a=1'",
    'input("Password: ")',
    '_TOKEN = re.compile(r"[A-Za-z0-9]{40,}")',
    'tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")',
    "secret: arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf",
    "password: op://vault/item/field",
    "sid: S-1-5-21-1004336348",
    "docker run -u 1000:1000 x",
)
PROSE = (
    "The password must be changed every 90 days.",
    "password policy: at least 12 characters",
    "the secret is 32 bytes long",
    "The key is sha256-hashed",
    "tokens: 12,345 / 200,000",
    "the bearer of bad news arrives tomorrow",
    "api key: see https://x.test/docs/keys",
    "pass `allow_nothing=True` to it",
    "Exceptions are identified by class instances",
    "密码不能为空",
    "请输入密码\uff1a",
    "令牌已过期",
    "пароль должен содержать 8 символов",
    'WWW-Authenticate: Bearer realm="x", error="invalid_token"',
    "Cookie: lang=en; theme=dark",
    "ssh://git@github.com/octocat/x.git",
    "http://localhost:8080/@user/x",
    "4111 1111 1111 1111",
)


@pytest.mark.parametrize("text", [*IDENTIFIERS, *PLACEHOLDERS, *CODE, *PROSE])
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_lock_files_stay() -> None:
    make = Maker()
    uv = "".join(
        f'[[package]]\nname = "p{n}"\nversion = "1.{n}.0"\nsdist = {{ hash = "sha256:{make.of(HEX, 64)}", size = 1 }}\n'
        for n in range(300)
    )
    npm = "".join(
        f'"node_modules/p{n}": {{"version": "1.0.{n}", "integrity": "sha512-{make.encoded(64)}"}},\n'
        for n in range(300)
    )
    go = "".join(f"example.test/x/p{n} v0.{n}.0 h1:{make.encoded(32)}\n" for n in range(300))
    for text in (uv, npm, go):
        assert redact(text) == text
