"""The one true name behind a name that is nearly right, and what to suggest when there is none."""

from collections.abc import Callable, Sequence

from mcp_curated_shared.security.confinement.descriptors import names_in
from mcp_curated_shared.security.confinement.names import case_key, escape_name, unicode_key

_COMPARED_AT_MOST = 5_000


def needs_no_guess(name: str, *, exact: bool) -> bool:
    """Whether no other name can be meant, so that the directory need not be listed."""
    return exact and name.isascii() and " " not in name


def find_similar(held: int, name: str, *, exact: bool) -> str | None:
    """The one entry whose name differs only in Unicode form (NFC, NFD, no-break spaces) or letter case.

    Args:
        held: Descriptor of the directory.
        name: What was asked and is not there.
        exact: Tolerate the Unicode form only: a file that is to be created may differ from another in case.

    Returns:
        None when there is no such entry, or more than one.
    """
    if needs_no_guess(name, exact=exact):
        return None
    names = names_in(held)
    if name in names:
        return name
    keys: list[Callable[[str], str]] = [unicode_key] if exact else [unicode_key, case_key]
    for key in keys:
        wanted = key(name)
        found = [other for other in names if key(other) == wanted]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def suggestion(name: str, names: Sequence[str], inside: str) -> str:
    """The next step after a miss: up to three close names of the directory, or to list it.

    Args:
        name: What was asked.
        names: What the directory holds and the operator has not closed.
        inside: The directory's path relative to its root, put before each suggestion.
    """
    from difflib import get_close_matches

    by_key = {case_key(other): other for other in names[:_COMPARED_AT_MOST]}
    close = get_close_matches(case_key(name), list(by_key), n=3, cutoff=0.6)
    if not close:
        return "List its directory to see what is there."
    prefix = f"{inside}/" if inside else ""
    shown = [f'"{escape_name(prefix + by_key[key])}"' for key in close]
    return f"Did you mean {' or '.join(shown)}?"
