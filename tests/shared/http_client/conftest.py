"""After every test of the client the process holds as many descriptors as before."""

import gc
import os
from collections.abc import AsyncIterator

import pytest


@pytest.fixture(autouse=True)
async def no_descriptor_is_left(anyio_backend: str) -> AsyncIterator[None]:
    gc.collect()  # an earlier test's garbage may still hold some, and let them go meanwhile
    before = len(os.listdir("/dev/fd"))
    yield
    gc.collect()
    assert len(os.listdir("/dev/fd")) <= before
