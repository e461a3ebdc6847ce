"""Add a server to the workspace, copied from templates/server under a name of its own.

    new_server.py NAME      make servers/NAME and tests/NAME, and put them into the workspace's lists

`make new-server NAME=weather` also resolves the lock, sets up and writes the generated tables; after it
`make check test` passes. To take it out again: delete both folders and `git checkout` the changed files.
"""

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
TEMPLATE = Path("templates") / "server"
STAND_IN = "stencil"

_NAME = re.compile(r"[a-z][a-z0-9]{1,30}")
_KNOWN = re.compile(r"(mcp[-_]curated[-_])filesystem")


def faults(name: str, repository: Path) -> Iterator[str]:
    """What is wrong with a name for a new server."""
    if not _NAME.fullmatch(name):
        yield f"{name!r} is no name for a server: lower case letters and digits, a letter first, 2 to 31 in all."
    elif name in ("shared", STAND_IN):
        yield f"{name!r} is taken; choose another name."
    for folder in ("servers", "tests"):
        if (repository / folder / name).exists():
            yield f"{folder}/{name} exists already; choose another name, or delete it first."


def renamed(text: str, name: str) -> str:
    """A text of the template with the server's name in place of the stand-in, in every case."""
    for stand_in, own in (
        (STAND_IN, name),
        (STAND_IN.capitalize(), name.capitalize()),
        (STAND_IN.upper(), name.upper()),
    ):
        text = text.replace(stand_in, own)
    return text


def copy_template(name: str, repository: Path) -> None:
    """Write servers/NAME and tests/NAME, and append the template's behaviours to the manifest."""
    template = repository / TEMPLATE
    for source in sorted(path for path in template.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        inside = source.relative_to(template)
        text = renamed(source.read_text(encoding="utf-8"), name)
        if inside.name == "behaviours.toml":
            with (repository / "tests" / "behaviours.toml").open("a", encoding="utf-8") as manifest:
                manifest.write(text)
            continue
        area = repository / "tests" / name if inside.parts[0] == "tests" else repository / "servers" / name
        target = area / renamed(str(inside).removeprefix("tests/"), name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    shutil.copyfile(repository / "LICENSE", repository / "servers" / name / "LICENSE")


def enlisted(configuration: str, name: str) -> str:
    """The workspace's pyproject.toml with the server in each of its lists of servers.

    Args:
        configuration: The file's text.
        name: The new server's.
    """
    result: list[str] = []
    for line in configuration.splitlines(keepends=True):
        if " | " in line:
            result.append(_KNOWN.sub(rf"\g<0> | \g<1>{name}", line))
            continue
        result.append(line)
        if _KNOWN.search(line):
            result.append(_KNOWN.sub(rf"\g<1>{name}", line))
    return "".join(result)


def main(arguments: Sequence[str]) -> int:
    """Make the server; 0 for good, 2 for a name that cannot be one."""
    if len(arguments) != 1:
        print("Name the server: make new-server NAME=weather", file=sys.stderr)
        return 2
    (name,) = arguments
    wrong = list(faults(name, REPOSITORY))
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        return 2
    copy_template(name, REPOSITORY)
    configuration = REPOSITORY / "pyproject.toml"
    configuration.write_text(enlisted(configuration.read_text(encoding="utf-8"), name), encoding="utf-8")
    print(f"servers/{name} and tests/{name} are there.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
