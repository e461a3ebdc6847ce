"""The second layer: on Linux the kernel itself confines the whole process to the folders (Landlock)."""

import logging

from mcp_curated_filesystem.settings import FilesystemSettings
from mcp_curated_shared.security import landlock
from mcp_curated_shared.security.state_folder import make_state_folder
from mcp_curated_shared.settings import Loaded

logger = logging.getLogger(__name__)


def confine_process(loaded: Loaded[FilesystemSettings]) -> None:
    """Enter Landlock where it can be; must be called on the main thread before any other one exists.

    Without folders on the command line there is nothing to fix: a client may name its roots later. A root that is
    missing now could never be opened later; then this layer is left out and the first one stands alone.
    """
    settings = loaded.settings
    if not settings.landlock or not settings.directories:
        return
    writable = not settings.read_only
    folder = settings.state.path("filesystem")
    if settings.allow_delete:
        make_state_folder(folder)  # what does not exist now could not be made later
    status = landlock.restrict(
        [(root.path, root.writable and writable) for root in settings.directories],
        writable=[folder],
    )
    if status.active:
        logger.info("The kernel confines this process to the folders (Landlock, ABI %d).", status.abi)
    else:
        logger.info("Landlock is not in force: %s.", status.reason)
