"""Width and height of an image from its header: no pixel is decoded.

Sources: PNG (W3C, 11.2.1), GIF89a, JPEG (ITU-T T.81, B.2), WebP (RFC 9649), BMP, ICO, TIFF 6.0, HEIF `ispe` (ISO
23008-12).
"""

from mcp_curated_filesystem.text.blocks import Reader

_MOST_SEGMENTS = 1_000
_HEIF_HEAD_BYTES = 65_536
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})

Size = tuple[int, int]


def image_size(read: Reader, media_type: str) -> Size | None:
    """Find the width and height of an image, in pixels.

    Args:
        read: The file's content by position.
        media_type: What the content is, by its signature.

    Returns:
        None when the header is damaged, says 0, or is of another type.
    """
    measure = _MEASURES.get(media_type)
    size = measure(read) if measure is not None else None
    return size if size is not None and min(size) > 0 else None


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _png(read: Reader) -> Size | None:
    head = read(24, 0)
    return (_big(head[16:20]), _big(head[20:24])) if len(head) == 24 and head[12:16] == b"IHDR" else None


def _gif(read: Reader) -> Size | None:
    head = read(10, 0)
    return (_little(head[6:8]), _little(head[8:10])) if len(head) == 10 else None


def _bmp(read: Reader) -> Size | None:
    head = read(26, 0)
    if len(head) < 26:
        return None
    if _little(head[14:18]) == 12:
        return _little(head[18:20]), _little(head[20:22])
    height = int.from_bytes(head[22:26], "little", signed=True)  # negative: the rows run from the top
    return _little(head[18:22]), abs(height)


def _ico(read: Reader) -> Size | None:
    """The largest of its images; 0 stands for 256."""
    count = _little(read(2, 4))
    entries = read(16 * min(count, 256), 6)
    sizes = [(entries[at] or 256, entries[at + 1] or 256) for at in range(0, len(entries) - 15, 16)]
    return max(sizes, default=None)


def _jpeg(read: Reader) -> Size | None:
    position = 2
    for _ in range(_MOST_SEGMENTS):
        head = read(9, position)
        if len(head) < 9 or head[0] != 0xFF:
            return None
        marker = head[1]
        if marker == 0xFF:
            position += 1
        elif marker in _JPEG_ALONE:
            position += 2
        elif marker in _JPEG_FRAMES:
            return _big(head[7:9]), _big(head[5:7])
        else:
            position += 2 + _big(head[2:4])
    return None


def _webp(read: Reader) -> Size | None:
    head = read(30, 0)
    if len(head) < 30:
        return None
    kind = head[12:16]
    if kind == b"VP8X":
        return _little(head[24:27]) + 1, _little(head[27:30]) + 1
    if kind == b"VP8L":
        bits = _little(head[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        return _little(head[26:28]) & 0x3FFF, _little(head[28:30]) & 0x3FFF
    return None


def _tiff(read: Reader) -> Size | None:
    """Tags 256 and 257 of the first directory, as SHORT (3) or LONG (4)."""
    head = read(8, 0)
    order = "little" if head.startswith(b"II") else "big"
    directory = int.from_bytes(head[4:8], order)
    count = int.from_bytes(read(2, directory), order)
    found: dict[int, int] = {}
    entries = read(12 * min(count, 512), directory + 2)
    for at in range(0, len(entries) - 11, 12):
        tag, kind = int.from_bytes(entries[at : at + 2], order), int.from_bytes(entries[at + 2 : at + 4], order)
        if tag in (256, 257) and kind in (3, 4):
            found[tag] = int.from_bytes(entries[at + 8 : at + (10 if kind == 3 else 12)], order)
    return (found[256], found[257]) if len(found) == 2 else None


def _heif(read: Reader) -> Size | None:
    """The largest `ispe` property: the others are of the tiles and the thumbnail."""
    head = read(_HEIF_HEAD_BYTES, 0)
    sizes: list[Size] = []
    at = head.find(b"ispe")
    while 0 <= at <= len(head) - 16:
        sizes.append((_big(head[at + 8 : at + 12]), _big(head[at + 12 : at + 16])))
        at = head.find(b"ispe", at + 4)
    return max(sizes, key=lambda size: size[0] * size[1], default=None)


_MEASURES = {
    "image/png": _png,
    "image/gif": _gif,
    "image/jpeg": _jpeg,
    "image/webp": _webp,
    "image/bmp": _bmp,
    "image/x-icon": _ico,
    "image/tiff": _tiff,
    "image/avif": _heif,
    "image/heic": _heif,
    "image/heif": _heif,
}
