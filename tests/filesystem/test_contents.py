import os
import socket
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_filesystem.finding.contents import ContentQuery, ContentSearch, render, search_content
from mcp_curated_filesystem.finding.expressions import compile_expression, within_line
from mcp_curated_filesystem.finding.linear import linear_search
from mcp_curated_filesystem.finding.sieving import Scope
from mcp_curated_shared.errors import CancelledError, InvalidArgumentError
from mcp_curated_shared.security.confinement import Confinement
from mcp_curated_shared.work import Work
from tests.filesystem.finding import open_descriptors, plant


def search(
    confinement: Confinement, path: Path, query: ContentQuery, *, seconds: float = 30, **scope: object
) -> ContentSearch:
    where = Scope(str(path), **scope)  # type: ignore[arg-type]  # a test's shorthand
    return search_content(confinement, where, query, seconds=seconds, work=Work())


def lines(result: ContentSearch) -> list[tuple[str, int, str]]:
    return [(file.path, line.number, line.text) for file in result.files for line in file.lines]


def test_lines_are_found_with_their_numbers(confinement: Confinement, root: Path) -> None:
    plant(root, {"a.py": "one\ntwo needle\nthree\n", "b/c.txt": "needle", "d.txt": "nothing"})
    result = search(confinement, root, ContentQuery("needle"))
    assert lines(result) == [("a.py", 2, "two needle"), ("b/c.txt", 1, "needle")]
    assert (result.total_files, result.total_lines, result.searched) == (2, 2, 3)
    assert "2: two needle" in render(result)


def test_a_line_with_two_matches_is_one_line(confinement: Confinement, root: Path) -> None:
    plant(root, {"a": "x x x\nx\n"})
    assert search(confinement, root, ContentQuery("x")).total_lines == 2


def test_a_text_is_taken_as_it_is_unless_regex_is_asked_for(confinement: Confinement, root: Path) -> None:
    plant(root, {"a": "f(x)\nfx\n"})
    assert lines(search(confinement, root, ContentQuery("f(x)"))) == [("a", 1, "f(x)")]
    assert lines(search(confinement, root, ContentQuery("f(x)", regex=True))) == [("a", 2, "fx")]


@pytest.mark.parametrize(
    ("pattern", "regex", "ignore_case", "expected"),
    [
        ("todo", False, None, 3),
        ("TODO", False, None, 1),
        ("TODO", False, True, 3),
        ("todo", False, False, 1),
        (r"\Stodo|todo\W?", True, None, 3),
        (r"Todo\b", True, None, 1),
    ],
)
def test_smart_case(
    confinement: Confinement, root: Path, pattern: str, regex: bool, ignore_case: bool | None, expected: int
) -> None:
    plant(root, {"a": "TODO\nTodo\ntodo\n"})
    query = ContentQuery(pattern, regex=regex, ignore_case=ignore_case)
    assert search(confinement, root, query).total_lines == expected


def test_letters_beyond_ascii_match_in_either_case(confinement: Confinement, root: Path) -> None:
    plant(root, {"a": "\u00dcBER\n", "b": "\u00fcber\n", "c": "uber\n"})
    assert search(confinement, root, ContentQuery("\u00fcber")).total_files == 2
    assert search(confinement, root, ContentQuery("\u00dcBER")).total_files == 1


def test_context_lines_are_marked_and_neighbours_share_them(confinement: Confinement, root: Path) -> None:
    plant(root, {"a": "1\n2\nx3\n4\nx5\n6\n7\n8\nx9\n"})
    text = render(search(confinement, root, ContentQuery("x", context=1)))
    assert text.splitlines()[1:] == ["== a", "2- 2", "3: x3", "4- 4", "5: x5", "6- 6", "--", "8- 8", "9: x9"]


