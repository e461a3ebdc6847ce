"""A media file as content blocks."""

import base64

from mcp_types import AudioContent, ContentBlock, ImageContent, ResourceLink, TextContent

from mcp_curated_filesystem.reading import page_facts
from mcp_curated_filesystem.reading.media import Media, render
from mcp_curated_shared.security.confinement import escape_name


def media_blocks(media: Media) -> list[ContentBlock]:
    """What the file is, and the file itself in the form that its kind has in the protocol."""
    if media.page is not None:
        return [TextContent(type="text", text=part) for part in (media.media_type, *page_facts.blocks(media.page))]
    told = TextContent(type="text", text=render(media))
    if media.kind == "link":
        return [
            told,
            ResourceLink(
                type="resource_link",
                uri=media.uri,
                name=escape_name(media.location.name),
                mime_type=media.media_type,
                size=media.size,
            ),
        ]
    data = base64.b64encode(media.data).decode("ascii")
    if media.kind == "image":
        return [told, ImageContent(type="image", data=data, mime_type=media.media_type)]
    return [told, AudioContent(type="audio", data=data, mime_type=media.media_type)]
