"""Reading the address of a database from what an operator writes.

A password may hold any character, percent-encoded or not: the last `@` before the host ends it, one with a character
that RFC 3986 wants encoded was not encoded, and a `%` that is no escape is itself. Errors name the part that is wrong
and never repeat the text, which may hold a password.
"""

import os
import re
from collections.abc import Mapping
from typing import Final, get_args
from urllib.parse import unquote

from mcp_curated_database.engines.addresses import Address, PostgresAddress, SqliteFile, SslMode
from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.nearest import nearest
from mcp_curated_shared.settings import Secret, absolute_path

SSL_MODES: Final[tuple[SslMode, ...]] = get_args(SslMode)

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_POSTGRES: Final = frozenset({"postgres", "postgresql"})
_SQLITE: Final = frozenset({"sqlite", "file"})
_OPTIONS: Final = frozenset(
    {"application_name", "connect_timeout", "target_session_attrs", "options", "sslcert", "sslkey"}
)
_KNOWN: Final = frozenset(
    {"sslmode", "sslrootcert", "passfile", "host", "port", "user", "password", "dbname", *_OPTIONS}
)
_QUERY: Final = re.compile(r"\?((?:[a-z_]+=[^&]*)(?:&[a-z_]+=[^&]*)*)\Z")
_BROKEN_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_EXAMPLES: Final = "Give /home/me/shop.db, sqlite:///home/me/shop.db or postgresql://user@host/database."


def read_address(text: str, *, tunnel: str = "") -> Address:
    """The address that a text gives.

    Args:
        text: `postgresql://`, `postgres://`, `sqlite:///`, `file:` or the absolute path of a file.
        tunnel: `ssh HOST` for PostgreSQL, or empty.

    Raises:
        SettingsError: What is wrong, without the text.
    """
    match = _SCHEME.match(text)
    scheme = match[1].lower() if match else ("file" if text[:5].lower() == "file:" else "")
    if scheme.split("+", 1)[0] in _POSTGRES:
        return _postgres(text[match.end() :] if match else text, tunnel)
    if tunnel:
        raise SettingsError("A tunnel is for PostgreSQL only.", "Leave tunnel out for a file.")
    if scheme.split("+", 1)[0] in _SQLITE:
        return _sqlite(text[len(scheme) + 1 :])
    if scheme:
        close = nearest(scheme, [*_POSTGRES, *_SQLITE])
        hint = f"Did you mean {close}? " if close else ""
        raise SettingsError(f"There is no engine for {scheme}: addresses.", hint + _EXAMPLES)
    return SqliteFile(_file(text))


def _file(path: str) -> str:
    if path == ":memory:" or not path:
        raise SettingsError("A database in memory is empty: there is nothing to read.", _EXAMPLES)
    if not os.path.isabs(os.path.expanduser(path)) and any(mark in path for mark in "@="):
        # It may be an address without its scheme, or libpq's own form, with a password in it.
        raise SettingsError("This is neither an address nor an absolute path.", _EXAMPLES)
    return os.path.normpath(absolute_path(path))


def _sqlite(rest: str) -> SqliteFile:
    """What follows the scheme's colon: `/path`, `//host/path` with an empty host or localhost, and a query."""
    path, _, query = rest.partition("?")
    if path.startswith("//"):
        host, slash, path = path[2:].partition("/")
        if host not in {"", "localhost"} or not slash:
            raise SettingsError("An SQLite address has three slashes and an absolute path.", _EXAMPLES)
        path = "/" + path.lstrip("/")
        if re.match(r"/[A-Za-z]:[/\\]", path):
            path = path[1:]  # a drive of Windows
    immutable = False
    for name, value in _parameters(query).items():
        if name == "immutable" and value in {"0", "1", "true", "false"}:
            immutable = value in {"1", "true"}
        elif (name, value) != ("mode", "ro"):
            raise SettingsError(
                f"An SQLite address cannot say {name}={value[:20]}.", "It takes immutable=1 and nothing else."
            )
    if path in {"", "/"}:
        raise SettingsError("An SQLite address has three slashes and an absolute path.", _EXAMPLES)
    return SqliteFile(_file(unquote(path)), immutable)


