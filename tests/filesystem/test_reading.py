"""Pages of text files."""

import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_curated_filesystem.reading.excerpts import Excerpt, Gathering
from mcp_curated_filesystem.reading.page_facts import blocks, facts, render
from mcp_curated_filesystem.reading.pages import Page, read_page
from mcp_curated_filesystem.text.forms import BinaryFileError
from mcp_curated_shared.errors import CancelledError, CuratedError, InvalidArgumentError
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.security.limits import Budget
from mcp_curated_shared.work import Work

Read = Callable[..., Page]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    confinement = Confinement([RootSpec(str(tmp_path))])

    def read_bytes(data: bytes | None, excerpt: Excerpt | None = None, name: str = "f.txt", **options: object) -> Page:
        if data is not None:
            (tmp_path / name).write_bytes(data)
        return read_page(confinement, str(tmp_path / name), excerpt or Excerpt(), work=Work(20), **options)  # pyright: ignore[reportArgumentType] - options of one test each

    return read_bytes


def numbered(count: int, end: str = "\n") -> str:
    return "".join(f"line {number}{end}" for number in range(1, count + 1))


def test_a_small_file_is_read_whole_and_its_body_is_its_text(read: Read) -> None:
    page = read(b"one\ntwo\n")
    assert page.body == "one\ntwo\n"
    assert (page.first, page.lines, page.total, page.following) == (1, 2, 2, None)
    assert facts(page) == f"Lines 1-2 of 2. Version {page.version}."


def test_the_reply_keeps_facts_and_body_apart(read: Read) -> None:
    page = read(b"one\n")
    assert blocks(page) == (facts(page), "one\n")
    assert render(page) == facts(page) + "\n\none\n"


def test_an_empty_file_says_that_it_is_empty(read: Read) -> None:
    page = read(b"")
    assert "empty" in facts(page)
    assert blocks(page) == (facts(page),)


def test_2000_lines_are_shown_and_the_next_call_gives_the_rest(read: Read, tmp_path: Path) -> None:
    text = "".join(f"{number}\n" for number in range(1, 4501))
    bodies: list[str] = []
    excerpt: Excerpt | None = Excerpt()
    while excerpt is not None:
        page = read(text.encode(), excerpt)
        bodies.append(page.body)
        excerpt = page.following
    assert [body.count("\n") for body in bodies] == [2000, 2000, 500]
    assert "".join(bodies) == text
    first = facts(read(text.encode()))
    assert first.startswith("Lines 1-2000 of 4500.")
    assert f'Next: read_file {{"path": "{tmp_path}/f.txt", "offset": 2001}}.' in first


def test_the_next_call_repeats_limit_and_encoding(read: Read) -> None:
    said = facts(read(numbered(9).encode(), Excerpt(offset=2, limit=3), encoding="latin-1"))
    assert '"offset": 5, "limit": 3, "encoding": "latin-1"}' in said


