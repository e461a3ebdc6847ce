"""What is measured: for each piece of work the call of every server, the floor, and the target."""

import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import floors
from .corpus import NEEDLE, Corpus, edit_line
from .floors import Floor

_HIDDEN = frozenset({"node_modules", ".git"})
_MEBIBYTE = 1 << 20
QUICK = 300
"""Rounds of a call that takes a millisecond."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool."""

    tool: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Target:
    """What a result has to keep to; None where nothing is asked.

    Attributes:
        times: As a multiple of the floor.
        milliseconds: At the best.
        growth: Megabytes of memory above what the started server takes.
        reply: Bytes.
    """

    times: float | None = None
    milliseconds: float | None = None
    growth: float | None = None
    reply: int | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """One piece of work.

    Attributes:
        name: For the command line.
        title: For the reader.
        ours: How it is asked of our server.
        expected: What our reply must hold: that the work was really done.
        official: How it is asked of the official server; None where that has no tool for it.
        bare: How it is asked of the bare server; that is the floor then.
        floor: The floor where it is no server.
        prepare: Called before each call.
        target: What is asked of us.
        rounds: How often it is measured.
    """

    name: str
    title: str
    ours: Call
    expected: str
    official: Call | None = None
    bare: Call | None = None
    floor: Floor | None = None
    prepare: Callable[[], object] | None = None
    target: Target = field(default_factory=Target)
    rounds: int = 7


def all_scenarios(corpus: Corpus) -> list[Scenario]:
    """Every piece of work, on this corpus."""
    return [*_reading(corpus), *_finding(corpus), *_trees(corpus), *_searching(corpus), *_changing(corpus)]


