"""The options of a command, declared like settings and read from the command line only.

`config`, `doctor` and `tools` take their own options and, in any order among them, every setting of the server.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from mcp_curated_shared.settings import Settings, describe, load
from mcp_curated_shared.settings.arguments import scan_arguments
from mcp_curated_shared.settings.declaration import SettingInfo
from mcp_curated_shared.settings.sources import Given

O = TypeVar("O", bound=Settings)  # noqa: E741 - the options' own type


def take_options(options: type[O], arguments: Sequence[str], settings: type[Settings]) -> tuple[O, dict[str, Given]]:
    """The command's own options, and what is given for the server's settings, not yet read.

    Raises:
        SettingsError: A flag that is neither's, or a value that is refused.
    """
    own = describe(options)
    infos = describe(settings)
    taken = {info.flag for info in own}
    # config's --host is the application, not the address of HTTP.
    theirs = [info for info in infos if info.flag is None or info.flag not in taken]
    given = scan_arguments(arguments, [*_prefixed(own), *theirs])
    mine = [text for info in own for text in spell(info, given.pop("options." + info.name, None))]
    return load(options, mine, {}).settings, given


def _prefixed(infos: Sequence[SettingInfo]) -> list[SettingInfo]:
    import dataclasses

    return [dataclasses.replace(info, name=f"options.{info.name}") for info in infos]


def spell(info: SettingInfo, given: Given | None) -> list[str]:
    """What was given for a setting, as arguments again; positional ones last and after nothing else."""
    if given is None:
        return []
    if info.positional:
        return list(given.texts)
    flag = info.flag or ""
    if info.boolean:
        return [flag if (given.texts[-1] == "true") != flag.startswith("--no-") else info.opposite or flag]
    return (
        [part for text in given.texts for part in (flag, text)]
        if not any(text.startswith("-") for text in given.texts)
        else [f"{flag}={text}" for text in given.texts]
    )


def spell_all(given: dict[str, Given], settings: type[Settings]) -> list[str]:
    """Everything given for the server's settings, as arguments in the order of declaration, positional ones last."""
    infos = describe(settings)
    flags = [text for info in infos if not info.positional for text in spell(info, given.get(info.name))]
    loose = [text for info in infos if info.positional for text in spell(info, given.get(info.name))]
    dashes = ["--"] if any(text.startswith("-") for text in loose) else []
    return [*flags, *dashes, *loose]


def without_transport(environ: Mapping[str, str], settings: type[Settings]) -> dict[str, str]:
    """The environment for a start over stdio, whatever this one says about HTTP."""
    names = {name for info in describe(settings) if info.name.startswith("transport.") for name in info.environment}
    return {name: value for name, value in environ.items() if name not in names}
