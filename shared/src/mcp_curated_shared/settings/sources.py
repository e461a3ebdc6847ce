"""Where values come from: the command line, the environment, files that hold a secret."""

import os
import re
import select
import stat
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.nearest import nearest
from mcp_curated_shared.settings.declaration import Separator, SettingInfo
from mcp_curated_shared.settings.kinds import quoted
from mcp_curated_shared.settings.names import misspelt

Source = Literal["flag", "environment", "file", "default"]

SECRET_FILE_LIMIT = 65_536
"""Bytes of a secret's file that are read; a token, a key or a connection string is far below."""

SECRET_PIPE_SECONDS = 5.0
"""How long the writer of a pipe may take; the host is waiting for the server to start."""


@dataclass(frozen=True, slots=True)
class Given:
    """Texts that somebody gave for one setting, not yet read.

    Attributes:
        texts: One text a value.
        source: Which kind of place.
        name: The flag, the variable, or the usage name of a positional.
    """

    texts: tuple[str, ...]
    source: Source
    name: str


def scan_arguments(arguments: Sequence[str], infos: Sequence[SettingInfo]) -> dict[str, Given]:
    """What the command line gives, by the setting's name.

    `--flag value`, `--flag=value`, `--switch`, `--no-switch`, `--switch=false`; everything else, and everything after
    `--`, is positional. argparse is not used since it accepts shortened flags, knows no nearest right name, and
    takes a folder given after an unknown flag for that flag's value.

    Raises:
        SettingsError: An unknown flag, a flag without its value, a switch with one, one flag twice with two values.
    """
    flags = {flag: info for info in infos for flag in (info.flag, info.opposite) if flag}
    positional = next((info for info in infos if info.positional), None)
    found: dict[str, list[str]] = {}
    spelt: dict[str, str] = {}
    loose: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            loose += rest
            break
        if not argument.startswith("-") or argument == "-":
            loose.append(argument)
            continue
        flag, equals, text = argument.partition("=")
        info = flags.get(flag)
        if info is None:
            raise _unknown_flag(flag, flags, infos)
        found.setdefault(info.name, []).append(_flag_text(info, flag, text if equals else None, rest))
        spelt[info.name] = flag
    given = {name: Given(tuple(texts), "flag", spelt[name]) for name, texts in found.items()}
    for info in infos:
        if info.name in found and not info.repeatable and len(set(found[info.name])) > 1:
            raise SettingsError(f"{spelt[info.name]} is given twice with different values.", "Keep one of them.")
    if loose and positional is None:
        raise SettingsError(f"{quoted(loose[0])} is not expected here.", "See --help.")
    if loose and positional is not None:
        given[positional.name] = Given(tuple(loose), "flag", positional.metavar)
    return given


def _flag_text(info: SettingInfo, flag: str, text: str | None, rest: list[str]) -> str:
    if info.boolean:
        value = read(info, Given((text,), "flag", flag)) if text is not None else True
        negative = flag.startswith("--no-")
        return "true" if bool(value) != negative else "false"
    if text is not None:
        return text
    if not rest or (rest[0].startswith("-") and len(rest[0]) > 1 and not re.fullmatch(r"-[0-9.]+", rest[0])):
        raise SettingsError(f"{flag} needs a value: {info.expected}.", f"Write {flag}={info.metavar or 'VALUE'}.")
    return rest.pop(0)


def _unknown_flag(flag: str, flags: Mapping[str, SettingInfo], infos: Sequence[SettingInfo]) -> SettingsError:
    close = nearest(flag, flags)
    if close:
        return SettingsError(f"Unknown flag {quoted(flag)}.", f"Did you mean {close}?")
    secret = next((i for i in infos if i.secret and i.environment and nearest(flag, [i.name, *i.environment])), None)
    if secret:
        variable = secret.environment[0]
        fix = f"A secret is given in the environment, as {variable} or {variable}_FILE: other users see a command line."
        return SettingsError(f"There is no flag {quoted(flag)}.", fix)
    return SettingsError(f"Unknown flag {quoted(flag)}.", "See --help for the flags.")


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
            refuse_unexpanded(text, variable)
            texts = split(text, info.separator) if info.repeatable else (text,)
            return Given(texts, "environment", variable) if texts else None
    return None


def _from_file(environ: Mapping[str, str], info: SettingInfo) -> Given | None:
    for variable in info.files:
        path = environ.get(variable, "")
        if path.strip():
            refuse_unexpanded(path, variable)
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


_BRACES = re.compile(r"\$\{\s*([^}:\s]*)")
_WHOLE = re.compile(r"%([A-Za-z_][A-Za-z0-9_() ]*)%(?:[\\/].*)?|\$([A-Za-z_][A-Za-z0-9_]*)(?:[\\/].*)?", re.DOTALL)


def refuse_unexpanded(text: str, name: str) -> None:
    """Refuse a value in which a host left a variable as it was written.

    That is `${X}` anywhere, and `$X` or `%X%` as the whole value or as the beginning of a path.

    Raises:
        SettingsError: Naming the variable that was not expanded, and the setting that holds it.
    """
    inside = _BRACES.search(text)
    whole = None if inside else _WHOLE.fullmatch(text.strip())
    if inside is None and whole is None:
        return
    variable = (inside[1] if inside else (whole[1] or whole[2]) if whole else "") or "a variable"
    raise SettingsError(
        f"{name} holds a reference to {variable} that was not expanded: the host passed it on as text.",
        f"Write the value itself, or set {variable} where the host starts, in the host's own spelling.",
    )


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
