"""Pages as resources: every http and https URI, its query included, read the way the tool reads."""

import base64

from mcp_types import ResourceTemplate

from mcp_curated_shared.security.untrusted import META_KEY
from mcp_curated_shared.transport.resources import ResourceContent, ResourceReply
from mcp_curated_shared.transport.server import CuratedServer
from mcp_curated_web.server.state import Web, WebContext, state_of


async def read_resource(uri: str, context: WebContext) -> ResourceReply:
    """Read a URL: its text between marks, then a part that tells what is known and left out.

    Raises:
        CuratedError: It is out of reach, an error, or of a kind that cannot be shown.
    """
    from mcp_curated_web.fetching.documents import page_of
    from mcp_curated_web.server.showing import facts, image_of, is_image, notices_of, wrapped

    state = state_of(context)
    fetched = await state.fetcher.fetch(uri)
    if is_image(fetched):
        data, media = image_of(fetched, state.settings.limits.image_bytes)
        return ResourceContent(base64.b64decode(data), media)
    document = await state.fetcher.document(fetched, "markdown")
    page = page_of(document, 0, state.settings.limits.reply_characters)
    body = wrapped(page.text, fetched)
    told = "\n".join(
        (
            facts(fetched, document, page, {"url": uri, "start_index": page.following}),
            *(f"Note: {notice}" for notice in notices_of(fetched, document)),
        )
    )
    return [
        ResourceContent(body.text, document.media_type, {META_KEY: body.machine_form}),
        ResourceContent(told, "text/plain"),
    ]


def add_resources(server: CuratedServer[Web]) -> None:
    """Register both schemes."""
    for scheme in ("https", "http"):
        server.resource_scheme(
            scheme,
            read_resource,
            templates=(
                ResourceTemplate(
                    name=f"{scheme}-page",
                    title=f"Page over {scheme}",
                    uri_template=f"{scheme}://{{+rest}}",
                    description="A public web page as Markdown.",
                ),
            ),
        )
