"""The arguments of a prompt: all names known, all required ones there, every value a string."""

from collections.abc import Mapping

from mcp.server.mcpserver.prompts import Prompt

from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.nearest import nearest
from mcp_curated_shared.transport.argument_errors import quoted


def check_arguments(prompt: Prompt, given: Mapping[str, object]) -> None:
    """Check the names of a prompt's arguments; the protocol has already made their values strings.

    Raises:
        InvalidArgumentError: One line that names the first wrong or missing argument and the right names.
    """
    known = [argument.name for argument in prompt.arguments or ()]
    for name in given:
        if name not in known:
            meant = nearest(name, known)
            names = f"it takes {', '.join(known)}." if known else "it takes none."
            hint = names if meant is None else f"did you mean {meant}?"
            raise InvalidArgumentError(f"{quoted(name)} is not an argument of prompt {prompt.name}; {hint}")
    for argument in prompt.arguments or ():
        if argument.required and argument.name not in given:
            raise InvalidArgumentError(f"{argument.name} is required: {(argument.description or '').rstrip('.')}.")
