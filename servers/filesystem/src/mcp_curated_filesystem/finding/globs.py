r"""Glob patterns over names and relative paths, in time linear in what they look at.

The language: `*` any run of characters in one name, `?` one character, `[a-z]` and `[!a-z]` one of a set, `{a,b}`
either, `**` as a whole component any number of components, `\` takes the next character as it is, a `/` at the end asks
for a directory. A pattern without a `/` is about the name, at any depth; one with a `/` is about the path from the
searched folder. Letters match in either case unless the pattern has an upper-case letter (smart case).

Each pattern becomes one regular expression in which what was once matched is not tried again (atomic groups), so that
`*a*a*a*a*b` costs no more than a few passes over a name.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from mcp_curated_shared.errors import InvalidArgumentError

Matches = Callable[[str], object]
"""Gives something true for a name, or a path relative to the searched folder, that matches; nothing is wrapped around
the expression's own `match`, which is called for every entry of a tree."""

MAXIMUM_ALTERNATIVES = 256
"""Into how many patterns the braces of one may unfold."""

_MAXIMUM_LENGTH = 4_096
_SPECIAL = frozenset("*?[{\\")
_HEX_ESCAPES = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_SPACES = str.maketrans("\u00a0\u202f", "  ")


_CLASS = re.compile(r"\[:[a-z]*:\]")
_SET_MEMBER = re.compile(r"\[:[a-z]*:\]|.", re.DOTALL)
_NOTHING = "(?!)"
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
"""POSIX character classes, of ASCII only, as git's wildmatch has them."""


@dataclass(frozen=True, slots=True)
class Glob:
    """One pattern, ready to match.

    Attributes:
        pattern: As it was asked for.
        matches: The test, over a name or a path as `by_name` says.
        by_name: Whether it is about the last component alone.
        directories_only: Whether only directories can match.
        last: For a pattern about paths: the test that the last component alone must pass, a cheap first look.
    """

    pattern: str
    matches: Matches
    by_name: bool
    directories_only: bool
    last: Matches | None = None


def compile_glob(
    pattern: str, *, base: str = "", anywhere: bool = False, smart_case: bool = True, braces: bool = True
) -> Glob:
    """Compile one pattern.

    Args:
        pattern: The pattern; an absolute one must begin with the same components as `base` to be read as absolute, else
            its leading `/` means the top of the searched folder, as in `.gitignore`.
        base: The searched folder's absolute path.
        anywhere: Let a pattern with a `/` begin at any depth, not only at the top of the searched folder.
        smart_case: Whether a pattern without an upper-case letter matches in either case.
        braces: Whether braces have a meaning; they have none in `.gitignore`.

    Raises:
        InvalidArgumentError: The pattern is empty, too long, or its braces unfold to too many patterns.
    """
    body = _unescaped(pattern)
    if len(body) > _MAXIMUM_LENGTH:
        raise InvalidArgumentError(f"The pattern is longer than {_MAXIMUM_LENGTH:,} characters.")
    directories_only = body.endswith("/")
    absolute = body.startswith("/") and bool(base) and _same_beginning(body, base)
    rooted = not absolute and body.startswith("/")
    body = _without_dot(body).strip("/")
    if not body:
        raise InvalidArgumentError("The pattern is empty.", 'Give a name, or a glob such as "*.py" or "src/**".')
    alternatives = [_collapsed(one.strip("/")) for one in (unfold_braces(body) if braces else [body])]
    by_name = not rooted and not absolute and not any("/" in one or one == "**" for one in alternatives)
    if not by_name and not absolute:
        alternatives = [one if not anywhere and (rooted or "/" in one) else f"**/{one}" for one in alternatives]
    flags = re.NOFLAG if not smart_case or any(character.isupper() for character in body) else re.IGNORECASE
    matches = _matcher(alternatives, flags)
    if absolute:
        matches = _under(f"{stem}/" if (stem := base.strip("/")) else "", matches)
    ends = [one.rpartition("/")[2] for one in alternatives]
    last = None if by_name or "**" in ends else _matcher(ends, flags)
    return Glob(pattern, matches, by_name, directories_only, last)


def is_bare_word(pattern: str) -> bool:
    """Whether a pattern is a plain word: no `/`, and nothing that a glob gives a meaning to."""
    return bool(pattern) and "/" not in pattern and not _SPECIAL.intersection(_unescaped(pattern))


