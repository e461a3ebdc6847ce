"""What the tests with foreign clients share: the clients, or a reason why there are none."""

from pathlib import Path

import pytest

from tests.interop.clients import UnavailableError, installed
from tests.interop.serving import Kind, Way


@pytest.fixture(scope="session")
def clients() -> Path:
    """The folder with the installed clients."""
    try:
        return installed()
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def way(request: pytest.FixtureRequest) -> Way:
    chosen: Way = request.param
    return chosen


@pytest.fixture(scope="module")
def kind(request: pytest.FixtureRequest) -> Kind:
    chosen: Kind = request.param
    return chosen