@pytest.mark.parametrize("size", [10, 140_000, 1_048_570, 2_500_000])
@pytest.mark.parametrize("context", [0, 2])
def test_a_match_anywhere_in_a_large_file_has_its_right_number_and_context(
    confinement: Confinement, root: Path, size: int, context: int
) -> None:
    before = [f"line {number}" for number in range(size // 10)]
    plant(root, {"big": "\n".join([*before, "the needle", "after one", "after two", *before])})
    result = search(confinement, root, ContentQuery("needle", context=context))
    (file,) = result.files
    found = next(line for line in file.lines if line.matched)
    assert (found.number, found.text, result.total_lines) == (len(before) + 1, "the needle", 1)
    assert len(file.lines) == 1 + min(context, len(before)) + context


def test_context_is_whole_where_blocks_of_a_large_file_meet(confinement: Confinement, root: Path) -> None:
    """Every line of a file of several blocks is looked for, with both its neighbours."""
    width = 1_000
    rows = [f"{number:05} " + "y" * (width - 7) for number in range(2_400)]
    plant(root, {"big": "\n".join(rows) + "\n"})
    for number in (*range(125, 140), *range(1_170, 1_190), 2_399):
        (file,) = search(confinement, root, ContentQuery(f"{number:05} ", context=1)).files
        expected = [near + 1 for near in (number - 1, number, number + 1) if near < len(rows)]
        assert [line.number for line in file.lines] == expected


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
        ("cp1252", b""),
    ],
)
@pytest.mark.parametrize("repeat", [1, 9_000])
def test_text_is_found_in_the_encodings_that_are_read(
    confinement: Confinement, root: Path, encoding: str, mark: bytes, repeat: int
) -> None:
    text = "Voil\u00e0 le caf\u00e9 du matin, d\u00e9j\u00e0 servi.\n" * repeat + "fin de l'\u00e9t\u00e9\n"
    plant(root, {"a.txt": mark + text.encode(encoding)})
    for pattern, regex in (("caf\u00e9", False), ("caf\\w du", True), ("CAF\u00c9", False)):
        result = search(confinement, root, ContentQuery(pattern, regex=regex, ignore_case=True))
        assert result.total_lines == repeat, pattern
    (found,) = lines(search(confinement, root, ContentQuery("l'\u00e9t\u00e9")))
    assert found == ("a.txt", repeat + 1, "fin de l'\u00e9t\u00e9")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("repeat", [1, 60_000])
def test_lines_are_counted_as_reading_counts_them(
    confinement: Confinement, root: Path, ending: str, repeat: int
) -> None:
    plant(root, {"a": ending.join(["one", "two"] * repeat + ["end", ""])})
    assert lines(search(confinement, root, ContentQuery("^end$", regex=True))) == [("a", 2 * repeat + 1, "end")]


def test_binaries_are_passed_over_and_counted(confinement: Confinement, root: Path) -> None:
    plant(root, {"a.bin": b"\x7fELF\0\0\0\x01needle\0\xff\xfe", "b.txt": "needle"})
    result = search(confinement, root, ContentQuery("needle"))
    assert [file.path for file in result.files] == ["b.txt"]
    assert result.binary == 1
    assert "Passed over: 1 binary file." in render(result)


def test_a_glob_says_which_files(confinement: Confinement, root: Path) -> None:
    plant(root, {"a.py": "x", "b.txt": "x", "c/d.py": "x"})
    assert [file.path for file in search(confinement, root, ContentQuery("x", glob="*.py")).files] == ["a.py", "c/d.py"]
    assert [file.path for file in search(confinement, root, ContentQuery("x", glob="c/*")).files] == ["c/d.py"]


def test_one_file_can_be_searched_by_its_path(confinement: Confinement, root: Path) -> None:
    plant(root, {"node_modules/a.txt": "1\nx\n"})
    text = render(search(confinement, root / "node_modules/a.txt", ContentQuery("x")))
    assert text.splitlines()[1:] == ["2: x"]


def test_the_modes_give_names_and_counts(confinement: Confinement, root: Path) -> None:
    plant(root, {"a": "x\nx\n", "b/c": "x\n", "d": "y"})
    files = render(search(confinement, root, ContentQuery("x", mode="files"))).splitlines()
    counts = render(search(confinement, root, ContentQuery("x", mode="count"))).splitlines()
    assert files[1:] == ["a", "b/c"]
    assert counts == [f'3 lines in 2 files of {root} match "x":', "2: a", "1: b/c"]


def test_one_file_does_not_take_all_the_room_of_the_others(confinement: Confinement, root: Path) -> None:
    plant(root, {"a": "x\n" * 500, "b": "x\n"})
    result = search(confinement, root, ContentQuery("x"))
    assert [(file.path, file.count, len(file.lines)) for file in result.files] == [("a", 500, 50), ("b", 1, 1)]
    text = render(result)
    assert "== a (50 of 500 lines)" in text
    call = f'search_content {{"path": "{root}/a", "pattern": "x", "limit": 500}}'
    assert f"[Cut: 51 of 501 matching lines. The rest: {call}]" in text


