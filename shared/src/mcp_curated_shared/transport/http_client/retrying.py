"""When to ask again, and after how long."""

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

IDEMPOTENT: Final = frozenset({"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})
"""Asking twice does what asking once does (RFC 9110, 9.2.2)."""

_LONGEST_RETRY_AFTER: Final = 86_400.0
_LONGEST_HEADER: Final = 64  # a date has 29 characters
_chance = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Retries:
    """How an idempotent request that failed is asked again; others never are.

    A connection that failed or broke is one reason, an answer that says "later" the other.

    Attributes:
        most: How many times it is asked again; 0 for never.
        first_seconds: Longest pause before the first time; it doubles with each, and a random part of it is waited, so
            that many clients do not come back at once.
        longest_seconds: Longest pause that is waited here. A server that asks for more gets its answer returned.
        statuses: Answers after which it is asked again.
    """

    most: int = 1
    first_seconds: float = 0.5
    longest_seconds: float = 10.0
    statuses: frozenset[int] = frozenset({429, 502, 503, 504})

    def pause(self, tried: int, asked_seconds: float | None = None) -> float | None:
        """How long to wait before asking again, or None to give up.

        Args:
            tried: How many times it was asked so far, from 1.
            asked_seconds: What the server asked to wait, if it did.
        """
        if tried > self.most or (asked_seconds or 0.0) > self.longest_seconds:
            return None
        jitter = _chance.uniform(0.0, min(self.longest_seconds, self.first_seconds * 2 ** (tried - 1)))
        return jitter if asked_seconds is None else min(self.longest_seconds, asked_seconds + jitter * 0.1)


def retry_after_seconds(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """What a `Retry-After` header asks to wait, in seconds or as a date (RFC 9110, 10.2.3); None for none.

    Args:
        headers: The answer's headers, names in lower case.
        now: The time in seconds since 1970; by default now.

    Returns:
        From 0 to a day; None too when the header says nothing that can be read.
    """
    text = headers.get("retry-after", "")[:_LONGEST_HEADER].strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return min(float(text), _LONGEST_RETRY_AFTER)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    moment = datetime.fromtimestamp(time.time() if now is None else now, UTC)
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return min(max(0.0, (date - moment).total_seconds()), _LONGEST_RETRY_AFTER)
