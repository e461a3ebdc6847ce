"""Which names announce a secret.

A name is read as English compounds are: its last word says what it is, so `apiToken` is a token, `tokenCount` a
count and `passwordPolicy` a policy. Words that only tell which one (`password_prod`, `TOKEN_2`, `secretValue`) are
passed over.
"""

import re
from functools import lru_cache
from typing import Final, Literal

from mcp_curated_shared.security.redaction.words import word_set

Level = Literal["password", "token", "weak", "bare"]
"""How much the name says: a password may look like anything; a token has no plain form; a weak name asks for a value
that can be nothing but a key; a bare "key" asks for a sentence on top."""

_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_PASSED_OVER: Final = word_set(
    "prod production dev development staging stage test testing qa uat live sandbox local old new current "
    "previous prev primary secondary backup default main value values val string str text plain plaintext "
    "cleartext raw b64 base64 encoded env var wo confirm confirmation again repeat verify ro rw admin root here "
    "data header param bytes literal ref base"
)
_PASSWORDS: Final = word_set(
    "password passwords passwd passwort passphrase passcode pwd pswd passw pword kennwort contrasena senha parola "
    "haslo heslo wachtwoord losenord masterauth requirepass psk pw rootpw bindpw passordet motdepasse sshpass userpass"
)
_TOKENS: Final = word_set(
    "token tokens secret secrets apikey apikeys authkey credential credentials creds jwt authtoken"
)
_SESSIONS: Final = word_set(
    "sessionid sessid phpsessid jsessionid sessionkey session cookie sid csrf xsrf csrftoken connectsid"
)
_WEAK: Final = word_set("auth bearer salt signature sig pat cred otp mnemonic seed nonce")

# "key" says nothing alone. These words before it make it a secret, ...
_SECRET_KEYS: Final = word_set(
    "api secret access private auth authentication authorization encryption decryption encrypt crypt signing sign "
    "signature master account shared service storage license licence app application client admin webhook deploy "
    "ssh session subscription consumer ingest ingestion write server hmac aes rsa jwt token host user developer "
    "dev functions function cookie rest rapidapi rapid wallet root wrapping seal unseal recovery cipher"
)
# ... these make it something else, ...
_PLAIN_KEYS: Final = word_set(
    "public primary foreign sort partition cache map index row object dict group routing unique natural hash "
    "translation lookup range composite idempotency key parent child node tree json xml yaml header query param "
    "field column table tag label i n metric config setting registry event message item list array prop property "
    "attr attribute entry any each first last next prev every arrow shift enter escape esc tab space delete hot "
    "short shortcut return control ctrl alt meta command option keyboard press react vue slot ref data min max"
)
# ... and after any other word ("stripe_key") only the value can tell.

_GLUED_PASSWORD: Final = re.compile(
    r"(?:password|passwd|passphrase|passcode|pwd"
    r"|(?:db|user|root|admin|smtp|mail|ftp|ssh|http|proxy|redis|pg|my|sql|ldap|wifi|store)pass)$"
)
_GLUED_TOKEN: Final = re.compile(
    r"(?:secret|token|apikey|(?:secret|access|private|auth|signing|encryption|master|account|shared|service|storage|"
    r"license|app|client|admin|session|subscription|consumer|server|hmac|jwt|host|function)key)s?$"
)

_RUSSIAN_PAROL: Final = "\u043f\u0430\u0440\u043e\u043b[\u0430-\u044f\u0451]{0,3}"
_RUSSIAN_TOKENS: Final = (
    "\u0442\u043e\u043a\u0435\u043d|\u0441\u0435\u043a\u0440\u0435\u0442|\u043a\u043b\u044e\u0447"  # token, secret, key
)
_FOREIGN_PASSWORDS: Final = (
    f"密码|密碼|口令|暗号|パスワード|비밀번호|{_RUSSIAN_PAROL}|contraseña|mot de passe|şifre|hasło|lösenord"
)
_FOREIGN_TOKENS: Final = (
    "密钥|密鑰|秘钥|秘鑰|令牌|私钥|私鑰|凭证|憑證|授权码|授權碼|トークン|シークレット|秘密鍵|토큰|" + _RUSSIAN_TOKENS
)
FOREIGN_WORDS: Final = f"{_FOREIGN_PASSWORDS}|{_FOREIGN_TOKENS}"
"""An expression for the sensitive words of other scripts and languages, in lower case."""

_FOREIGN_PASSWORD: Final = re.compile(_FOREIGN_PASSWORDS)
_FOREIGN_TOKEN: Final = re.compile(_FOREIGN_TOKENS)


@lru_cache(maxsize=4096)
def level_of(name: str) -> Level | None:
    """What a name announces; None for anything that is no secret.

    Args:
        name: A key as written: `DB_PASSWORD`, `apiToken`, `spring.datasource.password`, `X-Api-Key`, `密码`.
    """
    words = [piece.lower() for piece in _PIECE.findall(name)]
    dropped = False
    while len(words) > 1 and (words[-1] in _PASSED_OVER or words[-1].isdigit()):
        words.pop()
        dropped = True
    if words and not words[-1].isdigit():
        level = _level_of_words(words, dropped=dropped)
        if level:
            return level
    if name.isascii():
        return None
    small = name.lower()
    if _FOREIGN_PASSWORD.search(small):
        return "password"
    return "token" if _FOREIGN_TOKEN.search(small) else None


def _level_of_words(words: list[str], *, dropped: bool) -> Level | None:
    head = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if _is_password(head, before, dropped=dropped):
        return "password"
    if head in _TOKENS or _GLUED_TOKEN.search(head) or (head == "id" and before in ("session", "sess")):
        return "token"
    if head in ("key", "keys"):
        return _level_of_key(before)
    if head in _SESSIONS:
        return "token" if len(head) > len("session") else "weak"
    return "weak" if head in _WEAK or (head == "id" and before == "secret") else None


def _is_password(head: str, before: str, *, dropped: bool) -> bool:
    if head in _PASSWORDS or _GLUED_PASSWORD.search(head) or (head == "pass" and not dropped):
        return True
    if head == "passe":
        return before == "de"
    return head in ("phrase", "word", "code", "codes") and before in ("pass", "recovery", "seed", "backup")


def _level_of_key(before: str) -> Level | None:
    if before in _SECRET_KEYS:
        return "token"
    if not before:
        return "bare"
    if before in _PLAIN_KEYS:
        return None
    return "weak"


@lru_cache(maxsize=4096)
def kind_of(name: str) -> str:
    """The kind that is shown for a value under this name."""
    small = name.lower()
    if level_of(name) == "password":
        return "password"
    for word in ("token", "secret", "cookie", "session"):
        if word in small:
            return word
    return "key" if "key" in small else "secret"
