"""Keep `uv.lock` free of the package index's address (docs/decisions/0002-host-free-lock.md).

    lock.py strip LOCK                 rewrite a full lock in the form that is committed
    lock.py check LOCK                 is it in that form? needs no network
    lock.py restore COMMITTED FRESH    compare a full lock that uv has just written with the committed one; on a drifted
                                       version or another hash say which and fail, else let FRESH hold only known files

The lock is rewritten line by line: uv writes one artifact a line, and what is not touched stays as uv wrote it.
"""

import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

HEADER = "# Names no package index, see docs/decisions/0002-host-free-lock.md; `make lock` writes this form.\n"
# A member that does not exist: uv takes the lock for stale, resolves again with the locked versions as preferences,
# and so never looks for a folder called "index".
STALE_MEMBER = "stale-on-purpose"

_REGISTRY = re.compile(r'registry = "[^"]*"')
_ARTIFACT = re.compile(
    r'^(?P<lead>\s*(?:sdist = )?)\{ (?P<kind>url|path) = "(?P<place>[^"]+)"(?P<rest>[^}]*)\}(?P<tail>,?)$'
)
_HASH = re.compile(r'hash = "(sha256:[0-9a-f]{64})"')
_MEMBERS = "members = [\n"


@dataclass(frozen=True, slots=True)
class Artifact:
    """One sdist or wheel line of a lock: its file name and, when the index gave one, its SHA-256."""

    file: str
    hash: str | None
    line: str

    @classmethod
    def parse(cls, line: str) -> "Artifact | None":
        """The artifact that `line` describes, or None if it describes none."""
        match = _ARTIFACT.match(line.rstrip("\n"))
        if match is None:
            return None
        found = _HASH.search(match["rest"])
        file = unquote(urlsplit(match["place"]).path).rpartition("/")[2]
        return cls(file, found[1] if found else None, line)

    def stripped(self) -> str:
        """The line with a bare file name for the address; size and time of upload, which not every index tells, go."""
        match = _ARTIFACT.match(self.line.rstrip("\n"))
        if match is None:
            raise ValueError(f"not a line that parse() reads: {self.line!r}")
        known = f', hash = "{self.hash}"' if self.hash else ""
        return f'{match["lead"]}{{ path = "{self.file}"{known} }}{match["tail"]}\n'

    def with_hash(self, value: str) -> str:
        """The line as uv wrote it, with `value` as its hash if the index gave none."""
        return self.line if self.hash else self.line.replace(" }", f', hash = "{value}" }}', 1)


def strip(lock: str) -> str:
    """The committed form of `lock`; a lock that is in it already comes back unchanged."""
    lines = [line for line in lock.splitlines(keepends=True) if not line.startswith("#")]
    body = "".join(_stripped_line(line) for line in lines)
    if f'"{STALE_MEMBER}"' not in body:
        body = body.replace(_MEMBERS, f'{_MEMBERS}    "{STALE_MEMBER}",\n', 1)
    return HEADER + body


def _stripped_line(line: str) -> str:
    artifact = Artifact.parse(line)
    if artifact is not None:
        return artifact.stripped()
    return _REGISTRY.sub('registry = "index"', line)


def faults(lock: str) -> list[str]:
    """What keeps `lock` from being in the committed form; each fault names its line or package."""
    found = [
        f"line {number} names an address: {line.strip()[:60]}"
        for number, line in enumerate(lock.splitlines(), 1)
        if "://" in line
    ]
    if not found and strip(lock) != lock:
        found.append("it is not in the committed form")
    artifacts = [Artifact.parse(line) for line in lock.splitlines()]
    found += [f"{artifact.file} has no SHA-256" for artifact in artifacts if artifact and not artifact.hash]
    return found


@dataclass(frozen=True, slots=True)
class Comparison:
    """A fresh lock held against the committed one."""

    drift: tuple[str, ...]
    full: str
    unknown: tuple[str, ...]


