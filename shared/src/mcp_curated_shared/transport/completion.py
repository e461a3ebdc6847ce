"""Completion of arguments: a help, never a failure."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.untrusted import safe_text

MOST_VALUES: Final = 100
"""The specification's limit for one reply."""

Completer = Callable[
    [PromptReference | ResourceTemplateReference, CompletionArgument, CompletionContext | None],
    Awaitable[Completion | None],
]
"""`await complete(ref, argument, context)`; the request is at `current_request()`."""

_log = logging.getLogger(__name__)


def guarded(complete: Completer) -> Completer:
    """The same handler, which offers nothing where it would fail, and never more than the protocol allows."""

    async def complete_safely(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion:
        try:
            return _bounded(await complete(ref, argument, context))
        except CuratedError as error:
            _log.info("completion failed: %s", error.kind)
            return Completion(values=[])

    return complete_safely


def _bounded(found: Completion | None) -> Completion:
    if found is None:
        return Completion(values=[])
    values = [safe_text(value) for value in found.values[:MOST_VALUES]]
    if len(found.values) <= MOST_VALUES:
        return Completion(values=values, total=found.total, has_more=found.has_more)
    return Completion(values=values, total=found.total or len(found.values), has_more=True)
