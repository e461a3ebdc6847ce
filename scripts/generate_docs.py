"""Write the generated parts of the servers' READMEs: the tables of tools and of settings, from the code itself.

    generate_docs.py            bring every README up to date
    generate_docs.py --check    is every README up to date? change nothing

A generated part stands between `<!-- generated:tools -->` and `<!-- /generated:tools -->`; the rest is left alone.
The tools are those that a client gets from the started server, with the arguments that its pyproject.toml gives
under `[tool.mcp-curated] everything` so that none is hidden; `{folder}` there is an empty folder.
"""

import importlib
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import Tool, ToolAnnotations

from mcp_curated_shared.settings import SettingInfo, Settings, describe

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Server:
    """One server of the workspace.

    Attributes:
        folder: Its folder below servers/.
        module: The package that `python -m` runs.
        everything: Arguments with which it offers all of its tools.
    """

    folder: Path
    module: str
    everything: tuple[str, ...]

    @property
    def readme(self) -> Path:
        """The page that has generated parts."""
        return self.folder / "README.md"

    def settings(self) -> type[Settings]:
        """The class in its `settings` module that holds all the others."""
        module = importlib.import_module(f"{self.module}.settings")
        own = [
            value
            for value in vars(module).values()
            if isinstance(value, type) and issubclass(value, Settings) and value.environment_prefix
        ]
        (settings,) = [value for value in own if value.__module__ == module.__name__]
        return settings


def servers(repository: Path) -> list[Server]:
    """Every server, from its pyproject.toml."""
    found: list[Server] = []
    for path in sorted((repository / "servers").glob("*/pyproject.toml")):
        configuration = tomllib.loads(path.read_text(encoding="utf-8"))
        everything = configuration["tool"]["mcp-curated"]["everything"]
        module = configuration["project"]["name"].replace("-", "_")
        found.append(Server(path.parent, module, tuple(everything)))
    return found


async def listed_tools(server: Server, folder: str) -> list[Tool]:
    """The tools that a client gets when it starts the server with everything switched on."""
    arguments = [argument.replace("{folder}", folder) for argument in server.everything]
    command = StdioServerParameters(command=sys.executable, args=["-m", server.module, *arguments])
    with anyio.fail_after(60):
        async with Client(command) as client:
            return (await client.list_tools()).tools


def tools_table(tools: Iterable[Tool]) -> str:
    """One row a tool: its name, its arguments (optional ones in brackets), what it does, what it may change."""
    rows = [
        (f"`{tool.name}`", _arguments(tool), _first_sentence(tool.description or ""), _changes(tool)) for tool in tools
    ]
    return _table(("tool", "arguments", "what it does", "changes"), rows)


def _arguments(tool: Tool) -> str:
    required = set(tool.input_schema.get("required", ()))
    names = tool.input_schema.get("properties", {})
    return " ".join(f"`{name}`" if name in required else f"[`{name}`]" for name in names)


def _first_sentence(description: str) -> str:
    return re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(description.split()), maxsplit=1)[0]


def _changes(tool: Tool) -> str:
    hints = tool.annotations or ToolAnnotations()
    if hints.read_only_hint:
        return "nothing"
    return "may replace or remove" if hints.destructive_hint else "only adds"


def settings_table(settings: Iterable[SettingInfo]) -> str:
    """One row a setting: how it is written on the command line, its variables, its default, its meaning."""
    rows = [(_code(info.usage), _variables(info), _code(info.default or ""), info.help) for info in settings]
    return _table(("flag", "environment", "default", "meaning"), rows)


def _variables(info: SettingInfo) -> str:
    return ", ".join(map(_code, (*info.environment, *info.files)))


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def rewritten(page: str, parts: dict[str, str]) -> str:
    """`page` with each generated part replaced.

    Raises:
        ValueError: The page lacks the markers of a part, or names one that nobody generates.
    """
    named = re.findall(r"<!-- generated:(\S+) -->", page)
    if sorted(named) != sorted(parts):
        raise ValueError(f"has markers for {sorted(named)}, should have one pair each for {sorted(parts)}")
    for name, body in parts.items():
        pattern = rf"(<!-- generated:{name} -->\n).*?(<!-- /generated:{name} -->)"
        page, count = re.subn(pattern, lambda match, body=body: f"{match[1]}\n{body}\n\n{match[2]}", page, flags=re.S)
        if count != 1:
            raise ValueError(f"lacks <!-- /generated:{name} -->")
    return page


def parts_of(server: Server) -> dict[str, str]:
    """The generated parts of a server's README."""
    with tempfile.TemporaryDirectory(prefix="mcp-curated-docs-") as folder:
        tools = anyio.run(listed_tools, server, str(Path(folder).resolve()))
    return {"tools": tools_table(tools), "settings": settings_table(describe(server.settings()))}


def main(arguments: Sequence[str]) -> int:
    """Write or check; 0 if everything is up to date now, 1 if not, 2 for a call that makes no sense."""
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    stale = False
    for server in servers(REPOSITORY):
        page = server.readme.read_text(encoding="utf-8")
        name = server.readme.relative_to(REPOSITORY)
        try:
            fresh = rewritten(page, parts_of(server))
        except ValueError as error:
            print(f"{name} {error}", file=sys.stderr)
            return 1
        if fresh != page and arguments:
            print(f"{name} is not what the code says: run `make docs`", file=sys.stderr)
            stale = True
        elif fresh != page:
            server.readme.write_text(fresh, encoding="utf-8")
            print(f"{name} brought up to date")
    return int(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
