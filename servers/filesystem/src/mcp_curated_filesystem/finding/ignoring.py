"""Which entries a repository ignores: `.gitignore` at every level, `.git/info/exclude`, and directories nobody means.

The rules are gitignore(5)'s: the last pattern of a file that matches decides, a deeper file is stronger than an outer
one, `!` takes back, a pattern with a `/` before its end is about the path from the file's folder, a `/` at the end is
about directories, and nothing under an ignored directory can be taken back, because it is never looked at. Rules of a
repository end at its edge: a nested repository starts with its own.

Every entry is judged as itself, never by its ancestors (those were judged before it was reached), so that a person who
asks for a folder that is ignored still sees what is in it.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_curated_filesystem.finding.globs import compile_glob, has_unclosed_set
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError
from mcp_curated_shared.security.confinement import Confinement, Location, open_child

ALWAYS_IGNORED = frozenset({".git", "node_modules", ".venv", "__pycache__"})
"""Directories that are skipped with or without a `.gitignore`."""

Kind = Literal["directory", "file"]
"""How an entry is judged: a link is a file to git."""

_MAXIMUM_BYTES = 1_048_576
_MAXIMUM_REMEMBERED = 50_000
_WILD = re.compile(r"[*?\[\\]")
_MAXIMUM_STARS = 2
_LONGEST_LINE = 4_096
_MOST_LINES = 2_000


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line: whether it takes back, and the test over the entry's name or its path from the file's folder."""

    takes_back: bool
    directories_only: bool
    by_name: bool
    matches: Callable[[str], object]
    depth: int
    deeper: bool
    fixed: tuple[str, ...]

    def reaches(self, folder: Sequence[str]) -> bool:
        """Whether an entry of `folder` (components from the file's folder) can match at all."""
        if self.by_name:
            return True
        depth = len(folder) + 1
        if depth < self.depth or (depth > self.depth and not self.deeper):
            return False
        return all(one == other for one, other in zip(self.fixed, folder, strict=False))


class _Decider:
    """The rules of one file that can say something in one folder, strongest first."""

    __slots__ = ("_base_length", "_rules", "by_name")

    def __init__(self, rules: Sequence[_Rule], base_length: int) -> None:
        self._rules = tuple(reversed(rules))
        self._base_length = base_length
        self.by_name = all(rule.by_name for rule in rules)

    def decide(self, path: str, name: str, directory: bool) -> bool | None:
        """Tell whether the entry is ignored (True), taken back (False), or not spoken of (None)."""
        slash = "/" if directory else ""
        for rule in self._rules:
            if rule.directories_only and not directory:
                continue
            if rule.matches((name if rule.by_name else path[self._base_length :]) + slash):
                return not rule.takes_back
        return None


class RuleFile:
    """The patterns of one file, which hold from its folder downwards.

    Args:
        base: The folder's path from the configured root, with a `/` at its end; empty for the root.
        text: The file's content. Lines that are no valid pattern are passed over, as git does; so are lines of more
            than 4,096 characters, and what follows the first 2,000 different lines: a hostile file must not hold a
            search up. What they would hide is then shown.
        cut: Whether `text` is only the beginning of the file.

    Attributes:
        cut: Whether any of its lines was left out for these bounds.
    """

    __slots__ = ("_deciders", "_depth", "_rules", "base", "cut", "only_names")

    def __init__(self, base: str, text: str, *, cut: bool = False) -> None:
        self.base = base
        self._depth = base.count("/")
        # A later line wins over an earlier one, so of equal lines the last one counts.
        every = text.split("\n")
        short = [line for line in every if len(line) <= _LONGEST_LINE]
        lines = list(dict.fromkeys(reversed(short)))[::-1]
        self.cut = cut or len(short) < len(every) or len(lines) > _MOST_LINES
        self._rules = [rule for line in lines[:_MOST_LINES] if (rule := _parse(line)) is not None]
        self.only_names = all(rule.by_name for rule in self._rules)
        self._deciders: dict[tuple[int, ...], _Decider] = {}

    def decider(self, folder: str) -> _Decider | None:
        """Give what this file says about the entries of a folder at or below its own, None if nothing."""
        if self.only_names:
            reaching = tuple(range(len(self._rules)))
        else:
            components = folder.split("/")[self._depth : -1]
            reaching = tuple(index for index, rule in enumerate(self._rules) if rule.reaches(components))
        if not reaching:
            return None
        found = self._deciders.get(reaching)
        if found is None:
            found = self._deciders[reaching] = _Decider([self._rules[index] for index in reaching], len(self.base))
        return found


