"""The files that are measured on, made anew for each run and the same every time."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NEEDLE = "UNIQUE_NEEDLE_TOKEN"
"""Stands in a few of the source files."""

NEEDLE_EVERY = 500
_MODULE_FILES = 10
_MODULE_FOLDERS = 10
_LINE = b"The quick brown fox jumps over the lazy dog, line of plain ascii text.\n"
_WORDS = ("alpha", "beta", "gamma", "delta", "needle", "index", "util", "core", "server", "client")
_KIBIBYTE = 1024
_MEBIBYTE = 1024 * _KIBIBYTE


@dataclass(frozen=True, slots=True)
class Size:
    """How large a corpus is.

    Attributes:
        packages: Folders of 100 files below `node_modules`, which `.gitignore` hides.
        modules: Folders of 100 files below `src`.
    """

    packages: int
    modules: int


FULL = Size(packages=700, modules=300)
SMALL = Size(packages=21, modules=9)


@dataclass(frozen=True, slots=True)
class Corpus:
    """Where everything is.

    Attributes:
        folder: Holds all of it.
        tree: A project: `node_modules`, `src`, `.git`, `.gitignore`.
        files: How many files are in the tree.
        directories: How many directories.
        source_files: How many files a search looks at that leaves out what is ignored.
        needles: How many files below `src` hold the needle.
        last_module: Name of the last folder of `src`.
    """

    folder: Path
    tree: Path
    files: int
    directories: int
    source_files: int
    needles: int
    last_module: str

    def file(self, name: str) -> str:
        """The path of one of the files beside the tree."""
        return str(self.folder / name)

    @property
    def many(self) -> list[str]:
        """A hundred files of 4 KB."""
        return [str(self.folder / "many" / f"m{number:03d}.txt") for number in range(100)]


def build(folder: Path, size: Size) -> Corpus:
    """Make the corpus in an empty folder."""
    tree = folder / "tree"
    draw = random.Random(7)  # noqa: S311  # the same words in every run, no secret
    files = directories = needles = 0
    for directory, names in _tree(tree, size):
        directory.mkdir(parents=True)
        directories += 1
        for name in names:
            text = _source(draw, files)
            if directory.relative_to(tree).parts[0] == "src" and files % NEEDLE_EVERY == 0:
                text += f"{NEEDLE} here\n"
                needles += 1
            (directory / name).write_text(text, encoding="utf-8")
            files += 1
    (tree / ".git").mkdir()
    (tree / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (tree / ".gitignore").write_text("node_modules/\n*.log\n", encoding="utf-8")
    (tree / "README.md").write_text("# A project\n", encoding="utf-8")
    _beside(folder)
    above = 2 + size.packages * 2 + size.modules + 1  # node_modules, src, each package and its lib, each module, .git
    source = size.modules * _MODULE_FILES * _MODULE_FOLDERS + 2  # and .gitignore, README.md
    return Corpus(folder, tree, files + 3, directories + above, source, needles, f"mod{size.modules - 1:03d}")


def _tree(tree: Path, size: Size) -> Iterator[tuple[Path, list[str]]]:
    numbers = range(_MODULE_FILES)
    for package in range(size.packages):
        for inner in range(_MODULE_FOLDERS):
            names = [f"f{number}.{'js' if number < 7 else 'd.ts' if number < 9 else 'json'}" for number in numbers]
            yield tree / "node_modules" / f"pkg-{package:03d}" / "lib" / f"d{inner}", names
    for module in range(size.modules):
        for inner in range(_MODULE_FOLDERS):
            names = [f"f{number}.{'py' if number < 6 else 'md' if number < 8 else 'txt'}" for number in numbers]
            yield tree / "src" / f"mod{module:03d}" / f"s{inner}", names


def _source(draw: random.Random, number: int) -> str:
    lines = [
        f"const {draw.choice(_WORDS[:4])}_{line} = require('{draw.choice(_WORDS)}'); // line {line}\n"
        for line in range(8)
    ]
    return f"// file {number}\n" + "".join(lines)


def _beside(folder: Path) -> None:
    """Files of a given length, and files whose lines all differ, to be edited."""
    for name, length in (("f1k.txt", _KIBIBYTE), ("f1m.txt", _MEBIBYTE), ("f50m.txt", 50 * _MEBIBYTE)):
        (folder / name).write_bytes((_LINE * (length // len(_LINE) + 1))[:length])
    (folder / "one-line.txt").write_bytes(b"x" * _MEBIBYTE)
    for name, length in (("edit1m.txt", _MEBIBYTE), ("edit10m.txt", 10 * _MEBIBYTE)):
        lines = (edit_line(number) for number in range(length // len(edit_line(0))))
        (folder / name).write_bytes(b"".join(lines))
    (folder / "many").mkdir()
    for number in range(100):
        (folder / "many" / f"m{number:03d}.txt").write_bytes(_LINE * 58)
    (folder / "written").mkdir()


def edit_line(number: int) -> bytes:
    """One line of the files that are edited."""
    return b"line %09d some constant tail text..\n" % number
