"""What is sent: texts of a caller with nothing hidden in them, no secret, and within the limits.

Whatever a person is shown, whatever is approved and whatever is sent is a draft, so these three are the same.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from mcp_curated_shared.errors import InvalidArgumentError, NotAllowedError, TooLargeError
from mcp_curated_shared.security.redaction import Redactor
from mcp_curated_shared.security.untrusted import clean, safe_text

LONGEST_TITLE: Final = 256
"""Characters that GitHub takes in a title."""

LONGEST_LABEL: Final = 50
MOST_LABELS: Final = 100

_BREAKS: Final = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")


class SecretInTextError(NotAllowedError):
    """What was to be written holds a secret, and the operator lets nothing be sent then."""

    kind = "secret_in_text"


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that can be sent as it is.

    Attributes:
        body: The body of the issue, or the comment.
        title: Of an issue; None for a comment.
        labels: Of an issue; None where none were given, and then none are sent.
        redacted: Kinds of the secrets that were replaced in it.
        removed: Invisible and control characters that were taken out of it.
    """

    body: str
    title: str | None = None
    labels: tuple[str, ...] | None = None
    redacted: tuple[str, ...] = field(default=(), compare=False)
    removed: int = field(default=0, compare=False)

    @property
    def document(self) -> dict[str, object]:
        """What is posted: the fields that were given and no others (github-mcp-server#1317)."""
        fields: dict[str, object] = {} if self.title is None else {"title": self.title}
        fields["body"] = self.body
        if self.labels is not None:
            fields["labels"] = list(self.labels)
        return fields

    @property
    def content(self) -> bytes:
        """The same as bytes that a consent is bound to."""
        return json.dumps(self.document, sort_keys=True, ensure_ascii=True).encode()


@dataclass(slots=True)
class Sieve:
    """Takes out of texts what must not leave, and remembers what it was.

    Attributes:
        redactor: Knows secrets.
        kinds: Of the secrets so far.
        removed: Invisible and control characters so far.
    """

    redactor: Redactor
    kinds: set[str] = field(default_factory=set[str])
    removed: int = 0

    def sift(self, text: str) -> str:
        """The text as it is shown and sent: one kind of line break, nothing invisible, marks in place of secrets."""
        lines = _BREAKS.sub("\n", safe_text(text))
        plain = _CONTROLS.sub("", lines)
        cleaned = clean(plain)
        self.removed += len(lines) - len(plain) + cleaned.removed
        spans = self.redactor.scan(cleaned.text)
        if not spans:
            return cleaned.text
        self.kinds.update(span.kind for span in spans)
        return self.redactor.redact(cleaned.text)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a draft must keep to.

    Attributes:
        redactor: Knows secrets, this process's own among them.
        longest_body: In characters.
        block: Whether a secret ends it, instead of being replaced.
    """

    redactor: Redactor
    longest_body: int
    block: bool = False

    def issue(self, title: str, body: str, labels: Sequence[str] | None) -> Draft:
        """The draft of an issue.

        Raises:
            CuratedError: It is too long, has no title, or holds a secret where that is not replaced.
        """
        sieve = Sieve(self.redactor)
        drafted = Draft(self._body(sieve.sift(body)), _title(sieve.sift(title)), _labels(sieve, labels), *_found(sieve))
        return self._checked(drafted, "created")

    def comment(self, body: str) -> Draft:
        """The draft of a comment.

        Raises:
            CuratedError: It is too long or empty, or holds a secret where that is not replaced.
        """
        sieve = Sieve(self.redactor)
        text = self._body(sieve.sift(body))
        if not text.strip():
            raise InvalidArgumentError("A comment needs a text.", "Give it as body.")
        return self._checked(Draft(text, None, None, *_found(sieve)), "written")

    def _body(self, text: str) -> str:
        if len(text) > self.longest_body:
            raise TooLargeError(
                f"The body has {len(text):,} characters; at most {self.longest_body:,} are sent.",
                "Shorten it, or put a part of it into a comment.",
            )
        return text

    def _checked(self, draft: Draft, done: str) -> Draft:
        if self.block and draft.redacted:
            raise SecretInTextError(
                f"NOT {done}: the text holds a secret ({', '.join(draft.redacted)}), and the operator lets none be"
                " sent, not even replaced (GITHUB_ON_SECRET=block).",
                "Take it out.",
            )
        return draft


def _found(sieve: Sieve) -> tuple[tuple[str, ...], int]:
    return tuple(sorted(sieve.kinds)), sieve.removed


def _title(text: str) -> str:
    title = text.strip()
    if not title:
        raise InvalidArgumentError("An issue needs a title.", "Give one.")
    if "\n" in title:
        raise InvalidArgumentError("A title is one line.", "Put the rest into the body.")
    if len(title) > LONGEST_TITLE:
        raise TooLargeError(
            f"The title has {len(title):,} characters; GitHub takes {LONGEST_TITLE}.", "Put the rest into the body."
        )
    return title


def _labels(sieve: Sieve, given: Sequence[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    labels = tuple(dict.fromkeys(sieve.sift(label).strip() for label in given))
    if len(labels) > MOST_LABELS:
        raise TooLargeError(f"{len(labels)} labels are too many; at most {MOST_LABELS}.", "Give fewer.")
    for label in labels:
        if not label or "\n" in label or "," in label or len(label) > LONGEST_LABEL:
            raise InvalidArgumentError(
                f"A label is a name of 1 to {LONGEST_LABEL} characters on one line, without a comma.",
                'Give names, like ["bug"].',
            )
    return labels
