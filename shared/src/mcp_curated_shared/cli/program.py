"""What a server tells the command line about itself. Everything heavy is named, not imported."""

import importlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:  # --version is answered without them
    from mcp_curated_shared.settings import Loaded, Settings


@dataclass(frozen=True, slots=True)
class Command:
    """A command that only one server has, such as `approve` or `audit`.

    Attributes:
        name: Its word.
        summary: One line for --help.
        run: `module:function`; called with the program, the arguments after the word and the environment; returns the
            exit status.
    """

    name: str
    summary: str
    run: str


@dataclass(frozen=True, slots=True)
class ServerProgram:
    """One server as a program. A `module:name` is imported when it is first needed.

    Attributes:
        name: The word that stands for the server in a host's file: "filesystem".
        distribution: Name of the distribution and of the console script.
        module: The package that `python -m` runs.
        summary: One sentence for --help.
        settings: `module:Class` of its settings.
        build: `module:function` from `Loaded[Settings]` to the server.
        before: `module:function` called with `Loaded[Settings]` before any thread exists; empty for none.
        checks: `module:function` from `Loaded[Settings]` to an iterable of `doctor.Finding`; empty for none.
        online_checks: The same for checks that ask another host; `doctor --offline` leaves them out.
        commands: Commands of its own.
        examples: Lines for --help, each a whole command and what it does.
    """

    name: str
    distribution: str
    module: str
    summary: str
    settings: str
    build: str
    before: str = ""
    checks: str = ""
    online_checks: str = ""
    commands: Sequence[Command] = ()
    examples: Sequence[tuple[str, str]] = ()

    def settings_class(self) -> "type[Settings]":
        """The class that declares the settings."""
        return cast("type[Settings]", resolve(self.settings))

    def version(self) -> str:
        """The version of the installed distribution; "0" where it runs from a bare source tree."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return "0"

    def builder(self, loaded: "Loaded[Settings]") -> Callable[[], Any]:
        """A function that makes the server; the server's own modules are imported when it is called."""
        return lambda: resolve(self.build)(loaded)

    def before_serving(self, loaded: "Loaded[Settings]") -> Callable[[], None] | None:
        """What must happen before any thread exists, or None."""
        return (lambda: resolve(self.before)(loaded)) if self.before else None

    def own_checks(self, loaded: "Loaded[Settings]", *, online: bool = False) -> Iterable[object]:
        """The server's own findings for `doctor`: of this machine, or those that ask another host."""
        named = self.online_checks if online else self.checks
        return cast("Iterable[object]", resolve(named)(loaded)) if named else ()


def resolve(path: str) -> Any:
    """The thing that `module:name` names."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
