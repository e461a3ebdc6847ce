"""The uv that the Makefile uses."""

import os
import shutil
from pathlib import Path

import pytest

from tests.packaging.support import REPOSITORY, run


@pytest.fixture(scope="session")
def uv() -> Path:
    found = os.environ.get("UV") or shutil.which("uv")
    if found is None:
        run([REPOSITORY / "scripts" / "uv.sh", "--version"], cwd=REPOSITORY)
        return REPOSITORY / ".tools" / "uv" / "bin" / "uv"
    return Path(found)
