"""Which command was meant, and running it."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp_curated_shared.cli.output import complain, write
from mcp_curated_shared.cli.program import ServerProgram, resolve
from mcp_curated_shared.errors import CuratedError, SettingsError
from mcp_curated_shared.nearest import nearest

USAGE_STATUS = 2
"""Exit status of a command that was not understood and of settings that are refused (as of POSIX utilities)."""

BUILT_IN = ("serve", "config", "doctor", "tools")


def main(program: ServerProgram, argv: Sequence[str] | None = None) -> int:
    """Run the command line of a server.

    Args:
        program: What the server says about itself.
        argv: The command line without the program's name; by default that of the process.

    Returns:
        The exit status: 0 done, 1 something failed, 2 a command or setting was not understood. `serve` has its own.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _dispatch(program, arguments, os.environ)
    except CuratedError as error:
        complain(program, error)
        return USAGE_STATUS if isinstance(error, SettingsError) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); the interpreter must not find out again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


def _dispatch(program: ServerProgram, arguments: list[str], environ: Mapping[str, str]) -> int:
    before_dashes = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if "--version" in before_dashes or before_dashes[:1] == ["-V"]:
        write(f"{program.distribution} {program.version()}\n")
        return 0
    if "--help" in before_dashes or "-h" in before_dashes:
        from mcp_curated_shared.cli.usage import usage

        write(usage(program))
        return 0
    word = arguments[0] if arguments else ""
    own = next((command for command in program.commands if command.name == word), None)
    if own is not None:
        return int(resolve(own.run)(program, arguments[1:], environ))
    if word in BUILT_IN:
        return _COMMANDS[word](program, arguments[1:], environ)
    _refuse_misspelt_command(program, word)
    return _serve(program, arguments, environ)


def _refuse_misspelt_command(program: ServerProgram, word: str) -> None:
    if not word or not word.isascii() or not word.replace("-", "").isalpha() or word.startswith("-"):
        return
    close = nearest(word, [*BUILT_IN, *(command.name for command in program.commands)])
    if close:
        raise SettingsError(
            f'Unknown command "{word}".', f"Did you mean {close}? A folder is given by its absolute path. See --help."
        )


def _serve(program: ServerProgram, arguments: list[str], environ: Mapping[str, str]) -> int:
    from mcp_curated_shared.settings import load

    settings = program.settings_class()
    try:
        loaded = load(settings, arguments, environ)
        from mcp_curated_shared.transport.serve import serve

        return serve(
            program.builder(loaded),
            transport=getattr(loaded.settings, "transport"),  # noqa: B009 - every server's class has these two
            logs=getattr(loaded.settings, "logs"),  # noqa: B009 - as above
            secrets=loaded.secrets,
            before=program.before_serving(loaded),
        )
    except SettingsError as error:
        if _is_for_a_person(program, arguments, environ):
            raise
        return _serve_error(program, error)


def _is_for_a_person(program: ServerProgram, arguments: list[str], environ: Mapping[str, str]) -> bool:
    """Whether stderr will be read: in a terminal, and over HTTP, where no host waits on stdin."""
    from mcp_curated_shared.settings.loading import asks_for

    if asks_for("transport.transport", "http", program.settings_class(), arguments, environ):
        return True
    try:
        return sys.stdin is not None and sys.stdin.isatty()
    except ValueError:  # closed
        return False


def _serve_error(program: ServerProgram, error: SettingsError) -> int:
    """Serve nothing but the error: a host's user never sees stderr, but sees what a tool answers."""
    from mcp_curated_shared.settings import defaults
    from mcp_curated_shared.transport.stand_in import serve_settings_error

    build: Callable[[], Any] = program.builder(defaults(program.settings_class()))
    return serve_settings_error(name=program.distribution, version=program.version(), build=build, error=error)


def _config(program: ServerProgram, arguments: list[str], environ: Mapping[str, str]) -> int:
    from mcp_curated_shared.cli.configuring import config

    return config(program, arguments, environ)


def _doctor(program: ServerProgram, arguments: list[str], environ: Mapping[str, str]) -> int:
    from mcp_curated_shared.doctor import doctor

    return doctor(program, arguments, environ)


def _tools(program: ServerProgram, arguments: list[str], environ: Mapping[str, str]) -> int:
    from mcp_curated_shared.cli.listing import tools

    return tools(program, arguments, environ)


_COMMANDS: dict[str, Callable[[ServerProgram, list[str], Mapping[str, str]], int]] = {
    "serve": _serve,
    "config": _config,
    "doctor": _doctor,
    "tools": _tools,
}
