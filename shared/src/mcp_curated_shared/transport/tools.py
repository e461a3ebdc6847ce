"""A server's tools: what is demanded of one when it is registered, and the names it answers to."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

from mcp.server.mcpserver.exceptions import InvalidSignature
from mcp.server.mcpserver.tools import Tool
from mcp_types import Icon, ToolAnnotations
from mcp_types import Tool as ListedTool

from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.transport.argument_errors import quoted
from mcp_curated_shared.transport.arguments import StrictMetadata
from mcp_curated_shared.transport.schemas import SchemaError


class BuildError(ValueError):
    """The server's own code registers something that no client should meet; it never starts."""


def reads(title: str | None = None, *, open_world: bool = False) -> ToolAnnotations:
    """The hints of a tool that changes nothing.

    Args:
        title: A short name for people.
        open_world: Whether it reaches beyond what the operator configured, such as the web.
    """
    return ToolAnnotations(
        title=title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=open_world
    )


def writes(
    title: str | None = None, *, destructive: bool, idempotent: bool, open_world: bool = False
) -> ToolAnnotations:
    """The hints of a tool that changes something.

    Args:
        title: A short name for people.
        destructive: Whether it can overwrite or remove what is there.
        idempotent: Whether the same call a second time changes nothing more.
        open_world: Whether it reaches beyond what the operator configured.
    """
    return ToolAnnotations(
        title=title,
        read_only_hint=False,
        destructive_hint=destructive,
        idempotent_hint=idempotent,
        open_world_hint=open_world,
    )


class ToolOptions(TypedDict, total=False):
    """What may be said about a tool besides its function, as the SDK's `add_tool` takes it."""

    name: str | None
    title: str | None
    description: str | None
    annotations: ToolAnnotations | None
    icons: list[Icon] | None
    meta: dict[str, Any] | None
    structured_output: bool | None


def build_tool(function: Callable[..., Any], options: ToolOptions) -> tuple[Tool, ListedTool]:
    """Make a tool of a function, with strict arguments and a plain schema.

    Returns:
        The tool that runs, and what `tools/list` says of it.

    Raises:
        BuildError: A hint or a description is missing, the description has several paragraphs, or a type cannot be
            published plainly.
    """
    try:
        tool = Tool.from_function(function, **options)
        if tool.fn_metadata.wrap_output and options.get("structured_output") is None:
            # A bare text or list would be sent twice, as content and as {"result": ...}.
            tool = Tool.from_function(function, **options | {"structured_output": False})
        metadata = StrictMetadata.of(tool.name, tool.fn_metadata, tool.parameters)
    except (SchemaError, InvalidSignature) as error:
        name = options.get("name") or getattr(function, "__name__", "?")
        raise BuildError(f"Tool {name}: {error}.") from error
    tool.fn_metadata = metadata
    tool.parameters = metadata.input_schema
    tool.description = _one_paragraph(tool)
    _check_hints(tool)
    return tool, _listed(tool)


def _listed(tool: Tool) -> ListedTool:
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.parameters,
        output_schema=tool.output_schema,
        annotations=tool.annotations,
        icons=tool.icons,
        _meta=tool.meta,
    )


def _one_paragraph(tool: Tool) -> str:
    text = tool.description.strip()
    if not text:
        raise BuildError(f"Tool {tool.name} has no description.")
    if any(not line.strip() for line in text.splitlines()):
        raise BuildError(f"The description of tool {tool.name} has several paragraphs; a model reads one.")
    return " ".join(text.split())


_HINTS: Final = ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")


def _check_hints(tool: Tool) -> None:
    hints = tool.annotations
    unset = [hint for hint in _HINTS if hints is None or getattr(hints, hint) is None]
    if unset:
        raise BuildError(f"Tool {tool.name} leaves {', '.join(unset)} unset; say all four (see reads and writes).")
    if hints is not None and hints.read_only_hint and hints.destructive_hint:
        raise BuildError(f"Tool {tool.name} cannot be read-only and destructive.")


@dataclass(frozen=True, slots=True)
class Alias:
    """An unlisted name of a tool.

    Attributes:
        name: The name it answers to.
        target: The listed tool.
        renames: Arguments by the alias's name, and what the tool calls them.
        fixed: Arguments that the alias itself gives.
    """

    name: str
    target: str
    renames: Mapping[str, str] = field(default_factory=dict[str, str])
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The tool's own arguments for a call by this name.

        Raises:
            InvalidArgumentError: One argument is given twice, or is not the caller's to give.
        """
        arguments: dict[str, Any] = {}
        for name, value in given.items():
            meant = self.renames.get(name, name)
            if meant in self.fixed:
                raise InvalidArgumentError(f"{quoted(name)} is not an argument of {self.name}; use {self.target}.")
            if meant in arguments:
                raise InvalidArgumentError(f"{quoted(name)} and {meant} are the same argument; give one.")
            arguments[meant] = value
        return {**arguments, **self.fixed}


class ToolBox:
    """The tools of one server in the order of their registration, and their aliases."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._listed: dict[str, ListedTool] = {}
        self._aliases: dict[str, Alias] = {}

    def add(self, function: Callable[..., Any], options: ToolOptions) -> None:
        """Register a tool.

        Raises:
            BuildError: See `build_tool`; or the name is taken.
        """
        tool, listed = build_tool(function, options)
        self._claim(tool.name)
        self._tools[tool.name] = tool
        self._listed[tool.name] = listed

    def alias(self, alias: Alias) -> None:
        """Register another name for a tool that is registered already.

        Raises:
            BuildError: The name is taken, or the alias names a tool or an argument that there is not.
        """
        tool = self._tools.get(alias.target)
        if tool is None:
            raise BuildError(f"Alias {alias.name} is for {alias.target}, which is no tool registered before it.")
        known = tool.parameters.get("properties", {})
        for argument in (*alias.renames.values(), *alias.fixed):
            if argument not in known:
                raise BuildError(f"Alias {alias.name} is for an argument {argument}, which {alias.target} lacks.")
        self._claim(alias.name)
        self._aliases[alias.name] = alias

    def _claim(self, name: str) -> None:
        if name in self._tools or name in self._aliases:
            raise BuildError(f"Two tools have the name {name}.")

    def remove(self, name: str) -> None:
        """Take a tool and its aliases out.

        Raises:
            BuildError: There is no such tool.
        """
        if name not in self._tools:
            raise BuildError(f"There is no tool {name} to remove.")
        del self._tools[name], self._listed[name]
        self._aliases = {alias.name: alias for alias in self._aliases.values() if alias.target != name}

    def listed(self) -> Iterator[ListedTool]:
        """What `tools/list` says, in the order of registration."""
        return iter(self._listed.values())

    def find(self, name: str) -> tuple[Tool, ListedTool, Alias | None] | None:
        """The tool that a call by this name means, listed or by alias."""
        alias = self._aliases.get(name)
        real = name if alias is None else alias.target
        tool = self._tools.get(real)
        return None if tool is None else (tool, self._listed[real], alias)