def test_the_limit_keeps_lines_and_counts_the_rest(confinement: Confinement, root: Path) -> None:
    plant(root, {f"{number}": "x\n" * 10 for number in range(9)})
    result = search(confinement, root, ContentQuery("x", limit=25))
    assert (sum(len(file.lines) for file in result.files), result.total_lines, result.total_files) == (25, 90, 9)
    assert '"limit": 90}' in render(result)


def test_a_long_line_is_cut_around_its_match(confinement: Confinement, root: Path) -> None:
    plant(root, {"a": "y" * 5_000 + "needle" + "z" * 5_000})
    ((_, number, text),) = lines(search(confinement, root, ContentQuery("needle")))
    assert number == 1
    assert len(text) < 400
    assert text.startswith("[4,900 characters] y")
    assert "needle" in text
    assert text.endswith("z [4,806 more]")


def test_a_reply_stays_within_its_characters(confinement: Confinement, root: Path) -> None:
    plant(root, {f"{number:03}": ("x" * 250 + "\n") * 40 for number in range(60)})
    text = render(search(confinement, root, ContentQuery("x", limit=2_000)))
    assert 20_000 < len(text) <= 48_000
    assert '"mode": "count"}' in text
    alone = render(search(confinement, root / "000", ContentQuery("x", limit=2_000)))
    assert len(alone) <= 48_000


def test_a_file_with_bytes_of_no_encoding_is_searched_and_leaves_sendable(confinement: Confinement, root: Path) -> None:
    plant(root, {"a.log": b"ok\nbad \xff\xfe needle\n" + b"plain\n" * 50, "\udce9.txt": "needle"})
    text = render(search(confinement, root, ContentQuery("needle")))
    text.encode()
    assert r"== \xe9.txt" in text
    assert "2: bad" in text


def test_a_file_name_cannot_forge_a_matching_line(confinement: Confinement, root: Path) -> None:
    plant(root, {"a\n7: forged": "x"})
    assert render(search(confinement, root, ContentQuery("x"))).splitlines()[1:] == [r"== a\x0a7: forged", "1: x"]


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a*)*c", r"(\w+\s?)+!"])
@pytest.mark.parametrize("engine", ["any", "backtracking"])
def test_a_catastrophic_pattern_ends_in_its_budget_with_what_was_found(
    confinement: Confinement, root: Path, pattern: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "backtracking":
        monkeypatch.setitem(sys.modules, "re2", None)
    plant(
        root,
        {
            "1-good": "aab ac a!\naaa\n",
            **{f"2-bad{n}": "a" * 80 + "?bc!\n" for n in range(8)},
            "3-good": "b c a!\naa\n",
        },
    )
    started = time.monotonic()
    result = search(confinement, root, ContentQuery(pattern, regex=True), seconds=2)
    assert time.monotonic() - started < 30  # no pattern goes on by itself
    assert result.files[0].path == "1-good"
    assert result.complete or "Partial" in render(result)


def test_a_pattern_that_is_too_slow_is_told(confinement: Confinement, root: Path) -> None:
    plant(root, {"bad": "a" * 5_000 + "?!\n"})
    result = search(confinement, root, ContentQuery("(?<!x)(a|aa)+!", regex=True), seconds=1)
    assert result.too_slow == ("bad",)
    assert "too slow for bad" in render(result)


def test_others_run_while_a_slow_pattern_does(confinement: Confinement, root: Path) -> None:
    """The engine gives the interpreter away: a server that searches still answers."""
    plant(root, {"bad": "a" * 5_000 + "?!\n"})
    thread = threading.Thread(
        target=lambda: search(confinement, root, ContentQuery("(?<!x)(a|aa)+!", regex=True), seconds=1), daemon=True
    )
    thread.start()
    worst, last = 0.0, time.monotonic()
    while thread.is_alive():
        thread.join(0.005)
        now = time.monotonic()
        worst, last = max(worst, now - last), now
    assert worst < 0.25


@pytest.mark.parametrize("ending", ["", "é", "K"])  # not ASCII: the Kelvin sign is a K in either case
def test_a_file_is_searched_that_could_match_by_another_spelling(
    confinement: Confinement, root: Path, ending: str
) -> None:
    """What cannot match is told by its bytes; that must leave out no file that can."""
    plant(root, {"a": f"Key=7{ending}", "b": f"{ending or 'K'}ey=8"})
    found = lines(search(confinement, root, ContentQuery(r"key=\d", regex=True)))
    assert found[0] == ("a", 1, f"Key=7{ending}")
    assert len(found) == (1 if ending == "\u00e9" else 2)


def test_a_budget_that_is_over_gives_a_part_marked_as_such(confinement: Confinement, root: Path) -> None:
    plant(root, {"a": "x", "b/c": "x"})
    result = search(confinement, root, ContentQuery("x"), seconds=0)
    assert not result.complete
    assert "Partial: stopped after 0.0 s" in render(result)


def test_a_search_of_contents_that_is_cancelled_raises_and_closes(confinement: Confinement, root: Path) -> None:
    plant(root, {f"{number}": "x" * 100 for number in range(200)})
    before = open_descriptors()
    work = Work()
    threading.Timer(0.01, work.cancel).start()
    with pytest.raises(CancelledError):
        while True:
            search_content(confinement, Scope(str(root)), ContentQuery("y"), work=work)
    assert open_descriptors() == before


@pytest.mark.parametrize(
    ("pattern", "where"), [("a(b", "character"), ("[z-a]", "character"), ("*a", "character"), (r"\p{nope}", "")]
)
def test_an_invalid_expression_says_where_and_how_to_take_it_as_text(
    confinement: Confinement, root: Path, pattern: str, where: str
) -> None:
    with pytest.raises(InvalidArgumentError, match="invalid") as failure:
        search(confinement, root, ContentQuery(pattern, regex=True))
    assert where in str(failure.value)
    assert "regex=false" in str(failure.value)


def test_an_empty_pattern_is_refused(confinement: Confinement, root: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="empty"):
        search(confinement, root, ContentQuery(""))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"a[^x]*b", [1, 2, 3]),
        (r"a\s*b", [2, 3]),
        (r"a\Wb", [3]),
        (r"^b", [4]),
        (r"\Ab", [4]),
        (r"d\Z", [5]),
        (r"c[\s\S]+d", [5]),
        (r"a\nb", [3, 4]),
    ],
)
def test_an_expression_stays_within_a_line_unless_it_names_the_line_end(
    confinement: Confinement, root: Path, pattern: str, expected: list[int]
) -> None:
    plant(root, {"a": "a1b\nab\na b a\nb c\nc d\nx\n"})
    assert [number for _, number, _ in lines(search(confinement, root, ContentQuery(pattern, regex=True)))] == expected


