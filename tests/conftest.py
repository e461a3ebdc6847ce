"""What every test shares: one async backend, and a bounded hypothesis."""

import os
import sys

import pytest
from hypothesis import HealthCheck, settings

# The machine may be slow or busy: a deadline an example would make a good test fail there. pytest's own limit holds.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", parent=settings.get_profile("default"), max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture
def anyio_backend() -> str:
    """The SDK runs on asyncio; so do the tests."""
    return "asyncio"


def pytest_sessionfinish() -> None:
    """A worker of a parallel run may end without its exit functions: what it started is ended here."""
    postgres = sys.modules.get("tests.postgres")
    if postgres is not None:
        postgres.stop()
