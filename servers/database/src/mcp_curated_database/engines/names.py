"""Names of tables as people write them: quoted or not, with a schema or without, with `*` and `?`."""

import fnmatch
import re
from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.errors import InvalidArgumentError

_PART: Final = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]]*)\]|([^."`\[]+)')


@dataclass(frozen=True, slots=True)
class NamePart:
    """One part of a name: a glob where it was bare, exact where it was quoted."""

    text: str
    quoted: bool = False

    def matches(self, name: str) -> bool:
        """Whether a real name is meant: exactly in quotes; without them in any case, and by `*` and `?`."""
        if self.quoted:
            return name == self.text
        return fnmatch.fnmatchcase(name.casefold(), _literal_brackets(self.text.casefold()))

    @property
    def is_glob(self) -> bool:
        """Whether it may mean several names."""
        return not self.quoted and ("*" in self.text or "?" in self.text)


def _literal_brackets(glob: str) -> str:
    return glob.replace("[", "[[]")


@dataclass(frozen=True, slots=True)
class NamePattern:
    """Which tables are meant.

    Attributes:
        schema: None for any schema.
        table: The table's own name.
        whole: The text as written; a table may be called so, dots included.
    """

    schema: NamePart | None
    table: NamePart
    whole: str

    def matches(self, schema: str, table: str) -> bool:
        """Whether this table is meant."""
        if self.schema is None:
            return self.table.matches(table)
        return (self.schema.matches(schema) and self.table.matches(table)) or table == self.whole

    @classmethod
    def exactly(cls, schema: str | None, table: str) -> "NamePattern":
        """The pattern of one real name."""
        return cls(None if schema is None else NamePart(schema, True), NamePart(table, True), table)

    @classmethod
    def parse(cls, text: str) -> "NamePattern":
        """Read `orders`, `sales.orders`, `sales.*`, `"Sales Dept"."Order Items"`.

        Raises:
            InvalidArgumentError: It is no name.
        """
        parts: list[NamePart] = []
        rest = text.strip()
        while rest:
            match = _PART.match(rest)
            if match is None:
                break
            quoted = next((part for part in match.groups()[:3] if part is not None), None)
            bare = match[4]
            parts.append(NamePart(bare.strip()) if quoted is None else NamePart(_unescape(quoted, rest[0]), True))
            rest = rest[match.end() :].lstrip()
            if not rest.startswith("."):
                break
            rest = rest[1:].lstrip() or "."
        if rest or not parts or not all(part.text for part in parts):
            raise InvalidArgumentError(
                f"{text[:100]!r} is not a name of a table.",
                'Write orders, sales.orders, order*, sales.* or "Order Items".',
            )
        if len(parts) > 2:  # a database in front, or dots in a bare name
            return cls(parts[-2], parts[-1], text.strip())
        return cls(parts[0] if len(parts) == 2 else None, parts[-1], text.strip())


def _unescape(quoted: str, mark: str) -> str:
    return quoted if mark == "[" else quoted.replace(mark * 2, mark)
