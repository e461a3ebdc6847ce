"""The page about confirmation knows every assurance and every policy that there is, and no other."""

import re
from pathlib import Path
from typing import get_args

from mcp_curated_shared.security.confirmation import Assurance, Policy

REPOSITORY = Path(__file__).resolve().parents[2]


def first_cells(heading: str) -> list[str]:
    """The names in the first column of the table below a line."""
    page = (REPOSITORY / "docs" / "confirmation.md").read_text(encoding="utf-8")
    table = page[page.index(heading) :].split("\n\n")[0]
    return re.findall(r"^\| `([a-z_]+)`", table, re.MULTILINE)


def test_the_page_about_confirmation_has_every_assurance_and_every_policy():
    assert first_cells("| assurance |") == list(get_args(Assurance))
    assert sorted(first_cells("| policy |")) == sorted(get_args(Policy))


def test_the_readmes_lead_to_the_page_about_confirmation():
    for page in ("README.md", "servers/github/README.md", "docs/threat-model.md"):
        assert "confirmation.md)" in (REPOSITORY / page).read_text(encoding="utf-8")
