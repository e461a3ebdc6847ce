"""Changing one member of a JSON text without touching another byte.

Hosts keep their settings in files that people edit by hand, some with comments and trailing commas. So the text is
scanned into spans (RFC 8259, plus `//`, `/* */` and trailing commas where a host allows them), and what changes is
cut out and put in by position.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from mcp_curated_shared.errors import SettingsError

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

DEPTH = 200
"""Nesting beyond which a file is refused; a host's own parser gives up or crashes in this range."""


class JsonTextError(SettingsError):
    """The text is no JSON that can be changed safely; the message names line and column."""

    def __init__(self, text: str, position: int, problem: str) -> None:
        before = text[:position]
        line, column = before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1
        super().__init__(f"{problem} at line {line}, column {column}", "Mend the file first; nothing was written.")


@dataclass(frozen=True, slots=True)
class Member:
    """One `"key": value` of an object, by position."""

    key: str
    start: int
    value: "Value"


@dataclass(frozen=True, slots=True)
class Value:
    """One value and where it stands: `text[start:end]`.

    Attributes:
        start, end: Its span.
        members: Of an object.
        data: What it is.
        comma: For an object, whether a comma follows its last member.
    """

    start: int
    end: int
    data: Json
    members: tuple[Member, ...] | None = None
    comma: bool = False

    def member(self, key: str) -> Member | None:
        """The member of that name; a name that stands twice was refused while scanning."""
        return next((one for one in self.members or () if one.key == key), None)


_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9A-Za-z_.])")
_WORD = re.compile(r"(?:true|false|null)(?![0-9A-Za-z_])")
_BLANK = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)


@dataclass(slots=True)
class _Scanner:
    text: str
    comments: bool
    position: int = 0
    depth: int = field(default=0)

    def fail(self, problem: str) -> JsonTextError:
        return JsonTextError(self.text, self.position, problem)

    def skip(self) -> None:
        while True:
            match = _BLANK.match(self.text, self.position)
            if match is None and self.comments:
                match = _COMMENT.match(self.text, self.position)
            if match is None:
                return
            self.position = match.end()

    def peek(self) -> str:
        return self.text[self.position : self.position + 1]

    def whole(self) -> Value:
        self.skip()
        value = self.value()
        self.skip()
        if self.position < len(self.text):
            raise self.fail("Something follows the end of the JSON")
        return value

    def value(self) -> Value:
        character = self.peek()
        if character == "{":
            return self.object()
        if character == "[":
            return self.array()
        start = self.position
        match = (_STRING if character == '"' else _WORD if character in "tfn" and character else _NUMBER).match(
            self.text, start
        )
        if match is None:
            raise self.fail("The string is broken" if character == '"' else "A value is missing or is no JSON")
        self.position = match.end()
        return Value(start, match.end(), json.loads(match[0]))

    def enter(self) -> int:
        self.depth += 1
        if self.depth > DEPTH:
            raise self.fail("The nesting is too deep")
        self.position += 1
        self.skip()
        return self.position - 1

    def object(self) -> Value:
        start = self.position
        self.enter()
        members: dict[str, Member] = {}
        comma = False
        while self.peek() != "}":
            if members and not comma:
                raise self.fail("A comma or } is missing")
            member = self.one_member()
            if member.key in members:
                self.position = member.start
                raise self.fail(f'The name "{member.key}" stands twice')
            members[member.key] = member
            comma = self.separator("}")
        self.position += 1
        self.depth -= 1
        data: dict[str, Json] = {key: member.value.data for key, member in members.items()}
        return Value(start, self.position, data, tuple(members.values()), comma)

    def one_member(self) -> Member:
        start = self.position
        match = _STRING.match(self.text, start)
        if match is None:
            raise self.fail("A name in quotes is missing")
        self.position = match.end()
        self.skip()
        if self.peek() != ":":
            raise self.fail("A colon is missing")
        self.position += 1
        self.skip()
        return Member(str(json.loads(match[0])), start, self.value())

    def array(self) -> Value:
        start = self.position
        self.enter()
        items: list[Json] = []
        comma = False
        while self.peek() != "]":
            if items and not comma:
                raise self.fail("A comma or ] is missing")
            items.append(self.value().data)
            comma = self.separator("]")
        self.position += 1
        self.depth -= 1
        return Value(start, self.position, items)

    def separator(self, end: str) -> bool:
        self.skip()
        if self.peek() != ",":
            return False
        self.position += 1
        self.skip()
        if self.peek() == end and not self.comments:
            raise self.fail(f"A comma stands before {end}")
        return True


def scan(text: str, *, comments: bool) -> Value:
    """The spans of a JSON text.

    Args:
        text: The whole text, without a byte order mark.
        comments: Whether comments and trailing commas are allowed.

    Raises:
        JsonTextError: It is not that; or a name stands twice in one object, so that hosts may differ in what holds.
    """
    return _Scanner(text, comments).whole()


