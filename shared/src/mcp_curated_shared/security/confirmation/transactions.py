"""The ledger's transactions as SQL, without a database: each yields its statements and gets their rows.

So that SQLite and PostgreSQL run the very same logic, a driver sends each statement's rows into the generator,
within one transaction that excludes all others. `?` stands for a parameter.
"""

import secrets
from base64 import b32encode
from collections.abc import Generator
from typing import Any, Final, TypeVar, cast

from mcp_curated_shared.security.confirmation.ledger import (
    OPERATION_SECONDS,
    Assurance,
    Attempt,
    AttemptState,
    Consent,
    Operation,
    OperationState,
    Redeeming,
    Refusal,
)
from mcp_curated_shared.security.confirmation.plans import A_DAY, Plan
from mcp_curated_shared.security.untrusted import safe_text

T = TypeVar("T")
Row = tuple[Any, ...]  # what a database gives; read in one place each
Statement = tuple[str, tuple[str | float | int, ...]]
Transaction = Generator[Statement, list[Row], T]

LEASE_SECONDS: Final = 120.0
"""A write that has not ended after this is taken to be lost, even if its process seems to live."""

WAITING_OPERATIONS: Final = 100
"""A caller that offers more than these pushes its oldest out."""

SCHEMA: Final = (
    """CREATE TABLE IF NOT EXISTS operations (
        id TEXT PRIMARY KEY, caller TEXT NOT NULL, digest TEXT NOT NULL, operation TEXT NOT NULL,
        text TEXT NOT NULL, word TEXT NOT NULL, state TEXT NOT NULL, declined INTEGER NOT NULL,
        expires DOUBLE PRECISION NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS attempts (
        key TEXT PRIMARY KEY, caller TEXT NOT NULL, digest TEXT NOT NULL, state TEXT NOT NULL,
        result TEXT NOT NULL, assurance TEXT NOT NULL, owner TEXT NOT NULL,
        begun DOUBLE PRECISION NOT NULL, forgotten DOUBLE PRECISION NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS attempts_of_content ON attempts (caller, digest, begun)",
)

_OPERATION: Final = "SELECT id, caller, digest, operation, text, word, state, declined, expires FROM operations"
_ATTEMPT: Final = "SELECT key, state, result, assurance, owner, begun FROM attempts"


def new_operation_id() -> str:
    """144 random bits in letters that can be read aloud and are selected by a double click."""
    return "op_" + b32encode(secrets.token_bytes(18)).decode().rstrip("=").lower()


def storable(text: str) -> str:
    """A text that every database can hold: lone surrogates and NUL are escaped."""
    return safe_text(text).replace("\0", "\\x00")


def _operation(row: Row, now: float) -> Operation:
    identifier, caller, digest, operation, text, word, state, declined, expires = row
    left = max(0.0, float(expires) - now)
    seen: OperationState = "expired" if left <= 0 and state != "used" else state
    return Operation(identifier, caller, digest, operation, text, word, seen, left, bool(declined))


def _forget(now: float) -> Transaction[None]:
    """Drop what no call can refer to any more."""
    yield "DELETE FROM operations WHERE expires < ?", (now - A_DAY,)
    yield "DELETE FROM attempts WHERE forgotten < ?", (now,)


def offer(plan: Plan, caller: str, *, declined: bool, now: float) -> Transaction[Operation]:
    """See `Ledger.offer`."""
    yield from _forget(now)
    rows = yield (
        f"{_OPERATION} WHERE caller = ? AND digest = ? AND expires > ? AND state <> 'used' ORDER BY expires DESC",
        (caller, plan.digest, now),
    )
    if rows:
        found = _operation(rows[0], now)
        if declined:
            yield "UPDATE operations SET declined = 1 WHERE id = ?", (found.id,)
        return found
    identifier = new_operation_id()
    expires = now + OPERATION_SECONDS
    text, word = storable(plan.text), storable(plan.word)
    yield (
        "INSERT INTO operations (id, caller, digest, operation, text, word, state, declined, expires)"
        " VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?)",
        (identifier, caller, plan.digest, plan.operation, text, word, int(declined), expires),
    )
    yield (
        "DELETE FROM operations WHERE caller = ? AND state = 'pending' AND id NOT IN"
        " (SELECT id FROM operations WHERE caller = ? AND state = 'pending' ORDER BY expires DESC LIMIT ?)",
        (caller, caller, WAITING_OPERATIONS),
    )
    state: OperationState = "pending"
    return Operation(
        identifier,
        caller,
        plan.digest,
        plan.operation,
        text,
        word,
        state,
        OPERATION_SECONDS,
        declined,
    )


def look(operation_id: str, *, now: float) -> Transaction[Operation | None]:
    """See `Ledger.look`."""
    rows = yield f"{_OPERATION} WHERE id = ?", (operation_id,)
    return _operation(rows[0], now) if rows else None


def waiting(*, now: float) -> Transaction[list[Operation]]:
    """See `Ledger.waiting`."""
    rows = yield f"{_OPERATION} WHERE expires > ? AND state <> 'used' ORDER BY expires", (now,)
    return [_operation(row, now) for row in rows]


def approve(operation_id: str, *, now: float) -> Transaction[Operation | None]:
    """See `Ledger.approve`. The time starts anew: a call must still follow."""
    yield (
        "UPDATE operations SET state = 'approved', expires = ? WHERE id = ? AND state = 'pending' AND expires > ?",
        (now + OPERATION_SECONDS, operation_id, now),
    )
    return (yield from look(operation_id, now=now))


def begin(
    consent: Consent, *, remembered_seconds: float, redeeming: Redeeming, owner: str, now: float
) -> Transaction[tuple[Attempt, str] | Refusal]:
    """See `Ledger.begin`.

    Args:
        consent: The consent.
        remembered_seconds: See there.
        redeeming: See there.
        owner: Names this process, so that another can see whether it still lives.
        now: Seconds since the epoch.
    """
    yield from _forget(now)
    rows = yield "SELECT caller, digest FROM attempts WHERE key = ?", (consent.key,)
    if rows and rows[0] != (consent.caller, consent.digest):
        return "other_content"
    before = yield from earlier(consent, remembered_seconds=remembered_seconds, now=now)
    if before is not None:
        return before
    assurance = consent.assurance
    if consent.key.startswith("op:"):
        redeemed = yield from _redeem(consent, redeeming, now)
        if not isinstance(redeemed, Operation):
            return redeemed
        assurance = "approved_out_of_band" if redeemed.state == "approved" else "host_only"
    yield (
        "INSERT INTO attempts (key, caller, digest, state, result, assurance, owner, begun, forgotten)"
        " VALUES (?, ?, ?, 'running', '', ?, ?, ?, ?)",
        (
            *(consent.key, consent.caller, consent.digest, assurance),
            *(owner, now, now + max(A_DAY, remembered_seconds)),
        ),
    )
    # What waited for the same content has been answered by this consent.
    yield (
        "UPDATE operations SET state = 'used' WHERE caller = ? AND digest = ? AND state <> 'used'",
        (consent.caller, consent.digest),
    )
    return Attempt(consent.key, "running", "", assurance, fresh=True), owner


def earlier(consent: Consent, *, remembered_seconds: float, now: float) -> Transaction[tuple[Attempt, str] | None]:
    """What was begun before with this consent, or with the same content by the same caller, and by which process."""
    # A key that was used for another content, or by another caller, tells nothing of this one.
    rows = yield (
        f"{_ATTEMPT} WHERE key = ? AND caller = ? AND digest = ?",
        (consent.key, consent.caller, consent.digest),
    )
    if not rows and remembered_seconds > 0:
        rows = yield (
            f"{_ATTEMPT} WHERE caller = ? AND digest = ? AND begun > ? AND state <> 'failed' ORDER BY begun DESC",
            (consent.caller, consent.digest, now - remembered_seconds),
        )
    return _attempt(rows[0], now) if rows else None


def _redeem(consent: Consent, redeeming: Redeeming, now: float) -> Transaction[Operation | Refusal]:
    found = yield from look(consent.key.removeprefix("op:"), now=now)
    if found is None:
        return "unknown"
    # One who is not the caller learns nothing about the operation, not even that it exists.
    if found.caller != consent.caller:
        return "other_caller"
    if found.digest != consent.digest:
        return "other_content"
    if found.state in ("expired", "used"):
        return "expired"
    if found.state == "pending" and redeeming == "approved":
        return "not_approved"
    return "declined" if found.state == "pending" and found.declined else found


def finish(key: str, state: AttemptState, result: str) -> Transaction[None]:
    """See `Ledger.finish`."""
    allowed = "'running', 'unknown'" if state == "done" else "'running'"
    statement = f"UPDATE attempts SET state = ?, result = ? WHERE key = ? AND state IN ({allowed})"  # noqa: S608 - one of the two texts above
    yield statement, (state, storable(result), key)


def _attempt(row: Row, now: float) -> tuple[Attempt, str]:
    key, state, result, assurance, owner, begun = row
    # One that has run too long is lost.
    lost = state == "running" and now - float(begun) > LEASE_SECONDS
    return Attempt(key, "unknown" if lost else state, result, cast("Assurance", assurance)), owner
