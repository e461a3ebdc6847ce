"""Code stays small enough to be read: the sizes that CONTRIBUTING.md names."""

import ast
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
MODULE_LINES = 400
FUNCTION_LINES = 60


def modules() -> list[Path]:
    """Every Python module of the product and of the scripts."""
    return sorted(
        [
            *REPOSITORY.glob("shared/src/**/*.py"),
            *REPOSITORY.glob("servers/*/src/**/*.py"),
            *REPOSITORY.glob("scripts/**/*.py"),
        ]
    )


def functions(module: Path) -> Iterator[tuple[str, int]]:
    """Each function of `module` with the number of its lines, decorators and docstring left out."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1].lineno if ast.get_docstring(node) and len(node.body) > 1 else node.lineno
            yield node.name, (node.end_lineno or first) - first + 1


def test_no_module_is_longer_than_a_reader_keeps_in_mind():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    long = [
        f"{path.relative_to(REPOSITORY)}: {count} lines" for path, count in lengths.items() if count >= MODULE_LINES
    ]
    assert not long, "\n".join(long)


def test_no_function_is_longer_than_a_screen():
    long = [
        f"{path.relative_to(REPOSITORY)}: {name} has {count} lines"
        for path in modules()
        for name, count in functions(path)
        if count >= FUNCTION_LINES
    ]
    assert not long, "\n".join(long)
