"""The `config` command: the entry for a host, printed or merged into the host's file."""

import dataclasses
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mcp_curated_shared.cli.options import spell_all, take_options, without_transport
from mcp_curated_shared.cli.output import remark, write
from mcp_curated_shared.cli.program import ServerProgram
from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.hosts import (
    HOSTS,
    Entry,
    Host,
    Surroundings,
    Written,
    change_file,
    find_host,
    merge,
    paste,
    remove,
    shell_line,
)
from mcp_curated_shared.hosts.command import StartCommand, this_command
from mcp_curated_shared.settings import (
    Boolean,
    Choice,
    FilePath,
    SettingInfo,
    Settings,
    Text,
    describe,
    load,
    many,
    optional,
    setting,
)
from mcp_curated_shared.settings.sources import Given


@dataclass(frozen=True, slots=True)
class ConfigOptions(Settings):
    """Options of `config`."""

    prompted: ClassVar[bool] = False

    host: str | None = optional(Choice[str](tuple(host.name for host in HOSTS)), help="Which host the entry is for.")
    write: bool = setting(Boolean(), default=False, help="Merge the entry into the host's file; the old one is kept.")
    remove: bool = setting(Boolean(), default=False, help="Take the entry out of the host's file; the old one is kept.")
    file: str | None = optional(FilePath(), help="Another file than the host's own, such as a project's .mcp.json.")
    name: str | None = optional(
        Text("a name of letters, digits, dashes and underscores", "[A-Za-z0-9_-]{1,64}", "NAME"),
        help="What the server is called in the host; by default its own name.",
    )
    secret: tuple[str, ...] = many(
        Text("the name of a variable", "[A-Z][A-Z0-9_]*", "VARIABLE"),
        help="A secret that the host shall fill in, though it is not set here.",
    )


