"""Domain modules name a file only below a descriptor that they hold: a path by itself can lead elsewhere by now."""

import ast
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "servers" / "filesystem" / "src" / "mcp_curated_filesystem"
# They deal with what the operator configured, not with what a model names.
_EXEMPT = {"settings.py", "__main__.py", "doctor.py", "surroundings.py"}

# Functions of `os` that take a name, with the arguments that tie it to a descriptor.
_TIED = {
    **dict.fromkeys(("open", "stat", "lstat", "unlink", "remove", "rmdir", "mkdir", "mkfifo"), frozenset({"dir_fd"})),
    **dict.fromkeys(("access", "readlink", "symlink", "chmod", "chown", "utime"), frozenset({"dir_fd"})),
    **dict.fromkeys(("rename", "replace", "link"), frozenset({"src_dir_fd", "dst_dir_fd"})),
}
# Those that work on a descriptor as well as on a name.
_BY_EITHER = {"scandir", "listdir", "truncate", "chmod", "utime", "stat", "chown", "listxattr", "getxattr", "setxattr"}
_NEVER = {"walk", "makedirs", "removedirs", "renames", "system", "popen", "chdir", "chroot"}
_ASKS_BY_NAME = {"realpath", "exists", "lexists", "isfile", "isdir", "islink", "getsize", "getmtime", "samefile"}
_NEVER_MODULES = {"glob", "pathlib", "tempfile", "subprocess", "fileinput"}
_DESCRIPTOR_WORDS = ("descriptor", "directory", "file", "handle", "fd")


def calls_by_name(source: str) -> list[str]:
    """Each call in `source` that would reach a file by a path alone, as `line: call`."""
    reader = _Reader()
    reader.visit(ast.parse(source))
    return reader.found


class _Reader(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[str] = []
        self._numbers: set[str] = set()

    def visit_Import(self, node: ast.Import) -> None:
        if any(alias.name.partition(".")[0] in _NEVER_MODULES for alias in node.names):
            self._note(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        # A function that is imported by itself would be called without its module's name.
        if (node.module or "").partition(".")[0] in _NEVER_MODULES | {"os", "shutil", "io"}:
            self._note(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer = self._numbers
        parameters = [*node.args.args, *node.args.kwonlyargs]
        numbers = {
            item.arg for item in parameters if isinstance(item.annotation, ast.Name) and item.annotation.id == "int"
        }
        self._numbers = outer | numbers
        self.generic_visit(node)
        self._numbers = outer

    def visit_Call(self, node: ast.Call) -> None:
        if not self._is_tied(node):
            self._note(node)
        self.generic_visit(node)

    def _note(self, node: ast.stmt | ast.expr) -> None:
        self.found.append(f"{node.lineno}: {ast.unparse(node)[:90]}")

    def _is_tied(self, call: ast.Call) -> bool:
        module, _, name = ast.unparse(call.func).rpartition(".")
        given = {keyword.arg for keyword in call.keywords}
        match module:
            case "" | "io" if name == "open":
                return self._is_descriptor(call.args[0])
            case "os.path":
                return name not in _ASKS_BY_NAME or self._is_descriptor(call.args[0])
            case "shutil":
                return name == "rmtree" and "dir_fd" in given
            case "os":
                if name in _TIED and _TIED[name] <= given:
                    return True
                if (
                    name == "link" and "dst_dir_fd" in given
                ):  # gives a file that has no name yet one (open(2), O_TMPFILE)
                    return self._is_descriptor(call.args[0])
                if name in _BY_EITHER:
                    return bool(call.args) and self._is_descriptor(call.args[0])
                return name not in _TIED and name not in _NEVER
            case _:
                return True

    def _is_descriptor(self, argument: ast.expr) -> bool:
        """A number by its annotation or its name, or the kernel's view of this process (/proc/self)."""
        first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
        if isinstance(first, ast.Constant):
            return str(first.value).startswith("/proc/self/")
        if isinstance(argument, ast.Name) and argument.id in self._numbers:
            return True
        last = ast.unparse(argument).rpartition(".")[2].rstrip("()")
        return any(last == word or last.endswith(f"_{word}") for word in _DESCRIPTOR_WORDS)


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name not in _EXEMPT)


@pytest.mark.parametrize("module", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_domain_module_reaches_files_through_held_descriptors_only(module: Path):
    assert calls_by_name(module.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "open(path)",
        "os.open(path, flags)",
        "os.stat(location.path)",
        "os.rename(a, b, src_dir_fd=x)",
        "os.link(a, b, dst_dir_fd=x)",
        "os.scandir(folder.path)",
        "os.path.realpath(path)",
        "os.walk(top)",
        "def f(target: str): os.utime(target)",
        "shutil.copytree(a, b)",
        "shutil.rmtree(path)",
        "from os import scandir",
        "from pathlib import Path",
    ],
)
def test_a_call_that_takes_a_path_alone_is_found(source: str):
    assert len(calls_by_name(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "open(descriptor, 'rb')",
        "os.open(name, flags, dir_fd=directory)",
        "os.fstat(opened.descriptor)",
        "os.rename(a, b, src_dir_fd=x, dst_dir_fd=y)",
        "os.scandir(self.directory)",
        "def f(target: int): os.utime(target)",
        "shutil.rmtree(name, dir_fd=directory)",
        "os.path.basename(path)",
        "os.stat(f'/proc/self/fd/{number}')",
        "os.link(f'/proc/self/fd/{number}', name, dst_dir_fd=directory)",
    ],
)
def test_a_call_below_a_held_descriptor_is_fine(source: str):
    assert calls_by_name(source) == []