def compile_word(word: str) -> Glob:
    """Compile a bare word: it matches every name that contains it, smart case."""
    plain = _unescaped(word)
    sensitive = any(character.isupper() for character in plain)
    if plain.isascii() and " " not in plain:
        needle = plain if sensitive else plain.lower()
        matches: Matches = (lambda name: needle in name) if sensitive else (lambda name: needle in name.lower())
        return Glob(word, matches, True, False)
    folded = _folded(plain) if sensitive else _folded(plain).casefold()
    if sensitive:
        return Glob(word, lambda name: folded in _folded(name), True, False)
    return Glob(word, lambda name: folded in _folded(name).casefold(), True, False)


class Excludes:
    """Patterns of what to leave out, at any depth.

    A pattern without a `/` is about a name wherever it is; `dir/**` leaves out `dir` as a whole; what is left out is
    never looked into.
    """

    __slots__ = ("_directory_names", "_directory_paths", "_file_names", "_file_paths", "by_path", "patterns")

    def __init__(self, patterns: Sequence[str], *, base: str = "") -> None:
        globs = [compile_glob(_whole_directory(pattern), base=base) for pattern in patterns]
        self.patterns = tuple(patterns)
        self._directory_names = [glob.matches for glob in globs if glob.by_name]
        self._directory_paths = [glob.matches for glob in globs if not glob.by_name]
        self._file_names = [glob.matches for glob in globs if glob.by_name and not glob.directories_only]
        self._file_paths = [glob.matches for glob in globs if not glob.by_name and not glob.directories_only]
        self.by_path = bool(self._directory_paths)

    def kept(self, names: list[str], prefix: str, kind: Literal["directory", "file"]) -> list[str]:
        """Give those of a folder's names that no pattern leaves out.

        Args:
            names: Names in one folder.
            prefix: The folder's path from the searched folder, with a `/` at its end; empty for the searched one.
            kind: Whether these are directories; patterns that end in `/` are only about those.
        """
        by_name = self._directory_names if kind == "directory" else self._file_names
        by_path = self._directory_paths if kind == "directory" else self._file_paths
        left = names
        for matches in by_name:
            left = [name for name in left if not matches(name)]
        for matches in by_path:
            left = [name for name in left if not matches(prefix + name)]
        return left


def unfold_braces(pattern: str) -> list[str]:
    """Write `{a,b}` out as several patterns; a brace without its partner or without a comma is a plain character.

    Raises:
        InvalidArgumentError: It unfolds to more than `MAXIMUM_ALTERNATIVES`.
    """
    done: list[str] = []
    todo = [pattern]
    while todo:
        text = todo.pop()
        found = _first_braces(text)
        if found is None:
            done.append(text)
        else:
            start, end, parts = found
            todo.extend(text[:start] + part + text[end:] for part in reversed(parts))
        if len(done) + len(todo) > MAXIMUM_ALTERNATIVES:
            raise InvalidArgumentError(
                f'The braces of "{pattern[:80]}" unfold to more than {MAXIMUM_ALTERNATIVES} patterns.',
                "Use fewer alternatives.",
            )
    return done


def _first_braces(text: str) -> tuple[int, int, list[str]] | None:
    """Find the first `{...}` with a comma at its own level: where it starts, where it ends, its parts."""
    open_at: list[tuple[int, list[int]]] = []
    best: tuple[int, int, list[str]] | None = None
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
        elif character == "[" and (end := _set_end(text, position)):
            position = end - 1
        elif character == "{":
            open_at.append((position, []))
        elif character == "," and open_at:
            open_at[-1][1].append(position)
        elif character == "}" and open_at:
            start, commas = open_at.pop()
            if commas and (best is None or start < best[0]):
                edges = [start, *commas, position]
                parts = [text[a + 1 : b] for a, b in pairwise(edges)]
                best = start, position + 1, parts
        position += 1
    return best


def has_unclosed_set(part: str) -> bool:
    """Whether one component has a `[` that no `]` closes, which makes a rule of git match nothing."""
    position = 0
    while position < len(part):
        if part[position] == "\\":
            position += 2
        elif part[position] == "[":
            position = _set_end(part, position)
            if not position:
                return True
        else:
            position += 1
    return False


def _set_end(text: str, start: int) -> int:
    """Give the position after the `]` that ends the set at `start`, or 0 if it is no set."""
    position = start + 1
    if text[position : position + 1] in ("!", "^"):
        position += 1
    first = position
    while position < len(text) and text[position] != "/":
        if text[position] == "]" and position > first:
            return position + 1
        found = _CLASS.match(text, position)
        position = found.end() if found else position + 1
    return 0


