"""After every test of the client the process holds as many descriptors as before."""

import os
from collections.abc import AsyncIterator

import pytest


@pytest.fixture(autouse=True)
async def no_descriptor_is_left(anyio_backend: str) -> AsyncIterator[None]:
    before = len(os.listdir("/dev/fd"))
    yield
    assert len(os.listdir("/dev/fd")) == before
