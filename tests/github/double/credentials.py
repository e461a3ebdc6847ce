"""Tokens in GitHub's formats, made at run time: no secret-shaped string stands in a file."""

import base64
import json
import secrets
import string
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["classic", "fine_grained", "oauth", "installation"]
_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


@dataclass(frozen=True, slots=True)
class Token:
    """A token and what it may do.

    `scopes` count for classic and OAuth tokens; `permissions` and `repositories` (full names in lower case; None: all
    that the account has) for the others. `text` is what a client sends.
    """

    text: str
    kind: Kind
    login: str
    scopes: tuple[str, ...] = ()
    permissions: Mapping[str, str] | None = None
    repositories: frozenset[str] | None = None

    @property
    def scoped(self) -> bool:
        """Whether its rights are scopes, which GitHub tells with every answer."""
        return self.kind in ("classic", "oauth")

    def may_write_issues(self, *, private: bool) -> bool:
        """Whether it may open issues and comment where its account may."""
        if self.scoped:
            return "repo" in self.scopes or ("public_repo" in self.scopes and not private)
        return (self.permissions or {}).get("issues") == "write"


def token_text(kind: Kind) -> str:
    """A new token of this kind, in the form GitHub gives it today, with its checksum where the form has one."""
    match kind:
        case "classic":
            return checksummed("ghp_")
        case "oauth":
            return checksummed("gho_")
        case "fine_grained":
            return f"github_pat_{_random(22)}_{_random(59)}"
        case "installation":
            return f"ghs_{100_000 + secrets.randbelow(900_000)}_{_jwt()}"


def checksummed(prefix: str) -> str:
    """30 random characters and the six of their CRC-32 in base 62 (GitHub's token format of 2021)."""
    body = _random(30)
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = _BASE62[digit] + digits
    return prefix + body + digits


def clone_token() -> str:
    """A credential as GitHub gives it in `temp_clone_token` and in a private file's `download_url`."""
    return "A" + _random(28).upper()


def _random(length: int) -> str:
    return "".join(secrets.choice(_BASE62) for _ in range(length))


def _jwt() -> str:
    parts = (json.dumps({"alg": "RS256", "typ": "JWT"}), json.dumps({"iss": "github", "jti": _random(200)}))
    encoded = [base64.urlsafe_b64encode(part.encode()).rstrip(b"=").decode() for part in parts]
    signature = base64.urlsafe_b64encode(secrets.token_bytes(64)).rstrip(b"=").decode()
    return ".".join([*encoded, signature])
