"""Where an SQLite database lies."""

import os
from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A database file.

    Attributes:
        path: Absolute.
        immutable: Whether the operator promises that nobody writes to it: it is then read without locks and without
            `-wal` and `-shm` files, which a read-only folder cannot hold.
    """

    path: str
    immutable: bool = False

    @property
    def name(self) -> str:
        """What people may see of it."""
        return os.path.basename(self.path)

    def uri(self, mode: str) -> str:
        """As `sqlite3` opens it; neither `ro` nor `rw` makes a missing file (sqlite.org/uri.html).

        Args:
            mode: `ro` or `rw`.
        """
        immutable = "&immutable=1" if self.immutable else ""
        return f"file:{quote(self.path)}?mode={mode}{immutable}"
