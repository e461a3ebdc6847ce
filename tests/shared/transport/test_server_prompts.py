"""Prompts and completion."""

from typing import Annotated, Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference
from pydantic import Field

from mcp_curated_shared.errors import UnavailableError
from mcp_curated_shared.testing import ERAS, Era, over_memory
from mcp_curated_shared.transport.requests import current_request
from mcp_curated_shared.transport.tools import BuildError
from tests.shared.testing.sample_server import build

both_eras = pytest.mark.parametrize("era", ERAS)


@pytest.mark.anyio
@both_eras
async def test_a_prompt_is_rendered(era: Era) -> None:
    async with over_memory(build(), era) as client:
        result = await client.get_prompt("inspect_closely", {"name": "moon"})
    assert "Look at moon." in str(result.messages)


@pytest.mark.anyio
@both_eras
@pytest.mark.parametrize(
    ("name", "arguments", "code", "text"),
    [
        ("inspect", {}, -32602, 'Unknown prompt "inspect"; did you mean inspect_closely?'),
        ("zzz", {}, -32602, 'Unknown prompt "zzz"; prompts/list has the names.'),
        ("inspect_closely", {}, -32602, "name is required: What to look at."),
        (
            "inspect_closely",
            {"names": "x"},
            -32602,
            '"names" is not an argument of prompt inspect_closely; did you mean name?',
        ),
        ("inspect_closely", {"name": "crash"}, -32603, "Error rendering prompt inspect_closely"),
    ],
)
async def test_a_prompt_that_cannot_be_rendered_says_why_in_one_line(
    era: Era, name: str, arguments: dict[str, str], code: int, text: str
) -> None:
    async with over_memory(build(), era) as client:
        with pytest.raises(MCPError) as failed:
            await client.get_prompt(name, arguments)
    assert (failed.value.code, failed.value.message) == (code, text)


@pytest.mark.anyio
@both_eras
async def test_a_foreseen_failure_of_a_prompt_keeps_its_words(era: Era) -> None:
    async with over_memory(build(), era) as client:
        with pytest.raises(MCPError, match=r"^There is nothing to look at\.$") as failed:
            await client.get_prompt("inspect_closely", {"name": "nothing"})
    assert failed.value.data == {"kind": "not_found"}
    assert failed.value.code == -32602


def test_a_prompt_without_descriptions_or_with_a_taken_name_is_not_built() -> None:
    server = build()

    async def bare(name: str) -> str:
        return name

    with pytest.raises(BuildError, match="bare"):
        server.prompt()(bare)
    with pytest.raises(BuildError, match="name"):
        server.prompt(description="Bare.")(bare)

    async def inspect_closely(name: Annotated[str, Field(description="Name.")]) -> str:
        return name

    with pytest.raises(BuildError, match="inspect_closely"):
        server.prompt(description="Again.")(inspect_closely)


@pytest.mark.anyio
@both_eras
async def test_completion_sees_the_request_and_never_gives_more_than_a_hundred(era: Era) -> None:
    server = build()
    met: list[Any] = []

    @server.completion()
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        request = current_request()
        met.append(None if request is None else request.method)
        if argument.value == "fail":
            raise UnavailableError("The disk is away.")
        if argument.value == "none":
            return None
        if argument.value == "few":
            return Completion(values=["caf\udce9"], total=7, has_more=False)
        return Completion(values=[str(number) for number in range(150)])

    ref = ResourceTemplateReference(uri="sample:{+path}")
    async with over_memory(server, era) as client:
        found: dict[str, Completion] = {}
        for value in ("fail", "none", "few", "many"):
            result = await client.complete(ref, {"name": "path", "value": value})
            found[value] = result.completion
    assert met == ["completion/complete"] * 4
    assert found["fail"].values == found["none"].values == []
    assert (found["few"].values, found["few"].total, found["few"].has_more) == (["caf\\xe9"], 7, False)
    assert (len(found["many"].values), found["many"].total, found["many"].has_more) == (100, 150, True)