class _Reads:
    """The calls that read one file of the corpus: of the official server, of ours, of the bare one."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def official(self, name: str, **more: object) -> Call:
        return Call("read_text_file", {"path": self._corpus.file(name), **more})

    def ours(self, name: str, **more: object) -> Call:
        return Call("read_file", {"path": self._corpus.file(name), **more})

    def bare(self, name: str, length: int) -> Call:
        return Call("read", {"path": self._corpus.file(name), "length": length})


def _reading(corpus: Corpus) -> list[Scenario]:
    reads = _Reads(corpus)
    official, ours, bare = reads.official, reads.ours, reads.bare
    return [
        Scenario(
            "read-1k",
            "read 1 KB",
            ours("f1k.txt"),
            "lazy dog",
            official("f1k.txt"),
            bare("f1k.txt", 1024),
            target=Target(times=1.3),
            rounds=QUICK,
        ),
        Scenario(
            "page-50m",
            "first page of a 50 MB file (official: has no pages, sends it whole)",
            ours("f50m.txt"),
            "lazy dog",
            official("f50m.txt"),
            bare("f50m.txt", 46_000),
            target=Target(milliseconds=10, growth=2, reply=50_000),
            rounds=20,
        ),
        Scenario(
            "head-50m",
            "first 10 lines of a 50 MB file",
            ours("f50m.txt", head=10),
            "lazy dog",
            official("f50m.txt", head=10),
            bare("f50m.txt", 720),
            target=Target(growth=2),
            rounds=50,
        ),
        Scenario(
            "tail-50m",
            "last 10 lines of a 50 MB file",
            ours("f50m.txt", tail=10),
            "lazy dog",
            official("f50m.txt", tail=10),
            target=Target(growth=2),
            rounds=50,
        ),
        *_reading_oddly(corpus),
    ]


def _reading_oddly(corpus: Corpus) -> list[Scenario]:
    reads = _Reads(corpus)
    official, ours = reads.official, reads.ours
    return [
        Scenario(
            "one-line",
            "first line of a 1 MB file with a single line",
            ours("one-line.txt", head=1),
            "xxx",
            official("one-line.txt", head=1),
            target=Target(milliseconds=5, reply=50_000),
            rounds=20,
        ),
        Scenario(
            "read-100",
            "read 100 files of 4 KB (ours: as much of each as fits one reply)",
            Call("read_multiple_files", {"paths": corpus.many}),
            "lazy dog",
            Call("read_multiple_files", {"paths": corpus.many}),
            floor=lambda: floors.read_all(corpus.many),
            target=Target(reply=60_000),
        ),
    ]


def _finding(corpus: Corpus) -> list[Scenario]:
    top, last = str(corpus.tree), corpus.last_module
    few, many = rf"(?s:(?:.*/)?{last}/(?:.*/)?f1\.py)\Z", r"(?s:(?:.*/)?[^/]*\.py)\Z"
    everything = f"{corpus.files:,} files"

    def ours(pattern: str, **more: object) -> Call:
        return Call("search_files", {"path": top, "pattern": pattern, **more})

    def official(pattern: str, **more: object) -> Call:
        return Call("search_files", {"path": top, "pattern": pattern, **more})

    pruned = official("**/*.py", excludePatterns=["**/node_modules", "**/node_modules/**"])
    return [
        Scenario(
            "find-few",
            f"find 10 of {everything}, node_modules included",
            ours(f"**/{last}/**/f1.py", includeIgnored=True),
            f"{last}/s0/f1.py",
            official(f"**/{last}/**/f1.py"),
            floor=lambda: floors.find(top, few),
            target=Target(times=1.5),
        ),
        Scenario(
            "find-many",
            f"find every *.py of {everything}, node_modules included (ours: the newest 200, with the total)",
            ours("**/*.py", includeIgnored=True),
            ".py",
            official("**/*.py"),
            floor=lambda: floors.find_with_times(top, many),
            target=Target(reply=50_000),
        ),
        Scenario(
            "find-pruned",
            f"find 10 of {everything}, node_modules left out",
            ours(f"**/{last}/**/f1.py"),
            f"{last}/s0/f1.py",
            official(f"**/{last}/**/f1.py", excludePatterns=["**/node_modules", "**/node_modules/**"]),
            floor=lambda: floors.find(top, few, _HIDDEN),
            target=Target(times=1.5),
        ),
        Scenario(
            "find-pruned-many",
            f"find every *.py of {everything}, node_modules left out",
            ours("**/*.py"),
            ".py",
            pruned,
            floor=lambda: floors.find_with_times(top, many, _HIDDEN),
            target=Target(reply=50_000),
        ),
        Scenario(
            "list",
            "list a folder of folders",
            Call("list_directory", {"path": f"{top}/node_modules"}),
            "pkg-000",
            Call("list_directory", {"path": f"{top}/node_modules"}),
            target=Target(reply=50_000),
            rounds=20,
        ),
    ]


def _trees(corpus: Corpus) -> list[Scenario]:
    top = str(corpus.tree)
    return [
        Scenario(
            "tree",
            f"tree of {corpus.files:,} files, node_modules included",
            Call("directory_tree", {"path": top, "includeIgnored": True}),
            "node_modules/",
            Call("directory_tree", {"path": top}),
            floor=lambda: floors.count(top),
            target=Target(times=1.5, reply=49_152),
        ),
        Scenario(
            "tree-pruned",
            f"tree of {corpus.files:,} files, node_modules left out",
            Call("directory_tree", {"path": top, "depth": 20}),
            "src/",
            Call("directory_tree", {"path": top, "excludePatterns": ["node_modules"]}),
            floor=lambda: floors.count(top, _HIDDEN),
            target=Target(times=1.5, reply=49_152),
        ),
    ]


def _searching(corpus: Corpus) -> list[Scenario]:
    top, needle = str(corpus.tree), NEEDLE.encode()
    searched = f"{corpus.source_files:,} files"
    expression = re.compile(rb"UNIQUE_\w+_TOKEN")

    def ours(pattern: str, **more: object) -> Call:
        return Call("search_content", {"path": top, "pattern": pattern, **more})

    return [
        Scenario(
            "grep",
            f"find a text in {searched}",
            ours(NEEDLE),
            f"in {corpus.needles:,} file",
            floor=lambda: floors.grep(top, lambda data: needle in data, _HIDDEN),
            target=Target(times=1.5),
        ),
        Scenario(
            "grep-regex",
            f"find a regular expression in {searched}",
            ours(r"UNIQUE_\w+_TOKEN", regex=True),
            f"in {corpus.needles:,} file",
            floor=lambda: floors.grep(top, expression.search, _HIDDEN),
            target=Target(times=1.5),
        ),
        Scenario(
            "grep-many",
            f"find a text that is eight times in each of {searched} (ours: 200 lines, with the total)",
            ours("require"),
            "require",
            floor=lambda: floors.grep(top, lambda data: b"require" in data, _HIDDEN),
            target=Target(reply=50_000),
        ),
    ]


def _changing(corpus: Corpus) -> list[Scenario]:
    written = Path(corpus.file("written"))

    def editing(name: str, title: str, target: Target) -> Scenario:
        original, copy = corpus.folder / name, written / name
        middle = edit_line(original.stat().st_size // len(edit_line(0)) // 2).decode()[: len("line 123456789 some")]
        edits = [{"oldText": middle, "newText": middle.replace("some", "EDITED")}]
        call = Call("edit_file", {"path": str(copy), "edits": edits})
        old, new = middle.encode(), middle.replace("some", "EDITED").encode()
        return Scenario(
            name.removesuffix(".txt"),
            title,
            call,
            "EDITED",
            call,
            floor=lambda: floors.edit(str(copy), old, new),
            prepare=lambda: shutil.copyfile(original, copy),
            target=target,
        )

    def writing(megabytes: int) -> Scenario:
        content = "x" * (megabytes * _MEBIBYTE)
        path = str(written / f"w{megabytes}m.txt")
        call = Call("write_file", {"path": path, "content": content})
        return Scenario(
            f"write-{megabytes}m",
            f"write {megabytes} MB",
            call,
            path,
            call,
            bare=Call("write", call.arguments),
        )

    return [
        editing("edit1m.txt", "replace one line in the middle of a 1 MB file", Target()),
        editing("edit10m.txt", "replace one line in the middle of a 10 MB file", Target(milliseconds=60, growth=40)),
        writing(1),
        writing(12),
    ]
