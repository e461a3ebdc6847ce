"""Making an image small enough to be shown, with Pillow if the extra `images` is installed."""

import importlib.util
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.work import Work

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 64_000_000
"""Decoded, that is 256 MB. A file of a few kilobytes can claim billions (a decompression bomb); it is not decoded."""

_SIDES = (2_000, 1_568, 1_024, 768, 512, 256, 128)
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF")


class DamagedImageError(CuratedError):
    """The file begins like an image and is none that can be decoded."""

    kind = "damaged"


@dataclass(frozen=True, slots=True)
class Scaled:
    """An image made smaller.

    Attributes:
        data: PNG or JPEG.
        media_type: Which of the two.
        width: In pixels.
        height: In pixels.
    """

    data: bytes
    media_type: str
    width: int
    height: int


def can_scale() -> bool:
    """Whether the extra `images` is installed."""
    return importlib.util.find_spec("PIL") is not None


def scale(data: bytes, most_bytes: int, most_side: int, name: str, work: Work) -> Scaled:
    """Make an image fit, turned as its EXIF data says; of an animation the first picture.

    Args:
        data: The whole file.
        most_bytes: How long the result may be.
        most_side: How many pixels wide and high it may be.
        name: What an error calls it.
        work: Looked at between the sizes that are tried.

    Raises:
        DamagedImageError: It cannot be decoded.
        CancelledError, TimedOutError: From `work`.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as opened:
            if opened.width * opened.height > MOST_PIXELS:
                raise DamagedImageError(f"{name} has more than {MOST_PIXELS:,} pixels in its data.")
            opened.draft("RGB", (_SIDES[0], _SIDES[0]))  # a JPEG is decoded at a fraction of its size
            picture = ImageOps.exif_transpose(opened)
            return _smallest_loss(picture, most_bytes, most_side, name, work)
    except CuratedError:
        raise
    except Exception as error:  # decoders of untrusted data raise anything: SyntaxError, struct.error, KeyError
        raise DamagedImageError(
            f"{name} could not be decoded ({type(error).__name__}).", "The file may be damaged."
        ) from None


def _smallest_loss(picture: "Image", most_bytes: int, most_side: int, name: str, work: Work) -> Scaled:
    see_through = picture.has_transparency_data
    picture = picture.convert("RGBA" if see_through else "RGB")
    for side in _SIDES:
        if side > most_side:
            continue
        work.check()
        picture.thumbnail((side, side))
        for form in ("PNG",) if see_through else ("PNG", "JPEG"):
            written = io.BytesIO()
            picture.save(written, form, **({"quality": 85} if form == "JPEG" else {"optimize": False}))
            if written.tell() <= most_bytes:
                return Scaled(written.getvalue(), f"image/{form.lower()}", picture.width, picture.height)
    raise DamagedImageError(f"{name} could not be made small enough.")
