"""A filter for `logging`: what passes it holds no secret."""

import logging
import traceback
from collections.abc import Callable
from typing import Final

WITHHELD: Final = "(withheld: the redaction of this record failed)"

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class RedactingFilter(logging.Filter):
    """Hides secrets in a record's message, arguments, extra fields, traceback and stack, before any handler sees it.

    Add it to handlers (a logger's filter does not see the records of its children). A record whose redaction fails is
    passed on without its text.

    Args:
        redact: What hides the secrets of a text.
        redact_fields: The same for a mapping of names to values.
    """

    def __init__(
        self, redact: Callable[[str], str], redact_fields: Callable[[dict[str, object]], dict[str, object]]
    ) -> None:
        super().__init__()
        self._redact = redact
        self._redact_fields = redact_fields

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record; always true."""
        try:
            self._change(record)
        except Exception:  # a line that might hold a secret is worth less than the secret
            record.msg, record.args, record.exc_info, record.exc_text, record.stack_info = (
                WITHHELD,
                None,
                None,
                None,
                None,
            )
        return True

    def _change(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
        except Exception:  # wrong arguments for the format
            message = f"{record.msg!r} % {record.args!r}"
        record.msg, record.args = self._redact(message), None
        if record.exc_info and record.exc_info[1] is not None:
            record.exc_text = "".join(traceback.format_exception(record.exc_info[1])).rstrip("\n")
        record.exc_info = None
        record.exc_text = self._redact(record.exc_text) if record.exc_text else None
        record.stack_info = self._redact(record.stack_info) if record.stack_info else None
        extra = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if extra:
            vars(record).update(self._redact_fields(extra))
