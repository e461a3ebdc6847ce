"""The TOML file with named sources and saved queries. An unknown key stops the start: somebody meant it.

[sources.shop]
address = "postgresql://reader@db.example/shop"
password_env = "SHOP_PASSWORD"
sslmode = "verify-full"
tunnel = "ssh bastion"

[sources.notes]
file = "/home/me/notes.db"

[queries.top_customers]
source = "shop"
sql = "SELECT name, sum(total) FROM orders WHERE day >= $1::date GROUP BY 1 ORDER BY 2 DESC"
params = [{ name = "since", type = "date", default = "2026-01-01" }]
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, cast, get_args

from mcp_curated_database.addresses import read_address, read_certificates, read_ssl_mode, read_tunnel
from mcp_curated_database.engines.addresses import Address, PostgresAddress, SqliteFile
from mcp_curated_database.saved_queries import ParameterType, SavedParameter, SavedQuery, read_value
from mcp_curated_database.sources import NAME, Source, read_name
from mcp_curated_shared.errors import InvalidArgumentError, SettingsError
from mcp_curated_shared.nearest import nearest
from mcp_curated_shared.settings import Secret, absolute_path
from mcp_curated_shared.settings.environment import read_secret_file

LARGEST_FILE: Final = 1_000_000

Table = Mapping[str, object]

_SOURCE_KEYS: Final = (
    "address", "address_env", "file", "immutable", "host", "port", "user", "password", "password_env",
    "password_file", "database", "sslmode", "sslrootcert", "passfile", "tunnel", "description",
)  # fmt: skip
_POSTGRES_KEYS: Final = (
    "port", "user", "password", "password_env", "password_file", "sslmode", "sslrootcert", "passfile", "tunnel",
)  # fmt: skip
_QUERY_KEYS: Final = ("sql", "source", "description", "params")
_TYPES: Final[tuple[ParameterType, ...]] = get_args(ParameterType)
_PARAMETER_KEYS: Final = ("name", "type", "default", "description")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What a file declares.

    Attributes:
        path: Of the file.
        sources: In its order.
        queries: In its order.
    """

    path: str
    sources: tuple[Source, ...]
    queries: tuple[SavedQuery, ...]

    def secret_texts(self) -> tuple[str, ...]:
        """The passwords in it."""
        return tuple(text for source in self.sources for text in source.secret_texts())


def read_source_file(text: str) -> SourceFile:
    """Read the file at a path.

    Raises:
        SettingsError: What is wrong and under which key; never a password.
    """
    path = absolute_path(text)
    content = _load(path)
    _known(content, ("sources", "queries"), "the file")
    sources = tuple(_source(name, table) for name, table in _tables(content, "sources"))
    queries = tuple(_query(name, table) for name, table in _tables(content, "queries"))
    names = {source.name.lower() for source in sources}
    if len(names) < len(sources):
        raise SettingsError("Two sources have one name but for its case.", "Rename one of them.")
    return SourceFile(path, sources, queries)


def _load(path: str) -> Table:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", "Check the path.") from None
    if len(data) > LARGEST_FILE:
        raise SettingsError(f"{path} is larger than {LARGEST_FILE:,} bytes.", "Name the right file.")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        where = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not UTF-8"
        raise SettingsError(f"{path} is no TOML: {where}.", "Mend that place.") from None


def _tables(content: Table, key: str) -> list[tuple[str, Table]]:
    tables = content.get(key, {})
    if not isinstance(tables, dict):
        raise SettingsError(f"{key} is not a table of tables.", f"Write [{key}.NAME].")
    found: list[tuple[str, Table]] = []
    for name, table in cast("dict[str, object]", tables).items():
        if not isinstance(table, dict):
            raise SettingsError(f"{key}.{name} is not a table.", f"Write [{key}.NAME].")
        found.append((name, cast("Table", table)))
    return found


