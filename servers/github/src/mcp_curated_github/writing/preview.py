"""The words of a write's replies, and how much of a long text they repeat."""

from typing import Final

from mcp_curated_github.reading.sizes import ELLIPSIS, clip, size_of
from mcp_curated_github.writing.planning import Write
from mcp_curated_github.writing.sending import Written
from mcp_curated_shared.security.confirmation import Policy

SHOWN_BYTES: Final = 9_000
"""Of a plan in a reply to the model, which wrote the text itself. The person who decides is shown all of it."""

_END_BYTES: Final = 2_000


def shown(text: str) -> str:
    """A plan's text, its middle left out where it is long; its end has what a person must know."""
    if size_of(text) <= SHOWN_BYTES:
        return text
    first = clip(text, SHOWN_BYTES - _END_BYTES)[0].removesuffix(ELLIPSIS)
    last = clip(text[len(first) :][::-1], _END_BYTES)[0][::-1].removeprefix(ELLIPSIS)
    left_out = len(text) - len(first) - len(last)
    return f"{first}\n[{left_out:,} characters are not repeated here; whoever confirms is shown all of them]\n{last}"


def next_step(policy: Policy, *, can_ask: bool, operation_id: str | None, command: str) -> str:
    """What makes a preview real.

    Args:
        policy: What the operator takes as consent.
        can_ask: Whether the client can ask its user.
        operation_id: The operation's; None where the policy knows none.
        command: What approves an operation in a terminal, without its id.
    """
    if policy == "deny":
        return "The operator allows no such change (GITHUB_CONFIRM=deny)."
    if can_ask:
        return "To go on, call again with dry_run=false: the user is asked in this client."
    again = f'call again with dry_run=false and confirmed_operation_id="{operation_id}"'
    if policy == "elicit":
        return (
            "It cannot be confirmed here: this client cannot ask its user, and the operator accepts nothing else"
            " (GITHUB_CONFIRM=elicit)."
        )
    if policy == "host":
        return f"To go on, {again}, if the user wants it."
    return f'To go on, a person runs "{command} {operation_id}" in a terminal; then {again} (within 10 minutes).'


def created(write: Write, written: Written) -> str:
    """What was done."""
    target = write.target
    what = f"Commented on {target.repo}#{written.number}" if write.number else f"Created {target.repo}#{written.number}"
    lines = [f"{what} ({target.visibility}): {written.url}", *(f"Warning: {one}" for one in written.warnings)]
    if write.draft.redacted:
        lines.append(f"Secrets were replaced in it: {', '.join(write.draft.redacted)}.")
    return "\n".join(lines)
