"""The one entrance: what is secret in a text, and the text without it.

In order: the process's own secrets; then, on the text as a reader sees it, tokens of known providers, armoured keys,
addresses, headers, command lines, manifests, and values that a name announces.
"""

import logging
from collections.abc import Iterable
from typing import Final, TypeVar, cast

from mcp_curated_shared.security.redaction.addresses import find_addresses
from mcp_curated_shared.security.redaction.armour import find_armour
from mcp_curated_shared.security.redaction.assignments import find_assignments
from mcp_curated_shared.security.redaction.commands import find_command_passwords
from mcp_curated_shared.security.redaction.failures import ExceptionScrubber
from mcp_curated_shared.security.redaction.headers import find_headers
from mcp_curated_shared.security.redaction.known import KnownSecrets
from mcp_curated_shared.security.redaction.manifests import find_manifest_secrets
from mcp_curated_shared.security.redaction.objects import ObjectRedactor
from mcp_curated_shared.security.redaction.providers import find_tokens
from mcp_curated_shared.security.redaction.records import RedactingFilter
from mcp_curated_shared.security.redaction.spans import Replaced, Span, blanked, merged, outside_marks
from mcp_curated_shared.security.redaction.view import View, lowered

_Json = TypeVar("_Json")

_ROUNDS: Final = 6
"""So often the result is read again: what stands beside a mark may have become readable as a secret itself."""


class Redactor:
    """Finds and hides secrets; immutable, usable from any thread.

    Args:
        secrets: The process's own secret values, hidden wherever they appear, plain, escaped or encoded (see
            `known.spellings_of`); those of fewer than six characters are ignored.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known = KnownSecrets(secrets)

    def scan(self, text: str) -> list[Span]:
        """Every secret in a text, in order, none overlapping another.

        Args:
            text: Any text, lone surrogates and invisible characters included; marks in it are left alone.
        """
        spans = self._find(text)
        found = spans
        for _ in range(_ROUNDS):
            if not found:
                return spans
            replaced = Replaced(text, spans)
            found = self._find(replaced.text)
            spans = merged([*spans, *replaced.original(found)])
        return spans

    def redact(self, text: str) -> str:
        """The text with `[REDACTED:kind]` in place of every secret; names, quotes and all else stay. Idempotent."""
        spans = self.scan(text)
        return Replaced(text, spans).text if spans else text

    def redact_json(self, value: _Json) -> _Json:
        """A copy of a JSON-like value without secrets.

        Strings are redacted; one under a sensitive name ("password", "apiKey"), or beside one (`{"name": "DB_PASSWORD",
        "value": ...}`), is hidden as a whole, as are numbers under a password's name and the data of a Kubernetes
        Secret. Dicts, lists and tuples keep their shape, keys too (two that become equal are numbered); other scalars
        stay. What is nested more than `objects.DEEPEST` levels deep is replaced.
        """
        return cast("_Json", ObjectRedactor(self.redact).redact(value))

    def log_filter(self) -> logging.Filter:
        """A filter for the handlers of `logging`; see `records.RedactingFilter`."""
        return RedactingFilter(self.redact, self.redact_json)

    def scrub(self, error: BaseException) -> BaseException:
        """Take the secrets out of an exception and of everything it was raised from or during.

        Changes messages, arguments, notes and attributes in place.

        Returns:
            The same exception; or, if its text could not be changed, a `RedactedError` in its place with its traceback,
            notes and chain. Raise or log what is returned.
        """
        return ExceptionScrubber(self.redact).scrub(error)

    def traceback_text(self, error: BaseException) -> str:
        """The traceback as Python prints it (chains, notes, source lines), without secrets; changes nothing."""
        return ExceptionScrubber(self.redact).traceback_text(error)

    def _find(self, text: str) -> list[Span]:
        view = View(text)
        seen = blanked(view.text)
        small = lowered(seen)
        found = [
            *self._known.find(seen),
            *find_tokens(seen),
            *find_armour(seen),
            *find_addresses(seen, small),
            *find_headers(seen, small),
            *find_command_passwords(seen, small),
            *find_manifest_secrets(seen),
            *find_assignments(seen, small),
        ]
        if not found:
            return []
        return view.original(merged(outside_marks(view.text, found)))
