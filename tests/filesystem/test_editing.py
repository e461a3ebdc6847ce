"""Edits of real files: which bytes change, which edits are refused, what is told."""

import itertools
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from mcp_curated_filesystem.editing.editor import Edit, edit_file, render
from mcp_curated_filesystem.text.forms import BinaryFileError
from mcp_curated_filesystem.text.versions import version_tag
from mcp_curated_shared.errors import ConflictError, CuratedError, InvalidArgumentError
from mcp_curated_shared.security.confinement import Confinement, NotAFileError, PathNotFoundError, RootSpec
from mcp_curated_shared.work import Work

EXAMPLES = int(os.environ.get("MCP_CURATED_EXAMPLES", "300"))


class Bench:
    """A file in a confinement, edited and read back."""

    def __init__(self, directory: Path) -> None:
        self.confinement = Confinement([RootSpec(str(directory))])
        self.file = directory / "file.txt"

    def edit(self, content: bytes, *edits: tuple[str, str] | Edit, **options: object) -> bytes:
        self.file.write_bytes(content)
        self.reply = edit_file(
            self.confinement,
            str(self.file),
            [edit if isinstance(edit, Edit) else Edit(*edit) for edit in edits],
            work=Work(),
            **options,  # pyright: ignore[reportArgumentType] - keyword options of edit_file, given by each test
        )
        return self.file.read_bytes()

    def refused(self, content: bytes, *edits: tuple[str, str] | Edit, **options: object) -> CuratedError:
        with pytest.raises(CuratedError) as caught:
            self.edit(content, *edits, **options)
        assert self.file.read_bytes() == content
        assert [entry.name for entry in self.file.parent.iterdir()] == ["file.txt"]
        return caught.value


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.confinement.close()


