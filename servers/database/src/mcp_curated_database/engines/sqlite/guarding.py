"""The layers around one SQLite connection: what it may prepare, how long it may run, how much it may hold.

`mode=ro` and `query_only` do not stop ATTACH and VACUUM INTO, which make files (measured on 3.40); the authorizer does.
It is asked when a statement is prepared, and again for what virtual tables prepare while it runs.
"""

import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Final

from mcp_curated_database.engines.sqlite.rules import Rules

LARGEST_VALUE: Final = 16 * (1 << 20)
"""Bytes of one text or blob that may be read or made."""

MOST_HEAP: Final = 256 * (1 << 20)
"""Bytes that SQLite may hold in this process: 2,000 columns of the largest value would be 32 GB."""

OPCODES_BETWEEN_LOOKS: Final = 10_000
"""About a tenth of a millisecond; the look itself takes less than a microsecond."""

_LIMITS: Final = (
    (sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
    (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 2_000),
    (sqlite3.SQLITE_LIMIT_VDBE_OP, 5_000_000),
    (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
    (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
)

_SWITCHES: Final = (
    # Names of setconfig(), which Python has since 3.12: no shadow tables or journal by SQL, no schema as text, no
    # extensions, no tokenizers by address, and nothing in the schema may call what is not harmless.
    ("SQLITE_DBCONFIG_DEFENSIVE", True),
    ("SQLITE_DBCONFIG_WRITABLE_SCHEMA", False),
    ("SQLITE_DBCONFIG_TRUSTED_SCHEMA", False),
    ("SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION", False),
    ("SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER", False),
)


class Guard:
    """What one connection may do in the call that has it now. `stop` is called from another thread."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.deadline = float("inf")
        self._stopped = threading.Event()

    def begin(self, deadline: float) -> None:
        """A call begins; it must end by this time of the monotonic clock."""
        self.deadline = deadline
        self.rules.begin()

    def stop(self) -> None:
        """End whatever runs at its next look, for good: the connection is closed after it."""
        self._stopped.set()

    @property
    def expired(self) -> bool:
        """Whether the call's time is over."""
        return time.monotonic() >= self.deadline

    def look(self) -> int:
        """The progress handler: other than 0 interrupts the statement."""
        return 1 if self._stopped.is_set() or self.expired else 0


class GuardedConnection(sqlite3.Connection):
    """A connection with every layer in place before its first statement from outside.

    Args:
        uri: With `mode=ro`, or `mode=rw` for a writer; neither makes a missing file.
        guard: Its rules and deadline.
        busy_seconds: How long to wait for somebody else's lock.
    """

    def __init__(self, uri: str, guard: Guard, busy_seconds: float) -> None:
        super().__init__(uri, uri=True, isolation_level=None, timeout=busy_seconds, cached_statements=16)
        self.text_factory = decoded
        for limit, most in _LIMITS:
            self.setlimit(limit, min(most, self.getlimit(limit)))
        self._switch()
        for pragma in ("trusted_schema = OFF", "mmap_size = 0", "cache_size = -8192", "foreign_keys = ON"):
            self.execute(f"PRAGMA {pragma}").close()
        self.execute(f"PRAGMA hard_heap_limit = {MOST_HEAP}").close()
        if guard.rules.read_only:
            self.execute("PRAGMA query_only = ON").close()
        self.set_progress_handler(guard.look, OPCODES_BETWEEN_LOOKS)
        self._connect_virtual_tables()
        self.set_authorizer(guard.rules.authorize)

    def _switch(self) -> None:
        switch: Callable[[int, bool], None] | None = getattr(self, "setconfig", None)
        if switch is None:
            return
        for name, on in _SWITCHES:
            switch(getattr(sqlite3, name), on)

    def _connect_virtual_tables(self) -> None:
        """Let every virtual table prepare what it prepares once: rtree prepares INSERTs, which are refused later."""
        tables = self.execute("SELECT name FROM sqlite_schema WHERE sql LIKE 'create virtual table%'").fetchall()
        for (name,) in tables:
            quoted = str(name).replace('"', '""')
            try:
                self.execute(f'SELECT 1 FROM "{quoted}" LIMIT 0').close()  # noqa: S608 - quoted, and read-only
            except sqlite3.Error:
                continue  # a module that is not here; whoever asks for the table is told


def decoded(text: bytes) -> str:
    r"""A text value as Python's; a byte that is no UTF-8 becomes `\xHH`, since SQLite promises no encoding."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("utf-8", "backslashreplace")