def _known(table: Table, keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            close = nearest(key, keys)
            hint = f"Did you mean {close}? " if close else ""
            raise SettingsError(f"{where} has an unknown key {key[:60]!r}.", f"{hint}Known: {', '.join(keys)}.")


def _text(table: Table, key: str, where: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise SettingsError(f"{where}: {key} is not a text.", "Put it in quotes.")
    if "${" in value and key not in {"sql", "password", "description"}:
        raise SettingsError(
            f"{where}: {key} holds a reference to a variable; nothing is expanded here.",
            "Use address_env or password_env with the variable's name.",
        )
    return value


def _source(name: str, table: Table) -> Source:
    where = f"sources.{name}"
    _known(table, _SOURCE_KEYS, where)
    read_name(name)
    try:
        return Source(name, _address(table, where), _text(table, "description", where))
    except SettingsError as error:
        text = error.text if error.text.startswith(where) else f"{where}: {error.text}"
        raise SettingsError(text, error.next_step) from None


def _address(table: Table, where: str) -> Address:
    ways = [key for key in ("address", "address_env", "file", "host", "database") if key in table]
    if len(ways) != 1 and ways != ["host", "database"]:
        raise SettingsError(
            f"{where} says where it is in {len(ways)} ways.", "Give one of address, address_env, file, or host."
        )
    if ways == ["file"]:
        address: Address = SqliteFile(absolute_path(_text(table, "file", where)))
    elif ways[0] in {"address", "address_env"}:
        address = read_address(_text(table, "address", where) or _variable(table, "address_env", where))
    else:
        address = PostgresAddress(host=_text(table, "host", where), database=_text(table, "database", where))
    return _completed(address, table, where)


def _completed(address: Address, table: Table, where: str) -> Address:
    if isinstance(address, SqliteFile):
        foreign = next((key for key in _POSTGRES_KEYS if key in table), None)
        if foreign is not None:
            raise SettingsError(f"{where}: {foreign} is for PostgreSQL; this is a file.", "Leave it out.")
        return replace(address, immutable=_flag(table, "immutable", where) or address.immutable)
    if "immutable" in table:
        raise SettingsError(f"{where}: immutable is for SQLite files.", "Leave it out.")
    certificates, passfile = _text(table, "sslrootcert", where), _text(table, "passfile", where)
    return replace(
        address,
        port=_port(table, where) or address.port,
        user=_text(table, "user", where) or address.user,
        password=_password(table, where) or address.password,
        sslmode=read_ssl_mode(_text(table, "sslmode", where)) or address.sslmode,
        sslrootcert=read_certificates(certificates) or address.sslrootcert,
        passfile=(absolute_path(passfile) if passfile else "") or address.passfile,
        tunnel=read_tunnel(_text(table, "tunnel", where)),
    )


def _flag(table: Table, key: str, where: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise SettingsError(f"{where}: {key} is not true or false.", "Write it without quotes.")
    return value


def _port(table: Table, where: str) -> int | None:
    value = table.get("port")
    if value is None:
        return None
    if not isinstance(value, int) or not 0 < value < 65536:
        raise SettingsError(f"{where}: port is no number from 1 to 65535.", "Write it without quotes.")
    return value


def _password(table: Table, where: str) -> Secret | None:
    given = [key for key in ("password", "password_env", "password_file") if key in table]
    if len(given) > 1:
        raise SettingsError(f"{where} gives a password in {len(given)} ways.", "Keep one of them.")
    if not given:
        return None
    if given == ["password"]:
        return Secret(_text(table, "password", where))
    if given == ["password_env"]:
        return Secret(_variable(table, "password_env", where))
    return Secret(read_secret_file(_text(table, "password_file", where), f"{where}: password_file"))


def _variable(table: Table, key: str, where: str) -> str:
    name = _text(table, key, where)
    value = os.environ.get(name, "")
    if not value:
        raise SettingsError(
            f"{where}: the variable {name} that {key} names is not set.", "Set it where the host starts."
        )
    return value


def _query(name: str, table: Table) -> SavedQuery:
    where = f"queries.{name}"
    _known(table, _QUERY_KEYS, where)
    if NAME.fullmatch(name) is None:
        raise SettingsError(f"{name[:60]!r} cannot be the name of a query.", "Use letters, digits, _ and -.")
    sql = _text(table, "sql", where)
    if not sql.strip():
        raise SettingsError(f"{where} has no sql.", "Give the statement as a text.")
    listed = table.get("params", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in cast("list[object]", listed)):
        raise SettingsError(f"{where}: params is not a list of tables.", 'Write [{ name = "since", type = "date" }].')
    parameters = tuple(_parameter(one, where) for one in cast("list[Table]", listed))
    if len({parameter.name for parameter in parameters}) < len(parameters):
        raise SettingsError(f"{where}: two params have one name.", "Rename one of them.")
    return SavedQuery(name, sql, _text(table, "source", where), _text(table, "description", where), parameters)


def _parameter(table: Table, where: str) -> SavedParameter:
    _known(table, _PARAMETER_KEYS, f"{where}: a parameter")
    name, kind = _text(table, "name", where), _text(table, "type", where) or "text"
    if NAME.fullmatch(name) is None:
        raise SettingsError(
            f"{where}: {name[:60]!r} cannot be the name of a parameter.", "Use letters, digits, _ and -."
        )
    parameter = SavedParameter(
        name, _type(kind, where), None, "default" not in table, _text(table, "description", where)
    )
    if parameter.required:
        return parameter
    default = table["default"]
    spelt = str(default).lower() if isinstance(default, bool) else str(default)
    try:
        return replace(parameter, default=read_value(spelt, parameter))
    except InvalidArgumentError as error:
        raise SettingsError(f"{where}: the default of {error.text}", "Mend it.") from None


def _type(text: str, where: str) -> ParameterType:
    for known in _TYPES:
        if text == known:
            return known
    raise SettingsError(f"{where}: {text[:60]!r} is no type of a parameter.", f"Known: {', '.join(_TYPES)}.")
