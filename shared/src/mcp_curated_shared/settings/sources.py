"""What somebody gave for a setting, before and after it is read."""

import re
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
