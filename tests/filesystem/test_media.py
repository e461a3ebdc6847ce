"""Images, sounds and other files, by what they contain."""

import base64
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_filesystem.reading import media, scaling
from mcp_curated_filesystem.reading.image_sizes import image_size
from mcp_curated_filesystem.reading.media import Media, read_media, render
from mcp_curated_filesystem.text.blocks import reader_of_bytes
from mcp_curated_filesystem.text.signatures import media_type
from mcp_curated_shared.errors import CuratedError, TooLargeError
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.security.limits import DEFAULT_BUDGET
from mcp_curated_shared.work import Work

Read = Callable[..., Media]


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, pixels: bytes | None = None, filler: int = 0) -> bytes:
    """A grey PNG; `filler` bytes of a private chunk make it long."""
    rows = pixels if pixels is not None else zlib.compress((b"\0" + b"\x7f" * width) * height, 1)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    extra = chunk(b"prVt", b"\x01" * filler) if filler else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def isobmff(brand: bytes, *more: bytes, tail: bytes = b"") -> bytes:
    body = brand + b"\0\0\0\0" + b"".join(more)
    return struct.pack(">I", 8 + len(body)) + b"ftyp" + body + tail


ISPE = b"\0\0\0\x14ispe\0\0\0\0"
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xff\xfe\x00\x04hi"
    b"\xff\xc2\x00\x11\x08\x01\x2c\x02\x58\x03" + b"\0" * 9 + b"\xff\xd9"
)
TIFF_LITTLE = b"II*\0\x08\0\0\0\x02\0" + struct.pack("<HHIHH", 256, 3, 1, 640, 0) + struct.pack("<HHII", 257, 4, 1, 480)
TIFF_BIG = b"MM\0*\0\0\0\x08\0\x02" + struct.pack(">HHIHH", 256, 3, 1, 640, 0) + struct.pack(">HHII", 257, 4, 1, 480)
WEBP = b"RIFF\x1e\0\0\0WEBP"

