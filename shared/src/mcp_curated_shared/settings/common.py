"""Settings that every server has, declared once."""

import ipaddress
import re
from dataclasses import dataclass
from typing import ClassVar, Literal

from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings.declaration import Settings, many, optional, setting
from mcp_curated_shared.settings.kinds import Choice, FolderPath, Integer, Parsed, quoted

Transport = Literal["stdio", "http"]
LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["text", "json"]


def bind_address(text: str) -> str:
    """An IP address to listen on, in its canonical spelling; `localhost` is 127.0.0.1.

    Raises:
        SettingsError: It is a name or no address.
    """
    word = text.strip().strip("[]").lower()
    if word == "localhost":
        return "127.0.0.1"
    try:
        return str(ipaddress.ip_address(word))
    except ValueError:
        raise SettingsError(f"{quoted(text)} is not an IP address.", 'Give "127.0.0.1" or "::1".') from None


_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::([0-9]{1,5}|\*))?", re.ASCII)


def host_name(text: str) -> str:
    """A Host header to accept, in lower case: `name`, `name:port` or `name:*` for any port.

    Raises:
        SettingsError: It is an URL, a wildcard or no name.
    """
    word = text.strip().lower()
    match = _HOST.fullmatch(word)
    if match is None or (match[2] not in {None, "*"} and not 0 < int(match[2]) < 65536):
        raise SettingsError(
            f"{quoted(text)} is not a host name.", 'Write "name" or "name:port", as in the Host header.'
        )
    return word


_ORIGIN = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::([0-9]{1,5}))?", re.ASCII)


def web_origin(text: str) -> str:
    """An Origin header to accept, as a browser spells it: lower case, no default port, no path (RFC 6454, 6.1).

    Raises:
        SettingsError: It has a path, a wildcard, another scheme, or is `null`.
    """
    match = _ORIGIN.fullmatch(text.strip().lower().removesuffix("/"))
    port = int(match[3]) if match and match[3] else None
    if match is None or (port is not None and not 0 < port < 65536):
        fix = 'Write scheme, name and port only, such as "https://app.example".'
        raise SettingsError(f"{quoted(text)} is not a web origin.", fix)
    usual = {"http": 80, "https": 443}[match[1]]
    return f"{match[1]}://{match[2]}" + (f":{port}" if port not in {None, usual} else "")


@dataclass(frozen=True, slots=True)
class TransportSettings(Settings):
    """How clients reach the server."""

    prompted: ClassVar[bool] = False

    transport: Transport = setting(
        Choice[Transport](("stdio", "http")),
        default="stdio",
        help="stdio for one host that starts the server itself; http for Streamable HTTP.",
    )
    host: str = setting(
        Parsed(bind_address, "a loopback IP address", metavar="ADDRESS"),
        default="127.0.0.1",
        help="Address that HTTP listens on. Only loopback: there is no authentication yet.",
    )
    port: int = setting(
        Integer(0, 65535, metavar="PORT"),
        default=8000,
        help="Port that HTTP listens on; 0 takes a free one and logs it.",
    )
    allowed_hosts: tuple[str, ...] = many(
        Parsed(host_name, "a host name", metavar="HOST"),
        help="Further Host headers to accept, for a proxy in front. Loopback names are always accepted.",
        flag="--allowed-host",
        separator="space",
        example="tools.example:443",
    )
    allowed_origins: tuple[str, ...] = many(
        Parsed(web_origin, "a web origin", metavar="ORIGIN"),
        help="Further Origin headers to accept: the browser pages that may call the server.",
        flag="--allowed-origin",
        separator="space",
        example="https://app.example",
    )

    def check(self) -> None:
        """Refuse to listen beyond this machine: nobody would be asked who they are.

        Raises:
            SettingsError: The address is not a loopback address.
        """
        if not ipaddress.ip_address(self.host).is_loopback:
            raise SettingsError(
                f"--host {self.host} would open the server to other machines, and it has no authentication yet.",
                "Listen on 127.0.0.1 or ::1, and put a proxy that authenticates in front.",
            )


@dataclass(frozen=True, slots=True)
class LogSettings(Settings):
    """What is written to stderr."""

    prompted: ClassVar[bool] = False

    level: LogLevel = setting(
        Choice[LogLevel](("info", "debug", "warning", "error")),
        default="info",
        help="Least severity that is logged; logs go to stderr only.",
        flag="--log-level",
    )
    format: LogFormat = setting(
        Choice[LogFormat](("text", "json")),
        default="text",
        help="One line of text or one JSON object an event.",
        flag="--log-format",
    )


@dataclass(frozen=True, slots=True)
class StateSettings(Settings):
    """Where the server keeps what must outlive it."""

    prompted: ClassVar[bool] = False

    folder: str | None = optional(
        FolderPath(),
        help="Folder for the audit log and other state; by default the system's place for it.",
        flag="--state-dir",
    )

    def path(self, name: str) -> str:
        """The folder in force, not yet made.

        Args:
            name: The server's name, such as "filesystem".
        """
        import platformdirs  # only here: it takes as long to import as the rest of the settings

        return self.folder or platformdirs.user_state_path("mcp-curated", appauthor=False).joinpath(name).as_posix()
