"""The text of --help, made from the declared settings."""

import shutil
import textwrap
from collections.abc import Iterable, Sequence

from mcp_curated_shared.cli.program import ServerProgram
from mcp_curated_shared.settings import SettingInfo, describe

COMMANDS = (
    ("serve", "Serve a client. This is what happens without a command."),
    ("config", "Print the entry for a host's configuration file, or write it: config --host HOST [--write]."),
    ("doctor", "Check settings, surroundings and the running server; each finding comes with its fix."),
    ("tools", "List the tools as a client gets them, and their size."),
)


def usage(program: ServerProgram) -> str:
    """The whole help of a server."""
    infos = describe(program.settings_class())
    positional = next((info.usage for info in infos if info.positional), "")
    commands = [*COMMANDS, *((one.name, one.summary) for one in program.commands)]
    parts = [
        f"Usage: {program.distribution} [COMMAND] [FLAGS] {positional}".rstrip(),
        program.summary,
        "Commands:\n" + table(commands),
        "Settings:\n" + table(_rows(infos, further=False)),
        "Further settings:\n" + table(_rows(infos, further=True)),
        "A flag wins over its variable, a variable over the default. In a variable several values stand as "
        "the flag's text says. A secret's variable with _FILE behind it names a file that holds the secret. "
        "What comes after -- is never taken for a command or a flag; a folder called like a command is given, "
        "as every folder, by its absolute path.",
    ]
    if program.examples:
        parts.append("Examples:\n" + "\n".join(f"  {line}\n      {text}" for line, text in program.examples))
    return "\n\n".join(part if ":\n" in part else "\n".join(textwrap.wrap(part, _width())) for part in parts) + "\n"


def _rows(infos: Iterable[SettingInfo], *, further: bool) -> list[tuple[str, str]]:
    return [(_spelling(info), _meaning(info)) for info in infos if info.prompted is not further]


def _spelling(info: SettingInfo) -> str:
    return info.usage or (info.environment[0] if info.environment else info.name)


_SEPARATED = {"path": "several as in PATH", "comma": "several with commas", "space": "several with commas or blanks"}


def _meaning(info: SettingInfo) -> str:
    notes: list[str] = []
    if info.repeatable and not info.positional:
        notes.append("repeatable")
    if info.default is not None and info.raw_default is not False:
        notes.append(f"default {'on' if info.raw_default is True else info.default}")
    if info.kind.form == "number":
        notes.append(f"{info.minimum} to {info.maximum}")
    variables = [name for name in info.environment if name != _spelling(info)]
    if variables:
        notes.append(" or ".join(variables) + (f", {_SEPARATED[info.separator]}" if info.repeatable else ""))
    notes += [f"or {name}" for name in info.files[:1]]
    return f"{info.help} [{'; '.join(notes)}]" if notes else info.help


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Two columns, the second wrapped; a long first cell has a line of its own."""
    width = _width()
    left = 26
    lines: list[str] = []
    for first, second in rows:
        wrapped = textwrap.wrap(second, max(width - left - 2, 30), break_on_hyphens=False) or [""]
        if len(first) > left - 3:
            lines.append(f"  {first}")
        else:
            lines.append(f"  {first.ljust(left - 2)}{wrapped.pop(0)}")
        lines += [" " * left + line for line in wrapped]
    return "\n".join(lines)


def _width() -> int:
    return min(shutil.get_terminal_size().columns, 110)
