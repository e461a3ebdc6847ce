"""The `pending` and `approve` commands: a person in a terminal agrees to a write that a client could not ask about."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TextIO, TypeVar

from mcp_curated_shared.cli.options import spell_all, take_options
from mcp_curated_shared.cli.output import write
from mcp_curated_shared.cli.program import ServerProgram
from mcp_curated_shared.errors import CuratedError, SettingsError
from mcp_curated_shared.security.confirmation.choosing import open_ledger
from mcp_curated_shared.security.confirmation.ledger import Ledger, Operation
from mcp_curated_shared.settings import LedgerSettings, Settings, StateSettings, load
from mcp_curated_shared.transport.logs import escape_controls

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NoOptions(Settings):
    """`approve` and `pending` have none of their own."""

    prompted: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Terminal:
    """Both directions of a terminal."""

    reading: TextIO
    writing: TextIO

    def write(self, text: str) -> None:
        """Show text now."""
        self.writing.write(text)
        self.writing.flush()


class TerminalError(CuratedError):
    """There is no terminal in which a person could be asked."""

    kind = "no_terminal"


def pending(program: ServerProgram, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """List the operations that wait for a person.

    Raises:
        SettingsError: The arguments are refused.
    """
    waiting = _ledger(program, arguments, environ)(lambda ledger: ledger.waiting())
    if not waiting:
        write("Nothing waits for an approval.\n")
    for operation in waiting:
        write(_line(operation))
    return 0


def _line(operation: Operation) -> str:
    minutes, seconds = divmod(int(operation.seconds_left), 60)
    question = escape_controls(operation.text.split("\n", 1)[0])
    return f"{operation.id}  {operation.state}, {minutes}:{seconds:02d} left  {question}\n"


def approve(program: ServerProgram, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Show one operation whole in the controlling terminal, and approve it if its word is typed.

    Returns:
        0 if it is approved now, 1 if not.

    Raises:
        SettingsError: The arguments are refused, or there is no such operation.
        TerminalError: This process has no controlling terminal.
    """
    ids = [argument for argument in arguments if argument.startswith("op_")]
    rest = [argument for argument in arguments if argument not in ids]
    if len(ids) != 1:
        raise SettingsError(f"{program.distribution} approve takes one operation's id.", 'See "pending".')
    ledger = _ledger(program, rest, environ)
    operation = ledger(lambda opened: opened.look(ids[0]))
    if operation is None or operation.state in ("used", "expired"):
        raise SettingsError(
            f"There is no operation {escape_controls(ids[0])} that waits: it is unknown, used or expired.",
            'See "pending"; the client can ask for a new one by repeating its call.',
        )
    if operation.state == "approved":
        write("It is approved already; the client can go on.\n")
        return 0
    with _terminal() as terminal:
        agreed = _agree(terminal, operation)
        approved = ledger(lambda opened: opened.approve(operation.id)) if agreed else None
        good = approved is not None and approved.state == "approved"
        terminal.write("Approved. The client can repeat its call now.\n" if good else "Not approved.\n")
    return 0 if good else 1


def _agree(terminal: Terminal, operation: Operation) -> bool:
    terminal.write(f"The tool {operation.operation} asks, for {escape_controls(operation.caller)}:\n\n")
    terminal.write("".join(f"    {escape_controls(line)}\n" for line in operation.text.split("\n")))
    terminal.write(f"\nType {operation.word} to approve, anything else to leave it: ")
    return terminal.reading.readline().strip() == operation.word


@contextlib.contextmanager
def _terminal() -> Generator[Terminal]:
    """The controlling terminal, whatever standard input is: what is piped in must not approve anything.

    Raises:
        TerminalError: There is none.
    """
    # On Windows the console goes by two names, one a direction.
    incoming, outgoing = ("CONIN$", "CONOUT$") if os.name == "nt" else ("/dev/tty", "/dev/tty")
    with contextlib.ExitStack() as stack:
        try:
            reading = stack.enter_context(open(incoming, encoding="utf-8", errors="replace"))
            writing = stack.enter_context(open(outgoing, "w", encoding="utf-8", errors="backslashreplace"))
        except OSError as error:
            raise TerminalError(
                "An approval needs a person at a terminal, and this process has none.", "Run it in a terminal window."
            ) from error
        yield Terminal(reading, writing)


class _OpenedLedger:
    """The ledger of a server, opened for each use of it: between two uses a person thinks."""

    def __init__(self, settings: LedgerSettings, folder: str) -> None:
        self._settings = settings
        self._folder = folder

    def __call__(self, use: Callable[[Ledger], Awaitable[T]]) -> T:
        async def once() -> T:
            ledger = open_ledger(self._settings, self._folder)
            try:
                return await use(ledger)
            finally:
                await ledger.close()

        return asyncio.run(once())


def _ledger(program: ServerProgram, arguments: Sequence[str], environ: Mapping[str, str]) -> _OpenedLedger:
    settings = program.settings_class()
    _, given = take_options(NoOptions, arguments, settings)
    loaded = load(settings, spell_all(given, settings), environ)
    state: object = getattr(loaded.settings, "state", None)
    ledger: object = getattr(loaded.settings, "ledger", None)
    if not isinstance(state, StateSettings) or not isinstance(ledger, LedgerSettings):
        raise SettingsError(f"{program.distribution} has nothing to approve.")
    return _OpenedLedger(ledger, state.path(program.name))
