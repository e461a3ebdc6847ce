"""A command in a terminal of its own, with somebody who types at its prompt (POSIX)."""

import os
import pty
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Final

_SECONDS: Final = 60.0

# The process forks nothing itself (it may have threads); the child makes the terminal its controlling one and then
# becomes the command.
_TAKE_TERMINAL: Final = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


def type_at(
    argv: Sequence[str], typed: str, *, prompt: str, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run a command whose controlling terminal is a new one, and type a line when it prompts.

    Args:
        argv: The command; its first item is a path.
        typed: The line, without its end.
        prompt: What the command shows when it waits for the line.
        environment: All of its variables; None for this process's own.

    Returns:
        The exit status, and everything that the terminal showed, its echo included.

    Raises:
        TimeoutError: It did not end within a minute; it was ended.
    """
    near, far = pty.openpty()
    try:
        process = subprocess.Popen(  # noqa: S603 - the caller's own command
            [sys.executable, "-c", _TAKE_TERMINAL, *argv],
            stdin=far,
            stdout=far,
            stderr=far,
            env=None if environment is None else dict(environment),
            start_new_session=True,
        )
    except BaseException:
        os.close(near)
        raise
    finally:
        os.close(far)
    with process:
        try:
            shown = _converse(near, typed, prompt)
            return process.wait(_SECONDS), shown
        except (TimeoutError, subprocess.TimeoutExpired):
            process.kill()
            raise TimeoutError(f"{argv[0]} did not end") from None
        finally:
            os.close(near)


def _converse(terminal: int, typed: str, prompt: str) -> str:
    shown = b""
    answered = False
    while select.select([terminal], [], [], _SECONDS)[0]:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other side is closed
            return shown.decode("utf-8", "replace")
        if not part:
            return shown.decode("utf-8", "replace")
        shown += part
        if not answered and prompt.encode() in shown:
            os.write(terminal, typed.encode() + b"\n")
            answered = True
    raise TimeoutError
