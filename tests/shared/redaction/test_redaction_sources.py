"""This repository holds no secret-shaped text, so that nobody's scanner stops at it."""

import subprocess
from pathlib import Path

import pytest

from mcp_curated_shared.security.redaction.providers import find_tokens

ROOT = Path(__file__).parents[3]
PLACES = ("shared/src/mcp_curated_shared/security/redaction", "tests/shared/redaction", "docs", "scripts")


@pytest.mark.parametrize("place", PLACES)
def test_no_file_of_the_redactor_holds_a_token_of_a_providers_format(place: str) -> None:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", place]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert listed
    for name in listed:
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml") and path.exists():
            assert find_tokens(path.read_text(encoding="utf-8")) == [], name
