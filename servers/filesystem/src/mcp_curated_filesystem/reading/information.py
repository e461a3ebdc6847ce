"""The facts of one file, directory or anything else, and of its content as far as its beginning tells."""

import datetime
import stat
from dataclasses import dataclass

from mcp_curated_filesystem.reading.media import type_of
from mcp_curated_filesystem.reading.pages import beginning
from mcp_curated_filesystem.text.forms import BinaryFileError, detect
from mcp_curated_filesystem.text.newlines import NAMES
from mcp_curated_filesystem.text.versions import version_tag
from mcp_curated_shared.errors import CuratedError
from mcp_curated_shared.security.confinement import Confinement, Location, OpenEntry, from_os_error

_TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


@dataclass(frozen=True, slots=True)
class Content:
    """What the beginning of a regular file tells.

    Attributes:
        media_type: By content.
        version: The tag of its state, for `ifVersion`.
        encoding: Of text, a codec name; None if it is no text.
        certain: Whether the encoding is more than a guess.
        bom: Whether the text has a byte order mark.
        line_ending: "LF", "CRLF", "CR", "mixed" or "none"; None if it is no text.
    """

    media_type: str
    version: str
    encoding: str | None = None
    certain: bool = True
    bom: bool = False
    line_ending: str | None = None


@dataclass(frozen=True, slots=True)
class Information:
    """The facts of one entry.

    Attributes:
        location: Where it really is; for a link, where it leads, if that is inside.
        type: "file", "directory", "symlink" (only one that leads nowhere or outside), "FIFO", "socket", "device".
        size: In bytes; of a directory, what its own list of names takes.
        modified: ISO 8601 with the zone of this machine.
        changed: When name, rights or content last changed.
        accessed: When it was last read, as far as the filesystem keeps that.
        created: Only where the system tells it (macOS).
        mode: Octal digits and letters: "0644 -rw-r--r--".
        links: How many names the file has.
        target: Where the link that was asked for leads, in shown form; None for what is no link, or leads outside.
        writable: Whether the operator's rules let it be changed; the system's permissions are another matter.
        content: For a regular file that can be read.
        unreadable: Why `content` is missing.
    """

    location: Location
    type: str
    size: int
    modified: str
    changed: str
    accessed: str
    created: str | None
    mode: str
    links: int
    target: str | None
    writable: bool
    content: Content | None = None
    unreadable: str = ""


def get_information(confinement: Confinement, path: str | Location, *, base: str | None = None) -> Information:
    """Tell the facts of an existing entry without reading more than the first 256 KiB of it.

    Args:
        confinement: Opens it.
        path: As the caller wrote it. A link that leads to something inside is followed.
        base: Absolute directory that a relative path starts from.

    Raises:
        CuratedError: From confinement.
    """
    with confinement.open_entry(path, base=base, follow=False) as entry:
        if not stat.S_ISLNK(entry.stat.st_mode):
            return _information(confinement, entry, None)
        target = _target(confinement, entry.location)
        if target is None:
            return _information(confinement, entry, None)
    with confinement.open_entry(path, base=base) as entry:
        return _information(confinement, entry, target)


def render(information: Information) -> str:
    """The facts as lines of `name: value`; what is not there is left out."""
    content = information.content
    facts: dict[str, str | None] = {
        "note": information.location.note or None,
        "path": information.location.shown,
        "type": information.type,
        "link leads to": information.target,
        "size": f"{information.size:,} bytes",
        "modified": information.modified,
        "changed": information.changed,
        "accessed": information.accessed,
        "created": information.created,
        "mode": information.mode,
        "names (hard links)": str(information.links) if information.links > 1 else None,
        "writable by the rules": "yes" if information.writable else "no",
        "content": information.unreadable or None,
        **(_content_facts(content) if content is not None else {}),
    }
    return "\n".join(f"{name}: {value}" for name, value in facts.items() if value is not None)


def _content_facts(content: Content) -> dict[str, str | None]:
    encoding = content.encoding
    if encoding is not None:
        encoding += " with a byte order mark" * content.bom + " (a guess)" * (not content.certain)
    return {
        "media type": content.media_type,
        "encoding": encoding,
        "line ending": content.line_ending,
        "version": content.version,
    }


def _information(confinement: Confinement, entry: OpenEntry, target: str | None) -> Information:
    status = entry.stat
    content, unreadable = None, ""
    if stat.S_ISREG(status.st_mode):
        try:
            content = _content(confinement, entry.location)
        except CuratedError as error:
            unreadable = str(error)
    born: float | None = getattr(status, "st_birthtime", None)
    is_directory = stat.S_ISDIR(status.st_mode)
    return Information(
        location=entry.location,
        type=_TYPES.get(stat.S_IFMT(status.st_mode), "other"),
        size=status.st_size,
        modified=iso_time(status.st_mtime_ns),
        changed=iso_time(status.st_ctime_ns),
        accessed=iso_time(status.st_atime_ns),
        created=None if born is None else iso_time(int(born * 1_000_000_000)),
        mode=f"{stat.S_IMODE(status.st_mode):04o} {stat.filemode(status.st_mode)}",
        links=1 if is_directory else status.st_nlink,  # a directory's count is that of its subdirectories
        target=target,
        writable=_writable(confinement, entry.location),
        content=content,
        unreadable=unreadable,
    )


def iso_time(nanoseconds: int) -> str:
    """A time in ISO 8601 with this machine's zone, to the second; out of the calendar's years as a plain number."""
    try:
        moment = datetime.datetime.fromtimestamp(nanoseconds // 1_000_000_000, tz=datetime.UTC).astimezone()
    except (OverflowError, ValueError, OSError):
        return f"{nanoseconds // 1_000_000_000} s after 1970-01-01T00:00:00+00:00"
    return moment.isoformat(timespec="seconds")


def _content(confinement: Confinement, location: Location) -> Content:
    with confinement.open_file(location) as file:
        try:
            head, whole = beginning(file.descriptor, file.stat)
            version = version_tag(file.descriptor, file.stat)
        except OSError as error:
            raise from_os_error(error, location.shown) from None
    try:
        form = detect(head, whole=whole)
    except BinaryFileError:
        return Content(type_of(head, text=False), version)
    return Content(type_of(head, text=True), version, form.encoding, form.certain, form.bom != b"", NAMES[form.newline])


def _target(confinement: Confinement, link: Location) -> str | None:
    parent, _, name = link.relative.rpartition("/")
    with confinement.open_directory(Location(link.root, parent)) as directory:
        return confinement.link_target(directory.descriptor, name, directory.location)


def _writable(confinement: Confinement, location: Location) -> bool:
    """Ask the rules the way a write does; the root itself is no target, so that its own right counts."""
    if not location.relative:
        return location.root.writable and not confinement.read_only
    try:
        confinement.open_target(location).close()
    except CuratedError:
        return False
    return True
