"""Files and folders as resources: `file:///path`, and `file://LABEL/path` for a root by its label."""

from typing import Any
from urllib.parse import quote

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import ListRoots
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    PromptReference,
    ResourceTemplate,
    ResourceTemplateReference,
)

from mcp_curated_filesystem.finding import completing, listing
from mcp_curated_filesystem.reading import media, page_facts
from mcp_curated_filesystem.reading.pages import Page, read_page
from mcp_curated_filesystem.server.roots import CallRoots
from mcp_curated_filesystem.server.state import Filesystem, state_of
from mcp_curated_filesystem.text.blocks import read_up_to
from mcp_curated_filesystem.text.forms import BinaryFileError
from mcp_curated_shared.errors import CuratedError, TooLargeError
from mcp_curated_shared.transport.requests import current_request
from mcp_curated_shared.transport.resources import ResourceContent, ResourceReply
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_shared.work import Work

BY_PATH = "file:///{+path}"
BY_LABEL = "file://{root}/{+path}"

_ROOTS = "roots"

_TEMPLATES = (
    ResourceTemplate(
        name="file",
        title="File or folder",
        uri_template=BY_PATH,
        description="A file or the listing of a folder, by its absolute path in an allowed folder.",
    ),
    ResourceTemplate(
        name="file-in-root",
        title="File or folder in a root",
        uri_template=BY_LABEL,
        description="The same by the label of an allowed folder (see list_allowed_directories).",
    ),
)


async def read_resource(uri: str, context: Context[Filesystem]) -> ResourceReply:
    """Read what a `file:` URI names; the client is asked for its roots when they decide.

    Raises:
        CuratedError: It is outside, missing, or of a kind that has no content.
    """
    state = state_of(context)
    answer = await _roots(context)
    if isinstance(answer, InputRequiredResult):
        return answer

    def read(call: CallRoots, work: Work) -> ResourceReply:
        return _content(call, uri, state, work)

    return await state.run(context, answer, uri, read)


async def _roots(context: Context[Filesystem]) -> ListRootsResult | InputRequiredResult | None:
    question = await state_of(context).client_roots.ask([], context.request_context)
    if not isinstance(question, ListRoots):
        return question
    given = (context.input_responses or {}).get(_ROOTS)
    if isinstance(given, ListRootsResult):
        return given
    return InputRequiredResult(input_requests={_ROOTS: ListRootsRequest()})


def _content(call: CallRoots, uri: str, state: Filesystem, work: Work) -> ResourceReply:
    try:
        page = read_page(call.confinement, uri, base=call.base, budget=state.budget, work=work)
    except BinaryFileError:
        return _binary(call, uri, state, work)
    except CuratedError as error:
        if error.kind != "wrong_type":
            raise
        shown = listing.list_directory(call.confinement, uri, base=call.base, work=work)
        return ResourceContent(listing.render(shown), "text/plain")
    return _text(page)


def _text(page: Page) -> ResourceReply:
    """The text; where it had to be cut, what is left is told in a part of its own."""
    body = ResourceContent(page.body, "text/plain", {"version": page.version, "size": page.size})
    if page.following is None and not page.shortened:
        return body
    return [body, ResourceContent(page_facts.facts(page), "text/plain")]


def _binary(call: CallRoots, uri: str, state: Filesystem, work: Work) -> ResourceReply:
    found = media.read_media(call.confinement, uri, base=call.base, budget=state.budget, work=work)
    if found.page is not None:
        return _text(found.page)
    if found.kind == "link":
        return _blob(call, uri, found, state)
    return ResourceContent(found.data, found.media_type)


def _blob(call: CallRoots, uri: str, found: media.Media, state: Filesystem) -> ResourceContent:
    """The bytes of a file that no model looks at: a host may have use for them."""
    most = state.budget.base64_bytes * 3 // 4
    with call.confinement.open_file(uri, base=call.base) as file:
        data = read_up_to(file.descriptor, most + 1, 0)
    if len(data) > most:
        raise TooLargeError(
            f"{found.location.shown} is {found.media_type} of {found.size:,} bytes; at most {most:,} are sent.",
            "Ask get_file_info for its facts.",
        )
    return ResourceContent(data, found.media_type)


async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, given: CompletionContext | None
) -> Completion | None:
    """Complete the path or the label of a template. Clients cannot be asked for their roots here: then nothing."""
    request = current_request()
    if request is None or not isinstance(ref, ResourceTemplateReference):
        return None
    state: Filesystem = request.lifespan_context
    answer = await state.client_roots.ask([], request)
    if isinstance(answer, ListRoots):
        return None
    label = _label(given) if ref.uri == BY_LABEL else None
    place = f"file://{quote(label)}/" if label else "/" + argument.value.lstrip("/")
    return await state.pool.run(
        lambda work: _complete(state.client_roots.call(answer, relative=False), ref.uri, argument, given, work),
        seconds=state.settings.limits.call_seconds,
        lane=state.lane(answer, place),
    )


def _label(given: CompletionContext | None) -> str:
    return ((given.arguments if given else None) or {}).get("root", "")


def _complete(
    call: CallRoots, template: str, argument: CompletionArgument, given: CompletionContext | None, work: Work
) -> Completion | None:
    confinement = call.confinement
    if argument.name == "root" and template == BY_LABEL:
        typed = argument.value.casefold()
        return Completion(values=[one.label for one in confinement.roots if one.label.casefold().startswith(typed)])
    if argument.name != "path":
        return None
    base = None
    if template == BY_LABEL:
        label = _label(given)
        base = next((one.path for one in confinement.roots if one.label.casefold() == label.casefold()), None)
        if base is None:
            return None
    found = completing.complete_path(confinement, argument.value, base=base, work=work)
    return Completion(values=list(found.values), total=found.total, has_more=found.has_more)


def add_resources(server: CuratedServer[Any]) -> None:
    """Register the scheme, its templates and their completion."""
    server.resource_scheme("file", read_resource, templates=_TEMPLATES)
    server.completion()(complete)
