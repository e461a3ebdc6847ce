"""The right name that a wrong one was probably meant to be."""

from collections.abc import Iterable


def nearest(name: str, choices: Iterable[str]) -> str | None:
    """The choice that looks most like `name`, or None when none is near.

    Case and the separators `_`, `-`, `.` and space do not count, so `dry_run` is `dryRun`.

    Args:
        name: What was written; only its first 100 characters are looked at.
        choices: The right names.
    """
    import difflib  # only a mistake needs it

    by_form: dict[str, str] = {}
    for choice in choices:
        by_form.setdefault(_form(choice), choice)
    form = _form(name[:100])
    close = difflib.get_close_matches(form, by_form, n=1, cutoff=0.6)
    if close:
        return by_form[close[0]]
    inside = [choice for choice in by_form if form and (choice in form or form in choice)]
    return by_form[inside[0]] if len(inside) == 1 else None


def _form(name: str) -> str:
    return name.casefold().translate(_SEPARATORS)


_SEPARATORS = str.maketrans("", "", "_-. ")
