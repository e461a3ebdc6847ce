"""The one declaration of every setting, and what can be read off it.

A server's settings are a frozen dataclass that derives from `Settings`; each field is made by `setting`, `optional`
or `many`, or is a group of settings that several servers share. Parsing, help, tables, forms and the configuration
resource all follow from it:

    @dataclass(frozen=True, slots=True)
    class WebSettings(Settings):
        environment_prefix: ClassVar[str] = "MCP_WEB_"

        robots: bool = setting(Boolean(), default=True, help="Ask each site's robots.txt first.")
        provider_key: Secret | None = optional(SecretText(), help="Key of the search service.",
                                               environment=("SEARCH_API_KEY",))
        transport: TransportSettings = field(default_factory=TransportSettings)
"""

import dataclasses
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar, cast

from mcp_curated_shared.settings.kinds import Boolean, Choice, FormType, Integer, Kind

T = TypeVar("T")

Separator = Literal["path", "comma", "space"]
"""How several values stand in one variable: as in PATH; with commas; with commas or white space."""

_DECLARATION = "mcp_curated_setting"


class Settings:
    """Base of every settings class and of every group.

    Attributes:
        environment_prefix: Begins every variable that a field does not name itself. Every variable that
            begins with it is taken as meant for this server; one that is not known stops the start.
        prompted: Whether a form for newcomers should ask for these settings.
    """

    __slots__ = ()
    environment_prefix: ClassVar[str] = ""
    prompted: ClassVar[bool] = True

    def check(self) -> None:
        """What only several settings together can break.

        Raises:
            SettingsError: They contradict each other.
        """


@dataclass(frozen=True, slots=True)
class Declaration:
    """What one field says about itself; see `setting` and `many` for the meaning of each part."""

    kind: Kind[object]
    help: str
    flag: str | None
    environment: tuple[str, ...] | None
    example: str
    repeatable: bool = False
    separator: Separator = "comma"
    positional: bool = False


def setting(
    kind: Kind[T],
    *,
    default: T,
    help: str,
    flag: str | None = None,
    environment: tuple[str, ...] | None = None,
    example: str = "",
) -> T:
    """One setting with a default.

    Args:
        kind: How its text is read.
        default: What it is when nobody sets it.
        help: One or two sentences for the operator.
        flag: Its flag; by default the field's name with dashes. "" for none. A boolean has `--x` and `--no-x`.
        environment: Its variables, the preferred first; by default the class's prefix and the flag's name (the
            field's, where it has none or is repeatable). () for none.
        example: A value worth showing.
    """
    return _field(Declaration(cast("Kind[object]", kind), help, flag, environment, example), default)


def optional(
    kind: Kind[T],
    *,
    help: str,
    flag: str | None = None,
    environment: tuple[str, ...] | None = None,
    example: str = "",
) -> T | None:
    """One setting that may be absent: None then.

    A kind that is secret makes it one that is never on the command line, where other users see it, is never
    shown, and is also read from the file that its variable's name with `_FILE` names.

    Args:
        kind: How its text is read.
        help: One or two sentences for the operator.
        flag: As for `setting`; none for a secret.
        environment: As for `setting`.
        example: A value worth showing.
    """
    name = "" if kind.secret else flag
    return _field(Declaration(cast("Kind[object]", kind), help, name, environment, example), None)


def many(
    kind: Kind[T],
    *,
    help: str,
    default: tuple[T, ...] = (),
    flag: str | None = None,
    environment: tuple[str, ...] | None = None,
    example: str = "",
    separator: Separator = "comma",
    positional: bool = False,
) -> tuple[T, ...]:
    """A setting that may be given several times.

    Args:
        kind: How the text of one value is read.
        help: One or two sentences for the operator.
        default: What it is when nobody sets it.
        flag: As for `setting`.
        environment: As for `setting`.
        example: A value worth showing.
        separator: What stands between values in the variable.
        positional: Written without a flag.
    """
    name = "" if positional or kind.secret else flag
    declared = Declaration(cast("Kind[object]", kind), help, name, environment, example, True, separator, positional)
    return _field(declared, default)


