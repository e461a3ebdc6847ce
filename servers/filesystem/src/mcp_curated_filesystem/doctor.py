"""What the `doctor` command looks at for this server: the folders, the kernel's help, trash, watching."""

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.util import find_spec

from mcp_curated_filesystem.settings import FilesystemSettings
from mcp_curated_filesystem.surroundings import (
    case_sensitivity,
    kind_of_mode,
    mount_of,
    trash_size,
)
from mcp_curated_shared.doctor import Finding
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import Confinement, RootSpec
from mcp_curated_shared.settings import Loaded

ROOT_SECONDS = 5.0
"""How long one folder may take to answer; a dead network drive never does."""

LEAST_WATCHES = 8_192
LEAST_INSTANCES = 64

_NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "davfs", "fuse.sshfs", "fuse.rclone", "ncpfs")


def checks(loaded: Loaded[FilesystemSettings]) -> Iterator[Finding]:
    """Every finding about this server's surroundings."""
    settings = loaded.settings
    if not settings.directories:
        text = "None is given: clients decide with their own roots, and one that announces none gets an error."
        yield Finding("warn", "folders", text, "Name the folders: mcp-curated-filesystem DIR ...")
    for root in settings.directories:
        yield from _patiently(root, settings)
    yield from _overlaps(settings.directories)
    yield _resolution(settings)
    yield _landlock(settings)
    yield from _watching()
    yield from _extras()


def _patiently(root: RootSpec, settings: FilesystemSettings) -> list[Finding]:
    """The findings about one folder, looked at on a thread that may be left behind."""
    found: list[Finding] = []

    def look() -> None:
        found.extend(examine_root(root, read_only=settings.read_only))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(ROOT_SECONDS)
    if thread.is_alive():
        text = f"{root.path} did not answer within {ROOT_SECONDS:g} s, as a dead network drive does."
        return [Finding("fail", "folder", text, "Mount it again, or leave it out; the other folders work.")]
    return found


def examine_root(root: RootSpec, *, read_only: bool) -> Iterator[Finding]:
    """What is to say about one folder.

    Args:
        root: The folder as the operator wrote it.
        read_only: Whether the whole server only reads.
    """
    try:
        status = os.stat(root.path)
    except FileNotFoundError:
        text = f"{root.path} does not exist. The server starts; the folder is unavailable until it does."
        yield Finding("warn", "folder", text, "Make it, mount it, or correct the path.")
        return
    except OSError as error:
        yield Finding("fail", "folder", f"{root.path}: {error.strerror}.", "Correct the path or its rights.")
        return
    kind = kind_of_mode(status.st_mode)
    if kind != "folder":
        fix = "Name the folder that holds it." if kind == "file" else "Name a folder."
        yield Finding("fail", "folder", f"{root.path} is a {kind}, not a folder.", fix)
        return
    writable = root.writable and not read_only
    yield _rights(root, writable)
    yield from _breadth(root)
    yield from _network(root)
    if writable:
        yield from _trash(root)


def _rights(root: RootSpec, writable: bool) -> Finding:
    mount = mount_of(root.path)
    where = f"{mount.kind if mount else 'an unknown filesystem'}, {case_sensitivity(root.path)}"
    if not os.access(root.path, os.R_OK | os.X_OK):
        return Finding("fail", "folder", f"{root.path} cannot be read by this user.", "Change its rights.")
    if writable and not os.access(root.path, os.W_OK):
        fix = f"Change its rights, or write {root.path}:ro so that clients are told."
        return Finding("warn", "folder", f"{root.path} can be read but not written ({where}).", fix)
    rights = "read and write" if writable else "read only"
    return Finding("ok", "folder", f"{root.path}: {rights}, on {where}")


def _breadth(root: RootSpec) -> Iterator[Finding]:
    real = os.path.realpath(root.path)
    home = os.path.realpath(os.path.expanduser("~"))
    if real == os.path.abspath(os.sep):
        yield Finding("warn", "folder", f"{root.path} is the whole disk.", "Name the folders that are needed.")
    elif real == home or home.startswith(real.rstrip(os.sep) + os.sep):
        text = f"{root.path} holds your whole home folder, with its keys and passwords."
        yield Finding("warn", "folder", text, "Name folders inside it, or add --deny .ssh --deny .gnupg and the like.")