def config(program: ServerProgram, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print an entry for a host, or merge it into the host's file.

    A relative path is taken from the current folder here, and written as an absolute one: the person who types
    the command knows where they are, the host does not.

    Raises:
        SettingsError: The options, the settings or the host's file are refused.
    """
    settings = program.settings_class()
    options, given = take_options(ConfigOptions, arguments, settings)
    if options.host is None:
        raise SettingsError(
            "config needs a host.", f"Write config --host HOST, one of {', '.join(host.name for host in HOSTS)}."
        )
    host = find_host(options.host)
    if options.remove:
        return _remove_entry(program, options, host, environ)
    _refuse_secret_arguments(given, describe(settings))
    if any(name.startswith("transport.") for name in given):
        raise SettingsError("A host starts the server over stdio.", "Leave out the flags of the transport.")
    spelt = spell_all(_absolute(given, settings), settings)
    load(settings, spelt, without_transport(environ, settings))
    start = this_command(program.distribution, program.module)
    entry = make_entry(program, options, host, start, spelt, environ)
    around = Surroundings(sys.platform, os.path.expanduser("~"), environ)
    place = options.file or host.place(around)
    if options.write:
        _write_entry(host, entry, place)
    else:
        write(paste(host, entry))
        remark(_where(host, entry, place))
    _remarks(host, start, entry, describe(settings))
    return 0


def make_entry(
    program: ServerProgram,
    options: ConfigOptions,
    host: Host,
    start: StartCommand,
    arguments: Sequence[str],
    environ: Mapping[str, str],
) -> Entry:
    """The entry from the command line and from those of the server's variables that are set here.

    A secret's value is never written: the entry refers to it in the host's own way, or names the file that holds it.

    Raises:
        SettingsError: A secret that the host cannot fill in; or one that is none of the server's.
    """
    infos = describe(program.settings_class())
    plain, secrets = _from_environment(infos, environ)
    for variable in options.secret:
        info = next((info for info in infos if variable in info.environment and info.secret), None)
        if info is None:
            known = [name for info in infos if info.secret for name in info.environment]
            fix = f"Known are {', '.join(known)}." if known else "This server has none."
            raise SettingsError(f"{variable} is no secret of this server.", fix)
        secrets[variable] = info.help
    if host.secret("X") is None and secrets:
        variable = next(iter(secrets))
        raise SettingsError(
            f"{host.title} keeps an entry's variables as plain text and cannot fill in {variable} by itself.",
            f"Save the secret in a file that only you can read, and set {variable}_FILE to its path instead.",
        )
    variables = frozenset(name for info in infos for name in (*info.environment, *info.files))
    return Entry(
        options.name or program.name,
        start.program,
        (*start.arguments, *arguments),
        plain,
        secrets,
        variables,
        start.ephemeral,
    )


def _from_environment(
    infos: Sequence[SettingInfo], environ: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    plain: dict[str, str] = {}
    secrets: dict[str, str] = {}
    for info in infos:
        if info.name.startswith("transport."):
            continue
        for variable in info.environment:
            if not environ.get(variable, "").strip():
                continue
            if info.secret:
                secrets[variable] = info.help
            else:
                plain[variable] = environ[variable]
        # A file is named only where no variable wins over it.
        if not any(variable in secrets for variable in info.environment):
            plain |= {name: environ[name] for name in info.files if environ.get(name, "").strip()}
    return plain, secrets


def _absolute(given: Mapping[str, Given], settings: type[Settings]) -> dict[str, Given]:
    paths = {info.name for info in describe(settings) if info.form in {"directory", "file"}}
    return {
        name: dataclasses.replace(one, texts=tuple(_absolute_path(text) for text in one.texts))
        if name in paths
        else one
        for name, one in given.items()
    }


def _absolute_path(text: str) -> str:
    if not text or re.match(r"[~$%]", text) or "${" in text or os.path.isabs(text):
        return text
    return os.path.abspath(text)


def _refuse_secret_arguments(given: Mapping[str, Given], infos: Sequence[SettingInfo]) -> None:
    for info in infos:
        if info.secret and info.name in given:
            variable = info.environment[0] if info.environment else "a variable"
            raise SettingsError(
                f"{given[info.name].name} may hold a secret, and would stand in the host's file in plain text.",
                f"Set {variable} or {variable}_FILE before you run config; the entry then refers to it.",
            )


def _write_entry(host: Host, entry: Entry, place: str) -> None:
    written = _change(place, lambda text: merge(text, host, entry))
    if not written.changed:
        remark(f"{written.path} already holds this entry; nothing was written.")
        return
    kept = f" The file as it was: {written.backup}." if written.backup else ""
    remark(f'Wrote "{entry.name}" into {written.path}.{kept}\n{host.reload}')


def _change(place: str, change: Callable[[str], str]) -> Written:
    try:
        return change_file(place, change)
    except SettingsError as error:
        raise SettingsError(f"{place}: {error.text}.".replace("..", "."), error.next_step) from None


def _remove_entry(program: ServerProgram, options: ConfigOptions, host: Host, environ: Mapping[str, str]) -> int:
    if options.write:
        raise SettingsError("--write and --remove contradict each other.", "Leave one of them out.")
    name = options.name or program.name
    place = options.file or host.place(Surroundings(sys.platform, os.path.expanduser("~"), environ))
    if not os.path.exists(place):
        remark(f"There is no {place}; nothing was removed.")
        return 0
    written = _change(place, lambda text: remove(text, host, name))
    if not written.changed:
        remark(f'{written.path} holds no entry "{name}"; nothing was written.')
        return 0
    remark(f'Took "{name}" out of {written.path}. The file as it was: {written.backup}.\n{host.reload}')
    return 0


def _where(host: Host, entry: Entry, place: str) -> str:
    line = shell_line(host, entry)
    other = f"\nOr run: {line}" if line else ""
    return f"\nThis belongs into {place} ({host.title}); --write puts it there.{other}"


def _remarks(host: Host, start: StartCommand, entry: Entry, infos: Sequence[SettingInfo]) -> None:
    if start.note:
        remark(start.note)
    for variable in entry.secrets if host.name not in {"vscode"} else ():
        remark(f"{host.title} takes {variable} from the environment in which it is started.")
    asked = [info for info in infos if info.secret and info.environment and info.prompted]
    left = [info.environment[0] for info in asked if not _is_given(info, entry)]
    if left:
        remark(f"Not in the entry: {', '.join(left)}. Add --secret VARIABLE, or set VARIABLE_FILE and run this again.")


def _is_given(info: SettingInfo, entry: Entry) -> bool:
    return any(name in entry.secrets or name in entry.environment for name in (*info.environment, *info.files))