# Bytes


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"one\r\ntwo\r\n", "two", "zwei", b"one\r\nzwei\r\n"),
        (b"one\r\ntwo\nthree\r\nfour\r\n", "three", "drei", b"one\r\ntwo\ndrei\r\nfour\r\n"),
        (b"one\rtwo\r", "two", "zwei\nnoch", b"one\rzwei\rnoch\r"),
        (b"caf\xe9\nkey=1\n", "key=1", "key=2", b"caf\xe9\nkey=2\n"),
        (b"\xef\xbb\xbfa\nb", "b", "c", b"\xef\xbb\xbfa\nc"),
        (b"bad \xff\xfe\x80 bytes\nkey\n", "key", "caf", b"bad \xff\xfe\x80 bytes\ncaf\n"),
        ("\ufeffabc\r\ndef\r\n".encode("utf-16-le"), "def", "x\ny", "\ufeffabc\r\nx\r\ny\r\n".encode("utf-16-le")),
        ("\ufeffabc\ndef".encode("utf-16-be"), "c\nd", "-\u4e8c-", "\ufeffab-\u4e8c-ef".encode("utf-16-be")),
        (b"cost: $1\n", "$1", "$$1 $& \\1", b"cost: $$1 $& \\1\n"),
    ],
)
def test_only_the_bytes_of_the_quoted_text_change(
    bench: Bench, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert bench.edit(before, (old, new)) == after


_CHINESE = (
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u8fd9\u662f\u4e00\u4e2a\u6d4b\u8bd5\u6587\u4ef6\r\n\u7b2c\u4e8c\u884c\r\n"
)
_JAPANESE = "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8\u3067\u3059\r\n\u4e8c\u884c\u76ee\u306e\u8868\u793a\r\n"
_FRENCH = "Le caf\xe9 est tr\xe8s bon et la for\xeat est belle\ncl\xe9=1\n"


@pytest.mark.parametrize(
    ("encoding", "text", "old", "new"),
    [
        ("gb18030", _CHINESE, "\u7b2c\u4e8c\u884c", "\u7b2c\u4e09\u884c"),
        ("cp932", _JAPANESE, "\u4e8c\u884c\u76ee", "\u4e09\u884c\u76ee"),
        ("cp1252", _FRENCH, "cl\xe9=1", "cl\xe9=2"),
    ],
)
def test_text_in_national_encodings_is_found_and_replaced_in_its_encoding(
    bench: Bench, encoding: str, text: str, old: str, new: str
) -> None:
    assert bench.edit(text.encode(encoding), (old, new)) == text.replace(old, new).encode(encoding)


def test_a_text_is_never_found_inside_a_character(bench: Bench) -> None:
    lead = "\u8868\u793a\u3059\u308b\u6a5f\u80fd\u306e\u8aac\u660e\u3067\u3059\n".encode(
        "cp932"
    )  # 0x95 0x5C: "\" in it
    assert b"\\" in lead
    assert bench.edit(lead + b"path\\name\n", ("\\", "/")) == lead + b"path/name\n"


def test_a_quoted_line_feed_matches_any_line_end(bench: Bench) -> None:
    assert bench.edit(b"a\r\nb\rc\nd", ("a\nb\nc\nd", "a\nb\nX\nd")) == b"a\r\nb\rX\nd"


def test_quoted_crlf_matches_line_feeds(bench: Bench) -> None:
    assert bench.edit(b"a\nb\nc\n", ("a\r\nb", "x\r\ny")) == b"x\ny\nc\n"


def test_half_of_a_crlf_is_never_matched(bench: Bench) -> None:
    assert bench.refused(b"a\r\nb\n\nc\r", ("a\n\nb", "x")).kind == "no_match"


def test_new_lines_end_as_their_neighbours_do_in_a_mixed_file(bench: Bench) -> None:
    before = b"one\r\ntwo\nthree\r\nfour\n"
    assert bench.edit(before, ("one", "1\n1b"), ("two", "2\n2b")) == b"1\r\n1b\r\n2\n2b\nthree\r\nfour\n"


def test_kept_lines_of_a_mixed_block_keep_their_own_line_ends(bench: Bench) -> None:
    after = bench.edit(b"a\r\nb\nc\r\nd\n", ("a\nb\nc\nd", "a\nb\nNEW\nc\nd"))
    assert after == b"a\r\nb\nNEW\nc\r\nd\n"


def test_a_file_without_a_final_newline_stays_so(bench: Bench) -> None:
    assert bench.edit(b"a\nlast", ("last", "end")) == b"a\nend"
    assert "\\ No newline at end of file" in bench.reply.difference.text


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\rb\nc", "a\nb\nc", "x\n\nx", b"x\r\rx"),
        (b"a\rb\n", "a\nb", "a\nb\n", b"a\rb\n\n"),
        (b"a\rb\nc\n", "b", "\nb", b"a\r\rb\nc\n"),
        (b"\r\rb\n", "b", "x\n\n", b"\r\rx\n\n\n"),
    ],
)
def test_a_cr_and_an_lf_that_meet_never_swallow_a_line(
    bench: Bench, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert bench.edit(before, (old, new)) == after


def test_whole_lines_can_be_deleted(bench: Bench) -> None:
    assert bench.edit(b"a\r\nb\r\nc\r\n", ("b\n", "")) == b"a\r\nc\r\n"


_LANGUAGES = {
    "utf-8": ["h\u00e9llo", "\u4e16\u754c", "\U0001f600", "plain", "\u0645\u0631\u062d\u0628\u0627"],
    "utf-8-sig": ["h\u00e9llo", "\u4e16\u754c", "plain"],
    "utf-16-le": ["h\u00e9llo", "\u4e16\u754c", "\U0001f600", "plain"],
    "utf-16-be": ["h\u00e9llo", "\u4e16\u754c", "\u0d0a\u0a0d", "plain"],
    "cp1252": ["caf\u00e9", "stra\u00dfe", "na\u00efve", "plain words here"],
    "gb18030": ["\u4f60\u597d\u4e16\u754c", "\u8fd9\u662f\u4e00\u4e2a\u6587\u4ef6", "plain"],
    "cp932": ["\u65e5\u672c\u8a9e\u306e\u6587\u7ae0", "\u8868\u793a", "\u30c6\u30ad\u30b9\u30c8", "plain"],
    "invalid": ["\udcfe\udcff", "\udc80ok", "abc\udcc3", "plain"],
}


def _raw(text: str, encoding: str) -> bytes:
    if encoding == "invalid":
        return text.encode("utf-8", "surrogateescape")
    return text.encode("utf-8" if encoding == "utf-8-sig" else encoding)


@st.composite
def _files(draw: st.DrawFn) -> tuple[str, bytes, bytes, bytes, str, str]:
    """(encoding, before, sought, after, old, new): a file is before + sought + after."""
    encoding = draw(st.sampled_from(sorted(_LANGUAGES)))
    word = st.sampled_from(_LANGUAGES[encoding])
    ends = draw(st.sampled_from([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\n", "\r\n", "\r"]]))
    line = st.tuples(st.lists(word, max_size=3).map(" ".join), st.sampled_from(ends)).map("".join)
    before, after = ("".join(draw(st.lists(line, max_size=5))) for _ in range(2))
    inner = [draw(st.sampled_from(ends)) for _ in range(draw(st.integers(0, 2)))]
    sought = "".join(itertools.chain.from_iterable(zip(["<needle>", "mid", "mid2"], [*inner, ""], strict=False)))
    after = draw(st.sampled_from(["", *ends])) + after if after else draw(st.sampled_from(["", *ends]))
    new = "\n".join(draw(st.lists(st.sampled_from(["x", "  y", "", "changed"]), min_size=1, max_size=4)))
    marks = {"utf-8-sig": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
    before = "plain " + before if encoding == "invalid" else before  # bytes that look like a mark would be one
    raw = marks.get(encoding, b"") + _raw(before, encoding), _raw(sought, encoding), _raw(after, encoding)
    return encoding, *raw, sought.replace("\r\n", "\n").replace("\r", "\n"), new


@settings(max_examples=EXAMPLES)
@given(_files())
def test_every_byte_outside_the_replaced_text_stays_whatever_the_file_is(
    made: tuple[str, bytes, bytes, bytes, str, str],
) -> None:
    encoding, before, sought, after, old, new = made
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(Path(directory))
        try:
            result = bench.edit(before + sought + after, (old, new))
        except BinaryFileError:
            reject()
        finally:
            bench.confinement.close()
    assert result.startswith(before)
    assert result.endswith(after)
    middle = result[len(before) : len(result) - len(after)]
    wide = encoding if encoding.startswith("utf-16") else "latin-1"
    assert middle.decode(wide).replace("\r\n", "\n").replace("\r", "\n") == new
    with_ends = {end for end in ("\r\n", "\n", "\r") if _raw(end, encoding) in before + sought + after}
    if len(with_ends) == 1:  # the file has one kind: no other may have come in
        kind = with_ends.pop()
        assert middle.decode(wide) == new.replace("\n", kind)


# Refusals


def test_a_text_that_is_there_twice_is_refused_with_both_lines(bench: Bench) -> None:
    error = bench.refused(b"x = 1\ny\nx = 1\n", ("x = 1", "x = 2"))
    assert error.kind == "ambiguous"
    assert "lines 1, 3" in str(error)


def test_overlapping_places_count_as_two(bench: Bench) -> None:
    assert "twice" in str(bench.refused(b"aaa", ("aa", "b")))


def test_replace_all_replaces_every_place(bench: Bench) -> None:
    assert bench.edit(b"a b a\r\na", Edit("a", "xx", replace_all=True)) == b"xx b xx\r\nxx"
    assert bench.reply.replacements == 3


def test_an_expected_count_that_fits_replaces_all(bench: Bench) -> None:
    assert bench.edit(b"a b a", Edit("a", "x", expected_count=2)) == b"x b x"


def test_an_expected_count_that_does_not_fit_is_refused_with_the_lines(bench: Bench) -> None:
    error = bench.refused(b"a\nb\na\n", Edit("a", "x", expected_count=3))
    assert "twice, at lines 1, 3" in str(error)


@pytest.mark.parametrize("old", ["", "   ", "\n\n", "\t"])
def test_an_empty_or_blank_old_text_is_refused(bench: Bench, old: str) -> None:
    assert isinstance(bench.refused(b"a\n\n   \nb\n", (old, "x")), InvalidArgumentError)


def test_an_edit_that_changes_nothing_is_refused(bench: Bench) -> None:
    assert isinstance(bench.refused(b"a\n", ("a", "a")), InvalidArgumentError)


def test_a_binary_file_is_refused(bench: Bench) -> None:
    content = b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 4
    assert bench.refused(content, ("ELF", "elf")).kind == "binary"


def test_a_character_that_the_encoding_lacks_is_named_and_nothing_written(bench: Bench) -> None:
    text = "Le caf\xe9 est tr\xe8s bon et la for\xeat est belle\n".encode("cp1252")
    error = bench.refused(text, ("bon", "\u4e16"))
    assert error.kind == "encoding"
    assert "U+4E16" in str(error)


def test_a_read_only_file_is_refused_and_its_mode_named(bench: Bench) -> None:
    bench.file.write_bytes(b"secret\n")
    bench.file.chmod(0o444)
    with pytest.raises(CuratedError, match="0444") as caught:
        edit_file(bench.confinement, str(bench.file), [Edit("secret", "x")], work=Work())
    assert caught.value.kind == "permission"
    assert bench.file.read_bytes() == b"secret\n"


def test_a_missing_file_is_named(bench: Bench) -> None:
    with pytest.raises(PathNotFoundError, match=r"file\.txt"):
        edit_file(bench.confinement, str(bench.file), [Edit("a", "b")], work=Work())


def test_a_pipe_is_refused_at_once(bench: Bench) -> None:
    os.mkfifo(bench.file)
    with pytest.raises(NotAFileError, match="pipe"):
        edit_file(bench.confinement, str(bench.file), [Edit("a", "b")], work=Work())
    assert stat.S_ISFIFO(bench.file.stat().st_mode)


# Several edits


def test_all_edits_are_made_together(bench: Bench) -> None:
    assert bench.edit(b"a\nb\nc\n", ("c", "3"), ("a", "1")) == b"1\nb\n3\n"


def test_one_failing_edit_leaves_the_file_alone(bench: Bench) -> None:
    error = bench.refused(b"a\nb\n", ("a", "1"), ("zzz", "2"))
    assert "Edit 2 of 2" in str(error)


def test_every_failing_edit_is_told(bench: Bench) -> None:
    error = str(bench.refused(b"a\nb\na\n", ("a", "1"), ("zzz", "2")))
    assert "Edit 1 of 2" in error
    assert "Edit 2 of 2" in error


def test_overlapping_edits_are_refused(bench: Bench) -> None:
    assert "overlap at line 1" in str(bench.refused(b"abc\n", ("ab", "x"), ("bc", "y")))


def test_an_edit_of_the_result_of_another_is_refused_and_explained(bench: Bench) -> None:
    assert "only after an earlier edit" in str(bench.refused(b"a\n", ("a", "b"), ("b\n", "c\n")))


def test_an_edit_that_was_made_before_is_recognised(bench: Bench) -> None:
    assert "already there, at line 2" in str(bench.refused(b"x\nnew value\n", ("old value", "new value")))


# Versions, dry runs, what is kept


def test_a_dry_run_shows_the_difference_and_writes_nothing(bench: Bench) -> None:
    assert bench.edit(b"a\nb\n", ("b", "c"), dry_run=True) == b"a\nb\n"
    text = render(bench.reply)
    assert "-b\n+c" in text
    assert "nothing written" in text


def test_a_stale_version_is_refused_with_the_current_one(bench: Bench) -> None:
    bench.file.write_bytes(b"now\n")
    current = version_tag(b"now\n", bench.file.stat())
    error = bench.refused(b"now\n", ("now", "then"), if_version="v:000000000000")
    assert isinstance(error, ConflictError)
    assert current in str(error)


def test_the_version_in_a_reply_fits_the_next_edit(bench: Bench) -> None:
    bench.edit(b"one\n", ("one", "two"))
    again = edit_file(
        bench.confinement, str(bench.file), [Edit("two", "three")], work=Work(), if_version=bench.reply.version
    )
    assert again.version == version_tag(b"three\n", bench.file.stat())


def test_the_version_of_a_large_file_fits_the_next_edit(bench: Bench) -> None:
    bench.edit(b"one\n" + b"x" * 300_000, ("one", "two"))
    edit_file(bench.confinement, str(bench.file), [Edit("two", "3")], work=Work(), if_version=bench.reply.version)
    assert bench.file.read_bytes().startswith(b"3\n")


def test_the_mode_of_a_script_is_kept(bench: Bench) -> None:
    bench.file.write_bytes(b"#!/bin/sh\necho a\n")
    bench.file.chmod(0o755)
    edit_file(bench.confinement, str(bench.file), [Edit("echo a", "echo b")], work=Work())
    assert stat.S_IMODE(bench.file.stat().st_mode) == 0o755


def test_an_edit_through_a_link_changes_its_target_and_keeps_the_link(bench: Bench) -> None:
    bench.file.write_bytes(b"a\n")
    link = bench.file.with_name("link")
    link.symlink_to("file.txt")
    edit_file(bench.confinement, str(link), [Edit("a", "b")], work=Work())
    assert link.is_symlink()
    assert bench.file.read_bytes() == b"b\n"


def test_a_large_file_that_stops_being_utf8_late_keeps_its_bytes(bench: Bench) -> None:
    content = b"plain line\n" * 10_000 + b"caf\xe9 au lait, tr\xe8s bon\nkey=1\n"
    assert bench.edit(content, ("key=1", "key=2")) == content.replace(b"key=1", b"key=2")


def test_only_the_failures_that_are_told_are_explained(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[str] = []

    def find_near_miss(_view: object, asked: str, *, seconds: float) -> None:
        assert seconds > 0
        explained.append(asked)

    monkeypatch.setattr("mcp_curated_filesystem.editing.edits.find_near_miss", find_near_miss)
    error = bench.refused(b"text\n", *[(f"missing {number}", "x") for number in range(200)])
    assert len(explained) == 5
    assert "195 more edits fail" in error.text


def test_comparing_long_lines_of_one_letter_ends_in_time(bench: Bench) -> None:
    """Without the bound this takes minutes; the limit here is far above what it takes."""
    lines = "".join(f"needle {number} {'x' * 1_900}\n" for number in range(2_000)).encode()
    began = time.monotonic()
    bench.refused(lines, *[(f"{'y' * number}needle {'x' * 1_900} q\n" * 40, "b") for number in range(1, 60)])
    assert time.monotonic() - began < 20


def test_many_leading_line_breaks_are_compared_within_bounds(bench: Bench) -> None:
    began = time.monotonic()
    bench.refused((b"\n" * 100 + b"foo bar\n") * 5_000, ("\n" * 100_000 + "foo bar", "b"))
    assert time.monotonic() - began < 20
