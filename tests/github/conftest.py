"""What the tests of writing share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_curated_shared.testing.clients import ERAS, Era
from tests.github.desk import Desk, desk_at


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    chosen: Era = request.param
    return chosen


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with desk_at(tmp_path / "state") as made:
        yield made
