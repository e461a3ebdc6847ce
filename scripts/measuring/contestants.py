"""Who is measured: our server in both protocol eras, the official one if npm is here, and the bare SDK as the floor."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .process import LEGACY, MODERN, Era

OFFICIAL_PACKAGE = "@modelcontextprotocol/server-filesystem"
OFFICIAL_VERSIONS = ("2026.8.31", "2.0.1")
"""What `npx` starts today, and the newest."""

_INSTALL_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Contestant:
    """One way to start one server.

    Attributes:
        name: Heads its column.
        command: Starts it; the folder to serve comes last.
        era: The protocol that is spoken with it.
        ours: Whether it is this repository's.
    """

    name: str
    command: tuple[str, ...]
    era: Era
    ours: bool

    def serving(self, folder: Path) -> Sequence[str]:
        """The command with its folder."""
        return *self.command, str(folder)


def ours() -> list[Contestant]:
    """Our server, as it is in this checkout."""
    command = (sys.executable, "-m", "mcp_curated_filesystem")
    return [Contestant(f"ours, {era}", command, era, ours=True) for era in (LEGACY, MODERN)]


BARE = Contestant("bare SDK", (sys.executable, str(Path(__file__).with_name("bare.py"))), LEGACY, ours=False)
"""Takes a folder too, and ignores it."""


def official(folder: Path) -> tuple[list[Contestant], list[str]]:
    """Install the official server below `folder`.

    Returns:
        The versions that are there now, and a plain line for each that is not.
    """
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        return [], ["The official server is left out: npm is not installed here."]
    found: list[Contestant] = []
    missing: list[str] = []
    for version in OFFICIAL_VERSIONS:
        home = folder / version
        home.mkdir(parents=True)
        package = f"{OFFICIAL_PACKAGE}@{version}"
        command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(home), package]
        main = home / "node_modules" / OFFICIAL_PACKAGE / "dist" / "index.js"
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_INSTALL_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            missing.append(f"The official server {version} is left out: npm could not install it.")
            continue
        found.append(Contestant(f"official {version}", (node, str(main)), LEGACY, ours=False))
    return found, missing
