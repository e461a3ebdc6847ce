"""Allowlists: exact names, compared in one canonical form; what is not on the list is not allowed.

A list is made of names such as `owner/name`, or of whole families, `owner/*`. Nothing is matched by prefix, substring
or pattern, nothing is normalised into being allowed: a name with another character than its form allows (a Cyrillic
letter that looks like a Latin one, a blank, a `..`) is refused, never repaired. An empty list allows nothing.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from re import Pattern
from typing import Final

from mcp_curated_shared.errors import InvalidArgumentError, NotAllowedError, SettingsError

_LONGEST_SHOWN: Final = 80
_SEPARATORS: Final = re.compile(r"[,\s]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class NameForm:
    """What a name of some kind looks like.

    Attributes:
        noun: What it names: "repository".
        example: A name: "octo-org/hello-world".
        segments: What stands between the slashes; each must match as a whole, and matches ASCII only.
        unlike: What no segment may be, in lower case, such as ".." where the segments' patterns would let it through.
    """

    noun: str
    example: str
    segments: tuple[Pattern[str], ...]
    unlike: frozenset[str] = frozenset({".", ".."})

    def canonical(self, text: str) -> str:
        """The one spelling of a name under which it is compared: lower case.

        Raises:
            InvalidArgumentError: It does not have this form.
        """
        parts = text.split("/")
        if len(parts) != len(self.segments) or not all(map(self._fits, parts, self.segments)):
            raise InvalidArgumentError(
                f"{_shown(text)} is not the name of a {self.noun}.", f'Write it like "{self.example}".'
            )
        return text.lower()

    def _fits(self, part: str, pattern: Pattern[str]) -> bool:
        return part.isascii() and pattern.fullmatch(part) is not None and part.lower() not in self.unlike

    def family(self, text: str) -> str | None:
        """The canonical beginning, with its slash, of every name of a family `owner/*`; None if it is no family."""
        if len(self.segments) < 2 or not text.endswith("/*"):
            return None
        parts = text.removesuffix("/*").split("/")
        if len(parts) != len(self.segments) - 1 or not all(map(self._fits, parts, self.segments)):
            return None
        return "/".join(parts).lower() + "/"


@dataclass(frozen=True, slots=True)
class Allowlist:
    """Which names are allowed; false when none is.

    Attributes:
        form: What a name looks like.
        names: In canonical form.
        families: Canonical beginnings, each with its slash.
    """

    form: NameForm
    names: frozenset[str] = frozenset()
    families: frozenset[str] = frozenset()

    @classmethod
    def read(cls, entries: Iterable[str], form: NameForm) -> "Allowlist":
        """Make a list of what an operator wrote; an entry may hold several, separated by commas or white space.

        Raises:
            SettingsError: The first entry that is malformed, by its text.
        """
        names: set[str] = set()
        families: set[str] = set()
        for entry in (part for text in entries for part in _SEPARATORS.split(text) if part):
            family = form.family(entry)
            if family is not None:
                families.add(family)
            else:
                names.add(_canonical_entry(entry, form))
        return cls(form, frozenset(names), frozenset(families))

    def __bool__(self) -> bool:
        return bool(self.names or self.families)

    def allows(self, text: str) -> bool:
        """Whether a name is on the list.

        Raises:
            InvalidArgumentError: It is no name of this form.
        """
        name = self.form.canonical(text)
        return name in self.names or name[: name.rfind("/") + 1] in self.families

    def check(self, text: str) -> str:
        """The canonical form of a name that is on the list.

        Raises:
            InvalidArgumentError: It is no name of this form.
            NotAllowedError: It is not on the list.
        """
        if not self.allows(text):
            raise NotAllowedError(
                f"The {self.form.noun} {_shown(text)} is not on the operator's list.", "Only they can add it."
            )
        return self.form.canonical(text)

    def entries(self) -> list[str]:
        """The list as an operator would write it, in order."""
        return sorted((*self.names, *(f"{family}*" for family in self.families)))


def _canonical_entry(entry: str, form: NameForm) -> str:
    try:
        return form.canonical(entry)
    except InvalidArgumentError as error:
        family = f' or "{form.example.rsplit("/", 1)[0]}/*"' if len(form.segments) > 1 else ""
        raise SettingsError(
            f"{_shown(entry)} is not the name of a {form.noun}.", f'Write "{form.example}"{family}.'
        ) from error


def _shown(text: str) -> str:
    cut = text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
    return '"' + cut.encode("ascii", "backslashreplace").decode() + '"'
