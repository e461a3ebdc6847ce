"""What somebody gave for a setting, before and after it is read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings.declaration import SettingInfo
from mcp_curated_shared.settings.kinds import quoted

Source = Literal["flag", "environment", "file", "default"]


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


def read(info: SettingInfo, given: Given) -> object:
    """The value of one setting from its texts.

    Raises:
        SettingsError: Naming the flag or variable; a secret is never repeated in it.
    """
    values: list[object] = []
    for text in given.texts:
        if given.source != "file":  # no host has a hand in what a file says
            refuse_unexpanded(text, given.name, info)
        try:
            values.append(info.kind.parse(text))
        except SettingsError as error:
            problem, fix = error.text, error.next_step
            if info.secret:
                problem = problem.replace(quoted(text), "the value").replace(text, "***")
                fix = fix.replace(text, "***")
            raise SettingsError(f"{given.name}: {problem}", fix) from None
    return tuple(values) if info.repeatable else values[-1]


_BRACES = re.compile(r"\$\{\s*([^}:\s]*)")
_CLOSED = re.compile(r"\$\{(?:env:|input:)?([A-Za-z_][A-Za-z0-9_-]*)[^{}]*\}")
_WHOLE = re.compile(r"%([A-Za-z_][A-Za-z0-9_() ]*)%(?:[\\/].*)?|\$([A-Za-z_][A-Za-z0-9_]*)(?:[\\/].*)?", re.DOTALL)


def refuse_unexpanded(text: str, name: str, info: SettingInfo) -> None:
    """Refuse a value in which a host left a variable as it was written.

    That is `${X}` anywhere, and `$X` or `%X%` as the whole value or as the beginning of a path. A password may begin
    with a dollar sign: in a secret only `${X}`, and `$X` and `%X%` of its own variables, count.

    Args:
        text: One value as it was given.
        name: The flag or variable that gave it.
        info: The setting that it is for.

    Raises:
        SettingsError: Naming the variable that was not expanded, and the setting that holds it.
    """
    variable = _unexpanded_secret(text, info.environment) if info.secret else _unexpanded(text)
    if variable is not None:
        raise _not_expanded(name, variable)


def refuse_unexpanded_path(path: str, name: str) -> None:
    """`refuse_unexpanded` for the path of a secret's file, which is no secret itself."""
    variable = _unexpanded(path)
    if variable is not None:
        raise _not_expanded(name, variable)


def _not_expanded(name: str, variable: str) -> SettingsError:
    return SettingsError(
        f"{name} holds a reference to {variable} that was not expanded: the host passed it on as text.",
        f"Write the value itself, or set {variable} where the host starts, in the host's own spelling.",
    )


def _unexpanded(text: str) -> str | None:
    if inside := _BRACES.search(text):
        return inside[1] or "a variable"
    whole = _WHOLE.fullmatch(text.strip())
    return (whole[1] or whole[2]) if whole else None


def _unexpanded_secret(text: str, own: Sequence[str]) -> str | None:
    if inside := _CLOSED.search(text):
        # A name in capitals is a variable's; anything else could be a part of the secret.
        return inside[1] if inside[1].isupper() else "a variable"
    whole = _WHOLE.fullmatch(text.strip())
    variable = (whole[1] or whole[2]) if whole else None
    return variable if variable in own else None
