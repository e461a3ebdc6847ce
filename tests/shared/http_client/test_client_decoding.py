"""Undoing compression within a bound: what comes out is right, and never more than was allowed."""

import contextlib
import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.transport.http_client import BadResponseError
from mcp_curated_shared.transport.http_client.decoding import BodyDecoder, LimitReachedError

MIB = 1 << 20
EMPTY_BLOCK = b"\x00\x00\x00\xff\xff"  # RFC 1951, 3.2.4: stored, not the last, no byte


def bare_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


ENCODERS = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "gzip, gzip": lambda data: gzip.compress(gzip.compress(data)),
    "deflate, GZIP": lambda data: gzip.compress(zlib.compress(data)),
}


def bomb(deflate: bool, mib: int) -> bytes:
    engine = zlib.compressobj(1, wbits=15 if deflate else 31)
    block = bytes(MIB)
    return b"".join([*(engine.compress(block) for _ in range(mib)), engine.flush()])


def fed(decoder: BodyDecoder, data: bytes, size: int = 1 << 14) -> BodyDecoder:
    for start in range(0, len(data), size):
        decoder.feed(data[start : start + size])
    return decoder


@given(st.binary(max_size=5_000), st.sampled_from(sorted(ENCODERS)), st.integers(1, 999))
def test_a_body_comes_out_as_it_went_in_however_it_is_cut_into_pieces(data: bytes, encoding: str, size: int):
    decoder = fed(BodyDecoder(encoding, 5_000), ENCODERS[encoding](data), size)
    assert decoder.body == data
    assert decoder.is_whole()


@given(st.binary(max_size=2_000), st.integers(1, 50))
def test_bare_deflate_is_read_where_zlibs_header_is_missing(data: bytes, size: int):
    decoder = fed(BodyDecoder("deflate", 2_000), bare_deflate(data), size)
    assert decoder.body == data


@given(st.binary(min_size=1, max_size=2_000), st.sampled_from(sorted(ENCODERS)), st.integers(0, 1_999))
def test_no_byte_beyond_the_limit_is_kept(data: bytes, encoding: str, limit: int):
    decoder = BodyDecoder(encoding, limit)
    if len(data) > limit:
        with pytest.raises(LimitReachedError):
            fed(decoder, ENCODERS[encoding](data))
        assert data.startswith(decoder.body)
    else:
        try:  # a coding makes short bodies longer, and no coding may be longer than the limit either
            fed(decoder, ENCODERS[encoding](data))
        except LimitReachedError:
            assert "," in encoding
            return
        assert decoder.body == data
    assert len(decoder.body) <= limit


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("deflate", [False, True])
def test_a_bomb_costs_no_more_than_the_limit(deflate: bool, nested: bool):
    data = bomb(deflate, 128)
    encoding = "deflate" if deflate else "gzip"
    if nested:
        data, encoding = gzip.compress(data), f"{encoding}, gzip"
    decoder = BodyDecoder(encoding, MIB)
    tracemalloc.start()
    try:
        with pytest.raises(LimitReachedError):
            fed(decoder, data, len(data))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(decoder.body) == MIB
    assert peak < 4 * MIB


def test_a_bomb_whose_middle_is_large_and_whose_end_is_empty_is_stopped():
    middle = gzip.compress(b"")[:10] + EMPTY_BLOCK * 400_000
    with pytest.raises(LimitReachedError):
        fed(BodyDecoder("gzip, gzip", MIB), gzip.compress(middle))


def test_endless_blocks_that_inflate_to_nothing_are_stopped():
    decoder = BodyDecoder("deflate", MIB)
    with pytest.raises(LimitReachedError):
        for _ in range(100):
            decoder.feed(EMPTY_BLOCK * 20_000)
    assert decoder.body == b""


def test_a_thousand_members_are_read_and_a_flood_of_them_is_not():
    member = gzip.compress(b"x")
    assert fed(BodyDecoder("gzip", MIB), member * 1_000).body == b"x" * 1_000
    with pytest.raises(BadResponseError):
        fed(BodyDecoder("gzip", MIB), gzip.compress(b"") * 1_001)


@pytest.mark.parametrize("padding", [b"\0", b"\0" * 100, b"trailing", b"\x1f", b"\x1fx"])
def test_padding_behind_the_last_member_is_ignored(padding: bytes):
    decoder = fed(BodyDecoder("gzip", MIB), gzip.compress(b"body") + padding + padding, 3)
    assert decoder.body == b"body"
    assert decoder.is_whole()


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, br", "gzip, gzip, gzip", "x" * 1_000])
def test_a_coding_that_was_not_asked_for_is_refused(encoding: str):
    with pytest.raises(BadResponseError):
        BodyDecoder(encoding, MIB)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_damaged_body_is_refused(encoding: str):
    data = bytearray(ENCODERS[encoding](bytes(range(256)) * 20))
    data[-6 if encoding == "gzip" else -1] ^= 0xFF  # in its checksum
    with pytest.raises(BadResponseError):
        fed(BodyDecoder(encoding, MIB), bytes(data))


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "deflate, gzip"]))
def test_any_bytes_are_decoded_or_refused(data: bytes, encoding: str):
    decoder = BodyDecoder(encoding, 1_000)
    with contextlib.suppress(BadResponseError, LimitReachedError):
        fed(decoder, data, 7)
    assert len(decoder.body) <= 1_000


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_body_that_breaks_off_is_known_to_be_less(encoding: str):
    data = ENCODERS[encoding](bytes(1_000))
    decoder = fed(BodyDecoder(encoding, MIB), data[:-3])
    assert not decoder.is_whole()
    assert BodyDecoder(encoding, MIB).is_whole()  # HEAD and 304 say an encoding and send nothing
