"""READMEs, files and the starred list as resources; they read as the tools do, under the same rules."""

from typing import Any, Final

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resources import FunctionResource
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplate,
    ResourceTemplateReference,
)

from mcp_curated_github.api import GitHubApi
from mcp_curated_github.models import THIRD_PARTIES, Content
from mcp_curated_github.names import RepoName
from mcp_curated_github.reading import completing, contents, rendering, searching
from mcp_curated_github.reading.rendering import Rendered
from mcp_curated_github.server.state import GitHub, state_of
from mcp_curated_github.uris import CONTENTS, README, STARRED, ResourceName, read_uri
from mcp_curated_shared.errors import InvalidArgumentError, NotFoundError
from mcp_curated_shared.security.untrusted import META_KEY
from mcp_curated_shared.transport.requests import current_request
from mcp_curated_shared.transport.resources import ResourceContent, ResourceReply
from mcp_curated_shared.transport.server import CuratedServer

BODY_BYTES: Final = 20_000
"""Of a text in a resource, which goes out once."""

_TEMPLATES: Final = (
    ResourceTemplate(
        name="readme",
        title="README",
        uri_template=README,
        description="The README of a repository.",
    ),
    ResourceTemplate(
        name="contents",
        title="File or folder",
        uri_template=CONTENTS,
        description="A file of a repository on its default branch, or the listing of a folder.",
    ),
)


async def read_resource(uri: str, context: Context[GitHub]) -> ResourceReply:
    """Read what a `github:` URI names: its text, then a part that tells where it is from and what is left out.

    Raises:
        CuratedError: It is no URI of ours, is not there, or has no text.
    """
    name = read_uri(uri)
    api = state_of(context).api
    if name.kind == "starred":
        return await _starred(state_of(context).api)
    repo = _repo_of(name)
    if name.kind == "readme":
        return _content(await contents.get_readme(api, repo, body_bytes=BODY_BYTES), "get_readme")
    return _content(await contents.get_file(api, repo, name.path, body_bytes=BODY_BYTES), "get_file")


async def _starred(api: GitHubApi) -> list[ResourceContent]:
    starred = await searching.list_starred(api)
    rendered = rendering.repositories(starred, 1, "starred repositories")
    return _parts(rendered, starred.invisible_removed, "The rest: list_starred with page=2.")


async def _starred_text() -> str:
    """The same as one text, for code that reads the listed resource by itself."""
    request = current_request()
    if request is None:
        raise NotFoundError("There is no request to read for.")
    state: GitHub = request.lifespan_context
    return "\n".join(str(part.body) for part in await _starred(state.api))


def _repo_of(name: ResourceName) -> RepoName:
    if name.repo is None:
        raise InvalidArgumentError("The URI names no repository.")
    return name.repo


def _content(found: Content, tool: str) -> list[ResourceContent]:
    rendered = rendering.content(found)
    # The tool's pages are shorter than the part that is shown here, so the rest begins at one of the first.
    return _parts(rendered, found.invisible_removed, f"It is cut; {tool} gives all of it in pages.")


def _parts(rendered: Rendered, removed: int | None, rest: str) -> list[ResourceContent]:
    meta = {"source": rendered.source, "note": THIRD_PARTIES, "invisibleCharactersRemoved": removed or 0}
    after = rendered.after.partition(" Page 1;")
    told = f"{after[0]} {rest}" if after[1] else rendered.after
    return [ResourceContent(rendered.body, "text/plain", {META_KEY: meta}), ResourceContent(told, "text/plain")]


async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, given: CompletionContext | None
) -> Completion | None:
    """Complete the parts of a template.

    Raises:
        CuratedError: GitHub cannot be asked; nothing is offered then.
    """
    request = current_request()
    if request is None or not isinstance(ref, ResourceTemplateReference) or ref.uri not in {README, CONTENTS}:
        return None
    state: GitHub = request.lifespan_context
    others = (given.arguments if given else None) or {}
    known = (*state.settings.allowed_repos.entries(), *(state.api.readable.entries() if state.api.readable else ()))
    values: list[str] = []
    if argument.name == "owner":
        values = await completing.complete_owner(state.api, argument.value, known)
    elif argument.name == "repo":
        values = await completing.complete_repo(state.api, argument.value, others.get("owner", ""), known)
    elif argument.name == "path" and ref.uri == CONTENTS:
        repo = RepoName.parse(f"{others.get('owner', '')}/{others.get('repo', '')}")
        values = await completing.complete_path(state.api, repo, argument.value)
    return Completion(values=values)


def add_resources(server: CuratedServer[Any]) -> None:
    """Register the scheme, its templates and their completion."""
    server.resource_scheme("github", read_resource, templates=_TEMPLATES)
    server.add_resource(
        FunctionResource(
            uri=STARRED,
            name="starred",
            title="Starred repositories",
            description="The ten repositories that the token's account starred last.",
            mime_type="text/plain",
            fn=_starred_text,
        )
    )
    server.completion()(complete)