def _field(declared: Declaration, default: T) -> T:
    return dataclasses.field(default=default, metadata={_DECLARATION: declared})


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """Everything a table, a form, a manifest or a parser needs to know about one setting.

    Attributes:
        name: The path of its field: `read_only`, `transport.port`.
        flag: `--read-only`, or None.
        opposite: For a boolean the flag that says the other thing, or None.
        environment: Its variables, the preferred first; may be empty.
        files: For a secret, the variables that name a file which holds it.
        help: One or two sentences.
        expected: What is allowed, as a noun phrase.
        form: Field type of a form.
        choices: The words to choose from; empty if free.
        minimum, maximum: Bounds of a whole number.
        unit: What a whole number counts.
        default: The default as an operator would write it; None if it is absent or empty.
        repeatable, positional, secret, separator, example, metavar, prompted: As declared.
        kind: How its text is read.
        raw_default: The default value itself.
    """

    name: str
    flag: str | None
    opposite: str | None
    environment: tuple[str, ...]
    files: tuple[str, ...]
    help: str
    expected: str
    form: FormType
    choices: tuple[str, ...]
    minimum: int | None
    maximum: int | None
    unit: str
    default: str | None
    repeatable: bool
    positional: bool
    secret: bool
    separator: Separator
    example: str
    metavar: str
    prompted: bool
    kind: Kind[object]
    raw_default: object

    @property
    def boolean(self) -> bool:
        """Whether it is a switch: its flag takes no value."""
        return isinstance(self.kind, Boolean)

    @property
    def usage(self) -> str:
        """How it is written on the command line, `--log-level LEVEL`; empty if it cannot be."""
        if self.positional:
            return f"[{self.metavar} ...]"
        if self.flag is None:
            return ""
        if self.boolean:
            return f"--[no-]{self.flag[2:]}" if self.raw_default is True else self.flag
        return f"{self.flag} {self.metavar}"

    def show(self, value: object) -> str | None:
        """A value of this setting as an operator would write it; secrets masked; None for an absent one."""
        if value is None:
            return None
        if self.repeatable:
            shown = [self.kind.show(item) for item in cast("tuple[object, ...]", value)]
            return _JOINERS[self.separator]().join(shown) if shown else None
        return self.kind.show(value)


_JOINERS = {"path": lambda: os.pathsep, "comma": lambda: ", ", "space": lambda: " "}


def describe(settings: type[Settings]) -> tuple[SettingInfo, ...]:
    """Every setting of a class, its groups included, in the order of declaration."""
    return tuple(_describe(settings, settings.environment_prefix, ""))


def _describe(settings: type[Settings], prefix: str, path: str) -> Iterator[SettingInfo]:
    for field in declared_fields(settings):
        inner = group_of(field)
        declared: object = field.metadata.get(_DECLARATION)
        if inner is not None:
            yield from _describe(inner, prefix, f"{path}{field.name}.")
        elif isinstance(declared, Declaration):
            yield _info(declared, path + field.name, prefix, settings.prompted, field.default)
        else:
            raise TypeError(f"{settings.__name__}.{field.name} is declared without setting(), optional() or many().")


def declared_fields(settings: type[Settings]) -> tuple["dataclasses.Field[object]", ...]:
    """The dataclass fields of a settings class.

    Raises:
        TypeError: It is not a dataclass.
    """
    if not dataclasses.is_dataclass(settings):
        raise TypeError(f"{settings.__name__} is not a dataclass.")
    return dataclasses.fields(settings)


def group_of(field: "dataclasses.Field[object]") -> type[Settings] | None:
    """The settings class that the field groups, or None if it is one setting."""
    factory: object = field.default_factory
    return factory if isinstance(factory, type) and issubclass(factory, Settings) else None


def _info(declared: Declaration, name: str, prefix: str, prompted: bool, default: object) -> SettingInfo:
    kind = declared.kind
    own = name.rpartition(".")[2]
    flag = declared.flag if declared.flag is not None else "--" + own.replace("_", "-")
    environment = declared.environment
    if environment is None:
        # A flag of another name than its field (--log-level of logs.level) names the variable; a plural stays plural.
        word = own if declared.repeatable or not flag else flag[2:].replace("-", "_")
        environment = (f"{prefix}{word.upper()}",) if prefix else ()
    words = kind.words if isinstance(kind, Choice) else ()
    number = kind if isinstance(kind, Integer) else None
    info = SettingInfo(
        name=name,
        flag=flag or None,
        opposite=_opposite(flag) if flag and isinstance(kind, Boolean) else None,
        environment=environment,
        files=tuple(f"{variable}_FILE" for variable in environment) if kind.secret else (),
        help=declared.help,
        expected=kind.expected,
        form=kind.form,
        choices=words,
        minimum=number.minimum if number else None,
        maximum=number.maximum if number else None,
        unit=number.unit if number else "",
        default=None,
        repeatable=declared.repeatable,
        positional=declared.positional,
        secret=kind.secret,
        separator=declared.separator,
        example=declared.example,
        metavar="|".join(words) or kind.metavar,
        prompted=prompted,
        kind=kind,
        raw_default=default,
    )
    return dataclasses.replace(info, default=info.show(default))


def _opposite(flag: str) -> str:
    return "--" + flag.removeprefix("--no-") if flag.startswith("--no-") else "--no-" + flag.removeprefix("--")