def _unescaped(pattern: str) -> str:
    r"""Turn the escapes in which odd names are shown (`\x0a`, `\xe9`, `\u202e`) into what they stand for."""

    def character(found: re.Match[str]) -> str:
        byte, short, long = found.groups()
        code = int(byte or short or long, 16)
        if byte and code >= 0x80:
            return chr(0xDC00 + code)  # a byte that is not UTF-8, as the os module spells it
        return chr(code) if code <= 0x10FFFF else found[0]

    return _HEX_ESCAPES.sub(character, pattern) if "\\" in pattern else pattern


def _same_beginning(pattern: str, base: str) -> bool:
    """Whether an absolute pattern agrees with the folder's path as far as both are plain components."""
    wanted = pattern.strip("/").split("/")
    have = base.strip("/").split("/")
    for one, other in zip(wanted, have, strict=False):
        if _SPECIAL.intersection(one):
            return True
        if one != other:
            return False
    return True


def _without_dot(pattern: str) -> str:
    while pattern.startswith("./"):
        pattern = pattern[2:]
    return pattern


def _collapsed(pattern: str) -> str:
    """Drop repeated `**/` and `//`, which say nothing more."""
    parts: list[str] = []
    for part in pattern.split("/"):
        if part == "" and parts:
            continue
        if part == "**" and parts and parts[-1] == "**":
            continue
        parts.append(part)
    if len(parts) == 2 and parts[0] == "**" and parts[1] != "**":
        return parts[1]
    return "/".join(parts)


def _whole_directory(pattern: str) -> str:
    stripped = pattern
    while stripped.endswith("/**"):
        stripped = stripped[:-3]
    return stripped + "/" if stripped != pattern and stripped.strip("/*") else pattern


def _path_expression(pattern: str) -> str:
    """Write one pattern without braces as a regular expression.

    Between two `**` the earliest place where the components fit is as good as any other, which makes the group atomic.
    """
    groups: list[list[str]] = [[]]
    for part in pattern.split("/"):
        if part == "**":
            groups.append([])
        else:
            groups[-1].append(part)
    first, *rest = ["/".join(_name_expression(part) for part in group) for group in groups]
    if not rest:
        return first
    *middle, last = rest
    written = f"{first}/" if first else ""
    for group in middle:
        written += f"(?>(?:[^/]+/)*?{group}/)" if group else ""
    return written + (f"(?:[^/]+/)*{last}" if last else ".+")


def _name_expression(part: str) -> str:
    """Write one component: a run of fixed length after a `*` is taken where it first fits, the last one at the end."""
    runs: list[str] = [""]
    position = 0
    while position < len(part):
        character = part[position]
        position += 1
        if character == "*":
            if runs[-1] or len(runs) == 1:
                runs.append("")
        elif character == "?":
            runs[-1] += "[^/]"
        elif character == "[" and (end := _set_end(part, position - 1)):
            runs[-1] += _set_expression(part[position : end - 1])
            position = end
        elif character == "\\" and position < len(part):
            runs[-1] += re.escape(part[position])
            position += 1
        else:
            runs[-1] += re.escape(character)
    first, *rest = runs
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>[^/]*?{run})" for run in middle) + f"[^/]*{last}"


def _set_expression(inside: str) -> str:
    """Write the inside of `[...]`; a reversed range or an unknown class matches nothing, as in git's wildmatch."""
    negated = inside[:1] in ("!", "^")
    members = _SET_MEMBER.findall(inside[1:] if negated else inside)
    items: list[str] = []
    for position, member in enumerate(members):
        if len(member) > 1:
            named = _CLASSES.get(member[2:-2])
            if named is None:
                return _NOTHING
            items.append(named)
        elif member == "-" and 0 < position < len(members) - 1:
            before, after = members[position - 1], members[position + 1]
            if len(before) > 1 or len(after) > 1:
                items.append(re.escape(member))
            elif before > after:
                return _NOTHING
            else:
                items.append("-")
        else:
            items.append(re.escape(member))
    return f"(?!/)[{'^' if negated else ''}{''.join(items)}]"


def _matcher(alternatives: Sequence[str], flags: re.RegexFlag) -> Matches:
    """Compile patterns without braces; Unicode forms and kinds of space agree where a pattern has any."""
    expression = "|".join(f"(?:{_path_expression(one)})" for one in alternatives)
    match = re.compile(rf"(?s:{expression})\Z", flags).match
    written = "".join(alternatives)
    if written.isascii() and " " not in written:
        return match
    folded = re.compile(rf"(?s:{_folded(expression)})\Z", flags).match
    return lambda text: match(text) or folded(_folded(text))


def _under(prefix: str, matches: Matches) -> Matches:
    return lambda relative: matches(prefix + relative)


def _folded(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text).translate(_SPACES)
