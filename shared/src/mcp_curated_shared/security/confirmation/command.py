"""What a person types to approve an operation, as it works on this machine."""

import os
import shlex
import shutil
import sys


def approve_command(distribution: str, module: str, state_folder: str | None) -> str:
    """The command up to the operation's id.

    Args:
        distribution: The console script's name; used where the shell would find it.
        module: The package that `python -m` runs; used elsewhere, as under uvx.
        state_folder: Set by the operator, or None.
    """
    known = shutil.which(distribution) is not None
    start = [distribution] if known else [os.path.abspath(sys.executable), "-P", "-m", module]
    return shlex.join([*start, "approve", *(["--state-dir", state_folder] if state_folder else [])])
