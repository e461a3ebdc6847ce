"""The environment, and the files in which a secret waits."""

import os
import re
import select
import stat
import sys
from collections.abc import Callable, Mapping, Sequence

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.nearest import nearest
from mcp_curated_shared.settings.declaration import Separator, SettingInfo
from mcp_curated_shared.settings.kinds import quoted
from mcp_curated_shared.settings.names import misspelt
from mcp_curated_shared.settings.sources import Given, refuse_unexpanded_path

SECRET_FILE_LIMIT = 65_536
"""Bytes of a secret's file that are read; a token, a key or a connection string is far below."""

SECRET_PIPE_SECONDS = 5.0
"""How long the writer of a pipe may take; the host is waiting for the server to start."""


def scan_environment(environ: Mapping[str, str], infos: Sequence[SettingInfo], prefix: str) -> dict[str, Given]:
    """What the environment gives, by the setting's name. An empty variable counts as not set (forms leave such).

    Raises:
        SettingsError: A variable that begins with our prefix and is none of ours, a near miss of one of ours, or
            a secret's file that cannot be read.
    """
    refuse_near_misses(environ, infos, prefix)
    given: dict[str, Given] = {}
    for info in infos:
        value = _from_variable(environ, info) or _from_file(environ, info)
        if value is not None:
            given[info.name] = value
    return given


def _from_variable(environ: Mapping[str, str], info: SettingInfo) -> Given | None:
    for variable in info.environment:
        text = environ.get(variable, "")
        if text.strip():
            texts = split(text, info.separator) if info.repeatable else (text,)
            return Given(texts, "environment", variable) if texts else None
    return None


def _from_file(environ: Mapping[str, str], info: SettingInfo) -> Given | None:
    for variable in info.files:
        path = environ.get(variable, "")
        if path.strip():
            refuse_unexpanded_path(path, variable)
            return Given((read_secret_file(path, variable),), "file", variable)
    return None


def split(text: str, separator: Separator) -> tuple[str, ...]:
    """The values that stand in one variable; empty ones are dropped.

    With the separator of PATH, where that is a colon, `DIR:ro` stays one value: nothing that is only
    `ro` or `rw` is a path.
    """
    if separator == "comma":
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if separator == "space":
        return tuple(part for part in re.split(r"[,\s]+", text) if part)
    parts: list[str] = []
    for part in text.split(os.pathsep):
        if part in {"ro", "rw"} and parts and os.pathsep == ":":
            parts[-1] += f":{part}"
        elif part:
            parts.append(part)
    return tuple(parts)


def refuse_near_misses(environ: Mapping[str, str], infos: Sequence[SettingInfo], prefix: str) -> None:
    """Refuse a variable that was meant for this server and would be ignored.

    Raises:
        SettingsError: Naming the variable and the nearest right one.
    """
    known = [variable for info in infos for variable in (*info.environment, *info.files)]
    right = set(known)
    fold: Callable[[str], str] = str.upper if sys.platform == "win32" else str
    for variable in environ:
        if fold(variable) in right:
            continue
        if prefix and variable.upper().startswith(prefix):
            raise _wrong_variable(variable, _nearest_variable(variable, known, prefix), known)
        close = next((name for name in known if misspelt(variable, name) and name not in environ), None)
        if close:
            raise _wrong_variable(variable, close, known)


def _nearest_variable(variable: str, known: Sequence[str], prefix: str) -> str | None:
    own = {name.removeprefix(prefix): name for name in known if name.startswith(prefix)}
    close = nearest(variable[len(prefix) :], own)
    return own[close] if close else None


def _wrong_variable(variable: str, close: str | None, known: Sequence[str]) -> SettingsError:
    fix = f"Did you mean {close}?" if close else f"Known are {', '.join(known)}."
    return SettingsError(f"The environment variable {variable} is none of this server's.", f"{fix} Otherwise unset it.")


def read_secret_file(path: str, variable: str) -> str:
    """The one line that a secret's file holds, white space around it removed.

    Raises:
        SettingsError: Naming the variable and the file, never what it holds.
    """
    if not os.path.isabs(os.path.expanduser(path)):
        raise SettingsError(f"{variable}: {quoted(path)} is a relative path.", "Give the file's absolute path.")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
    try:
        descriptor = os.open(os.path.expanduser(path), flags)
    except OSError as error:
        raise SettingsError(f"{variable}: {quoted(path)} cannot be read: {error.strerror}.", "Check it.") from None
    try:
        data = _read_limited(descriptor)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SettingsError(f"{variable}: {quoted(path)} cannot be used: {reason}.", "Name a small file.") from None
    finally:
        os.close(descriptor)
    try:
        text = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise SettingsError(f"{variable}: {quoted(path)} is not UTF-8 text.", "Save it as plain text.") from None
    if not text:
        raise SettingsError(f"{variable}: {quoted(path)} is empty.", "Put the secret into it, on one line.")
    return text


def _read_limited(descriptor: int) -> bytes:
    mode = os.fstat(descriptor).st_mode
    pipe = stat.S_ISFIFO(mode)
    if not pipe and not stat.S_ISREG(mode):
        raise ValueError("it is a folder or a device, not a file")
    data = b""
    while len(data) <= SECRET_FILE_LIMIT:
        # A pipe is how a shell hands over a secret without a file: X_FILE=<(command).
        if pipe and not select.select([descriptor], [], [], SECRET_PIPE_SECONDS)[0]:
            raise ValueError(f"it is a pipe into which nothing was written for {SECRET_PIPE_SECONDS:g} s")
        more = os.read(descriptor, SECRET_FILE_LIMIT)
        if not more:
            break
        data += more
    if len(data) > SECRET_FILE_LIMIT:
        raise ValueError(f"it holds more than {SECRET_FILE_LIMIT} bytes")
    return data
