"""The `audit verify` command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mcp_curated_shared.cli.options import spell_all, take_options
from mcp_curated_shared.cli.output import write
from mcp_curated_shared.cli.program import ServerProgram
from mcp_curated_shared.errors import CuratedError, SettingsError
from mcp_curated_shared.security.audit.chain import Head
from mcp_curated_shared.security.audit.keys import AuditKey, given_key, kept_key
from mcp_curated_shared.security.audit.verifying import Verdict, verify
from mcp_curated_shared.settings import AuditSettings, Settings, StateSettings, load

MOST_FAULTS = 20


@dataclass(frozen=True, slots=True)
class NoOptions(Settings):
    """`audit` has none of its own."""

    prompted: ClassVar[bool] = False


def audit(program: ServerProgram, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Check the audit log: `audit verify [HEAD]`.

    Returns:
        0 if nothing is wrong with it, 1 if something is.

    Raises:
        SettingsError: The arguments are refused.
        CuratedError: The log or its key cannot be read.
    """
    if arguments[:1] != ["verify"]:
        raise SettingsError(f"{program.distribution} audit has one command: verify.", "See --help.")
    heads = [head for argument in arguments[1:] if (head := Head.parse(argument)) is not None]
    if len(heads) > 1:
        raise SettingsError("Only one head can be looked for.", "Give the latest.")
    folder, key = _place(program, [text for text in arguments[1:] if Head.parse(text) is None], environ)
    try:
        key = key or kept_key(folder)
        verdict = verify(folder, key, head=heads[0] if heads else None) if key is not None else None
    except FileNotFoundError:
        verdict = None
    except OSError as error:
        raise CuratedError(f"The audit log in {folder} cannot be read: {error.strerror or error}.") from error
    if verdict is None or (not verdict.files and not heads):
        write(f"There is no audit log in {folder}.\n" if key or not heads else f"{folder} has no audit key.\n")
        return 1 if heads else 0
    write(_told(verdict))
    return 1 if verdict.faults else 0


def _place(program: ServerProgram, arguments: Sequence[str], environ: Mapping[str, str]) -> tuple[str, AuditKey | None]:
    settings = program.settings_class()
    _, given = take_options(NoOptions, arguments, settings)
    loaded = load(settings, spell_all(given, settings), environ)
    state: object = getattr(loaded.settings, "state", None)
    recorded: object = getattr(loaded.settings, "audit", None)
    if not isinstance(state, StateSettings) or not isinstance(recorded, AuditSettings):
        raise SettingsError(f"{program.distribution} keeps no audit log.")
    secret = recorded.audit_key
    return state.path(program.name), None if secret is None else given_key(secret.reveal())


def _told(verdict: Verdict) -> str:
    shown = [f"{fault}\n" for fault in verdict.faults[:MOST_FAULTS]]
    more = len(verdict.faults) - len(shown)
    if more > 0:
        shown.append(f"... and {more:,} more.\n")
    counts = f"{verdict.records:,} records in {verdict.files} file{'' if verdict.files == 1 else 's'}"
    older = f", {verdict.dropped:,} older ones rotated away" if verdict.dropped else ""
    state = "Something is wrong with" if verdict.faults else "Nothing is wrong with"
    return "".join((*shown, f"{state} {counts}{older}. Head: {verdict.head}\n"))
