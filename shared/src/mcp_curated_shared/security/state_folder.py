"""The folder in which a server keeps what must outlive it: made for this user alone, and used only while it is so."""

import os
import re
import stat
from collections.abc import Iterable

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.security.confinement.probing import real_paths


class StateFolderError(SettingsError):
    """The state folder cannot be made, or others could change what is in it."""


def make_state_folder(path: str) -> str:
    """Make the folder if it is missing, mode 0700 from birth, and see that nobody else can change what is in it.

    Args:
        path: Absolute.

    Returns:
        The same path.

    Raises:
        StateFolderError: It cannot be made, is no folder, belongs to another user, or others may write in it.
    """
    try:
        _make(path)
        state = os.stat(path)
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise StateFolderError(
            f"The state folder {path} cannot be used: {reason}.", "Name another one with --state-dir."
        ) from error
    if not stat.S_ISDIR(state.st_mode):
        raise StateFolderError(f"The state folder {path} is not a folder.", "Name another one with --state-dir.")
    if hasattr(os, "getuid"):
        _check_owner(path, state)
    return path


def _make(path: str) -> None:
    missing: list[str] = []
    here = path
    while not os.path.isdir(here) and here != os.path.dirname(here):
        missing.append(here)
        here = os.path.dirname(here)
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:
            continue


def _check_owner(path: str, state: os.stat_result) -> None:
    if state.st_uid != os.getuid():
        raise StateFolderError(
            f"The state folder {path} belongs to another user.", "Name one of your own with --state-dir."
        )
    if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise StateFolderError(
            f"Others may write in the state folder {path}; they could approve what only you may.",
            f"Close it: chmod 700 {path}",
        )


def closed_patterns(folder: str, roots: Iterable[str]) -> tuple[str, ...]:
    """Deny patterns that close the state folder where it lies in a served one; none where it does not.

    Whoever can write the ledger can approve what only a person may, and whoever can read the audit's key can forge it.

    Args:
        folder: The state folder, which need not exist yet.
        roots: Paths of the served folders.

    Raises:
        SettingsError: The state folder is itself served.
    """
    real = os.path.realpath(folder)
    patterns: list[str] = []
    served = list(roots)
    for root, top in zip(served, real_paths(served), strict=True):
        if real == top:
            raise SettingsError(f"{root} is the state folder; it cannot be served.", "Name another with --state-dir.")
        if real.startswith(top.rstrip(os.sep) + os.sep):
            # The slashes at both ends keep it from being read as a bare name, and its blanks from being trimmed.
            patterns.append("/" + re.sub(r"([\\*?\[\]])", r"\\\1", os.path.relpath(real, top)) + "/")
    return tuple(patterns)
