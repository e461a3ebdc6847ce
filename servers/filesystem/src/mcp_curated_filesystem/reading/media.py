"""Images, sounds and other files that are no text, by what they contain and not by what they are called."""

import os
import urllib.parse
from dataclasses import dataclass
from typing import Literal

from mcp_curated_filesystem.reading.image_sizes import Size, image_size
from mcp_curated_filesystem.reading.page_facts import facts
from mcp_curated_filesystem.reading.pages import Page, page_of, room_for_facts
from mcp_curated_filesystem.reading.scaling import MOST_PIXELS, can_scale, scale
from mcp_curated_filesystem.text.blocks import read_up_to, reader_of
from mcp_curated_filesystem.text.forms import BinaryFileError
from mcp_curated_filesystem.text.signatures import HEAD_BYTES, media_type
from mcp_curated_shared.errors import TooLargeError
from mcp_curated_shared.security.confinement import Confinement, Location, OpenFile, from_os_error
from mcp_curated_shared.security.limits import DEFAULT_BUDGET, Budget
from mcp_curated_shared.work import Work

MOST_SIDE = 8_000
"""Pixels a side above which hosts refuse an image, and some the whole conversation with it."""

SHOWN_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types that models take; others are converted or described."""

PLAYED_SOUNDS = frozenset({"audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/mp4", "audio/aac"})

_ENDS = {"image/png": b"IEND", "image/jpeg": b"\xff\xd9", "image/gif": b"\x3b"}


@dataclass(frozen=True, slots=True)
class Media:
    """A file for a host that can show it.

    Attributes:
        location: Where the file really is.
        kind: "image" and "audio" carry `data`, "text" carries `page` (SVG is text), "link" is only described.
        media_type: Of `data`, or of the file.
        size: Of the file in bytes.
        data: The bytes to be sent, not yet in base64.
        pixels: Width and height of the file's image, if it is one.
        page: The text.
        note: What was done to it, or why it is only described.
    """

    location: Location
    kind: Literal["image", "audio", "text", "link"]
    media_type: str
    size: int
    data: bytes = b""
    pixels: Size | None = None
    page: Page | None = None
    note: str = ""

    @property
    def uri(self) -> str:
        """The file as a `file:` URI (RFC 8089), each byte of the path that needs it percent-encoded."""
        return "file://" + urllib.parse.quote(os.fsencode(self.location.path))


def read_media(
    confinement: Confinement,
    path: str | Location,
    *,
    base: str | None = None,
    budget: Budget = DEFAULT_BUDGET,
    work: Work,
) -> Media:
    """Read an image or a sound, or describe any other file.

    An image must not be more than `MOST_SIDE` pixels wide or high nor, with any sound, longer than the budget once in
    base64. One that is, is scaled down if the extra `images` is installed.

    Args:
        confinement: Opens the file.
        path: As the caller wrote it.
        base: Absolute directory that a relative path starts from.
        budget: `base64_bytes` for media, `characters` for text, `bytes` for what is decoded to be scaled.
        work: Looked at while scaling.

    Raises:
        TooLargeError: It cannot be sent as it is, and why; or scaling it would take too much.
        CuratedError: From confinement; or the file cannot be read or decoded.
    """
    with confinement.open_file(path, base=base) as file:
        try:
            return _media_of(file, budget, work)
        except OSError as error:
            raise from_os_error(error, file.location.shown) from None


def render(media: Media) -> str:
    """What the file is, in a line, and its text if it is text."""
    if media.page is not None:
        return f"{media.media_type}. {facts(media.page)}\n\n{media.page.body}"
    pixels = f", {_pixels(media.pixels)}" if media.pixels is not None else ""
    sentences = (media.location.note, f"{media.media_type}{pixels}, {media.size:,} bytes.", media.note)
    return " ".join(sentence for sentence in sentences if sentence)


def type_of(head: bytes, *, text: bool) -> str:
    """Name a file's media type by its first bytes.

    Args:
        head: At least `HEAD_BYTES` of them, or the whole file.
        text: Whether they are text in some encoding.
    """
    if not text:
        return media_type(head) or "application/octet-stream"
    return "image/svg+xml" if b"<svg" in head[:1024].replace(b"\0", b"") else "text/plain"


def _media_of(file: OpenFile, budget: Budget, work: Work) -> Media:
    head = read_up_to(file.descriptor, HEAD_BYTES, 0)
    found = media_type(head)
    if found in PLAYED_SOUNDS:
        return _sound(file, found, budget)
    if found is not None and found.startswith("image/"):
        return _image(file, found, budget, work)
    if found is None:
        try:
            room = budget.characters - room_for_facts(file.location)
            page = page_of(file, room=room, rows=budget.rows, work=work)
            return Media(file.location, "text", type_of(head, text=True), file.stat.st_size, page=page)
        except BinaryFileError:
            pass
    note = "It cannot be shown here; its resource link leads to it."
    return Media(file.location, "link", found or "application/octet-stream", file.stat.st_size, note=note)


def _sound(file: OpenFile, found: str, budget: Budget) -> Media:
    most = _raw_bytes(budget)
    if file.stat.st_size > most:
        raise TooLargeError(
            f"{file.location.shown} ({found}, {file.stat.st_size:,} bytes) is too long for a reply: "
            f"at most {most:,} bytes.",
            "Choose a shorter one.",
        )
    return Media(file.location, "audio", found, file.stat.st_size, read_up_to(file.descriptor, most, 0))


def _image(file: OpenFile, found: str, budget: Budget, work: Work) -> Media:
    size = file.stat.st_size
    pixels = image_size(reader_of(file.descriptor), found)
    if pixels is None:
        note = "Its header is damaged, so that it cannot be shown; its resource link leads to it."
        return Media(file.location, "link", found, size, note=note)
    most = _raw_bytes(budget)
    fits = size <= most and max(pixels) <= MOST_SIDE
    if fits and found in SHOWN_IMAGES:
        data = read_up_to(file.descriptor, most, 0)
        if _ENDS.get(found, b"") in data:
            return Media(file.location, "image", found, size, data, pixels)
        note = "It ends early, so that it cannot be shown; its resource link leads to it."
        return Media(file.location, "link", found, size, pixels=pixels, note=note)
    if not can_scale() or found in ("image/heic", "image/heif"):
        return _not_scaled(file, found, pixels, most, fits=fits)
    return _scaled(file, found, pixels, budget, work)


def _not_scaled(file: OpenFile, found: str, pixels: Size, most: int, *, fits: bool) -> Media:
    if fits:
        note = f"{found} is not shown by most hosts; its resource link leads to it."
        return Media(file.location, "link", found, file.stat.st_size, pixels=pixels, note=note)
    raise TooLargeError(
        f"{file.location.shown} ({found}, {_pixels(pixels)}, {file.stat.st_size:,} bytes) is too big for a reply: "
        f"at most {MOST_SIDE:,} pixels a side and {most:,} bytes.",
        "With the server's extra `images` (Pillow) installed it is scaled down.",
    )


def _scaled(file: OpenFile, found: str, pixels: Size, budget: Budget, work: Work) -> Media:
    size, shown = file.stat.st_size, file.location.shown
    if size > budget.bytes or pixels[0] * pixels[1] > MOST_PIXELS:
        raise TooLargeError(
            f"{shown} ({found}, {_pixels(pixels)}, {size:,} bytes) is too big to be scaled down here: "
            f"at most {MOST_PIXELS:,} pixels in all and {budget.bytes:,} bytes.",
            "Make a smaller copy of it.",
        )
    data = read_up_to(file.descriptor, size, 0)
    result = scale(data, _raw_bytes(budget), MOST_SIDE, shown, work)
    note = f"Shown as {result.media_type} of {_pixels((result.width, result.height))}."
    return Media(file.location, "image", result.media_type, size, result.data, pixels, note=note)


def _raw_bytes(budget: Budget) -> int:
    """How many bytes become `base64_bytes` characters: three make four."""
    return budget.base64_bytes // 4 * 3


def _pixels(size: Size) -> str:
    return f"{size[0]:,} x {size[1]:,} pixels"
