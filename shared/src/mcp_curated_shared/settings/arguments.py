"""The command line."""

import re
from collections.abc import Mapping, Sequence

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.nearest import nearest
from mcp_curated_shared.settings.declaration import SettingInfo
from mcp_curated_shared.settings.kinds import quoted
from mcp_curated_shared.settings.sources import Given, read


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
