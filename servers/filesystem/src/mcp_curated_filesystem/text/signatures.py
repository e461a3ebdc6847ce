"""Media types by content: the first bytes of a file, never its name.

The patterns are the ones of the WHATWG MIME Sniffing standard, sections 6.1 to 6.4, with FLAC (RFC 9639, section 8.2),
AAC in ADTS (ISO 13818-7, 6.2), TIFF 6.0 and the ISO base media brands (ISO 14496-12, 4.3) added.
"""

HEAD_BYTES = 512
"""How much of a file `media_type` looks at."""

_AT_START: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"ID3\x02", "audio/mpeg"),
    (b"ID3\x03", "audio/mpeg"),
    (b"ID3\x04", "audio/mpeg"),
    (b"OggS\x00", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\x7fELF", "application/x-elf"),
    (b"\x00asm", "application/wasm"),
    (b"\x1aE\xdf\xa3", "video/webm"),
)

_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}

_BRANDS = {
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"hevc": "image/heic",
    b"mif1": "image/heif",
    b"msf1": "image/heif",
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
    b"qt  ": "video/quicktime",
}


def media_type(head: bytes) -> str | None:
    """Name the media type that a file's first bytes announce.

    Args:
        head: The first `HEAD_BYTES` bytes, or the whole of a shorter file.

    Returns:
        A media type such as "image/png", or None when no signature fits (text has none).
    """
    for signature, name in _AT_START:
        if head.startswith(signature):
            return name
    return next((name for recognize in _RECOGNIZERS if (name := recognize(head)) is not None), None)


def _riff(head: bytes) -> str | None:
    return _RIFF.get(head[8:12]) if head.startswith(b"RIFF") else None


def _iso_media(head: bytes) -> str | None:
    return _brand(head) if head[4:8] == b"ftyp" else None


def _bzip2(head: bytes) -> str | None:
    return "application/x-bzip2" if head.startswith(b"BZh") and head[4:10] == b"1AY&SY" else None


def _tar(head: bytes) -> str | None:
    return "application/x-tar" if head.startswith(b"ustar", 257) else None


def _brand(head: bytes) -> str:
    """The major brand of an ISO media file decides; `mif1` and `msf1` leave it to the compatible brands (HEIF)."""
    size = min(max(int.from_bytes(head[:4], "big"), 16), len(head))
    major = _BRANDS.get(head[8:12])
    if major not in (None, "image/heif"):
        return str(major)
    for at in range(16, size - 3, 4):
        compatible = _BRANDS.get(head[at : at + 4])
        if compatible in ("image/avif", "image/heic"):
            return compatible
    return major or "video/mp4"


def _bitmap(head: bytes) -> str | None:
    """`BM` alone begins many a text: the reserved bytes are zero and the DIB header has one of its known sizes."""
    sizes = (12, 16, 40, 52, 56, 64, 108, 124)
    known = head[6:10] == b"\0\0\0\0" and int.from_bytes(head[14:18], "little") in sizes
    return "image/bmp" if head.startswith(b"BM") and known else None


def _mpeg_audio(head: bytes) -> str | None:
    """A frame header: 11 or 12 set bits, then fields that must not have their forbidden values."""
    if len(head) < 4 or head[0] != 0xFF:
        return None
    if head[1] & 0xF6 == 0xF0:
        return "audio/aac" if (head[2] >> 2) & 15 < 13 else None
    layer, version = head[1] & 0x06, head[1] & 0x18
    bitrate, rate = head[2] >> 4, head[2] & 0x0C
    if head[1] & 0xE0 == 0xE0 and layer == 0x02 and version != 0x08 and bitrate not in (0, 15) and rate != 0x0C:
        return "audio/mpeg"
    return None


_RECOGNIZERS = (_riff, _iso_media, _bzip2, _bitmap, _tar, _mpeg_audio)
