"""Which certificate authorities are trusted: the system's, and those of the operator's file beside them."""

import os
import ssl
import sys
from functools import cache
from typing import Final

from mcp_curated_shared.errors import SettingsError

_BUNDLES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Alpine, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # SUSE
)


@cache
def trust(ca_file: str | None = None) -> ssl.SSLContext:
    """The TLS settings of every connection: certificates verified, by name, TLS 1.2 at least.

    One context a process and file, since reading a store takes some 20 ms. `SSL_CERT_FILE` and `SSL_CERT_DIR` count, as
    for every program that uses OpenSSL.

    Args:
        ca_file: Absolute path of a PEM file with further authorities, or None.

    Raises:
        SettingsError: The file cannot be read or holds no certificate.
    """
    context = _system_context()
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=ca_file)
        except OSError:  # ssl.SSLError is one too
            raise SettingsError(
                "The file with certificate authorities cannot be read.", "Give --ca-file a readable PEM file."
            ) from None
    return context


def _system_context() -> ssl.SSLContext:
    if sys.platform in {"darwin", "win32"}:  # their stores are no files; OpenSSL does not see them
        import truststore

        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = ssl.create_default_context()
    paths = ssl.get_default_verify_paths()
    if not (paths.cafile or _holds_certificates(paths.capath)):
        context.load_verify_locations(cafile=_bundle())
    return context


def _holds_certificates(folder: str | None) -> bool:
    """Whether OpenSSL finds certificates there: files named by the hash of their subject, as `c_rehash` makes them."""
    if folder is None:
        return False
    return any(
        len(stem) == 8 and end.isdigit() for stem, _, end in (name.partition(".") for name in os.listdir(folder))
    )


def _bundle() -> str:
    """A store that this build of Python was not told of, else the list that comes with httpx."""
    import certifi

    return next((path for path in _BUNDLES if os.path.isfile(path)), certifi.where())