def set_member(text: str, path: Sequence[str], data: Json, *, comments: bool) -> str:
    """The text with one member set; objects on the way are made; everything else keeps its bytes.

    A value that is already equal is left as it is spelt.

    Raises:
        JsonTextError: As `scan`; or something on the way is no object.
    """
    value = scan(text, comments=comments)
    wanted: Json = data
    for position, key in enumerate(path):
        if value.members is None:
            name = f'"{path[position - 1]}"' if position else "The file"
            raise JsonTextError(text, value.start, f"{name} is not an object")
        member = value.member(key)
        if member is None:
            for name in reversed(path[position + 1 :]):
                around: dict[str, Json] = {name: wanted}
                wanted = around
            return _insert(text, value, key, wanted)
        value = member.value
    if json.dumps(value.data, sort_keys=True) == json.dumps(data, sort_keys=True):  # unlike ==, 1 is not true here
        return text
    indent, unit = _indentation(text, value.start)
    return text[: value.start] + _render(data, indent, unit, _newline(text)) + text[value.end :]


def _insert(text: str, owner: Value, key: str, data: Json) -> str:
    newline = _newline(text)
    indent, unit = _indentation(text, owner.start)
    members = owner.members or ()
    inside = text[owner.start + 1 : owner.end - 1]
    name = json.dumps(key, ensure_ascii=False)
    if members and "\n" not in inside and "\r" not in inside:
        compact = json.dumps(data, ensure_ascii=False)
        end = members[-1].value.end
        return f"{text[:end]}, {name}: {compact}{text[end:]}"
    indent_inside = _line_indent(text, members[0].start) if members else indent + unit
    addition = f"{newline}{indent_inside}{name}: {_render(data, indent_inside, unit, newline)}"
    if not members and not inside.strip():
        return f"{text[: owner.start + 1]}{addition}{newline}{indent}{text[owner.end - 1 :]}"
    # The comma belongs behind the last value, the member behind what follows it: a comment may stand between.
    tail = owner.start + 1 + len(inside.rstrip())
    comma_at = members[-1].value.end if members and not owner.comma else tail
    comma = "," if members and not owner.comma else ""
    blank = text[tail : owner.end - 1]
    closing = text[tail:] if "\n" in blank else f"{newline}{blank or indent}{text[owner.end - 1 :]}"
    trailing = "," if members and owner.comma else ""
    return f"{text[:comma_at]}{comma}{text[comma_at:tail]}{addition}{trailing}{closing}"


def remove_member(text: str, path: Sequence[str], *, comments: bool) -> str:
    """The text without one member; everything else keeps its bytes. Without such a member it is as it was.

    Raises:
        JsonTextError: As `scan`.
    """
    owner = scan(text, comments=comments)
    for key in path[:-1]:
        member = owner.member(key)
        if member is None:
            return text
        owner = member.value
    found = owner.member(path[-1])
    if found is None:
        return text
    members = owner.members or ()
    if len(members) == 1 and not _has_comment(
        text[owner.start + 1 : found.start] + text[found.value.end : owner.end - 1]
    ):
        return text[: owner.start + 1] + text[owner.end - 1 :]
    start, end = found.start, found.value.end
    if members[-1:] == (found,) and not owner.comma:
        return _without_last(text, members, found, comments)
    scanner = _Scanner(text, comments, end)
    scanner.skip()
    end = scanner.position + (scanner.peek() == ",")
    return _cut(text, start, end)


def _has_comment(between: str) -> bool:
    return bool(between.strip(" \t\r\n,"))


def _without_last(text: str, members: Sequence[Member], last: Member, comments: bool) -> str:
    """The comma before it goes too."""
    if len(members) == 1:
        return _cut(text, last.start, last.value.end)
    scanner = _Scanner(text, comments, members[-2].value.end)
    scanner.skip()
    comma = scanner.position
    if not text[comma + 1 : last.start].strip():
        return text[:comma] + text[last.value.end :]
    return text[:comma] + _cut(text[comma + 1 :], last.start - comma - 1, last.value.end - comma - 1)


def _cut(text: str, start: int, end: int) -> str:
    """Take a piece out, with the rest of its lines where they hold nothing else."""
    line = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*(?:\r?\n)?").match(text, end)
    behind = end if rest is None else rest.end()
    if not text[line:start].strip() and text[end:behind].endswith("\n"):
        return text[:line] + text[behind:]
    return text[:start] + text[end:].lstrip(" \t")


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_indent(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    line = text[start:position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indentation(text: str, position: int) -> tuple[str, str]:
    """The indentation of the line that holds a position, and one step of it as the file does it."""
    match = re.search(r"\{[^\S\n]*\r?\n([ \t]+)", text)
    return _line_indent(text, position), match[1] if match else "  "


def _render(data: Json, indent: str, unit: str, newline: str) -> str:
    lines = json.dumps(data, ensure_ascii=False, indent=unit).split("\n")
    return (newline + indent).join(lines)
