"""Asking the GitHub CLI for its token, where the operator wants that."""

import shutil
import subprocess
from typing import Final

from mcp_curated_github.addresses import ApiUrl
from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings import Secret

_SECONDS: Final = 10.0
_LONGEST: Final = 4_096
_FIX: Final = "Log in with `gh auth login`, or set GITHUB_TOKEN instead of GITHUB_USE_GH."


def token_of_gh(api: ApiUrl) -> Secret:
    """The token that `gh` keeps for the host of this API. Blocks for as long as `gh` takes.

    Raises:
        SettingsError: There is no `gh`, or it has no token for that host. What it printed is not repeated.
    """
    program = shutil.which("gh")
    if program is None:
        raise SettingsError("GITHUB_USE_GH is set, and there is no program gh.", _FIX)
    host = "github.com" if api.host == "api.github.com" else api.host.removeprefix("api.")
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program; the host is the operator's and canonical
            [program, "auth", "token", "--hostname", host],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        raise SettingsError("gh could not be asked for its token.", _FIX) from None
    token = done.stdout[:_LONGEST].decode("ascii", "replace").strip()
    if done.returncode != 0 or not token or not token.isprintable() or " " in token:
        raise SettingsError(f"gh has no token for {host}.", _FIX)
    return Secret(token)
