"""What a JSON answer holds, field by field: types checked, and every text cleaned and counted on its way in.

This is the one way from GitHub's answers to a result, so that no field can be forgotten (the official server left
comments and sub-issues uncleaned, github-mcp-server#3035).
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar, cast

from mcp_curated_github.errors import GitHubError
from mcp_curated_shared.security.untrusted import clean, safe_text

T = TypeVar("T")
Hide = Callable[[str], str]


def _shown(text: str) -> str:
    return text


class Tally:
    """Cleans the texts of one call, and counts what it took out of them.

    Args:
        hide: Replaces what must not leave, such as this server's own token.
    """

    def __init__(self, hide: Hide = _shown) -> None:
        self._hide = hide
        self.removed = 0

    def clean(self, text: str) -> str:
        """The text without invisible characters; everything visible stays as it is."""
        cleaned = clean(text)
        self.removed += cleaned.removed
        return self._hide(safe_text(cleaned.text))


_WRONG: Final = "GitHub's answer does not have the form that its API describes"


def _wrong(name: str) -> GitHubError:
    return GitHubError(
        "bad_response", f"{_WRONG}: {name}.", "Perhaps a proxy answered, or GITHUB_API_URL names no GitHub API."
    )


class Fields:
    """A JSON object.

    Args:
        values: Its members.
        tally: Cleans its texts.
    """

    __slots__ = ("_cleaned", "_tally", "_values")

    def __init__(self, values: Mapping[str, object], tally: Tally) -> None:
        self._values = values
        self._tally = tally
        self._cleaned: dict[str, str] = {}  # a text that is asked for twice is counted once

    @classmethod
    def of(cls, document: object, tally: Tally) -> "Fields":
        """A document that must be an object.

        Raises:
            GitHubError: It is none (`bad_response`).
        """
        if not isinstance(document, dict):
            raise _wrong("it is no object")
        return cls(cast("Mapping[str, object]", document), tally)

    @classmethod
    def list_of(cls, document: object, tally: Tally) -> "list[Fields]":
        """A document that must be a list of objects.

        Raises:
            GitHubError: It is none (`bad_response`).
        """
        if not isinstance(document, list):
            raise _wrong("it is no list")
        return [cls.of(one, tally) for one in cast("list[object]", document)]

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def text(self, name: str) -> str:
        """A text, cleaned; empty where there is none or it is null."""
        return self.optional_text(name) or ""

    def optional_text(self, name: str) -> str | None:
        """A text, cleaned; None where there is none or it is null."""
        if name in self._cleaned:
            return self._cleaned[name]
        value = self._typed(name, str)
        if value is None:
            return None
        cleaned = self._cleaned[name] = self._tally.clean(value)
        return cleaned

    def number(self, name: str) -> int:
        """A whole number; 0 where there is none."""
        value = self._typed(name, int)
        return 0 if value is None else value

    def flag(self, name: str) -> bool:
        """True or false; false where there is none."""
        return self._typed(name, bool) is True

    def inner(self, name: str) -> "Fields | None":
        """An object inside, made anew by each call; None where there is none or it is null (a deleted account)."""
        value: object = self._values.get(name)
        return None if value is None else Fields.of(value, self._tally)

    def items(self, name: str) -> "list[Fields]":
        """A list of objects; empty where there is none."""
        value = self._values.get(name)
        return [] if value is None else Fields.list_of(value, self._tally)

    def texts(self, name: str) -> list[str]:
        """A list of texts, cleaned; what is none of them is left out."""
        value = self._values.get(name)
        if not isinstance(value, list):
            return []
        return [self._tally.clean(one) for one in cast("list[object]", value) if isinstance(one, str)]

    def raw_text(self, name: str) -> str:
        """A text as it came, for code that does not pass it on, such as base64."""
        return self._typed(name, str) or ""

    def login(self, name: str = "user") -> str:
        """The account in a field; `ghost` where it is gone, as GitHub shows it."""
        account = self.inner(name)
        return account.text("login") if account is not None else "ghost"

    def _typed(self, name: str, kind: type[T]) -> T | None:
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise _wrong(f"{name} is of another type")
        return value