def compare(committed: str, fresh: str) -> Comparison:
    """Hold `fresh` (full, as uv has just written it) against `committed`.

    Versions, dependencies, markers and the hash of every file must agree. An index may hold fewer files of a version
    than the one that the lock was made with, or more (a project adds wheels later): the latter are taken out of `full`,
    so that only files whose hash is committed can be installed.
    """
    known = {item.file: item.hash for item in map(Artifact.parse, committed.splitlines(keepends=True)) if item}
    drift = _version_drift(committed, fresh)
    unknown: list[str] = []
    full: list[str] = []
    for line in fresh.splitlines(keepends=True):
        artifact = Artifact.parse(line)
        if artifact is None:
            full.append(line)
        elif (locked := known.get(artifact.file)) is None:
            unknown.append(artifact.file)
        else:
            if artifact.hash not in (locked, None):
                drift.append(f"{artifact.file}: locked as {locked}, the index says {artifact.hash}")
            full.append(artifact.with_hash(locked))
    if not drift and _skeleton(strip(fresh)) != _skeleton(committed):
        drift += _differing_lines(_skeleton(committed), _skeleton(strip(fresh)))
    return Comparison(tuple(drift), "".join(full), tuple(unknown))


def _versions(lock: str) -> dict[str, set[str]]:
    versions: dict[str, set[str]] = {}
    for package in tomllib.loads(lock)["package"]:
        versions.setdefault(package["name"], set()).add(package.get("version", ""))
    return versions


def _version_drift(committed: str, fresh: str) -> list[str]:
    locked, found = _versions(committed), _versions(fresh)
    return [
        f"{name}: locked {_listed(locked.get(name))}, resolved {_listed(found.get(name))}"
        for name in sorted(locked.keys() | found.keys())
        if locked.get(name) != found.get(name)
    ]


def _listed(versions: set[str] | None) -> str:
    return ", ".join(sorted(versions)) if versions else "nothing"


def _skeleton(lock: str) -> list[str]:
    """The lines that must agree whatever the index is: everything but artifacts and uv's own revision number."""
    lines = lock.splitlines(keepends=True)
    return [line for line in lines if Artifact.parse(line) is None and not line.startswith(("#", "revision = "))]


def _differing_lines(locked: Sequence[str], found: Sequence[str]) -> list[str]:
    gone = [f"only in uv.lock: {line.strip()}" for line in locked if line not in set(found)]
    new = [f"only in what uv resolves: {line.strip()}" for line in found if line not in set(locked)]
    return gone + new or ["the entries come in another order"]


def _strip_command(path: Path) -> int:
    before = path.read_text(encoding="utf-8")
    after = strip(before)
    if after != before:
        path.write_text(after, encoding="utf-8")
    return 0


def _check_command(path: Path) -> int:
    found = faults(path.read_text(encoding="utf-8"))
    for fault in found[:20]:
        print(f"{path}: {fault}", file=sys.stderr)
    if found:
        print("Run `make lock` (or `git checkout uv.lock` after a plain `uv sync`).", file=sys.stderr)
    return int(bool(found))


def _restore_command(committed: Path, fresh: Path) -> int:
    comparison = compare(committed.read_text(encoding="utf-8"), fresh.read_text(encoding="utf-8"))
    if comparison.drift:
        print("What uv resolves here is not what uv.lock says; nothing was installed:", file=sys.stderr)
        for line in comparison.drift[:20]:
            print(f"  {line}", file=sys.stderr)
        print("If you changed a pyproject.toml: `make lock`. If not, find out why before you go on.", file=sys.stderr)
        return 1
    if comparison.unknown:
        print(f"Left out {len(comparison.unknown)} files that uv.lock does not know, such as {comparison.unknown[0]}.")
    fresh.write_text(comparison.full, encoding="utf-8")
    return 0


_COMMANDS: dict[str, tuple[int, Callable[..., int]]] = {
    "strip": (1, _strip_command),
    "check": (1, _check_command),
    "restore": (2, _restore_command),
}


def main(arguments: Sequence[str]) -> int:
    """Run the command that `arguments` name; 0 for good, 1 for a fault, 2 for a call that makes no sense."""
    name, *paths = arguments or [""]
    count, command = _COMMANDS.get(name, (-1, _check_command))
    if len(paths) != count:
        print(__doc__, file=sys.stderr)
        return 2
    return command(*map(Path, paths))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