PIECES = st.sampled_from(
    [
        "a",
        "b",
        " ",
        ".",
        r"\s",
        r"\S",
        r"\w",
        r"\W",
        r"\D",
        "[^a]",
        "[^]a]",
        "[ab]",
        r"[\s]",
        r"[\W_]",
        "(?:a|b)",
        "^",
        "$",
    ]
)
QUANTIFIERS = st.sampled_from(["", "", "", "*", "+", "?", "{1,2}", "*?"])


@given(st.lists(st.tuples(PIECES, QUANTIFIERS), min_size=1, max_size=5), st.text(alphabet="ab \t\n", max_size=20))
def test_searching_all_lines_at_once_finds_the_lines_that_match_alone(pieces: list[tuple[str, str]], text: str) -> None:
    pattern = "".join(piece + ("" if piece in "^$" else quantifier) for piece, quantifier in pieces)
    expression = compile_expression(pattern, regex=True, ignore_case=False)
    import regex

    alone = regex.compile(pattern, regex.MULTILINE)
    rows = text.split("\n")
    expected = [number for number, row in enumerate(rows) if alone.search(row)]
    found: list[int] = []
    position = 0
    while position <= len(text) and (span := expression.find(text, position, 5.0)) is not None:
        assert "\n" not in text[span[0] : span[1]]
        found.append(text.count("\n", 0, span[0]))
        position = text.find("\n", span[1])
        if position < 0:
            break
        position += 1
    assert found == expected