class _Memory(dict[str, bool]):
    """Which names are ignored, where names alone decide; asks the rules about a name once."""

    __slots__ = ("_deciders", "_directory")

    def __init__(self, deciders: Sequence[_Decider], *, directory: bool) -> None:
        super().__init__()
        self._deciders = deciders
        self._directory = directory

    def __missing__(self, name: str) -> bool:
        if len(self) > _MAXIMUM_REMEMBERED:
            self.clear()
        ignored = self[name] = _ignored(self._deciders, name, name, self._directory)
        return ignored


class Rules:
    """What is ignored below one folder: the always ignored directories and the rule files that hold there."""

    __slots__ = ("_files", "_memories", "_only_names")

    def __init__(self, files: Sequence[RuleFile] = ()) -> None:
        self._files = tuple(files)
        self._only_names = all(file.only_names for file in files)
        self._memories: dict[tuple[_Decider, ...], tuple[_Memory, _Memory]] = {}

    @property
    def files(self) -> tuple[RuleFile, ...]:
        """The rule files, outermost (weakest) first."""
        return self._files

    def with_files(self, files: Sequence[RuleFile], *, new_repository: bool) -> "Rules":
        """Give the rules below a folder that has rule files of its own."""
        if not files and not (new_repository and self._files):
            return self
        return Rules(files if new_repository else (*self._files, *files))

    def kept(self, names: list[str], folder: str, kind: Kind) -> list[str]:
        """Give those of a folder's names that are not ignored.

        Args:
            names: Names of one kind.
            folder: Their folder's path from the configured root, with a `/` at its end; empty for the root.
            kind: Directories, or everything else.
        """
        directory = kind == "directory"
        if directory:
            names = [name for name in names if name not in ALWAYS_IGNORED]
        if not self._files or not names:
            return names
        deciders = self._deciders("" if self._only_names else folder)
        if not deciders:
            return names
        if self._only_names or all(decider.by_name for decider in deciders):
            ignored = self._memories[deciders][directory]
            return [name for name in names if not ignored[name]]
        return [name for name in names if not _ignored(deciders, folder + name, name, directory)]

    def ignores(self, path: str, *, directory: bool) -> bool:
        """Whether the one entry at `path` (from the configured root) is ignored by a rule file of these."""
        folder, slash, name = path.rpartition("/")
        return not self.kept([name], folder + slash, "directory" if directory else "file")

    def _deciders(self, folder: str) -> tuple[_Decider, ...]:
        if self._only_names and self._memories:
            return next(iter(self._memories))
        deciders = tuple(decider for file in self._files if (decider := file.decider(folder)) is not None)
        if deciders not in self._memories:
            self._memories[deciders] = _Memory(deciders, directory=False), _Memory(deciders, directory=True)
        return deciders


def read_rules(
    descriptor: int,
    folder: str,
    rules: Rules,
    *,
    has_ignore_file: bool,
    has_repository: bool,
    denied: Callable[[str], bool],
) -> Rules:
    """Extend the rules by those that a folder brings with it.

    Args:
        descriptor: The open folder.
        folder: Its path from the configured root, with a `/` at its end; empty for the root.
        rules: What holds above it.
        has_ignore_file: Whether it has a `.gitignore`.
        has_repository: Whether it has a `.git`.
        denied: Tells whether the operator denies a path; a denied rule file is not read.
    """
    files: list[RuleFile] = []
    if has_repository and not denied(f"{folder}.git/info/exclude"):
        files += _rule_file(folder, _read_below(descriptor, ".git", "info", "exclude"))
    if has_ignore_file and not denied(f"{folder}.gitignore"):
        files += _rule_file(folder, _read_below(descriptor, ".gitignore"))
    return rules.with_files(files, new_repository=has_repository)


def rules_above(confinement: Confinement, location: Location) -> Rules:
    """Collect the rules that hold in a folder from the folders above it, up to its repository's top or the root.

    A rule file that ignores the folder itself, or one between, is left out: whoever names an ignored folder wants to
    see it.
    """
    components = location.relative.split("/") if location.relative else []
    rules = Rules()
    for depth in range(len(components)):
        above = "/".join(components[:depth])
        try:
            with confinement.open_directory(os.path.join(location.root.path, above)) as opened:
                if opened.location.relative != above:
                    continue
                rules = read_rules(
                    opened.descriptor,
                    f"{above}/" if above else "",
                    rules,
                    has_ignore_file=_has(opened.descriptor, ".gitignore"),
                    has_repository=_has(opened.descriptor, ".git"),
                    denied=confinement.denied,
                )
        except CuratedError:
            continue
    paths = ["/".join(components[: depth + 1]) for depth in range(len(components))]
    return Rules([file for file in rules.files if not _hides(file, paths)])