def _network(root: RootSpec) -> Iterator[Finding]:
    mount = mount_of(root.path)
    if mount is not None and mount.kind.startswith(_NETWORK):
        text = f"{root.path} is on a network drive ({mount.kind}): changes made on other machines are not noticed."
        yield Finding("warn", "watching", text, "Let clients read again instead of relying on notices.")
    elif mount is not None and mount.kind in {"proc", "sysfs", "debugfs", "tracefs"}:
        text = f"{root.path} shows the kernel ({mount.kind}), not files: reading or writing it acts on the system."
        yield Finding("warn", "folder", text, "Leave it out.")


def _trash(root: RootSpec) -> Iterator[Finding]:
    found = trash_size(root.path)
    if found is not None and found.entries:
        more = "more than " if found.cut else ""
        text = f"{found.path} holds {more}{found.entries} entries, {more}{found.size} bytes."
        yield Finding("ok", "trash", f"{text} Nothing empties it but you: delete the folder when you need none of it.")


def _overlaps(roots: Sequence[RootSpec]) -> Iterator[Finding]:
    real = [(root, os.path.realpath(root.path)) for root in roots]
    for position, (root, path) in enumerate(real):
        for other, inner in real[position + 1 :]:
            if path == inner:
                text = f"{root.path} and {other.path} are the same folder."
                yield Finding("warn", "folders", text, "Keep one of them.")
            elif _holds(path, inner) or _holds(inner, path):
                outer, inside = (root, other) if _holds(path, inner) else (other, root)
                if outer.writable and not inside.writable:
                    text = f"{inside.path} is read-only, but it lies in {outer.path}, which may be written."
                    yield Finding("warn", "folders", text, "Make the outer one read-only too, if that is meant.")


def _holds(outer: str, inner: str) -> bool:
    return inner.startswith(outer.rstrip(os.sep) + os.sep)


def _resolution(settings: FilesystemSettings) -> Finding:
    try:
        confinement = Confinement((), deny=settings.deny, read_only=settings.read_only)
    except CuratedError as error:
        return Finding("fail", "confinement", error.text, error.next_step)
    method = confinement.method
    confinement.close()
    if method == "openat2":
        return Finding("ok", "confinement", "the kernel resolves paths beneath each folder (openat2)")
    why = "Linux 5.6 has the faster openat2" if sys.platform != "linux" else "this kernel or container forbids openat2"
    return Finding("ok", "confinement", f"paths are walked component by component, just as safe ({why})")


def _landlock(settings: FilesystemSettings) -> Finding:
    from mcp_curated_shared.security import landlock

    reason = _why_no_landlock(settings, landlock.abi())
    if not reason:
        return Finding("ok", "Landlock", f"the kernel also confines the whole process (ABI {landlock.abi()})")
    fix = "Nothing must be done: it is a second layer, and confinement holds without it."
    return Finding("warn" if settings.landlock and sys.platform == "linux" else "ok", "Landlock", reason, fix)


def _why_no_landlock(settings: FilesystemSettings, abi: int) -> str:
    missing = [root.path for root in settings.directories if not os.path.isdir(root.path)]
    reasons = (
        (not settings.landlock, "not used: it is switched off"),
        (sys.platform != "linux", "not used: only Linux has it"),
        (abi == 0, "not used: this kernel has none, or a container forbids it"),
        (abi == 1, "not used: this kernel's is too old (ABI 1 forbids moving files between folders; 2 is needed)"),
        (not settings.directories, "not used: the folders come from the client, after the start"),
        (bool(missing), f"not used: {missing[0] if missing else ''} is missing and could not be opened later"),
    )
    return next((text for holds, text in reasons if holds), "")


def _watching() -> Iterator[Finding]:
    for name, least in (("max_user_watches", LEAST_WATCHES), ("max_user_instances", LEAST_INSTANCES)):
        try:
            with open(f"/proc/sys/fs/inotify/{name}", encoding="ascii") as file:
                limit = int(file.read())
        except (OSError, ValueError):
            continue
        if limit < least:
            text = f"fs.inotify.{name} is {limit}: few subscriptions will work."
            yield Finding("warn", "watching", text, f"Run as root: sysctl fs.inotify.{name}={least}")
        else:
            yield Finding("ok", "watching", f"fs.inotify.{name} is {limit}")


def _extras() -> Iterator[Finding]:
    for module, extra, use in (
        ("PIL", "images", "scales images down that are too large for a reply"),
        ("re2", "fast", "searches without backtracking"),
    ):
        state = "installed" if find_spec(module) is not None else "not installed"
        yield Finding("ok", "extra", f"{extra} ({use}): {state}")
