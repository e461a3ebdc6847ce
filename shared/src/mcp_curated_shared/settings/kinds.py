"""What a setting's text may be, and what it becomes.

A kind parses one text into one value, shows a value the way it would be written, and describes itself for
tables, forms and error messages. Kinds know no names: whoever parses adds where the text came from.
"""

import math
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar, runtime_checkable

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.nearest import nearest

T = TypeVar("T")

FormType = Literal["string", "number", "boolean", "directory", "file"]
"""The five field types of an MCPB form; server.json's types follow from them."""


def quoted(text: str) -> str:
    """The text as an error message shows it: in quotes, escaped where unprintable, cut at 80 characters."""
    shown = text if len(text) <= 80 else text[:77] + "..."
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in shown) + '"'


class Kind(ABC, Generic[T]):
    """One way to read a text.

    A subclass answers `_parse`, `_expected` and, where `str` is not how it is written, `_show`.

    Attributes:
        form: The field type that a form for a person gives it.
        metavar: What stands for the value in a usage line.
        secret: Whether the text is or may hold a secret: then it is no flag and is shown only through `show`.
    """

    __slots__ = ()
    form: FormType = "string"
    metavar: str = "TEXT"
    secret: bool = False

    @property
    def expected(self) -> str:
        """What is allowed, as a noun phrase: "a whole number from 1 to 65535"."""
        return self._expected()

    def parse(self, text: str) -> T:
        """The value.

        Raises:
            SettingsError: What is wrong with the text, without saying where it was written.
        """
        return self._parse(text)

    def show(self, value: T) -> str:
        """The value as an operator would write it. Masked where it may hold a secret."""
        return self._show(value)

    @abstractmethod
    def _expected(self) -> str: ...

    @abstractmethod
    def _parse(self, text: str) -> T: ...

    def _show(self, value: T) -> str:
        return str(value)

    def refusal(self, text: str) -> SettingsError:
        """The error for a text that is none of what is expected."""
        return SettingsError(f"{quoted(text)} cannot be used.", f"Give {self.expected}.")


@dataclass(frozen=True, slots=True)
class Text(Kind[str]):
    """Any text that is not empty and holds no control character.

    Args:
        what: The noun phrase of `expected`.
        pattern: A regular expression that the whole text must match, if any.
    """

    what: str = "a text"
    pattern: str = ""
    metavar: str = "TEXT"

    def _expected(self) -> str:
        return self.what

    def _parse(self, text: str) -> str:
        if not text or any(ord(c) < 32 or ord(c) == 127 for c in text):
            raise self.refusal(text)
        if self.pattern and re.fullmatch(self.pattern, text) is None:
            raise self.refusal(text)
        return text


_TRUE = ("true", "1", "yes", "on")
_FALSE = ("false", "0", "no", "off")


@dataclass(frozen=True, slots=True)
class Boolean(Kind[bool]):
    """`true`, `1`, `yes`, `on` and their opposites, in any letter case."""

    form: FormType = "boolean"
    metavar: str = "true|false"

    def _expected(self) -> str:
        return "true or false (1 and 0, yes and no, on and off are fine too)"

    def _parse(self, text: str) -> bool:
        word = text.strip().lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
        raise self.refusal(text)

    def _show(self, value: bool) -> str:
        return "true" if value else "false"


@dataclass(frozen=True, slots=True)
class Integer(Kind[int]):
    """A whole number in decimal digits within bounds.

    Args:
        minimum: The least value, included.
        maximum: The greatest value, included.
        unit: What is counted, in the plural: "characters"; empty for a bare number.
    """

    minimum: int
    maximum: int
    unit: str = ""
    form: FormType = "number"
    metavar: str = "N"

    def _expected(self) -> str:
        unit = f" of {self.unit}" if self.unit else ""
        return f"a whole number{unit} from {self.minimum} to {self.maximum}"

    def _parse(self, text: str) -> int:
        digits = text.strip()
        if re.fullmatch(r"[+-]?[0-9]{1,18}", digits) is None:
            raise self.refusal(text)
        value = int(digits)
        if not self.minimum <= value <= self.maximum:
            raise self.refusal(text)
        return value


_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Duration(Kind[float]):
    """A length of time: `30`, `30s`, `500ms`, `2m`, `1h`, `1d`; a bare number counts seconds. Becomes seconds.

    Args:
        minimum: The least length in seconds, included.
        maximum: The greatest length in seconds, included.
    """

    minimum: float
    maximum: float
    metavar: str = "TIME"

    def _expected(self) -> str:
        return f'a time from {self.show(self.minimum)} to {self.show(self.maximum)}, such as "30s" or "2m"'

    def _parse(self, text: str) -> float:
        match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*(ms|s|m|min|h|d|)", text.strip().lower(), re.ASCII)
        if match is None:
            raise self.refusal(text)
        value = float(match[1]) * _SECONDS[match[2]]
        if not self.minimum <= value <= self.maximum:
            raise self.refusal(text)
        return value

    def _show(self, value: float) -> str:
        for unit, seconds in (("d", 86400), ("h", 3600), ("m", 60)):
            if value >= seconds and math.isclose(value % seconds, 0):
                return f"{value / seconds:g}{unit}"
        return f"{value:g}s" if value >= 1 or value == 0 else f"{value * 1000:g}ms"


_BYTES = {
    **{"": 1, "b": 1, "k": 1000, "kb": 1000, "kib": 1024},
    **{"m": 10**6, "mb": 10**6, "mib": 1 << 20, "g": 10**9, "gb": 10**9, "gib": 1 << 30},
}


