"""GitHub's search language, as much as repositories, code and issues need to be found by it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.github.double.answers import Failed, failure, invalid

LONGEST_QUERY = 256
MOST_OPERATORS = 5
_PART = re.compile(r'(?P<minus>-?)(?:(?P<name>[a-z]+):)?(?:"(?P<quoted>[^"]*)"|(?P<plain>\S+))')
_RANGE = re.compile(r"(?P<sign>>=|<=|>|<)?(?P<low>\d+|\*)(?:\.\.(?P<high>\d+|\*))?")
_KNOWN = frozenset(
    {"archived", "author", "extension", "filename", "forks", "in", "is", "label", "language"}
    | {"org", "path", "repo", "stars", "state", "topic", "type", "user"}
)


@dataclass(frozen=True, slots=True)
class Part:
    """A word, a phrase, or a qualifier with its value (`name` is then not empty)."""

    value: str
    name: str = ""
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A search: groups of which one must hold, each of parts that must all hold."""

    groups: tuple[tuple[Part, ...], ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of every group."""
        return tuple(part for group in self.groups for part in group)

    def values(self, *names: str) -> list[str]:
        """The values of these qualifiers where they are not negated."""
        return [part.value for part in self.parts if part.name in names and not part.negated]

    @property
    def words(self) -> list[str]:
        """The words and phrases that are looked for."""
        return [part.value for part in self.parts if not part.name and not part.negated]

    def holds(self, test: Callable[[Part], bool]) -> bool:
        """Whether a group's parts all pass `test` (or fail it, where negated)."""
        return any(all(test(part) != part.negated for part in group) for group in self.groups)


def parse(text: str | None) -> Query:
    """Read a search; raises Failed (422) for one that GitHub refuses.

    Unquoted, only the next word belongs to a qualifier: `language:Jupyter Notebook` looks for `Notebook` in Jupyter.
    """
    if not text or not text.strip():
        raise invalid({"resource": "Search", "field": "q", "code": "missing"})
    if len(text) > LONGEST_QUERY:
        raise _refused("The search is longer than 256 characters.")
    found = list(_PART.finditer(text))
    if sum(one[0] in ("AND", "OR", "NOT") for one in found) > MOST_OPERATORS:
        raise _refused("More than five AND / OR / NOT operators were used.")
    groups: list[list[Part]] = [[]]
    negate = False
    for one in found:
        if one[0] == "OR":
            groups.append([])
        elif one[0] == "NOT":
            negate = True
        elif one[0] != "AND":
            groups[-1].append(_part(one, negate))
            negate = False
    return Query(tuple(tuple(group) for group in groups if group))


def within(number: int, asked: str) -> bool:
    """Whether a number is in a range such as `>=10`, `10..20` or `5`."""
    match = _RANGE.fullmatch(asked)
    if match is None:
        return False
    low = 0 if match["low"] == "*" else int(match["low"])
    if match["high"] is not None:
        return low <= number and (match["high"] == "*" or number <= int(match["high"]))
    return {
        None: number == low,
        ">": number > low,
        ">=": number >= low,
        "<": number < low,
        "<=": number <= low,
    }[match["sign"]]


def unsearchable() -> Failed:
    """The answer where every named repository or account cannot be seen by the caller."""
    return _refused(
        "The listed users and repositories cannot be searched either because the resources do not exist "
        "or you do not have permission to view them."
    )


def _part(match: re.Match[str], negate: bool) -> Part:
    name = match["name"] or ""
    value = match["quoted"] if match["quoted"] is not None else match["plain"]
    if name and name not in _KNOWN:
        name, value = "", f"{name}:{value}"
    return Part(value, name, negate or match["minus"] == "-")


def _refused(message: str) -> Failed:
    fault = {"message": message, "resource": "Search", "field": "q", "code": "invalid"}
    return Failed(failure(422, "Validation Failed", errors=[fault]))