def test_a_page_that_ends_with_the_file_names_no_next_call(read: Read) -> None:
    assert "Next" not in facts(read(numbered(3).encode(), Excerpt(limit=3)))
    assert "Next" not in facts(read(b"a\nb", Excerpt(offset=2)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "cp037"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_any_line_can_be_addressed_in_any_encoding_and_line_ending(read: Read, encoding: str, end: str) -> None:
    data = numbered(30_000, end).encode(encoding)
    page = read(data, Excerpt(offset=29_998, limit=2), encoding=encoding)
    assert page.body == f"line 29998{end}line 29999{end}"
    page = read(data, Excerpt(tail=2), encoding=encoding)
    assert page.body == f"line 29999{end}line 30000{end}"
    assert page.first == 29_999


def test_a_character_whose_bytes_look_like_a_line_end_ends_no_line(read: Read) -> None:
    text = "\u0a00\u0100\u0a0a\u0a0d a\nb\n" * 3
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-be"):
        page = read(text.encode(encoding), Excerpt(offset=2, limit=1), encoding=encoding)
        assert page.body == "b\n"
        assert (
            read(text.encode(encoding), Excerpt(tail=2), encoding=encoding).body == text[-text[::-1].index("\n", 4) :]
        )


@settings(max_examples=200)
@given(
    text=st.text(st.sampled_from("aé😀\n\r"), max_size=60),
    encoding=st.sampled_from(["utf-8", "utf-16-le", "utf-32-be"]),
    limit=st.integers(1, 5),
)
def test_pages_put_together_are_the_file(
    tmp_path_factory: pytest.TempPathFactory, text: str, encoding: str, limit: int
) -> None:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "f").write_bytes(text.encode(encoding))
    with Confinement([RootSpec(str(folder))]) as confinement:
        page = read_page(confinement, "f", Excerpt(limit=limit), encoding=encoding, work=Work(20))
        bodies, total = [page.body], page.total
        while page.following is not None:
            page = read_page(confinement, "f", page.following, encoding=encoding, work=Work(20))
            bodies.append(page.body)
        assert "".join(bodies) == text
        for tail in range(1, 7):
            last = read_page(confinement, "f", Excerpt(tail=tail), encoding=encoding, work=Work(20))
            assert text.endswith(last.body)
            assert last.lines == min(tail, total or 0)


def test_a_long_line_is_cut_with_a_mark_that_says_how_much_is_left(read: Read) -> None:
    page = read(b"short\n" + b"x" * 1_000_000 + b"\nend\n")
    first, long, last = page.body.splitlines()
    assert (first, last) == ("short", "end")
    assert long == "x" * 2_000 + " [... 998,000 more characters of this line]"
    assert '"offset": 2, "limit": 1}' in facts(page)


def test_a_line_that_is_asked_for_alone_fills_the_reply(read: Read) -> None:
    page = read(b"x" * 30_000 + b"\nend\n", Excerpt(offset=1, limit=1))
    assert page.body == "x" * 30_000 + "\n"
    page = read(b"x" * 1_000_000, Excerpt(head=1))
    assert 45_000 < len(page.body) <= 48_000
    assert "search_content" in facts(page)


def test_a_line_without_an_end_in_sight_is_not_read_to_its_end(read: Read, tmp_path: Path) -> None:
    with (tmp_path / "f.txt").open("wb") as file:
        file.write(b"x" * 8_000_000)
        file.truncate(400_000_000)
    page = read(None, encoding="utf-8")
    assert "more than 4," in page.body


@pytest.mark.parametrize("unit", ["x", "é", "\u3042", "\N{GRINNING FACE}", "\0", "\t"])
@pytest.mark.parametrize("width", [1, 99, 1_999, 5_000, 600_000])
def test_no_reply_is_longer_than_the_budget(read: Read, unit: str, width: int) -> None:
    data = ((unit * width + "\n") * (1_200_000 // width)).encode()
    for excerpt in (Excerpt(), Excerpt(tail=5_000), Excerpt(head=1), Excerpt(offset=2, limit=10**9)):
        assert len(render(read(data, excerpt, encoding="utf-8"))) <= 48_000


@pytest.mark.parametrize("excerpt", [Excerpt(), Excerpt(head=1), Excerpt(tail=9)])
def test_bytes_that_are_no_text_fit_the_budget_as_escapes(read: Read, excerpt: Excerpt) -> None:
    page = read(b"\xff" * 100_000 + b"\n" + b"\xfe\n" * 40_000, excerpt, encoding="utf-8")
    assert page.undecodable > 8
    assert len(render(page)) <= 48_000
    page.body.encode()


@pytest.mark.parametrize("depth", [0, 8, 14])
@pytest.mark.parametrize("letter", ["\u202e", '"', "\x01", "a"])
def test_a_long_path_fits_the_budget_too(read: Read, tmp_path: Path, depth: int, letter: str) -> None:
    name = "/".join([letter * (250 // len(letter.encode()))] * (depth + 1))
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    for data in (b"word and word\n" * 20_000, (b"x" * 3_000 + b"\n") * 100):
        page = read(data, name=name)
        assert page.lines > 3
        assert len(render(page)) <= 48_000


def test_the_end_of_a_file_of_empty_lines_is_found_at_once(read: Read, tmp_path: Path) -> None:
    with (tmp_path / "f.txt").open("wb") as file:
        file.write(b"\n" * 30_000_000)
    page = read(None, Excerpt(tail=10**12))
    assert page.body == "\n" * page.lines
    assert page.first == 30_000_001 - page.lines


def test_lines_added_while_the_end_is_read_do_not_make_it_longer(read: Read) -> None:
    gathering = Gathering("\n", most_lines=2, room=1_000, longest=100, keep="last")
    gathering.take(["a\nb\n", "c\nd\n"])
    assert (gathering.body, gathering.lines) == ("c\nd\n", 2)


def test_the_last_lines_that_do_not_fit_are_named_with_the_call_for_them(read: Read) -> None:
    data = "".join(f"{number:05} {'y' * 500}\n" for number in range(1, 401)).encode()
    page = read(data, Excerpt(tail=300))
    assert page.body.endswith(f"00400 {'y' * 500}\n")
    assert page.first is not None
    assert page.body.startswith(f"{page.first:05} ")
    assert page.earlier == Excerpt(offset=101, limit=page.first - 101)
    assert f'before these: read_file {{"path": "{page.location.shown}", "offset": 101' in facts(page)


def test_a_tail_longer_than_the_file_is_the_file(read: Read) -> None:
    page = read(b"a\nb", Excerpt(tail=10))
    assert (page.body, page.first, page.total, page.earlier) == ("a\nb", 1, 2, None)
    assert read(b"", Excerpt(tail=10)).body == ""


def test_an_offset_beyond_the_end_is_answered_with_the_number_of_lines(read: Read) -> None:
    with pytest.raises(InvalidArgumentError, match=r"has 3 lines; there is no line 4\. Give an `offset` from 1 to 3"):
        read(numbered(3).encode(), Excerpt(offset=4))
    with pytest.raises(InvalidArgumentError, match="has 3 lines"):
        read(b"a\nb\nc", Excerpt(offset=99))
    with pytest.raises(InvalidArgumentError, match="is empty"):
        read(b"", Excerpt(offset=2))


@pytest.mark.parametrize("name", ["offset", "limit", "head", "tail"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3"])
def test_numbers_below_1_or_not_whole_are_argument_errors(name: str, value: object) -> None:
    with pytest.raises(InvalidArgumentError, match=f"`{name}`"):
        Excerpt(**{name: value})  # pyright: ignore[reportArgumentType] - what a careless caller passes


@pytest.mark.parametrize("given", [{"head": 1, "tail": 1}, {"head": 1, "offset": 1}, {"tail": 1, "limit": 1}])
def test_head_and_tail_exclude_the_others(given: dict[str, int]) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be given together"):
        Excerpt(**given)


def test_encoding_and_line_ending_are_told_only_when_they_are_not_plain(read: Read) -> None:
    assert "Stored" not in facts(read("é\n".encode()))
    said = facts(read(b"\xef\xbb\xbfa\r\nb\r\n"))
    assert "Stored as: with a byte order mark, CRLF line endings." in said
    assert "encoding cp1252 (a guess" in facts(read("café\n".encode("cp1252")))
    assert "mixed line endings" in facts(read(b"a\r\nb\n"))


def test_the_byte_order_mark_is_hidden(read: Read) -> None:
    assert read(b"\xef\xbb\xbfa\n").body == "a\n"
    assert read("\ufeffa\n".encode("utf-16-le")).body == "a\n"


def test_undecodable_bytes_are_visible_and_counted(read: Read) -> None:
    page = read("Ünïcödé and more äöüß éèê\n".encode() + b"caf\xe9\n")
    assert page.body.endswith("caf\\xe9\n")
    assert r"1 byte or character that is no text in utf-8 is shown as an escape such as \xe9." in facts(page)


def test_invisible_characters_stay_in_the_body_and_are_counted(read: Read) -> None:
    page = read("if a\u202e == b:\u200b\n".encode())
    assert page.body == "if a\u202e == b:\u200b\n"
    assert "2 invisible characters" in facts(page)


def test_a_missing_final_newline_is_told(read: Read) -> None:
    assert "No newline at the end of the file." in facts(read(b"a"))
    assert "No newline" not in facts(read(b"a\n"))
    assert "No newline" not in facts(read(b"a\nb", Excerpt(limit=1)))


def test_a_binary_is_refused_with_type_size_head_and_next_call(read: Read) -> None:
    with pytest.raises(BinaryFileError) as refused:
        read(b"\x89PNG\r\n\x1a\n" + b"\0" * 5_000, name="picture.txt")
    said = str(refused.value)
    assert "picture.txt is binary (image/png, 5,008 bytes; begins 89 50 4e 47" in said
    assert "read_media_file" in said


def test_the_caller_may_read_a_binary_as_text(read: Read) -> None:
    assert read(b"a\x00b\n", encoding="latin-1").body == "a\\x00b\n"


def test_the_first_page_of_a_huge_file_takes_no_memory(read: Read, tmp_path: Path) -> None:
    with (tmp_path / "f.txt").open("wb") as file:
        file.write(b"word and word\n" * 20_000)
        file.truncate(3_000_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    page = read(None)
    assert page.lines == 2_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8_192


def test_files_of_the_kernel_without_a_size_are_read_to_their_end() -> None:
    with Confinement([RootSpec("/proc/self")]) as confinement:
        page = read_page(confinement, "/proc/self/status", work=Work(20))
        last = read_page(confinement, "/proc/self/status", Excerpt(tail=1), work=Work(20))
    assert page.body.startswith("Name:")
    assert page.total is not None
    assert page.total > 20
    assert last.lines == 1


def test_a_fifo_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with Confinement([RootSpec(str(tmp_path))]) as confinement, pytest.raises(CuratedError, match="FIFO"):
        read_page(confinement, "pipe", work=Work(20))


def test_a_scan_for_a_far_line_can_be_cancelled(tmp_path: Path) -> None:
    with (tmp_path / "f").open("wb") as file:
        file.write(b"a\n")
        file.truncate(10_000_000_000)
    work = Work(20)
    work.cancel()
    with Confinement([RootSpec(str(tmp_path))]) as confinement, pytest.raises(CancelledError):
        read_page(confinement, "f", Excerpt(offset=10), encoding="utf-8", work=work)


def test_a_budget_of_another_size_holds_too(read: Read) -> None:
    page = read(b"word and word\n" * 2_000, budget=Budget(characters=3_000, rows=50))
    assert 10 < page.lines <= 50
    assert len(render(page)) <= 3_000


def test_legacy_letters_that_come_after_the_sample_are_read_right(read: Read) -> None:
    data = b"plain ascii, for a long while\n" * 20_000 + "人人生而自由在尊严和权利上一律平等\n".encode("gbk")
    for excerpt in (Excerpt(offset=20_000), Excerpt(tail=2)):
        page = read(data, excerpt)
        assert page.body.endswith("人人生而自由在尊严和权利上一律平等\n")
        assert "encoding gb18030 (a guess" in facts(page)
    broken = b"plain ascii, for a long while\n" * 20_000 + ("日本語テキスト" * 9 + "\n").encode() + b"\xff\n"
    assert read(broken, Excerpt(tail=2)).body.endswith("\\xff\n")
