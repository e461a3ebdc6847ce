"""How each host spells an entry, and putting it into the host's own file."""

from mcp_curated_shared.hosts.command import StartCommand, find_command, this_command
from mcp_curated_shared.hosts.entries import Entry, merge, paste, remove, shell_line
from mcp_curated_shared.hosts.files import Written, change_file
from mcp_curated_shared.hosts.places import HOSTS, Host, HostName, Surroundings, find_host

__all__ = [
    "HOSTS",
    "Entry",
    "Host",
    "HostName",
    "StartCommand",
    "Surroundings",
    "Written",
    "change_file",
    "find_command",
    "find_host",
    "merge",
    "paste",
    "remove",
    "shell_line",
    "this_command",
]
