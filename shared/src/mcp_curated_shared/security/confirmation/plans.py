"""What is about to be done, in the words that a person sees and in the form that a consent is bound to."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

A_DAY: Final = 86_400.0


@dataclass(frozen=True)
class Plan:
    """One write that needs consent, completely: another content, target or wording is another plan.

    Nothing in it may be random or a clock: on 2026-07-28 the question is asked by returning it, and it is recognised
    on the retry by its exact words.

    Attributes:
        operation: The tool's name.
        question: One sentence that ends with a question mark: what will happen, to what, how much of it.
        lines: What the person must see besides: the whole text that is sent, where the trash is.
        word: What a person types to approve it in a terminal, such as the name of the target.
        content: The exact thing that will be done, as bytes: what is sent, or what names the state that is removed.
        not_done: How a reply begins when nothing was done: "NOT deleted".
        remembered_seconds: How long an identical request by the same caller counts as a repetition of this one and is
            answered with its result; 0 for a write that itself sees that it was done already.
        notes: What the person should know besides, though it changes nothing of what is done, such as a warning: shown
            with the question, and no part of the digest, so that it makes no other plan of the same content.
    """

    operation: str
    question: str
    word: str
    content: bytes
    lines: tuple[str, ...] = ()
    not_done: str = "NOT done"
    remembered_seconds: float = field(default=A_DAY, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @cached_property
    def digest(self) -> str:
        """Names this plan and no other: SHA-256 over its parts, each behind its length."""
        digest = hashlib.sha256(b"mcp-curated/plan/1")
        parts = (self.operation, self.question, self.word, str(len(self.lines)), *self.lines)
        for part in (*(part.encode("utf-8", "surrogatepass") for part in parts), self.content):
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.hexdigest()

    @property
    def mark(self) -> str:
        """The digest as a person compares it: two groups of four."""
        return f"{self.digest[:4]}-{self.digest[4:8]}"

    @property
    def text(self) -> str:
        """The question with all its lines, the same every time for the same plan."""
        return "\n".join((self.question, *self.lines, *self.notes, f"(Plan {self.mark}.)"))