@given(
    st.lists(st.tuples(PIECES, QUANTIFIERS), min_size=1, max_size=5),
    st.text(alphabet="abAB _\t\n", max_size=20),
    st.booleans(),
)
def test_the_linear_engine_agrees_with_the_other_where_it_is_used(
    pieces: list[tuple[str, str]], text: str, ignore_case: bool
) -> None:
    pytest.importorskip("re2", reason="the extra package google-re2 is not installed")
    pattern = "".join(piece + ("" if piece in "^$" else quantifier) for piece, quantifier in pieces)
    linear = linear_search(pattern, ignore_case=ignore_case)
    if linear is None:
        return
    import regex

    other = regex.compile(within_line(pattern), regex.MULTILINE | (regex.IGNORECASE if ignore_case else 0))
    for position in range(len(text) + 1):
        found = other.search(text, position)
        assert linear(text, position) == (found.span() if found else None)


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", r"(?<=a)b", r"a\Z", r"(?i)a", r"\p{L}", "caf\u00e9", r"a(?>b)", r"[[:alpha:]]"]
)
def test_what_the_engines_read_differently_is_left_to_one(pattern: str) -> None:
    assert linear_search(pattern, ignore_case=False) is None


def test_without_the_linear_engine_searches_run_all_the_same(
    confinement: Confinement, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    plant(root, {"a": "x1\ny2\n"})
    assert lines(search(confinement, root, ContentQuery(r"y\d", regex=True))) == [("a", 2, "y2")]


def test_rewriting_leaves_what_cannot_meet_a_line_end() -> None:
    assert within_line(r"(?P<n>[a-z_]+)\d{2}\[x\](?#[^)") == r"(?P<n>[a-z_]+)\d{2}\[x\](?#[^)"


def test_links_are_not_read_through(confinement: Confinement, root: Path, tmp_path: Path) -> None:
    plant(tmp_path, {"outside/secret": "needle"})
    (root / "link").symlink_to(tmp_path / "outside/secret")
    (root / "folder").symlink_to(tmp_path / "outside")
    assert search(confinement, root, ContentQuery("needle")).total_files == 0


def test_a_file_that_becomes_a_link_is_not_read(confinement: Confinement, root: Path, tmp_path: Path) -> None:
    """The directory said file; the open says link."""
    plant(tmp_path, {"outside/secret": "needle"})
    plant(root, {"a": "", "b": "x"})
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for target in (tmp_path / "outside/secret", None):
                fresh = root / "fresh"
                if target is not None:
                    fresh.symlink_to(target)
                else:
                    fresh.write_text("plain")
                fresh.replace(root / "b")

    thread = threading.Thread(target=swap, daemon=True)
    thread.start()
    try:
        for _ in range(500):
            assert search(confinement, root, ContentQuery("needle", glob="[ab]")).total_files == 0
    finally:
        stop.set()
        thread.join(10)


def test_pipes_and_sockets_are_not_opened(confinement: Confinement, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        held = os.open(root, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{held}/sock" if os.path.isdir("/proc/self/fd") else str(root / "sock"))
        os.close(held)
        result = search(confinement, root, ContentQuery("x"))
    assert (result.searched, result.skipped.unreadable_count) == (0, 0)


def test_ignored_files_are_skipped_and_counted(confinement: Confinement, root: Path) -> None:
    plant(root, {".gitignore": "*.log\n", "a.log": "needle", "node_modules/x": "needle"})
    result = search(confinement, root, ContentQuery("needle"))
    assert result.total_files == 0
    assert "includeIgnored=true searches them" in render(result)
    assert search(confinement, root, ContentQuery("needle"), include_ignored=True).total_files == 2


def test_a_huge_line_is_searched_in_bounded_memory(confinement: Confinement, root: Path) -> None:
    import tracemalloc

    with (root / "huge").open("wb") as file:
        for _ in range(40):
            file.write(b"x" * 1_048_576)
        file.write(b" needle")
    tracemalloc.start()
    try:
        result = search(confinement, root, ContentQuery("needle"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.total_lines == 1
    assert peak < 36 * 1_048_576


@pytest.mark.parametrize("width", [10, 900, 1_900, 5_000, 70_000])
@pytest.mark.parametrize("context", [0, 2])
@pytest.mark.parametrize("pattern", ["needle", "^needle"])
def test_a_line_that_begins_a_block_of_a_long_file_is_counted_once(
    confinement: Confinement, root: Path, width: int, context: int, pattern: str
) -> None:
    lines = 3_000_000 // (width + 12)
    (root / "long.txt").write_text("".join(f"needle {number} {'x' * width}\n" for number in range(lines)))
    query = ContentQuery(pattern, regex=pattern[0] == "^", context=context, limit=5)
    found = search_content(confinement, Scope(str(root)), query, seconds=30, work=Work())
    assert (found.total_lines, found.total_files) == (lines, 1)
