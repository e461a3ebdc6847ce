"""While a server is made no garbage is collected; what was made is not gone through again, and then it is collected."""

import gc
import subprocess
import sys

import pytest

from mcp_curated_shared.transport.serve import uncollected

SERVING = """
import gc, sys
from mcp.server.mcpserver import MCPServer
from mcp_curated_shared.settings.common import LogSettings, TransportSettings
from mcp_curated_shared.transport.serve import serve

def build():
    print("making", gc.isenabled(), file=sys.stderr)
    return MCPServer("sample")

status = serve(build, transport=TransportSettings(), logs=LogSettings())
print("served", gc.isenabled(), gc.get_freeze_count() > 10_000, file=sys.stderr)
sys.exit(status)
"""


def test_a_server_is_made_without_a_collection_and_serves_with_them() -> None:
    command = [sys.executable, "-c", SERVING]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert "making False" in done.stderr
    assert "served True True" in done.stderr


@pytest.mark.parametrize("before", [True, False])
def test_collection_is_afterwards_as_it_was_also_after_an_error(before: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if before else gc.disable)()
        with pytest.raises(ValueError, match="in the making"), uncollected():
            assert not gc.isenabled()
            raise ValueError("in the making")
        assert gc.isenabled() is before
    finally:
        gc.unfreeze()
        (gc.enable if was else gc.disable)()
