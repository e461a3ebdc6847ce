"""The `tools` command."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from mcp_curated_shared.cli.options import spell_all, take_options, without_transport
from mcp_curated_shared.cli.output import write
from mcp_curated_shared.cli.probe import ListedTool, probe
from mcp_curated_shared.cli.program import ServerProgram
from mcp_curated_shared.cli.usage import table
from mcp_curated_shared.settings import Boolean, Settings, load, setting


@dataclass(frozen=True, slots=True)
class ToolsOptions(Settings):
    """Options of `tools`."""

    prompted: ClassVar[bool] = False
    json: bool = setting(Boolean(), default=False, help="Print JSON.")


def self_command(program: ServerProgram, arguments: Sequence[str]) -> list[str]:
    """This server as a command for a subprocess. `-P` keeps the current folder out of the imports."""
    return [sys.executable, "-P", "-m", program.module, "serve", *arguments]


def tools(program: ServerProgram, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """List the tools of the server with these settings, as a client gets them.

    Raises:
        SettingsError: The options or settings are refused.
        ProbeError: The server did not start.
    """
    settings = program.settings_class()
    options, given = take_options(ToolsOptions, arguments, settings)
    spelt = spell_all({name: one for name, one in given.items() if not name.startswith("transport.")}, settings)
    surroundings = without_transport(environ, settings)
    load(settings, spelt, surroundings)
    found = probe(self_command(program, spelt), surroundings)
    write(_as_json(found.tools) if options.json else _as_text(found.tools))
    return 0


def _as_json(found: Sequence[ListedTool]) -> str:
    whole = {"tools": [asdict(tool) for tool in found], "size": sum(tool.size for tool in found)}
    return json.dumps(whole, indent=2, ensure_ascii=False) + os.linesep


def _as_text(found: Sequence[ListedTool]) -> str:
    rows = [(tool.name, f"{tool.description} [{_access(tool)}, {tool.size} bytes]") for tool in found]
    total = sum(tool.size for tool in found)
    return f"{table(rows)}\n\n{len(found)} tools, {total} bytes.\n"


def _access(tool: ListedTool) -> str:
    return {True: "reads", False: "changes", None: "unannotated"}[tool.read_only]
