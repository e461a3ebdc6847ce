"""The `doctor` command: what would keep a server from working, each with its fix.

Exit status: 0 when nothing failed (warnings do not count), 1 when something failed, 2 for a flag that is unknown.
"""

import dataclasses
import json
import os
import platform
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

from mcp_curated_shared.cli.listing import self_command
from mcp_curated_shared.cli.options import spell_all, take_options, without_transport
from mcp_curated_shared.cli.output import write
from mcp_curated_shared.cli.probe import ProbeError, probe
from mcp_curated_shared.cli.program import ServerProgram
from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings import Boolean, Loaded, Settings, StateSettings, load, setting
from mcp_curated_shared.settings.sources import Given

Level = Literal["ok", "warn", "fail"]

OLDEST_PYTHON = (3, 11)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        level: "ok"; "warn", it works with a restriction; "fail", it does not.
        subject: What was looked at, in a word or two.
        text: What was found.
        fix: What to do about it; empty for "ok".
    """

    level: Level
    subject: str
    text: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class DoctorOptions(Settings):
    """Options of `doctor`."""

    prompted: ClassVar[bool] = False

    offline: bool = setting(Boolean(), default=False, help="Do not start the server, and ask no other host.")
    json: bool = setting(Boolean(), default=False, help="Print JSON.")


def doctor(program: ServerProgram, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Examine and report.

    Returns:
        0 when nothing failed, 1 otherwise.

    Raises:
        SettingsError: A flag is unknown.
    """
    settings = program.settings_class()
    options, given = take_options(DoctorOptions, arguments, settings)
    findings: list[Finding] = []
    for finding in examine(program, given, environ, offline=options.offline):
        findings.append(finding)
        if not options.json:
            write(_line(finding))
    failed = [one for one in findings if one.level == "fail"]
    write(_as_json(findings) if options.json else _summary(findings))
    return 1 if failed else 0


def examine(
    program: ServerProgram, given: dict[str, Given], environ: Mapping[str, str], *, offline: bool
) -> Iterator[Finding]:
    """Every finding, as it is made."""
    yield from _versions(program)
    settings = program.settings_class()
    spelt = spell_all(given, settings)
    try:
        loaded = load(settings, spelt, environ)
    except SettingsError as error:
        yield Finding("fail", "settings", error.text, error.next_step)
        return
    set_by_hand = [one for one in loaded.effective if one.source != "default"]
    told = ", ".join(f"{one.name} = {one.value} ({one.origin})" for one in set_by_hand) or "all as by default"
    yield Finding("ok", "settings", told)
    yield from _state_folder(loaded, program.name)
    yield from _guarded(program, loaded)
    if not offline:
        yield from _guarded(program, loaded, online=True)
        yield _running(program, spell_all(_without_transport(given), settings), without_transport(environ, settings))


def _without_transport(given: Mapping[str, Given]) -> dict[str, Given]:
    return {name: one for name, one in given.items() if not name.startswith("transport.")}


def _versions(program: ServerProgram) -> Iterator[Finding]:
    from importlib.metadata import PackageNotFoundError, version

    yield Finding("ok", "version", f"{program.distribution} {program.version()}")
    found = (
        f"{platform.python_implementation()} {platform.python_version()} on {platform.system()} {platform.release()}"
    )
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield Finding("fail", "Python", found, "Install Python 3.11 or later.")
    else:
        yield Finding("ok", "Python", f"{found}, {sys.executable}")
    try:
        yield Finding("ok", "mcp", f"mcp {version('mcp')}")
    except PackageNotFoundError:
        yield Finding("fail", "mcp", "The package mcp is not installed.", f"Reinstall {program.distribution}.")


def _state_folder(loaded: Loaded[Settings], name: str) -> Iterator[Finding]:
    state: object = getattr(loaded.settings, "state", None)
    if isinstance(state, StateSettings):
        yield check_state_folder(state.path(name))


def check_state_folder(path: str) -> Finding:
    """Whether the state folder can be used, or made: ours alone, since it will hold the audit log and its key."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return _missing_state_folder(path)
    except OSError as error:
        return Finding("fail", "state folder", f"{path}: {error.strerror}.", "Name another with --state-dir.")
    own = os.name != "posix" or status.st_uid == os.geteuid()
    private = os.name != "posix" or not status.st_mode & 0o077
    problems: tuple[tuple[bool, Level, str, str], ...] = (
        (not stat.S_ISDIR(status.st_mode), "fail", f"{path} is not a folder.", "Remove it, or use --state-dir."),
        (
            not os.access(path, os.W_OK | os.X_OK),
            "fail",
            f"{path} cannot be written.",
            "Use --state-dir.",
        ),
        (not own, "warn", f"{path} belongs to another user.", "Name your own with --state-dir."),
        (not private, "warn", f"Others can look into {path}.", f"Run: chmod 700 {path}"),
    )
    for holds, level, text, fix in problems:
        if holds:
            return Finding(level, "state folder", text, fix)
    return Finding("ok", "state folder", path)


def _missing_state_folder(path: str) -> Finding:
    above = os.path.dirname(path)
    while not os.path.exists(above) and os.path.dirname(above) != above:
        above = os.path.dirname(above)
    if os.access(above, os.W_OK | os.X_OK):
        return Finding("ok", "state folder", f"{path}, made when it is needed")
    return Finding("fail", "state folder", f"{path} cannot be made: {above} cannot be written.", "Use --state-dir.")


def _guarded(program: ServerProgram, loaded: Loaded[Settings], *, online: bool = False) -> Iterator[Finding]:
    """The server's own checks; a crash in one of them is a finding too, so that the others are still told."""
    try:
        yield from cast("Iterable[Finding]", program.own_checks(loaded, online=online))
    except Exception as error:
        text = f"A check crashed: {type(error).__name__}: {error}"
        yield Finding("fail", "checks", text, "Report this with the output of doctor.")


def _running(program: ServerProgram, arguments: Sequence[str], environ: Mapping[str, str]) -> Finding:
    try:
        found = probe(self_command(program, arguments), environ)
    except ProbeError as error:
        return Finding("fail", "server", error.text, error.next_step or "Mend what it logged.")
    size = sum(tool.size for tool in found.tools)
    names = ", ".join(tool.name for tool in found.tools)
    text = f"started as a host starts it, {len(found.tools)} tools in {found.seconds:.1f} s, {size} bytes: {names}"
    return Finding("ok", "server", text) if found.tools else Finding("fail", "server", text, "Report this.")


_COLOURS = {"ok": "32", "warn": "33", "fail": "31"}


def _line(finding: Finding) -> str:
    mark = f"{finding.level:<4}"
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        mark = f"\x1b[{_COLOURS[finding.level]}m{mark}\x1b[0m"
    fix = f"\n      -> {finding.fix}" if finding.fix else ""
    return f"{mark}  {finding.subject}: {_one_line(finding.text)}{fix}\n"


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in text)


def _summary(findings: Sequence[Finding]) -> str:
    def count(level: Level) -> int:
        return sum(one.level == level for one in findings)

    return f"\n{count('ok')} fine, {count('warn')} to look at, {count('fail')} broken.\n"


def _as_json(findings: Sequence[Finding]) -> str:
    whole = {"ok": all(one.level != "fail" for one in findings), "findings": [dataclasses.asdict(f) for f in findings]}
    return json.dumps(whole, indent=2, ensure_ascii=True) + "\n"
