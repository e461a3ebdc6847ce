"""What is searched for: words by the caller, qualifiers from typed arguments, quoted.

A value that is pasted into a search can hold further qualifiers (`language="python user:victim is:private"`), and
without quotes only its first word counts (`language:Jupyter Notebook` looks for Notebook in Jupyter). So values are
checked and quoted, and what GitHub would refuse or misread is refused before the call.
"""

import re
from collections.abc import Iterable
from typing import Final

from mcp_curated_github.names import RepoName, is_owner
from mcp_curated_shared.errors import InvalidArgumentError, NotAllowedError
from mcp_curated_shared.security.allowlist import Allowlist

LONGEST_QUERY: Final = 256
"""Characters in all, qualifiers included (docs.github.com, "Limitations on query length")."""

MOST_OPERATORS: Final = 5

_OPERATOR: Final = re.compile(r"\b(?:AND|OR|NOT)\b")
_LANGUAGE: Final = re.compile(r"[\w#+.'*()/ -]{1,60}")
_LOGIN: Final = re.compile(r"(?:app/)?[A-Za-z0-9](?:[A-Za-z0-9_-]{0,60})(?:\[bot\])?", re.ASCII)
_PLACE: Final = re.compile(r"(?:^|[\s(\"-])(repo|user|org|owner|enterprise):", re.IGNORECASE)
_QUOTED: Final = re.compile(r'"[^"]*"')
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f]+")


def language(value: str) -> str:
    """The qualifier for a programming language.

    Raises:
        InvalidArgumentError: It is no language's name.
    """
    if _LANGUAGE.fullmatch(value) is None:
        raise InvalidArgumentError(
            "language is no language's name: it may hold letters, digits, blanks and #+.'*()/- only.",
            'Give one language, such as "Python" or "Jupyter Notebook".',
        )
    return f'language:"{value}"'


def phrase(name: str, value: str) -> str:
    """A qualifier whose value may be any text but for quotes.

    Raises:
        InvalidArgumentError: It is empty, or holds a quote, a backslash or a control character.
    """
    if not value.strip() or '"' in value or "\\" in value or _CONTROLS.search(value):
        raise InvalidArgumentError(f"{name} cannot be searched for: it is empty or holds a quote.", "Leave it out.")
    return f'{name}:"{value}"'


def author(value: str) -> str:
    """The qualifier for the author of an issue.

    Raises:
        InvalidArgumentError: It is no login.
    """
    if _LOGIN.fullmatch(value) is None:
        raise InvalidArgumentError("author is no login.", 'Write it like "octocat".')
    return f"author:{value}"


def places(readable: Allowlist | None, *, repo: str | None = None, owner: str | None = None) -> tuple[str, ...]:
    """The qualifiers that say where to look, within what may be read. GitHub takes several of them as alternatives.

    Raises:
        InvalidArgumentError: `repo` or `owner` is no name; or both are given.
        NotAllowedError: Nothing there may be read.
    """
    if repo is not None and owner is not None:
        raise InvalidArgumentError("repo and owner are both given.", "Give one of them.")
    if repo is not None:
        return (_in_repo(RepoName.parse(repo), readable),)
    if owner is not None:
        return _of_owner(owner, readable)
    if readable is None:
        return ()
    return (*(f"user:{family[:-1]}" for family in sorted(readable.families)), *map(_repo, sorted(readable.names)))


def _in_repo(name: RepoName, readable: Allowlist | None) -> str:
    if readable is not None and not readable.allows(str(name)):
        raise NotAllowedError(f"{name} is not among the repositories that may be read here.", "Search another one.")
    return _repo(str(name))


def _of_owner(owner: str, readable: Allowlist | None) -> tuple[str, ...]:
    if not is_owner(owner):
        raise InvalidArgumentError("owner is no login.", 'Write it like "octo-org".')
    beginning = owner.lower() + "/"
    if readable is None or beginning in readable.families:
        return (f"user:{owner}",)
    found = tuple(_repo(name) for name in sorted(readable.names) if name.startswith(beginning))
    if not found:
        raise NotAllowedError(f"No repository of {owner} may be read here.", "Search another owner's.")
    return found


def _repo(name: str) -> str:
    return f"repo:{name}"


def any_of(places: tuple[str, ...]) -> tuple[str, ...]:
    """Places as one part of a search for issues, where several side by side would all have to hold.

    Since September 2025 that search is the advanced one; the others still take places side by side as alternatives.
    """
    return places if len(places) < 2 else (f"({' OR '.join(places)})",)


def build_query(
    words: str, qualifiers: Iterable[str], readable: Allowlist | None = None, *, grouped: bool = False
) -> str:
    """The whole search.

    Args:
        words: What the caller looks for.
        qualifiers: From the functions of this module.
        readable: Where given, the words may not say where to look: GitHub would look there as well.
        grouped: Whether words with operators go into parentheses, so that the qualifiers hold for all of them; only the
            search for issues knows parentheses.

    Raises:
        InvalidArgumentError: It is empty, has an odd quote, more than 256 characters or more than five operators.
    """
    said = _CONTROLS.sub(" ", words).strip()
    if said.count('"') % 2:
        raise InvalidArgumentError("query has a quote without its other half.", "Close it or leave it out.")
    if readable is not None and _PLACE.search(said):
        raise InvalidArgumentError("query may not say where to look.", "Use the arguments repo or owner.")
    if grouped and _OPERATOR.search(said):
        said = f"({said})"
    whole = " ".join(part for part in (said, *qualifiers) if part)
    if len(_OPERATOR.findall(_QUOTED.sub("", whole))) > MOST_OPERATORS:
        raise InvalidArgumentError(
            f"The search has more than {MOST_OPERATORS} of AND, OR and NOT.", "Split it, or name a repo."
        )
    if not whole:
        raise InvalidArgumentError("query is empty.", "Give a word to look for.")
    if len(whole) > LONGEST_QUERY:
        raise InvalidArgumentError(
            f"The search has {len(whole)} characters with its qualifiers; GitHub takes {LONGEST_QUERY}.",
            "Use fewer words, or name a repo or owner." if readable is not None else "Use fewer words.",
        )
    return whole
