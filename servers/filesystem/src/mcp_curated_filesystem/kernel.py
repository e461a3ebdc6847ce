"""The second layer: on Linux the kernel itself confines the whole process to the folders (Landlock)."""

import logging
import os
from functools import partial

from mcp_curated_filesystem.settings import FilesystemSettings
from mcp_curated_shared.security import landlock
from mcp_curated_shared.security.confinement.probing import PATIENCE_SECONDS, answered
from mcp_curated_shared.security.state_folder import StateFolderError, make_state_folder
from mcp_curated_shared.settings import Loaded

logger = logging.getLogger(__name__)


def confine_process(loaded: Loaded[FilesystemSettings]) -> None:
    """Enter Landlock where it can be; must be called on the main thread before any other one exists.

    Without folders on the command line there is nothing to fix: a client may name its roots later. A root that is
    missing now could never be opened later; then this layer is left out and the first one stands alone. The same
    holds for one that does not answer within 2 s.
    """
    settings = loaded.settings
    if not settings.landlock or not settings.directories:
        return
    writable = not settings.read_only
    folder = settings.state.path("filesystem")
    _make_state_folder(settings, folder)
    folders = [root.path for root in settings.directories]
    if not all(answered([partial(os.stat, path) for path in folders], PATIENCE_SECONDS)):
        # The thread that hangs would stay unrestricted, and opening the folder here would hang as it does.
        logger.info("Landlock is not in force: a folder does not answer.")
        return
    status = landlock.restrict(
        [(root.path, root.writable and writable) for root in settings.directories],
        writable=[folder],
    )
    if status.active:
        logger.debug("The kernel confines this process to the folders (Landlock, ABI %d).", status.abi)
    else:
        logger.info("Landlock is not in force: %s.", status.reason)


def _make_state_folder(settings: FilesystemSettings, folder: str) -> None:
    """Make it now: inside Landlock it could not be made any more.

    Raises:
        StateFolderError: It cannot be made, and deletions depend on it; the audit alone does without.
    """
    if not settings.allow_delete and settings.audit.level == "off":
        return
    try:
        make_state_folder(folder)
    except StateFolderError as error:
        if settings.allow_delete:
            raise
        logger.warning("There will be no audit log. %s", error)