@dataclass(frozen=True, slots=True)
class Size(Kind[int]):
    """An amount of bytes: `900000`, `64kB`, `10MB` (powers of 1,000), `64KiB`, `2GiB` (powers of 1,024; IEC 80000-13).

    Args:
        minimum: The least amount in bytes, included.
        maximum: The greatest amount in bytes, included.
    """

    minimum: int
    maximum: int
    metavar: str = "SIZE"

    def _expected(self) -> str:
        return f'a size from {self.show(self.minimum)} to {self.show(self.maximum)}, such as "10MB" or "64KiB"'

    def _parse(self, text: str) -> int:
        match = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([a-z]{0,3})", text.strip().lower(), re.ASCII)
        if match is None or match[2] not in _BYTES:
            raise self.refusal(text)
        value = round(float(match[1]) * _BYTES[match[2]]) if "." in match[1] else int(match[1]) * _BYTES[match[2]]
        if not self.minimum <= value <= self.maximum:
            raise self.refusal(text)
        return value

    def _show(self, value: int) -> str:
        for unit, size in (
            ("GiB", 1 << 30),
            ("GB", 10**9),
            ("MiB", 1 << 20),
            ("MB", 10**6),
            ("KiB", 1024),
            ("kB", 1000),
        ):
            if value >= size and value % size == 0:
                return f"{value // size}{unit}"
        return f"{value}B"


@dataclass(frozen=True)  # without slots: Choice[Level](...) sets an attribute, and fails on frozen slots in 3.11
class Choice(Kind[T]):
    """One of a few words.

    Args:
        choices: Every word, the recommended one first.
    """

    choices: tuple[T, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words as they are written."""
        return tuple(str(choice) for choice in self.choices)

    def _expected(self) -> str:
        *head, last = self.words
        return f"{', '.join(head)} or {last}" if head else last

    def _parse(self, text: str) -> T:
        word = text.strip()
        for choice in self.choices:
            if str(choice) == word:
                return choice
        close = nearest(word.lower(), self.words)
        hint = f'Did you mean "{close}"? ' if close else ""
        raise SettingsError(f"{quoted(text)} cannot be used.", f"{hint}Give {self.expected}.")


def absolute_path(text: str) -> str:
    """A path as the operator wrote it, made sure to be absolute; a leading `~` becomes the home folder.

    Hosts start servers in a folder of their own choice (`/` on macOS), so a relative path would mean
    something else on every host.

    Raises:
        SettingsError: It is empty, relative, holds a NUL or control character, or names an unknown home.
    """
    if not text or any(ord(c) < 32 for c in text):
        raise SettingsError(f"{quoted(text)} is not a path.", 'Give an absolute path, such as "/home/me/notes".')
    if text == "~" or text.startswith(("~/", "~" + os.sep)):
        expanded = os.path.expanduser(text)
        if not os.path.isabs(expanded):
            raise SettingsError(f"{quoted(text)} needs a home folder and there is none.", "Give an absolute path.")
        return expanded
    if not os.path.isabs(text):
        where = os.path.abspath(text)
        raise SettingsError(
            f"{quoted(text)} is a relative path, and hosts start servers in a folder of their own choice.",
            f"Give the absolute path, such as {quoted(where)}.",
        )
    return text


@dataclass(frozen=True, slots=True)
class FolderPath(Kind[str]):
    """The absolute path of a folder; it need not exist yet."""

    form: FormType = "directory"
    metavar: str = "DIR"

    def _expected(self) -> str:
        return "the absolute path of a folder"

    def _parse(self, text: str) -> str:
        return absolute_path(text)


@dataclass(frozen=True, slots=True)
class FilePath(Kind[str]):
    """The absolute path of a file; it need not exist yet."""

    form: FormType = "file"
    metavar: str = "FILE"

    def _expected(self) -> str:
        return "the absolute path of a file"

    def _parse(self, text: str) -> str:
        return absolute_path(text)


class Secret:
    """A text that nothing shows by accident: `str`, `repr` and formatting give `***`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the one place that must send it."""
        return self._text

    def __repr__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


@runtime_checkable
class HoldsSecrets(Protocol):
    """A value with secrets inside, such as an address with a password: logs and the redactor learn them."""

    def secret_texts(self) -> tuple[str, ...]:
        """The secrets themselves."""
        ...


@dataclass(frozen=True, slots=True)
class SecretText(Kind[Secret]):
    """A token, key or password: one line without white space around it."""

    what: str = "one line of text without spaces around it"
    metavar: str = "SECRET"
    secret: bool = True

    def _expected(self) -> str:
        return self.what

    def _parse(self, text: str) -> Secret:
        if not text or text != text.strip() or any(ord(c) < 32 or ord(c) == 127 for c in text):
            raise SettingsError(f"The value is not {self.expected}.", "Check for a line break or a blank in it.")
        return Secret(text)


@dataclass(frozen=True)  # without slots, as Choice
class Parsed(Kind[T]):
    """A kind of a server's own.

    Args:
        parser: Text to value; raises SettingsError without saying where the text was written.
        what: The noun phrase of `expected`.
        shower: Value to text, masked where it may hold a secret.
        form: The field type of a form.
        metavar: What stands for it in a usage line.
        secret: Whether it may hold a secret.
    """

    parser: Callable[[str], T]
    what: str
    shower: Callable[[T], str] = str
    form: FormType = "string"
    metavar: str = "TEXT"
    secret: bool = False

    def _expected(self) -> str:
        return self.what

    def _parse(self, text: str) -> T:
        return self.parser(text)

    def _show(self, value: T) -> str:
        return self.shower(value)