def _parameters(query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in query.split("&") if query else ():
        name, _, value = part.partition("=")
        found[unquote(name)] = _decoded(value)
    return found


def _decoded(text: str) -> str:
    """Percent-decoded where every `%` is an escape; else as it is."""
    return text if _BROKEN_ESCAPE.search(text) else unquote(text)


def _postgres(rest: str, tunnel: str) -> PostgresAddress:
    match = _QUERY.search(rest)
    # A "?" of a password is no query: an "@" would still follow, and no parameter is known by that name.
    known = match is not None and all(name in _KNOWN for name in _parameters(match[1]))
    if match is not None and "@" in match[1] and "@" not in rest[: match.start()]:
        known = False
    if match is not None and not known and "@" not in match[1]:
        raise _unknown_parameter(_parameters(match[1]))
    parameters = _parameters(match[1]) if match is not None and known else {}
    main = rest[: match.start()] if match is not None and known else rest
    credentials, at, place = main.rpartition("@")
    user, _, password = credentials.partition(":")
    host, slash, database = place.partition("/")
    if not at and "?" in place:
        raise SettingsError("The address has a query that cannot be read.", "Write ?sslmode=require&... behind it.")
    host, port = _host_and_port(_decoded(host))
    password_given = password if ":" in credentials else None
    return _with_parameters(
        PostgresAddress(
            host=host,
            port=port,
            user=_decoded(user),
            password=Secret(_password(password_given)) if password_given else None,
            database=_decoded(database) if slash else "",
            tunnel=read_tunnel(tunnel),
        ),
        parameters,
    )


def _password(text: str) -> str:
    """Percent-decoded, unless it holds what an encoded one cannot: then nobody encoded it."""
    return text if any(mark in text for mark in "@/?#") else _decoded(text)


def _host_and_port(place: str) -> tuple[str, int | None]:
    if "," in place:
        raise SettingsError("The address names several hosts; one is enough.", "Make a source of each.")
    if place.startswith("["):
        host, _, after = place[1:].partition("]")
        port = after.removeprefix(":")
    elif place.startswith("/"):
        return place, None
    else:
        host, _, port = place.partition(":")
    return host, _port(port)


def _port(text: str) -> int | None:
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", text) or not 0 < int(text) < 65536:
        raise SettingsError(
            "The port of the address is no number from 1 to 65535.",
            "Write postgresql://user:password@host:5432/database; a # or / in a password is written %23 or %2F.",
        )
    return int(text)


def _with_parameters(address: PostgresAddress, parameters: Mapping[str, str]) -> PostgresAddress:
    given = dict(parameters)
    password = given.pop("password", "")
    return PostgresAddress(
        host=given.pop("host", "") or address.host,
        port=_port(given.pop("port", "")) or address.port,
        user=given.pop("user", "") or address.user,
        password=Secret(password) if password else address.password,
        database=given.pop("dbname", "") or address.database,
        sslmode=read_ssl_mode(given.pop("sslmode", "")),
        sslrootcert=read_certificates(given.pop("sslrootcert", "")),
        passfile=_optional_path(given.pop("passfile", "")),
        tunnel=address.tunnel,
        options=tuple(sorted(given.items())),
    )


def _unknown_parameter(parameters: Mapping[str, str]) -> SettingsError:
    name = next(name for name in parameters if name not in _KNOWN)
    close = nearest(name, _KNOWN)
    hint = f"Did you mean {close}? " if close else ""
    return SettingsError(
        f"The address has an unknown parameter {name[:40]}.", f"{hint}Known: {', '.join(sorted(_KNOWN))}."
    )


def read_ssl_mode(text: str) -> SslMode | None:
    """One of libpq's six modes; None for an empty text.

    Raises:
        SettingsError: It is none of them.
    """
    if not text:
        return None
    for mode in SSL_MODES:
        if text == mode:
            return mode
    close = nearest(text, SSL_MODES)
    hint = f"Did you mean {close}? " if close else ""
    raise SettingsError(f"sslmode {text[:40]!r} is not known.", f"{hint}It is one of {', '.join(SSL_MODES)}.")


def read_certificates(text: str) -> str:
    """The path of a file of certificates, or `system`; empty for none.

    Raises:
        SettingsError: The path is relative.
    """
    return text if text == "system" else _optional_path(text)


def _optional_path(text: str) -> str:
    return absolute_path(text) if text else ""


_TUNNEL: Final = re.compile(r"ssh\s+((?:[A-Za-z0-9_][A-Za-z0-9_.-]*@)?[A-Za-z0-9_\[][A-Za-z0-9_.:\[\]-]*)")


def read_tunnel(text: str) -> str:
    """`ssh HOST` in its one spelling. A host cannot begin with a dash: ssh would take it for an option.

    Raises:
        SettingsError: It is something else, such as a whole command line.
    """
    if not text:
        return ""
    match = _TUNNEL.fullmatch(text.strip())
    if match is None:
        raise SettingsError(
            f"tunnel {text[:60]!r} cannot be used.",
            'Write "ssh HOST" or "ssh USER@HOST"; everything else belongs into ~/.ssh/config.',
        )
    return f"ssh {match[1]}"
