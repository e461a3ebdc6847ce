"""The hosts, and how each spells an entry.

From their documents, October and November 2026; none of the applications was run, and the macOS and Windows places are
untested.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from mcp_curated_shared.errors import SettingsError

Platform = Literal["linux", "darwin", "win32"]
HostName = Literal["claude-desktop", "claude-code", "cursor", "vscode", "gemini", "codex", "windsurf"]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What decides where a host keeps its file.

    Attributes:
        platform: As `sys.platform`; what is neither macOS nor Windows counts as Linux.
        home: The home folder.
        environ: The environment.
    """

    platform: str
    home: str
    environ: Mapping[str, str]

    def join(self, *parts: str) -> str:
        """A path in the spelling of the platform."""
        import ntpath
        import posixpath

        return (ntpath if self.platform == "win32" else posixpath).join(*parts)

    def application_folder(self) -> str:
        """Where desktop applications keep settings."""
        if self.platform == "darwin":
            return self.join(self.home, "Library", "Application Support")
        if self.platform == "win32":
            return self.environ.get("APPDATA") or self.join(self.home, "AppData", "Roaming")
        configured = self.environ.get("XDG_CONFIG_HOME", "")
        # A relative one counts as not set (XDG Base Directory Specification).
        return configured if os.path.isabs(configured) else self.join(self.home, ".config")


Reference = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Host:
    """One host application.

    Attributes:
        name: Its word on the command line.
        title: Its name for people.
        key: The member of its file that holds the servers.
        form: The syntax of its file; `jsonc` is JSON with comments and trailing commas.
        typed: Whether an entry says `"type": "stdio"`.
        secret: The text that makes the host put a variable's value in place; None if it has none.
        reload: How it takes notice of a changed file.
        place: Its file.
    """

    name: HostName
    title: str
    key: str
    form: Literal["json", "jsonc", "toml"]
    typed: bool
    secret: Reference
    reload: str
    place: Callable[[Surroundings], str]


def _claude_code(around: Surroundings) -> str:
    return around.join(around.environ.get("CLAUDE_CONFIG_DIR") or around.home, ".claude.json")


def _codex(around: Surroundings) -> str:
    return around.join(around.environ.get("CODEX_HOME") or around.join(around.home, ".codex"), "config.toml")


HOSTS: tuple[Host, ...] = (
    Host(
        name="claude-desktop",
        title="Claude Desktop",
        key="mcpServers",
        form="json",
        typed=False,
        secret=lambda _: None,
        reload="Quit Claude Desktop completely (closing its window is not enough) and start it again.",
        place=lambda around: around.join(around.application_folder(), "Claude", "claude_desktop_config.json"),
    ),
    Host(
        name="claude-code",
        title="Claude Code",
        key="mcpServers",
        form="json",
        typed=True,
        secret=lambda variable: f"${{{variable}}}",
        reload="Start a new session; /mcp shows the server.",
        place=_claude_code,
    ),
    Host(
        name="cursor",
        title="Cursor",
        key="mcpServers",
        form="jsonc",
        typed=False,
        secret=lambda variable: f"${{env:{variable}}}",
        reload="Cursor takes notice by itself; Settings, MCP shows the server.",
        place=lambda around: around.join(around.home, ".cursor", "mcp.json"),
    ),
    Host(
        name="vscode",
        title="VS Code",
        key="servers",
        form="jsonc",
        typed=True,
        secret=lambda variable: f"${{input:{input_name(variable)}}}",
        reload="VS Code takes notice by itself and asks for what is a secret; MCP: List Servers shows the server.",
        place=lambda around: around.join(around.application_folder(), "Code", "User", "mcp.json"),
    ),
    Host(
        name="gemini",
        title="Gemini CLI",
        key="mcpServers",
        form="jsonc",
        typed=False,
        secret=lambda variable: f"${{{variable}}}",
        reload="Start a new session; /mcp shows the server.",
        place=lambda around: around.join(around.home, ".gemini", "settings.json"),
    ),
    Host(
        name="codex",
        title="Codex",
        key="mcp_servers",
        form="toml",
        typed=False,
        secret=lambda variable: variable,
        reload="Start a new session; /mcp shows the server.",
        place=_codex,
    ),
    Host(
        name="windsurf",
        title="Windsurf",
        key="mcpServers",
        form="json",
        typed=False,
        secret=lambda _: None,  # its documents disagree on whether it puts variables in place
        reload="Press refresh in the MCP panel of Cascade, or start Windsurf again.",
        place=lambda around: around.join(around.home, ".codeium", "windsurf", "mcp_config.json"),
    ),
)


def input_name(variable: str) -> str:
    """The id of a VS Code prompt for a variable: `GITHUB_TOKEN` is asked for as `github-token`."""
    return variable.lower().replace("_", "-")


def find_host(name: str) -> Host:
    """The host of that name.

    Raises:
        SettingsError: There is none.
    """
    for host in HOSTS:
        if host.name == name:
            return host
    raise SettingsError(f'"{name}" is none of the hosts.', f"Known are {', '.join(host.name for host in HOSTS)}.")
