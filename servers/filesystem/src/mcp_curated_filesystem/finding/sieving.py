"""Which entries of a folder a search looks at, and a count of those that it does not."""

import errno
import os
from dataclasses import dataclass, field
from itertools import islice

from mcp_curated_filesystem.finding.globs import Excludes
from mcp_curated_filesystem.finding.ignoring import Kind, Rules, read_rules, rules_above
from mcp_curated_filesystem.finding.timing import Clock
from mcp_curated_shared.security.confinement import Confinement, Location, escape_name

_OURS = ".mcp-curated-"
_NAMED_AT_MOST = 5
_SHOWN_OF_A_PATH = 200
_BATCH = 1_024
_REASONS = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EIO: "input/output error",
    errno.ENAMETOOLONG: "its path is too long",
    errno.ESTALE: "stale network file",
}
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


def is_ours(name: str) -> bool:
    """Whether an entry is this server's own (its trash, its temporary files), which nobody is shown."""
    return name == ".mcp-curated-trash" or (name.startswith(_OURS) and name.endswith(".tmp"))


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a search looks.

    Attributes:
        path: The folder, as the caller wrote it.
        exclude_patterns: Globs of what is left out at any depth, never looked into.
        include_ignored: Look also at what `.gitignore` and the like hide.
        base: Absolute directory that a relative `path` starts from.
    """

    path: str
    exclude_patterns: tuple[str, ...] = ()
    include_ignored: bool = False
    base: str | None = None

    def arguments(self) -> dict[str, object]:
        """The arguments of a tool that repeat this scope for another path; defaults are left out."""
        return {
            "excludePatterns": list(self.exclude_patterns) or None,
            "includeIgnored": self.include_ignored or None,
        }


class Entries:
    """The names in one folder by what they are, as the directory itself says: nothing was followed."""

    __slots__ = ("directories", "files", "others")

    def __init__(self, directories: list[str], files: list[str], others: list[str]) -> None:
        self.directories = directories
        self.files = files
        self.others = others

    def __len__(self) -> int:
        return len(self.directories) + len(self.files) + len(self.others)


@dataclass(frozen=True, slots=True)
class Skipped:
    """What a search did not look at.

    Attributes:
        ignored_directories: Pruned by an ignore rule, with everything in them.
        ignored_files: Left out by an ignore rule.
        excluded: Directories and files left out by the call's own patterns.
        denied: Entries that the operator closed.
        unreadable: The first few that could not be read, in shown form with the reason.
        unreadable_count: How many could not be read.
        cut_rules: How many rule files are longer than is read of them.
    """

    ignored_directories: int = 0
    ignored_files: int = 0
    excluded: int = 0
    denied: int = 0
    unreadable: tuple[str, ...] = ()
    unreadable_count: int = 0
    cut_rules: int = 0

    def sentences(self, *, ignored: str = "includeIgnored=true shows them") -> list[str]:
        """Say it, one sentence each; nothing for what did not happen."""
        said: list[str] = []
        if self.ignored_directories or self.ignored_files:
            parts = [
                counted(self.ignored_directories, "ignored directory", "ignored directories"),
                counted(self.ignored_files, "ignored file"),
            ]
            said.append(f"Skipped {' and '.join(part for part in parts if part)} (.gitignore and the like); {ignored}.")
        if self.cut_rules:
            files = counted(self.cut_rules, "ignore file is", "ignore files are")
            said.append(f"{files} longer than is read of them: what their other lines would hide is not hidden.")
        if self.excluded:
            said.append(f"Left out by excludePatterns: {self.excluded:,}.")
        if self.denied:
            said.append(f"Closed by the operator: {counted(self.denied, 'entry', 'entries')}.")
        if self.unreadable_count:
            more = self.unreadable_count - len(self.unreadable)
            rest = f" and {more:,} more" if more else ""
            said.append(f"Could not be read: {', '.join(self.unreadable)}{rest}.")
        return said


def counted(number: int, one: str, many: str = "") -> str:
    """Write a number with its noun; empty for none."""
    if number == 0:
        return ""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _shortened(path: str) -> str:
    """A path that leaves room for the rest of the reply: the end tells most."""
    return path if len(path) <= _SHOWN_OF_A_PATH else f"...{path[3 - _SHOWN_OF_A_PATH :]}"


@dataclass(slots=True)
class Tally:
    """Counts `Skipped` while a search runs."""

    ignored_directories: int = 0
    ignored_files: int = 0
    excluded: int = 0
    denied: int = 0
    unreadable: list[str] = field(default_factory=list[str])
    unreadable_count: int = 0
    cut_rules: set[str] = field(default_factory=set[str])

    def fault(self, path: str, error: OSError) -> None:
        """Note that a path (from the searched folder) could not be read; one that has just gone is no fault."""
        if error.errno not in _GONE:
            self.note(path, _REASONS.get(error.errno or 0) or os.strerror(error.errno or 0).lower())

    def note(self, path: str, reason: str) -> None:
        """Note that a path was not read, and why."""
        self.unreadable_count += 1
        if len(self.unreadable) < _NAMED_AT_MOST:
            self.unreadable.append(f"{_shortened(escape_name(path)) or '.'} ({reason})")

    def total(self) -> Skipped:
        """Give the counts so far."""
        return Skipped(
            self.ignored_directories,
            self.ignored_files,
            self.excluded,
            self.denied,
            tuple(self.unreadable),
            self.unreadable_count,
            len(self.cut_rules),
        )


class Sieve:
    """Decides what of each folder is looked at, and counts the rest in `tally`.

    Args:
        confinement: For the operator's rules and the rule files above the folder.
        location: The searched folder.
        scope: What to leave out.

    Raises:
        InvalidArgumentError: A pattern is malformed.
    """

    __slots__ = (
        "_confinement",
        "_denies",
        "_excludes",
        "_include_ignored",
        "_passes_all",
        "_root",
        "_top",
        "rules",
        "tally",
    )

    def __init__(
        self,
        confinement: Confinement,
        location: Location,
        scope: Scope,
    ) -> None:
        include_ignored = scope.include_ignored
        exclude_patterns = scope.exclude_patterns
        self._confinement = confinement
        self._root = location.root
        self._denies = confinement.denies
        self._include_ignored = include_ignored
        self._top = f"{location.relative}/" if location.relative else ""
        self._excludes = Excludes(exclude_patterns, base=location.path) if exclude_patterns else None
        self._passes_all = include_ignored and not exclude_patterns and not self._denies
        self.rules = Rules() if include_ignored else rules_above(confinement, location)
        self.tally = Tally()
        self._note_cut(self.rules)

    def sift(self, descriptor: int, prefix: str, rules: Rules, entries: Entries) -> Rules:
        """Take out of a folder's entries what is not looked at.

        Args:
            descriptor: The open folder, for the rule files in it.
            prefix: Its path from the searched folder, with a `/` at its end; empty for the searched folder.
            rules: The ignore rules that hold above it.
            entries: What is in it; changed in place.

        Returns:
            The ignore rules that hold below it.
        """
        if self._passes_all:
            return rules
        folder = self._top + prefix
        if not self._include_ignored:
            has_file = ".gitignore" in entries.files
            has_repository = ".git" in entries.directories or ".git" in entries.files
            if has_file or has_repository:
                rules = read_rules(
                    descriptor,
                    folder,
                    rules,
                    has_ignore_file=has_file,
                    has_repository=has_repository,
                    denied=self.denied,
                )
                self._note_cut(rules)
        if entries.directories:
            entries.directories = self._kept(entries.directories, prefix, folder, rules, "directory")
        if entries.files:
            entries.files = self._kept(entries.files, prefix, folder, rules, "file")
        if entries.others:
            entries.others = self._kept(entries.others, prefix, folder, rules, "file")
        return rules

    def _note_cut(self, rules: Rules) -> None:
        self.tally.cut_rules.update(file.base for file in rules.files if file.cut)

    def denied(self, relative: str) -> bool:
        """Whether the operator closed a path, given from the configured root."""
        return self._confinement.denied(relative, self._root)

    def _kept(self, names: list[str], prefix: str, folder: str, rules: Rules, kind: Kind) -> list[str]:
        left = self.open_names(names, folder) if self._denies else names
        if self._excludes is not None:
            before = len(left)
            left = self._excludes.kept(left, prefix, kind)
            self.tally.excluded += before - len(left)
        if self._include_ignored:
            return left
        before = len(left)
        left = rules.kept(left, folder, kind)
        if before != len(left):
            if kind == "directory":
                self.tally.ignored_directories += before - len(left)
            else:
                self.tally.ignored_files += before - len(left)
        return left

    def open_names(self, names: list[str], folder: str) -> list[str]:
        """Give those names in a folder (path from the configured root) that the operator has not closed."""
        left = [name for name in names if not self.denied(folder + name)]
        self.tally.denied += len(names) - len(left)
        return left


def read_entries(descriptor: int, clock: Clock) -> Entries:
    """List an open directory, without what is this server's own; what there was time for.

    Raises:
        OSError: It cannot be listed.
        CancelledError: The caller has gone.
    """
    directories: list[str] = []
    files: list[str] = []
    others: list[str] = []
    ours = before = 0
    with os.scandir(descriptor) as listing:
        while True:
            for entry in islice(listing, _BATCH):
                name = entry.name
                if name[0] == "." and is_ours(name):
                    ours += 1
                elif entry.is_dir(follow_symlinks=False):
                    directories.append(name)
                elif entry.is_file(follow_symlinks=False):
                    files.append(name)
                else:
                    others.append(name)
            seen = len(directories) + len(files) + len(others) + ours
            if seen % _BATCH or seen == before or clock.over():
                return Entries(directories, files, others)
            before = seen
