"""Exceptions without secrets: messages, arguments, notes, chains and the text of their tracebacks."""

import traceback
from collections.abc import Callable
from typing import Final, cast

Redact = Callable[[str], str]

_DEEPEST: Final = 50
_MANY: Final = 500


class RedactedError(Exception):
    """Stands in for an exception whose text cannot be changed; names its class and has its text without the secrets."""


class ExceptionScrubber:
    """Takes secrets out of exceptions.

    Args:
        redact: What hides the secrets of a text.
    """

    def __init__(self, redact: Redact) -> None:
        self._redact = redact

    def scrub(self, error: BaseException) -> BaseException:
        """The exception, changed in place, with everything it was raised from or during; see `Redactor.scrub`."""
        return self._scrubbed(error, {})

    def traceback_text(self, error: BaseException) -> str:
        """The traceback as Python prints it, chains, notes and source lines included, without secrets."""
        return self._redact("".join(traceback.format_exception(error)))

    def _scrubbed(self, error: BaseException, done: dict[int, BaseException]) -> BaseException:
        key = id(error)
        if key in done:
            return done[key]
        done[key] = error
        if len(done) > _MANY:
            done[key] = stand_in = RedactedError(type(error).__name__)
            return stand_in
        self._clean_parts(error)
        result: BaseException = error
        if isinstance(error, BaseExceptionGroup):
            result = self._group(cast("BaseExceptionGroup[BaseException]", error), done)
        elif not self._is_clean(error):
            result = self._stand_in(error)
        done[key] = result
        self._clean_chain(cast("BaseException", error), result, done)
        return result

    def _group(
        self, error: BaseExceptionGroup[BaseException], done: dict[int, BaseException]
    ) -> BaseExceptionGroup[BaseException]:
        members = [self._scrubbed(member, done) for member in error.exceptions]
        message = self._redact(error.message)
        if message == error.message and all(new is old for new, old in zip(members, error.exceptions, strict=True)):
            return error
        result = BaseExceptionGroup(message, members)
        result.__notes__ = [*getattr(error, "__notes__", [])]
        return result.with_traceback(error.__traceback__)

    def _clean_chain(self, error: BaseException, result: BaseException, done: dict[int, BaseException]) -> None:
        suppress = error.__suppress_context__
        cause, context = error.__cause__, error.__context__
        result.__cause__ = self._scrubbed(cause, done) if cause is not None else None
        result.__context__ = self._scrubbed(context, done) if context is not None else None
        result.__suppress_context__ = suppress

    def _clean_parts(self, error: BaseException) -> None:
        """Arguments, notes and every attribute that can be set."""
        try:
            arguments = self._cleaned(error.args, 0)
            if arguments != error.args:
                error.args = cast("tuple[object, ...]", arguments)
        except Exception:  # an exception of foreign make may refuse; its text is looked at afterwards
            return
        names = {*getattr(error, "__dict__", {}), "filename", "filename2", "strerror", "reason", "msg", "text", "name"}
        for name in names:
            self._clean_attribute(error, name)

    def _clean_attribute(self, error: BaseException, name: str) -> None:
        try:
            value: object = getattr(error, name, None)
            cleaned = self._cleaned(value, 0)
            if cleaned is not value and cleaned != value:
                setattr(error, name, cleaned)
        except Exception:  # read-only, or computed
            return

    def _cleaned(self, value: object, depth: int) -> object:
        if depth > _DEEPEST:
            return None
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, bytes):
            text = value.decode("utf-8", "surrogateescape")
            return value if (hidden := self._redact(text)) == text else hidden.encode("utf-8", "surrogateescape")
        if type(value) is dict:
            mapping = cast("dict[object, object]", value)
            return {key: self._cleaned(item, depth + 1) for key, item in mapping.items()}
        if type(value) in (list, tuple):
            items = [self._cleaned(item, depth + 1) for item in cast("list[object]", value)]
            return items if type(value) is list else tuple(items)
        return value

    def _is_clean(self, error: BaseException) -> bool:
        try:
            shown = (str(error), repr(error))
        except Exception:  # whatever it is, it cannot be shown
            return False
        return all(self._redact(text) == text for text in shown)

    def _stand_in(self, error: BaseException) -> BaseException:
        try:
            text = self._redact(str(error))
        except Exception:  # its text cannot be made
            text = "(no text)"
        return RedactedError(f"{type(error).__name__}: {text}").with_traceback(error.__traceback__)
