"""The databases that a server has, each under a name; the name is all that clients see of an address."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcp_curated_database.addresses import read_address
from mcp_curated_database.engines.addresses import Address, PostgresAddress, SqliteFile
from mcp_curated_shared.errors import SettingsError

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,62}")

_NAMED: Final = re.compile(rf"({NAME.pattern})=(?=[/~]|[A-Za-z][A-Za-z0-9+.-]*:)")
_RESERVED: Final = "query"
"""`db://query/NAME` is a saved query."""


@dataclass(frozen=True, slots=True)
class Source:
    """One database.

    Attributes:
        name: What clients call it.
        address: Where it is.
        description: For the model that must choose between several; empty for none.
    """

    name: str
    address: Address
    description: str = ""

    def secret_texts(self) -> tuple[str, ...]:
        """The password in its address, if there is one."""
        if isinstance(self.address, PostgresAddress) and self.address.password is not None:
            return (self.address.password.reveal(),)
        return ()


def read_source(text: str) -> Source:
    """`ADDRESS` or `NAME=ADDRESS`; without a name the file's or the database's own is taken.

    Raises:
        SettingsError: What is wrong, without the text.
    """
    match = _NAMED.match(text)
    if match is None:
        address = read_address(text)
        return Source(_own_name(address), address)
    return Source(read_name(match[1]), read_address(text[match.end() :]))


def show_source(source: Source) -> str:
    """A source for `config://main` and `doctor`, its password masked."""
    return f"{source.name}={source.address.shown}"


def read_name(name: str) -> str:
    """The name of a source, if it can be one.

    Raises:
        SettingsError: It cannot.
    """
    if NAME.fullmatch(name) is None:
        raise SettingsError(f"{name[:60]!r} cannot be the name of a source.", "Use letters, digits, _ and -.")
    if name.lower() == _RESERVED:
        raise SettingsError(
            'A source cannot be called "query".', "db://query/NAME is a saved query; take another name."
        )
    return name


def _own_name(address: Address) -> str:
    file = isinstance(address, SqliteFile)
    own = os.path.splitext(address.name)[0] if file else address.database or address.user
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", own).strip("_")[:60] or "database"
    name = name if NAME.fullmatch(name) else f"db_{name}"[:60]
    return f"{name}_db" if name.lower() == _RESERVED else name


def distinct(sources: Sequence[Source]) -> tuple[Source, ...]:
    """The same sources; where two have one name (case does not count), the later gets a number."""
    taken: set[str] = set()
    found: list[Source] = []
    for source in sources:
        name, number = source.name, 1
        while name.lower() in taken:
            number += 1
            name = f"{source.name}_{number}"
        taken.add(name.lower())
        found.append(replace(source, name=name))
    return tuple(found)
