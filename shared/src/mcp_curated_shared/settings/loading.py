"""From the command line and the environment to one frozen settings object."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from mcp_curated_shared.settings.arguments import scan_arguments
from mcp_curated_shared.settings.declaration import Settings, declared_fields, describe, group_of
from mcp_curated_shared.settings.environment import scan_environment
from mcp_curated_shared.settings.kinds import HoldsSecrets, Secret
from mcp_curated_shared.settings.sources import Given, Source, read

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True, slots=True)
class Effective:
    """One setting as it is in force.

    Attributes:
        name: The path of its field.
        value: As an operator would write it, secrets masked; None if absent.
        source: Where it came from.
        origin: The flag or variable that gave it; empty for the default.
    """

    name: str
    value: str | None
    source: Source
    origin: str


@dataclass(frozen=True, slots=True)
class Loaded(Generic[S]):
    """Settings and where each of them came from.

    Attributes:
        settings: The values.
        effective: One entry a setting, in the order of declaration: what `config://main` shows.
        secrets: Every secret text in force, so that logs and the redactor can know them.
    """

    settings: S
    effective: tuple[Effective, ...]
    secrets: tuple[str, ...]


def load(settings: type[S], argv: Sequence[str], environ: Mapping[str, str]) -> Loaded[S]:
    """Read every setting: a flag wins over the environment, the environment over the default.

    Args:
        settings: The class that declares them.
        argv: The command line without the program's name and command.
        environ: The environment.

    Raises:
        SettingsError: The first thing that is wrong, in one line, and its fix.
    """
    infos = describe(settings)
    # A misspelt variable is refused even where a flag would win: somebody meant it.
    given = scan_environment(environ, infos, settings.environment_prefix)
    given |= scan_arguments(argv, infos)
    values: dict[str, object] = {}
    effective: list[Effective] = []
    secrets: list[str] = []
    for info in infos:
        source = given.get(info.name)
        value = info.raw_default if source is None else read(info, source)
        values[info.name] = value
        secrets += _secret_texts(value, source, info.secret)
        origin = ("default", "") if source is None else (source.source, source.name)
        effective.append(Effective(info.name, info.show(value), origin[0], origin[1]))
    return Loaded(_build(settings, values, ""), tuple(effective), tuple(secrets))


def defaults(settings: type[S]) -> Loaded[S]:
    """The settings as if nobody had set anything."""
    return load(settings, (), {})


def _secret_texts(value: object, given: Given | None, secret: bool) -> list[str]:
    items = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    found = [item.reveal() for item in items if isinstance(item, Secret)]
    found += [text for item in items if isinstance(item, HoldsSecrets) for text in item.secret_texts()]
    return found or (list(given.texts) if secret and given else [])


def _build(settings: type[S], values: Mapping[str, object], path: str) -> S:
    arguments: dict[str, object] = {}
    for field in declared_fields(settings):
        inner = group_of(field)
        name = path + field.name
        arguments[field.name] = values[name] if inner is None else _build(inner, values, f"{name}.")
    built = settings(**arguments)
    built.check()
    return built


def asks_for(name: str, value: str, settings: type[Settings], argv: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether one setting is given as `value`, looked at loosely: for settings that are broken elsewhere."""
    info = next((info for info in describe(settings) if info.name == name), None)
    if info is None:
        return False
    for position, argument in enumerate(argv):
        flag, equals, text = argument.partition("=")
        if info.flag and flag == info.flag:
            follows = argv[position + 1] if position + 1 < len(argv) else ""
            return (text if equals else follows) == value
    return any(environ.get(variable, "").strip() == value for variable in info.environment)


def render(loaded: Loaded[S]) -> str:
    """The effective settings as a reader wants them: one line each, where it came from, secrets masked."""
    lines = [f"{one.name} = {_shown(one)}  ({_provenance(one)})" for one in loaded.effective]
    return "\n".join(lines) + "\n"


def _shown(one: Effective) -> str:
    if one.value is None:
        return "(none)"
    return one.value.encode("utf-8", "backslashreplace").decode().replace("\n", "\\n")


def _provenance(one: Effective) -> str:
    if one.source == "file":
        return f"from the file that {one.origin} names"
    return {"default": "default", "flag": f"command line, {one.origin}", "environment": f"environment, {one.origin}"}[
        one.source
    ]