SAMPLES: list[tuple[str, bytes, tuple[int, int] | None]] = [
    ("image/png", png(3, 2), (3, 2)),
    ("image/jpeg", JPEG, (600, 300)),
    ("image/gif", b"GIF89a\x0a\x00\x14\x00\0\0\0\x3b", (10, 20)),
    ("image/webp", WEBP + b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01", (640, 480)),
    ("image/webp", WEBP + b"VP8L\0\0\0\0\x2f" + struct.pack("<I", 639 | 479 << 14) + b"\0" * 5, (640, 480)),
    ("image/webp", WEBP + b"VP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0", (640, 480)),
    ("image/bmp", b"BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0" + struct.pack("<ii", 4, -5) + b"\0" * 20, (4, 5)),
    ("image/x-icon", b"\0\0\x01\0\x02\0" + b"\x10\x10" + b"\0" * 14 + b"\0\0" + b"\0" * 14, (256, 256)),
    ("image/tiff", TIFF_LITTLE, (640, 480)),
    ("image/tiff", TIFF_BIG, (640, 480)),
    (
        "image/avif",
        isobmff(b"avif", tail=ISPE + struct.pack(">II", 64, 32) + ISPE + struct.pack(">II", 640, 480)),
        (640, 480),
    ),
    ("image/heic", isobmff(b"heic", tail=ISPE + struct.pack(">II", 640, 480)), (640, 480)),
    ("image/avif", isobmff(b"mif1", b"miaf", b"avif", tail=ISPE + struct.pack(">II", 8, 9)), (8, 9)),
    ("audio/wav", b"RIFF\x24\0\0\0WAVEfmt ", None),
    ("audio/mpeg", b"ID3\x04\0\0\0\0\0\0", None),
    ("audio/mpeg", b"\xff\xfb\x90\x64\0\0", None),
    ("audio/ogg", b"OggS\0\x02\0\0", None),
    ("audio/flac", b"fLaC\0\0\0\x22", None),
    ("audio/mp4", isobmff(b"M4A ", b"isom"), None),
    ("audio/aac", b"\xff\xf1\x50\x80\x02\x1f\xfc", None),
    ("video/mp4", isobmff(b"isom", b"mp41"), None),
    ("video/webm", b"\x1aE\xdf\xa3\x01\0\0\0", None),
    ("application/pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", None),
    ("application/zip", b"PK\x03\x04\x14\0\0\0", None),
]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    confinement = Confinement([RootSpec(str(tmp_path))])

    def read_bytes(data: bytes, name: str = "file.dat") -> Media:
        (tmp_path / name).write_bytes(data)
        return read_media(confinement, name, work=Work(20))

    return read_bytes


@pytest.mark.parametrize(("name", "data", "size"), SAMPLES)
def test_the_content_tells_the_type_and_the_header_the_size(
    name: str, data: bytes, size: tuple[int, int] | None
) -> None:
    assert media_type(data) == name
    assert image_size(reader_of_bytes(data), name) == size


@given(st.sampled_from(SAMPLES), st.integers(0, 80), st.binary(max_size=20))
def test_a_damaged_header_is_measured_as_nothing_or_something_positive(
    sample: tuple[str, bytes, tuple[int, int] | None], cut: int, junk: bytes
) -> None:
    name, data, _ = sample
    size = image_size(reader_of_bytes(data[:cut] + junk), name)
    assert size is None or min(size) > 0
    media_type(data[:cut] + junk)


@pytest.mark.parametrize(
    "text",
    [b"BM is short for Bitmap", b"ID3 tags are explained here", b"BZh", b"RIFF", b"GIF", b"", b"\xff\xff\xff\xff"],
)
def test_text_that_begins_like_a_signature_is_none(text: bytes) -> None:
    assert media_type(text) is None


def test_an_image_is_given_as_it_is_whatever_its_name(read: Read) -> None:
    data = png(3, 2)
    shown = read(data, "notes.txt")
    assert (shown.kind, shown.media_type, shown.data, shown.pixels) == ("image", "image/png", data, (3, 2))
    assert render(shown) == f"image/png, 3 x 2 pixels, {len(data):,} bytes."


def test_a_sound_is_given_as_it_is(read: Read) -> None:
    shown = read(b"RIFF\x24\0\0\0WAVEfmt ")
    assert (shown.kind, shown.media_type) == ("audio", "audio/wav")


def test_a_sound_that_is_too_long_is_refused_with_the_numbers(read: Read) -> None:
    with pytest.raises(TooLargeError, match=r"audio/flac, 900,008 bytes.*at most 675,000"):
        read(b"fLaC" + b"\0" * 900_004)


def test_svg_is_text(read: Read) -> None:
    shown = read(b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"></svg>\n', "picture.png")
    assert (shown.kind, shown.media_type) == ("text", "image/svg+xml")
    assert shown.page is not None
    assert "<svg" in shown.page.body
    assert "<svg" in render(shown)


@pytest.mark.parametrize("data", [b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", b"PK\x03\x04\x14\0\0\0", b"\0\1\2\3"])
def test_another_binary_is_described_for_a_link(read: Read, data: bytes) -> None:
    shown = read(data, "a b\u00e9%.bin")
    assert (shown.kind, shown.data, shown.size) == ("link", b"", len(data))
    assert shown.uri.startswith("file:///")
    assert shown.uri.endswith("/a%20b%C3%A9%25.bin")
    assert "link" in render(shown)


@pytest.mark.parametrize("data", [png(3, 2)[:40], png(0, 2), JPEG[:-2], JPEG[:12], b"GIF89a\x01"])
def test_a_damaged_image_is_never_sent(read: Read, data: bytes) -> None:
    assert read(data).kind == "link"


def test_too_big_an_image_is_refused_with_the_numbers_when_it_cannot_be_scaled(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media, "can_scale", lambda: False)
    with pytest.raises(
        TooLargeError, match=r"9,000 x 10 pixels.*at most 8,000 pixels a side and 675,000 bytes.*`images`"
    ):
        read(png(9_000, 10))
    with pytest.raises(TooLargeError, match=r"3 x 2 pixels, 700,\d+ bytes"):
        read(png(3, 2, filler=700_000))


def test_a_type_that_hosts_do_not_show_is_described_when_it_cannot_be_converted(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media, "can_scale", lambda: False)
    shown = read(TIFF_BIG)
    assert (shown.kind, shown.pixels) == ("link", (640, 480))


def test_heic_is_described(read: Read) -> None:
    assert read(isobmff(b"heic", tail=ISPE + struct.pack(">II", 640, 480))).kind == "link"


@pytest.fixture
def pillow() -> None:
    pytest.importorskip("PIL", reason="the extra `images` is not installed")


@pytest.mark.usefixtures("pillow")
def test_too_big_an_image_is_scaled_down_to_fit(read: Read) -> None:
    shown = read(png(9_000, 90))
    assert (shown.kind, shown.media_type, shown.pixels) == ("image", "image/png", (9_000, 90))
    assert image_size(reader_of_bytes(shown.data), shown.media_type) == (2_000, 20)
    assert "Shown as image/png of 2,000 x 20 pixels." in render(shown)


@pytest.mark.usefixtures("pillow")
def test_a_long_photograph_becomes_a_jpeg_within_the_budget(read: Read) -> None:
    noise = zlib.compress(b"".join(b"\0" + bytes((x * y * 7919) % 251 for x in range(1200)) for y in range(1200)), 1)
    shown = read(png(1_200, 1_200, noise, filler=900_000))
    assert len(base64.b64encode(shown.data)) <= DEFAULT_BUDGET.base64_bytes
    assert shown.media_type in ("image/png", "image/jpeg")


@pytest.mark.usefixtures("pillow")
def test_a_bitmap_is_converted(read: Read) -> None:
    rows = b"\0\0\xff\0\xff\0\xff\0" * 2
    bitmap = (
        b"BM"
        + struct.pack("<IHHI", 54 + 16, 0, 0, 54)
        + struct.pack("<IiiHHIIiiII", 40, 2, 2, 1, 24, 0, 16, 0, 0, 0, 0)
        + rows
    )
    shown = read(bitmap)
    assert (shown.kind, shown.media_type) == ("image", "image/png")


@pytest.mark.usefixtures("pillow")
def test_a_decompression_bomb_is_not_decoded(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "scale", lambda *_: pytest.fail("it was decoded"))
    with pytest.raises(TooLargeError, match=r"60,000 x 60,000 pixels.*at most 64,000,000"):
        read(png(60_000, 60_000, zlib.compress(b"")))


@pytest.mark.usefixtures("pillow")
def test_a_header_that_lies_about_a_bomb_is_caught_before_decoding() -> None:
    with pytest.raises(scaling.DamagedImageError):
        scaling.scale(png(60_000, 60_000, zlib.compress(b"")), 1_000, 8_000, "x", Work(20))


@pytest.mark.usefixtures("pillow")
@pytest.mark.parametrize("data", [png(9_000, 10, b"no zlib"), png(9_000, 10)[:60], b"junk", b""])
def test_what_cannot_be_decoded_is_a_plain_error(data: bytes) -> None:
    with pytest.raises(CuratedError, match="could not be decoded"):
        scaling.scale(data, 1_000, 8_000, "picture.png", Work(20))
