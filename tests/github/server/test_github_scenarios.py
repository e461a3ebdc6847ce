"""What users of GitHub servers asked for and complained about, scenario by scenario, in both eras.

Each is named after the issue that it comes from; the numbers are those of the collection they were gathered in. Those
that are about writing alone stand with the writing tools.
"""

from collections.abc import AsyncIterator
from typing import Final

import pytest

from mcp_curated_shared.testing.clients import ERAS
from tests.github.double import double
from tests.github.server import scenarios_of_access, scenarios_of_content, scenarios_of_replies
from tests.github.server.scenes import SCENARIOS, Scene

MODULES: Final = (scenarios_of_replies, scenarios_of_access, scenarios_of_content)


@pytest.fixture(params=ERAS)
async def scene(request: pytest.FixtureRequest) -> AsyncIterator[Scene]:
    async with double() as there:
        there.github.organisation("octo-org", members=["octocat"])
        yield Scene(there, request.param, there.github.token("octocat"))


@pytest.mark.anyio
@pytest.mark.parametrize("name", list(SCENARIOS))
async def test_scenario(name: str, scene: Scene):
    await SCENARIOS[name](scene)


READ_SIDE: Final = {
    *range(1, 16), 17, 18, 19, 22, *range(24, 39), 39, 41, 42, *range(46, 51),
}  # fmt: skip


def test_every_scenario_that_reads_is_here():
    assert {int(name[:2]) for name in SCENARIOS} == READ_SIDE
    assert {play.__module__ for play in SCENARIOS.values()} == {module.__name__ for module in MODULES}
