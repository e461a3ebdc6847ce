"""The ledger in one SQLite file of the state folder, shared by every process of this user on this machine.

The file is 0600 in a 0700 folder. It is opened for each transaction and not before the first: consents are rare, and a
handle that is never held cannot go stale.
"""

import os
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Final, TypeVar

from mcp_curated_shared.errors import UnavailableError
from mcp_curated_shared.security.confirmation import transactions
from mcp_curated_shared.security.confirmation.ledger import (
    Attempt,
    AttemptState,
    Consent,
    Operation,
    Redeeming,
    Refusal,
)
from mcp_curated_shared.security.confirmation.owners import as_seen_here, this_process
from mcp_curated_shared.security.confirmation.plans import Plan
from mcp_curated_shared.security.confirmation.transactions import SCHEMA, Row, Transaction
from mcp_curated_shared.security.state_folder import make_state_folder
from mcp_curated_shared.work import Work, WorkPool

T = TypeVar("T")

FILE_NAME: Final = "ledger.sqlite"
BUSY_SECONDS: Final = 5.0
CALL_SECONDS: Final = 10.0
OWNER_ONLY: Final = 0o600


class LedgerFile:
    """The ledger for plain synchronous callers, such as the command line. See `Ledger` for what each method does.

    Args:
        folder: The state folder; made when it is first needed.
        clock: Seconds since the epoch.
    """

    def __init__(self, folder: str, *, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock

    @property
    def path(self) -> str:
        """Where it is."""
        return os.path.join(self._folder, FILE_NAME)

    def offer(self, plan: Plan, caller: str, *, declined: bool = False) -> Operation:
        """See `Ledger.offer`."""
        return self._run(transactions.offer(plan, caller, declined=declined, now=self._clock()))

    def look(self, operation_id: str) -> Operation | None:
        """See `Ledger.look`."""
        return self._run(transactions.look(operation_id, now=self._clock()))

    def waiting(self) -> list[Operation]:
        """See `Ledger.waiting`."""
        return self._run(transactions.waiting(now=self._clock()))

    def approve(self, operation_id: str) -> Operation | None:
        """See `Ledger.approve`."""
        return self._run(transactions.approve(operation_id, now=self._clock()))

    def begin(
        self, consent: Consent, *, remembered_seconds: float, redeeming: Redeeming = "approved"
    ) -> Attempt | Refusal:
        """See `Ledger.begin`."""
        begun = self._run(
            transactions.begin(
                consent,
                remembered_seconds=remembered_seconds,
                redeeming=redeeming,
                owner=this_process(),
                now=self._clock(),
            )
        )
        return begun if isinstance(begun, str) else as_seen_here(*begun)

    def earlier(self, consent: Consent, *, remembered_seconds: float) -> Attempt | None:
        """See `Ledger.earlier`."""
        found = self._run(transactions.earlier(consent, remembered_seconds=remembered_seconds, now=self._clock()))
        return None if found is None else as_seen_here(*found)

    def finish(self, key: str, state: AttemptState, result: str) -> None:
        """See `Ledger.finish`."""
        self._run(transactions.finish(key, state, result))

    def _run(self, transaction: Transaction[T]) -> T:
        try:
            with closing(self._open()) as connection:
                return _drive(connection, transaction)
        except (sqlite3.Error, OSError) as error:
            raise UnavailableError(
                f"The ledger of confirmations {self.path} cannot be used: {error}.",
                "Nothing was done. Look at that file and at the free space of its disk.",
            ) from error

    def _open(self) -> sqlite3.Connection:
        make_state_folder(self._folder)
        try:
            mode = os.lstat(self.path).st_mode
        except FileNotFoundError:
            mode = None
        if mode is not None and not stat.S_ISREG(mode):
            raise UnavailableError(
                f"The ledger of confirmations {self.path} cannot be opened: it is not a regular file.",
                "Nothing was done. Look at that file.",
            )
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        if mode is None or stat.S_IMODE(mode) != OWNER_ONLY:
            # By its path: to open the file beside SQLite and close it again would take away every lock that this
            # process holds on it (fcntl(2)). Until here the folder keeps others out; a journal takes its rights.
            os.chmod(self.path, OWNER_ONLY)
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA synchronous = EXTRA")
        return connection


def _drive(connection: sqlite3.Connection, transaction: Transaction[T]) -> T:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in SCHEMA:
            connection.execute(statement)
        value = _step(connection, transaction)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return value


def _step(connection: sqlite3.Connection, transaction: Transaction[T]) -> T:
    rows: list[Row] | None = None
    while True:
        try:
            statement, parameters = next(transaction) if rows is None else transaction.send(rows)
        except StopIteration as end:
            value: T = end.value
            return value
        rows = connection.execute(statement, parameters).fetchall()


def _pool() -> WorkPool:
    return WorkPool(threads=4, lane_threads=4, lane_noun="state folder")


class SqliteLedger:
    """The ledger for a server: the same file, worked on away from the event loop. See `Ledger`.

    Args:
        folder: The state folder.
        clock: Seconds since the epoch.
    """

    def __init__(self, folder: str, *, clock: Callable[[], float] = time.time) -> None:
        self.file = LedgerFile(folder, clock=clock)
        self._pool = _pool()

    async def close(self) -> None:
        """See `Ledger.close`."""
        pool, self._pool = self._pool, _pool()
        pool.close()

    async def _do(self, function: Callable[[], T]) -> T:
        def work(_: Work) -> T:
            return function()

        return await self._pool.run(work, seconds=CALL_SECONDS, lane="ledger")

    async def offer(self, plan: Plan, caller: str, *, declined: bool = False) -> Operation:
        """See `Ledger.offer`."""
        return await self._do(partial(self.file.offer, plan, caller, declined=declined))

    async def look(self, operation_id: str) -> Operation | None:
        """See `Ledger.look`."""
        return await self._do(partial(self.file.look, operation_id))

    async def waiting(self) -> list[Operation]:
        """See `Ledger.waiting`."""
        return await self._do(self.file.waiting)

    async def approve(self, operation_id: str) -> Operation | None:
        """See `Ledger.approve`."""
        return await self._do(partial(self.file.approve, operation_id))

    async def begin(
        self, consent: Consent, *, remembered_seconds: float, redeeming: Redeeming = "approved"
    ) -> Attempt | Refusal:
        """See `Ledger.begin`."""
        begin = partial(self.file.begin, consent, remembered_seconds=remembered_seconds, redeeming=redeeming)
        return await self._do(begin)

    async def earlier(self, consent: Consent, *, remembered_seconds: float) -> Attempt | None:
        """See `Ledger.earlier`."""
        return await self._do(partial(self.file.earlier, consent, remembered_seconds=remembered_seconds))

    async def finish(self, key: str, state: AttemptState, result: str) -> None:
        """See `Ledger.finish`."""
        await self._do(partial(self.file.finish, key, state, result))
