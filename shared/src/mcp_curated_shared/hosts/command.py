"""The command that starts this server again: what a host must be told, with absolute paths.

Hosts start servers with a short PATH and in a folder of their own choice; "spawn uvx ENOENT" is what their users
report most.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from mcp_curated_shared.errors import SettingsError


@dataclass(frozen=True, slots=True)
class StartCommand:
    """A program with the arguments that come before the server's own.

    Attributes:
        program: Absolute path.
        arguments: Such as `mcp-curated-filesystem` behind `uvx`.
        ephemeral: Whether it goes through uvx, which may have to fetch packages at a start.
        note: What the user should know about it; empty if nothing.
    """

    program: str
    arguments: tuple[str, ...]
    ephemeral: bool = False
    note: str = ""


def find_command(
    distribution: str,
    module: str,
    *,
    invoked: str,
    prefix: str,
    executable: str,
    environ: Mapping[str, str],
    direct_url: str | None,
) -> StartCommand:
    """How this very server is started.

    The running console script if it is on disk; `uvx` if the environment lies in uv's cache, from where it may be
    cleared at any time; else the interpreter with `-m`.

    Args:
        distribution: Name of the distribution and the console script.
        module: The package that `python -m` runs.
        invoked: `sys.argv[0]`.
        prefix: `sys.prefix`.
        executable: `sys.executable`.
        environ: The environment.
        direct_url: The installed distribution's direct_url.json (PEP 610), if it was not installed by name.

    Raises:
        SettingsError: It runs under uvx, and uvx is not to be found.
    """
    if in_uv_cache(prefix, environ):
        source = uvx_source(direct_url)
        arguments = ("--from", source, distribution) if source else (distribution,)
        note = (
            "It runs from uv's cache, so the entry goes through uvx, which may fetch packages at a start. "
            f'"uv tool install {source or distribution}" starts in half the time; run config again after it.'
        )
        return StartCommand(_uvx(environ), arguments, True, note)
    script = _script(distribution, invoked, executable)
    if script is not None:
        return StartCommand(script, ())
    return StartCommand(os.path.abspath(executable), ("-P", "-m", module))


def this_command(distribution: str, module: str) -> StartCommand:
    """`find_command` for the running process."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import distribution as find_distribution

    try:
        direct_url = find_distribution(distribution).read_text("direct_url.json")
    except PackageNotFoundError:
        direct_url = None
    return find_command(
        distribution,
        module,
        invoked=sys.argv[0],
        prefix=sys.prefix,
        executable=sys.executable,
        environ=os.environ,
        direct_url=direct_url,
    )


def in_uv_cache(prefix: str, environ: Mapping[str, str]) -> bool:
    """Whether an environment is one of uv's own, made for one run.

    uv keeps those of `uvx` under `archive-v0` (or `environments-v2` for scripts, `builds-v0` while it builds) of its
    cache folder; the number is that of uv's cache version.
    """
    parts = os.path.realpath(prefix).replace("\\", "/").split("/")
    cache = environ.get("UV_CACHE_DIR", "")
    if cache and os.path.realpath(prefix).startswith(os.path.realpath(cache) + os.sep):
        return True
    names = ("archive-v", "environments-v", "builds-v")
    return any(part.startswith(names) and part.rpartition("v")[2].isdigit() for part in parts[:-1])


def _uvx(environ: Mapping[str, str]) -> str:
    name = "uvx.exe" if os.name == "nt" else "uvx"
    # uv tells its children where it is.
    beside = os.path.join(os.path.dirname(environ.get("UV", "")), name)
    if os.path.isabs(beside) and os.path.isfile(beside):
        return beside
    found = shutil.which(name, path=environ.get("PATH"))
    if found is None:
        raise SettingsError("uvx is not to be found, though it runs this.", "Install uv, or use uv tool install.")
    return os.path.abspath(found)


def uvx_source(direct_url: str | None) -> str | None:
    """What `uvx --from` needs for a distribution that was not installed by name, without credentials; else None."""
    if not direct_url:
        return None
    data: object = json.loads(direct_url)
    if not isinstance(data, dict):
        return None
    found = cast("dict[str, Any]", data)
    url = str(found.get("url", ""))
    version_control = found.get("vcs_info")
    if isinstance(version_control, dict):
        details = cast("dict[str, Any]", version_control)
        revision = details.get("requested_revision") or details.get("commit_id")
        folder = found.get("subdirectory")
        at = f"@{revision}" if revision else ""
        return f"{details.get('vcs', 'git')}+{_public(url)}{at}" + (f"#subdirectory={folder}" if folder else "")
    if url.startswith("file:"):
        from urllib.request import url2pathname

        return url2pathname(urlsplit(url).path)
    return _public(url)


def _public(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _script(distribution: str, invoked: str, executable: str) -> str | None:
    """The console script's absolute path as it was spelt (a link into a tool's folder stays one), if it is on disk."""
    suffixes: Sequence[str] = ("", ".exe") if os.name == "nt" else ("",)
    beside = os.path.join(os.path.dirname(executable), distribution)
    candidates = [invoked] if os.path.basename(invoked).removesuffix(".exe") == distribution else []
    if candidates and not os.path.dirname(invoked):
        candidates = [shutil.which(invoked) or invoked]
    for candidate in [*candidates, beside]:
        for suffix in suffixes:
            path = os.path.abspath(candidate + suffix)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    return None