def _hides(file: RuleFile, paths: Sequence[str]) -> bool:
    alone = Rules([file])
    below = [path for path in paths if path.startswith(file.base)]
    return any(path.rpartition("/")[2] not in ALWAYS_IGNORED and alone.ignores(path, directory=True) for path in below)


def _ignored(deciders: Sequence[_Decider], path: str, name: str, directory: bool) -> bool:
    for decider in reversed(deciders):
        decision = decider.decide(path, name, directory)
        if decision is not None:
            return decision
    return False


def _has(descriptor: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except OSError:
        return False
    return True


def _rule_file(folder: str, data: bytes) -> list[RuleFile]:
    """One rule file, none if it is empty; of a line that the bound cut in two nothing is taken."""
    cut = len(data) > _MAXIMUM_BYTES
    if cut:
        data = data[: data.rfind(b"\n", 0, _MAXIMUM_BYTES) + 1]
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return [RuleFile(folder, text, cut=cut)] if text or cut else []


def _read_below(descriptor: int, *names: str) -> bytes:
    """Read a small file by components from an open folder, following no link; empty if it is not there."""
    *folders, last = names
    opened: list[int] = []
    try:
        for folder in folders:
            opened.append(open_child(opened[-1] if opened else descriptor, folder, kind="directory"))
        opened.append(open_child(opened[-1] if opened else descriptor, last, kind="file"))
        return os.read(opened[-1], _MAXIMUM_BYTES + 1)
    except (OSError, CuratedError):
        return b""
    finally:
        for one in opened:
            os.close(one)


def _parse(line: str) -> _Rule | None:
    """Read one line of a rule file; None for a comment, a blank line, or no valid pattern."""
    text = line.rstrip("\r\n")
    if not text.strip() or text.startswith("#"):
        return None
    takes_back = text.startswith("!")
    body = _without_trailing_spaces(text[1:] if takes_back else text)
    directories_only = body.endswith("/")
    parts = body.rstrip("/").split("/")
    while len(parts) > 1 and parts[0] == "**":
        del parts[0]
    by_name = len(parts) == 1 and parts[0] != "**"
    rooted = [part for part in parts if part]
    matches = _matcher(text, rooted, by_name)
    if matches is None or not rooted:
        return None
    fixed: list[str] = []
    floating = body.startswith("**/")
    for part in () if floating else rooted:
        if _WILD.search(part):
            break
        fixed.append(part)
    depth = sum(part != "**" for part in rooted) + (rooted[-1] == "**")
    deeper = floating or "**" in rooted
    return _Rule(takes_back, directories_only, by_name, matches, depth, deeper, tuple(fixed))


def _matcher(line: str, parts: Sequence[str], by_name: bool) -> Callable[[str], object] | None:
    """Compile one line; None if it is no valid pattern.

    pathspec reads the language, but writes one backtracking group for each star: a hostile `*a*a*a*a*b` would hold the
    interpreter for minutes. Lines with many stars go to our own linear globs; so do those with a set, whose classes and
    reversed ranges pathspec hands to the expression compiler as they are.
    """
    if any(has_unclosed_set(part) for part in parts):
        return None
    starred = any(part.count("*") > _MAXIMUM_STARS for part in parts)
    if starred or "[" in line or sum(part == "**" for part in parts) > _MAXIMUM_STARS:
        start = "" if by_name else "**/" if line.lstrip("!").startswith("**/") else "/"
        body = start + "/".join(parts)
        try:
            glob = compile_glob(body, smart_case=False, braces=False).matches
        except InvalidArgumentError:
            return None
        return lambda path: glob(path.removesuffix("/"))
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        pattern = GitIgnoreSpecPattern(line)
    except (ValueError, re.error):
        return None
    return None if pattern.include is None else pattern.match_file


def _without_trailing_spaces(text: str) -> str:
    stripped = text.rstrip(" ")
    return stripped + " " if stripped.endswith("\\") and stripped != text else stripped
