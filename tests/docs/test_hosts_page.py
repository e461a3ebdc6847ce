"""The page on hosts says what the code does."""

import re
from pathlib import Path

from mcp_curated_shared.hosts import HOSTS, Surroundings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "hosts.md"
LINUX = Surroundings("linux", "~", {})
MACOS = Surroundings("darwin", "~", {})
WINDOWS = Surroundings("win32", "%USERPROFILE%", {"APPDATA": "%APPDATA%"})


def rows() -> list[str]:
    """The table of hosts as the code has it."""
    return [
        f"| `{host.name}` | {host.title} | `{host.place(LINUX)}` | `{host.place(MACOS)}` | `{host.place(WINDOWS)}` |"
        f" {host.reload} |"
        for host in HOSTS
    ]


def test_the_page_names_every_host_with_its_file_and_how_it_takes_notice() -> None:
    table = re.search(r"<!-- hosts -->\n(.*?)<!-- /hosts -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert table is not None
    assert table[1].strip().splitlines()[2:] == rows()


def test_the_page_tells_how_each_host_refers_to_a_secret() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for host in HOSTS:
        reference = host.secret("GITHUB_TOKEN")
        assert host.title in page
        assert reference is None or reference in page
