"""Domain modules name a file only below a descriptor that they hold: a path by itself can lead elsewhere by now."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "servers" / "filesystem" / "src" / "mcp_curated_filesystem"
# They deal with what the operator configured, not with what a model names.
_EXEMPT = {"settings.py", "__main__.py"}

# Functions of `os` that take a name, with the arguments that tie it to a descriptor.
_TIED = {
    **dict.fromkeys(
        ("open", "stat", "lstat", "unlink", "remove", "rmdir", "mkdir", "mkfifo", "access"), frozenset({"dir_fd"})
    ),
    **dict.fromkeys(("readlink", "symlink", "chmod", "chown", "utime"), frozenset({"dir_fd"})),
    **dict.fromkeys(("rename", "replace", "link"), frozenset({"src_dir_fd", "dst_dir_fd"})),
}
# Those that work on a descriptor as well as on a name: by name when the argument is a text or looks like a path.
_BY_EITHER = {"scandir", "listdir", "truncate", "chmod", "utime", "stat", "chown", "listxattr", "getxattr", "setxattr"}
_NEVER = {"walk", "makedirs", "removedirs", "renames", "system", "popen", "chdir", "chroot"}
_NEVER_MODULES = {"glob", "pathlib", "tempfile", "subprocess", "fileinput"}
_DESCRIPTOR_WORDS = ("descriptor", "directory", "file", "handle", "fd")


def calls_by_name(source: str) -> Iterator[str]:
    """Each call in `source` that would reach a file by a path alone, as `line: call`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names if alias.name.partition(".")[0] in _NEVER_MODULES]
            yield from (f"{node.lineno}: import {name}" for name in found)
        elif isinstance(node, ast.ImportFrom):
            # A function that is imported by itself would be called without its module's name.
            if (node.module or "").partition(".")[0] in _NEVER_MODULES | {"os", "shutil", "io"}:
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Call) and not _is_tied(node):
            yield f"{node.lineno}: {ast.unparse(node)[:90]}"


def _is_tied(call: ast.Call) -> bool:
    function = ast.unparse(call.func)
    if function in ("open", "io.open"):
        return _is_descriptor(call.args[0]) or _is_kernel_file(call.args[0])
    module, _, name = function.rpartition(".")
    if module == "os.path":
        return name not in (
            "realpath",
            "exists",
            "lexists",
            "isfile",
            "isdir",
            "islink",
            "getsize",
            "getmtime",
            "samefile",
        )
    given = {keyword.arg for keyword in call.keywords}
    if module == "shutil":
        return name == "rmtree" and "dir_fd" in given
    if module != "os" or name in _NEVER:
        return module != "os"
    if name in _TIED and _TIED[name] <= given:
        return True
    if name in _BY_EITHER:
        return bool(call.args) and (_is_descriptor(call.args[0]) or _is_kernel_file(call.args[0]))
    return name not in _TIED


def _is_descriptor(argument: ast.expr) -> bool:
    last = ast.unparse(argument).rpartition(".")[2].rstrip("()")
    return any(last == word or last.endswith(f"_{word}") for word in _DESCRIPTOR_WORDS)


def _is_kernel_file(argument: ast.expr) -> bool:
    """Text that begins with /proc/self: the kernel's view of this process, which holds no names of the user's."""
    first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
    return isinstance(first, ast.Constant) and str(first.value).startswith("/proc/self/")


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name not in _EXEMPT)


@pytest.mark.parametrize("module", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_domain_module_reaches_files_through_held_descriptors_only(module: Path):
    assert list(calls_by_name(module.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "open(path)",
        "os.open(path, flags)",
        "os.stat(location.path)",
        "os.rename(a, b, src_dir_fd=x)",
        "os.scandir(folder.path)",
        "os.path.realpath(path)",
        "os.walk(top)",
        "shutil.copytree(a, b)",
        "shutil.rmtree(path)",
        "from os import scandir",
        "from pathlib import Path",
    ],
)
def test_a_call_that_takes_a_path_alone_is_found(source: str):
    assert len(list(calls_by_name(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "open(descriptor, 'rb')",
        "os.open(name, flags, dir_fd=directory)",
        "os.fstat(opened.descriptor)",
        "os.rename(a, b, src_dir_fd=x, dst_dir_fd=y)",
        "os.scandir(self.directory)",
        "shutil.rmtree(name, dir_fd=directory)",
        "os.path.basename(path)",
        "os.stat(f'/proc/self/fd/{number}')",
    ],
)
def test_a_call_below_a_held_descriptor_is_fine(source: str):
    assert list(calls_by_name(source)) == []
