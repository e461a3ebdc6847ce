"""The key of an audit log: from the environment, or made once beside the log."""

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.errors import SettingsError

KEY_NAME: Final = "audit.key"
SHORTEST: Final = 32
"""Characters of a key that an operator gives; as many as a random key of 128 bits has in hexadecimal."""


@dataclass(frozen=True, slots=True)
class AuditKey:
    """What the chain and the digests are keyed with; neither can be computed from the other.

    Attributes:
        chain: For the MACs of lines.
        digest: For the digests of arguments.
        id: Names the key without telling anything about it.
    """

    chain: bytes
    digest: bytes
    id: str

    @classmethod
    def of(cls, secret: bytes) -> "AuditKey":
        """The keys that follow from one secret."""

        def derived(use: bytes) -> bytes:
            return hmac.digest(secret, b"mcp-curated/audit/1/" + use, hashlib.sha256)

        return cls(derived(b"chain"), derived(b"digest"), derived(b"id").hex()[:8])

    def __repr__(self) -> str:
        return f"AuditKey({self.id})"


def given_key(text: str) -> AuditKey:
    """The key that an operator gives.

    Raises:
        SettingsError: It is too short to be a key.
    """
    if len(text) < SHORTEST:
        raise SettingsError(
            f"The audit key is too short: {SHORTEST} characters are the least.",
            'Make one: python3 -c "import secrets; print(secrets.token_hex(32))"',
        )
    return AuditKey.of(text.encode("utf-8", "surrogatepass"))


def kept_key(folder: str) -> AuditKey | None:
    """The key that lies in the folder; None when there is none.

    Raises:
        OSError: It cannot be read, or is a link.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(os.path.join(folder, KEY_NAME), flags)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        secret = file.read(256)
    if len(secret) < SHORTEST:
        raise OSError(f"{os.path.join(folder, KEY_NAME)} holds no key")
    return AuditKey.of(secret)


def make_key(folder: str) -> AuditKey:
    """The key that lies in the folder, made (0600 from birth, and whole) if there is none.

    Raises:
        OSError: It can be neither read nor made.
    """
    found = kept_key(folder)
    if found is not None:
        return found
    unfinished = os.path.join(folder, f".{KEY_NAME}-{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(unfinished, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_hex(32).encode())
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was quicker: its key counts
            os.link(unfinished, os.path.join(folder, KEY_NAME))
    finally:
        os.unlink(unfinished)
    made = kept_key(folder)
    if made is None:
        raise FileNotFoundError(os.path.join(folder, KEY_NAME))
    return made
