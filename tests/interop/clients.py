"""Clients of other people, installed by npm and run as processes: scripts/interop says which and how."""

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
PROJECT: Final = REPOSITORY / "scripts" / "interop"
RUNNER: Final = PROJECT / "run.mjs"
SECONDS: Final = 100.0
"""After which one run of a client is taken never to end."""

_OLDEST_NODE: Final = 20
_INSTALL_SECONDS: Final = 240.0
_INSPECTOR: Final = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"


class UnavailableError(Exception):
    """The clients cannot be had on this machine; the text says why."""


@dataclass(frozen=True, slots=True)
class Session:
    """What one client saw on one connection.

    Attributes:
        version: The protocol version that was agreed on, where the client tells it.
        server: The server's name for itself.
        steps: The result of each step, as the client gives it.
        asked: The questions that the client's user was asked.
    """

    version: str | None
    server: str
    steps: Sequence[Any]
    asked: Sequence[str]


@functools.cache
def installed() -> Path:
    """The folder that holds the clients: installed once for each lock, in the user's cache.

    Raises:
        UnavailableError: There is no Node, or npm cannot install.
    """
    if shutil.which("node") is None or shutil.which("npm") is None:
        raise UnavailableError("Node and npm are not installed")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip("v").partition(".")[0]) < _OLDEST_NODE:
        raise UnavailableError(f"Node {_OLDEST_NODE} or later is needed, this is {version}")
    digest = hashlib.sha256(b"".join((PROJECT / name).read_bytes() for name in ("package.json", "package-lock.json")))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcp-curated"
    folder = cache / f"interop-{digest.hexdigest()[:16]}"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _only_one(cache / f"{folder.name}.lock") as waited:
            if not folder.is_dir() and waited:
                raise UnavailableError("npm could not install the clients for the test that asked first")
            if not folder.is_dir():
                _install(folder)
    except OSError as error:
        raise UnavailableError(f"the cache folder cannot be used: {error.strerror}") from error
    return folder


@contextlib.contextmanager
def _only_one(lock: Path) -> Generator[bool]:
    """Hold a lock among processes; gives whether another one had it first."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            waited = False
        except BlockingIOError:
            fcntl.flock(file, fcntl.LOCK_EX)
            waited = True
        yield waited


def _install(folder: Path) -> None:
    """Install beside the folder and rename, so that it is there as a whole or not at all."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as temporary:
        there = Path(temporary) / "project"
        there.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(PROJECT / name, there)
        command = ["npm", "ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--fetch-retries=1"]
        try:
            npm = subprocess.run(
                command, cwd=there, capture_output=True, text=True, check=False, timeout=_INSTALL_SECONDS
            )
        except subprocess.TimeoutExpired as error:
            raise UnavailableError("npm did not install the clients in time") from error
        if npm.returncode:
            said = [line for line in npm.stderr.splitlines() if line.startswith("npm error")]
            raise UnavailableError(f"npm cannot install the clients: {' '.join(said[:3])}")
        there.rename(folder)


def run(folder: Path, description: Mapping[str, Any]) -> Session:
    """Run a client as `run.mjs` describes it; what it needs is found in `folder`."""
    process = _node(
        folder, ["--input-type=module", "--eval", RUNNER.read_text(encoding="utf-8")], json.dumps(description)
    )
    assert process.returncode == 0, f"{process.stdout}\n{process.stderr}"
    told = json.loads(process.stdout)
    return Session(told["version"], told["server"]["name"], told["steps"], told["asked"])


def inspect(folder: Path, home: Path, *arguments: str) -> Any:
    """What the Inspector's command line prints, `result` and what else; it keeps its own files in `home`."""
    given = [_INSPECTOR, "--cli", "--format", "json", "--quiet", "--connect-timeout", "60000", *arguments]
    process = _node(folder, given, "", home=home)
    assert process.returncode == 0, f"{process.returncode} {process.stdout}\n{process.stderr}"
    return json.loads(process.stdout)


def _node(folder: Path, arguments: Sequence[object], given: str, **more: object) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": os.environ.get("HOME", "/")}
    environment |= {name.upper(): str(value) for name, value in more.items()}
    command = ["node", *map(str, arguments)]
    return subprocess.run(
        command, cwd=folder, env=environment, input=given, capture_output=True, text=True, check=False, timeout=SECONDS
    )
