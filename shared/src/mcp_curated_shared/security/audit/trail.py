"""What a running server records, from its event loop and without holding a call up.

Events that describe wait for the end of the current step of the loop and are then written together. An event that must
be there before something happens is written at once, on a thread, and lasts when `sure` returns.
"""

import asyncio
import hashlib
import hmac
import json
import logging
import secrets
from collections import deque
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.audit.chain import Head, Record
from mcp_curated_shared.security.audit.log import AuditError, AuditLog
from mcp_curated_shared.security.confirmation import Consent, Plan
from mcp_curated_shared.work import Work, WorkPool

AuditLevel = Literal["all", "changes"]
"""all: every call. changes: calls that change something, and, of the others, those that were refused or cancelled."""

_log = logging.getLogger(__name__)

SURE_SECONDS: Final = 10.0
LONGEST_TEXT: Final = 200
WAITING_EVENTS: Final = 10_000

current_operation: ContextVar[str] = ContextVar("mcp_curated_operation", default="")
"""The operation that the current call belongs to: its rounds, its question and its write share one."""


class Subject:
    """A JSON value that several events are about: only its keyed digest is recorded, and computed once.

    Args:
        value: The value.
    """

    __slots__ = ("_digest", "_value")

    def __init__(self, value: object) -> None:
        self._value: object = value
        self._digest: tuple[bytes, str] | None = None

    def digest(self, key: bytes) -> str:
        """Its digest under a key."""
        if self._digest is None or self._digest[0] != key:
            self._digest = (key, keyed_digest(key, self._value))
        return self._digest[1]


@dataclass(frozen=True, slots=True)
class Described:
    """An event, and what it is about, which is recorded by its keyed digest only."""

    record: Record
    digests: tuple[tuple[str, Subject], ...] = ()


class Trail:
    """The audit of one server process.

    Args:
        log: Where it is written.
        server: The distribution's name.
        version: Its version.
        level: Which calls are recorded.
        secrets: The process's own secrets, hidden wherever a text of somebody else holds one.
    """

    def __init__(
        self, log: AuditLog, *, server: str, version: str, level: AuditLevel, secrets: Iterable[str] = ()
    ) -> None:
        self._log = log
        self._server = server
        self._version = version
        self.level: AuditLevel = level
        self._secrets = tuple(secrets)
        self._by = _token()
        self._started = False
        self._waiting: deque[Described] = deque()
        self._scheduled = False
        self._lost = 0
        self._pool = WorkPool(threads=1, lane_threads=1, lane_noun="state folder")
        self.untrusted = lru_cache(maxsize=512)(self._untrusted)

    def note(self, record: Record, **about: object) -> None:
        """Record an event soon. Never raises and never waits: what cannot be written is counted and said in the log.

        Args:
            record: Its facts; every text in it is one of ours, or went through `untrusted`.
            about: JSON values that only their keyed digest may appear of, by the name of the field; as a `Subject`
                where several events are about the same one.
        """
        if len(self._waiting) >= WAITING_EVENTS:
            self._lost += 1
            return
        self._waiting.append(self._described(record, about))
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._flush)

    async def sure(self, record: Record, **about: object) -> None:
        """Record an event now, after those that wait; it is on the disk when this returns.

        Raises:
            AuditError: It cannot be recorded.
        """
        self._waiting.append(self._described(record, about))
        events = self._take()

        def write(_: Work) -> None:
            self._write(events, sync=True)

        try:
            await self._pool.run(write, seconds=SURE_SECONDS, lane="audit")
        except CuratedError as error:
            self._lost += len(events)
            raise error if isinstance(error, AuditError) else AuditError(error.text, error.next_step) from error

    def close(self) -> Head | None:
        """Write what waits.

        Returns:
            The head of the chain, which somebody may keep; None if this process recorded nothing.
        """
        self._flush()
        if not self._started:
            return None
        self._waiting.append(self._described({"event": "stop"}, {}))
        self._flush()
        self._pool.close()
        return self._log.close()

    def _described(self, record: Record, about: dict[str, object]) -> Described:
        stamped = {"time": self._log.time(), **record, "by": self._by}
        operation = current_operation.get()
        if operation:
            stamped["op"] = operation
        return Described(stamped, tuple((name, _subject(value)) for name, value in about.items()))

    def _take(self) -> list[Described]:
        events = list(self._waiting)
        self._waiting.clear()
        return events

    def _flush(self) -> None:
        self._scheduled = False
        events = self._take()
        if not events:
            return
        try:
            self._write(events, sync=False)
        except AuditError as error:
            if self._lost == 0:
                _log.error("%s Calls go on without a record; writes that need one are refused.", error)
            self._lost += len(events)

    def _write(self, events: list[Described], *, sync: bool) -> None:
        records = [self._recorded(event) for event in events]
        if self._lost:
            records.insert(0, {"event": "lost", "count": self._lost, "by": self._by})
        if not self._started:
            facts = {"event": "start", "by": self._by, "server": self._server, "version": self._version}
            records.insert(0, {**facts, "level": self.level})
        self._log.append(*records, sync=sync)
        self._started = True
        self._lost = 0

    def _recorded(self, event: Described) -> Record:
        if not event.digests:
            return event.record
        key = self._log.key.digest
        return {**event.record, **{name: subject.digest(key) for name, subject in event.digests}}

    def _untrusted(self, text: str) -> str:
        """A text of somebody else, fit for a record: short, and without secrets."""
        try:
            from mcp_curated_shared.security.redaction import Redactor

            clean = Redactor(self._secrets).redact(text[: 4 * LONGEST_TEXT])
        except Exception:  # a text that might hold a secret is worth less than the secret
            return "[WITHHELD]"
        return clean if len(clean) <= LONGEST_TEXT else clean[:LONGEST_TEXT] + "..."


def _subject(value: object) -> Subject:
    return value if isinstance(value, Subject) else Subject(value)


def keyed_digest(key: bytes, value: object) -> str:
    """A digest of a JSON value that only who has the key can compare with a guess: HMAC-SHA256 cut to 128 bits."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hmac.digest(key, text.encode("ascii"), hashlib.sha256).hex()[:32]


def _token() -> str:
    return secrets.token_hex(4)


class WriteWitness:
    """Records the writes of a `Confirmation`.

    Args:
        trail: Where.
    """

    def __init__(self, trail: Trail) -> None:
        self._trail = trail

    async def write_start(self, plan: Plan, consent: Consent) -> None:
        """Record that a write begins, surely.

        Raises:
            AuditError: It cannot be recorded; the write must not happen.
        """
        try:
            await self._trail.sure({"event": "write_start", **_facts(plan, consent)}, plan=plan.digest)
        except AuditError as error:
            raise AuditError(f"{plan.not_done}: it could not be recorded. {error.text}", error.next_step) from error

    async def write_end(self, plan: Plan, consent: Consent, outcome: str) -> None:
        """Record how it ended."""
        self._trail.note({"event": "write_end", **_facts(plan, consent), "outcome": outcome}, plan=plan.digest)


def _facts(plan: Plan, consent: Consent) -> dict[str, str]:
    named = hashlib.sha256(consent.key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return {"tool": plan.operation, "assurance": consent.assurance, "consent": named}
