"""The prompts: a person's shortcuts for a review and for an issue."""

from typing import Annotated

from mcp.server.mcpserver.prompts import Prompt
from pydantic import Field

from mcp_curated_github.server.state import GitHub
from mcp_curated_github.writing import prompts
from mcp_curated_shared.transport.server import CuratedServer

Lang = Annotated[str, Field(description="Language of the prompt: en or zh")]


async def code_review(
    repo: Annotated[str, Field(description="owner/name")],
    pr_number: Annotated[str, Field(description="Number of the pull request")],
    lang: Lang = "en",
) -> str:
    """Review a pull request: what to read, what to look for, how to report it."""
    return prompts.code_review(repo, pr_number, lang)


async def issue_template(
    title: Annotated[str, Field(description="Title of the issue")],
    lang: Lang = "en",
) -> str:
    """Draft an issue that others can act on."""
    return prompts.issue_template(title, lang)


def add_prompts(server: CuratedServer[GitHub]) -> None:
    """Register them; the review has a second name, by which some know it."""
    server.add_prompt(Prompt.from_function(code_review, title="Review a pull request"))
    server.add_prompt(Prompt.from_function(code_review, name="code_review_prompt", title="Review a pull request"))
    server.add_prompt(Prompt.from_function(issue_template, title="Draft an issue"))
