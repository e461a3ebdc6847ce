"""Files, folders, links and submodules of a repository."""

import base64
import binascii
import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from mcp_curated_github.api import Answer, Fields, GitHubApi, Tally
from mcp_curated_github.api.media import RAW
from mcp_curated_github.errors import GitHubError
from mcp_curated_github.models import Content, Entry
from mcp_curated_github.names import RepoName
from mcp_curated_github.reading.sizes import BODY_BYTES, clip, part_of, size_of
from mcp_curated_github.routes import Route, contents, readme
from mcp_curated_shared.errors import InvalidArgumentError

OBJECT: Final = "application/vnd.github.object+json"
"""The media type under which a folder is one object, and a submodule in it is called one."""

MOST_ENTRIES: Final = 1_000
"""GitHub lists the first thousand entries of a folder."""

MOST_RAW_BYTES: Final = 8_000_000
"""Of a file over 1 MB, which GitHub gives only as a whole; what lies behind is not read."""

_BINARY_SAMPLE: Final = 8_000
_LONGEST_NAME: Final = 300
_LONGEST_PATH: Final = 600
_LINE_BYTES: Final = 20
"""Of what stands beside a name on its line."""


async def get_file(
    api: GitHubApi, repo: RepoName, path: str, *, ref: str | None = None, page: int = 1, body_bytes: int = BODY_BYTES
) -> Content:
    """What lies at a path: a page of a file or of a folder's entries, or what else it is.

    Raises:
        InvalidArgumentError: The path or page is none.
        GitHubError: It is not there, may not be read, or is larger than 100 MB.
    """
    return await _read(api, repo, contents(repo, path, ref), path, page, body_bytes)


async def get_readme(
    api: GitHubApi, repo: RepoName, *, ref: str | None = None, page: int = 1, body_bytes: int = BODY_BYTES
) -> Content:
    """A page of the README that GitHub would show.

    Raises:
        GitHubError: There is none, or it may not be read.
    """
    return await _read(api, repo, readme(repo, ref), "", page, body_bytes)


async def _read(api: GitHubApi, repo: RepoName, route: Route, path: str, page: int, body_bytes: int) -> Content:
    tally = api.tally()
    # A README has no object form in GitHub's description.
    answer = await (api.get_json(route, OBJECT) if route.template.endswith("{path}") else api.get_json(route))
    document = answer.document()
    frame = _Frame(repo, answer, tally, page, body_bytes)
    if not isinstance(document, dict):  # a folder in its old form
        return frame.folder(path.strip("/"), Fields.list_of(document, tally))
    item = Fields.of(cast("object", document), tally)
    kind = "submodule" if "submodule_git_url" in item else item.text("type")
    if kind == "file":
        return await _file(api, route, frame, item)
    if kind == "dir":
        return frame.folder(item.text("path"), item.items("entries"))
    target, note = _OTHERS.get(kind, ("", "It cannot be read here."))
    return frame.other(item, kind, item.text(target), note)


_OTHERS: Final = {
    "symlink": ("target", "A symbolic link that leads to no file of this repository; it is not followed."),
    "submodule": (
        "submodule_git_url",
        "A submodule: another repository at the commit that sha names; read it there.",
    ),
}
"""What has no text: the field that says where it leads, and what a reader is told."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """What every reply about one path holds."""

    repo: RepoName
    answer: Answer
    tally: Tally
    page: int
    body_bytes: int

    def folder(self, path: str, entries: Sequence[Fields]) -> Content:
        """A page of a folder's entries."""
        made = [_entry(one) for one in entries]
        start, end = self._page_of(made)
        note = None
        if len(made) >= MOST_ENTRIES and end == len(made):
            note = f"GitHub lists the first {MOST_ENTRIES:,} entries of a folder; there may be more."
        content = self._content(path, "folder", note=note)
        content.entries = made[start:end]
        content.next_page = self.page + 1 if end < len(made) else None
        return content

    def _page_of(self, entries: Sequence[Entry]) -> tuple[int, int]:
        start = 0
        for _ in range(self.page - 1):
            start = self._end(entries, start)
        if start >= len(entries) and self.page > 1:
            raise no_page(self.page)
        return start, self._end(entries, start)

    def _end(self, entries: Sequence[Entry], start: int) -> int:
        room, end = 2 * self.body_bytes, start
        while end < len(entries) and (end == start or room >= 0):
            sent = entries[end].model_dump_json(exclude_none=True).encode()
            room -= len(sent) + size_of(entries[end].name) + _LINE_BYTES
            if room < 0 and end > start:
                break
            end += 1
        return end

    def other(self, item: Fields, kind: str, target: str, note: str) -> Content:
        """Something that has no text."""
        content = self._content(item.text("path"), kind, note=note)
        content.sha = item.text("sha") or None
        content.target = clip(target, 2_000)[0] or None
        return content

    def file(self, item: Fields, data: bytes, *, cut: bool) -> Content:
        """A page of a file's text, or the facts of one that is none."""
        content = self._content(item.text("path"), "file")
        content.size, content.sha = item.number("size"), item.text("sha") or None
        decoded = _decode(data, cut=cut)
        if decoded is None:
            content.type, content.note = "binary file", "It is no text, and is not shown."
            return content
        text, content.note = decoded
        shown, more = part_of(self.tally.clean(text), self.page, self.body_bytes)
        if not shown and self.page > 1:
            raise no_page(self.page)
        content.text = shown
        beyond = cut and not more and len(data) >= MOST_RAW_BYTES
        if beyond:
            content.note = f"Only the first {MOST_RAW_BYTES:,} of {content.size:,} bytes are read."
        content.next_page = self.page + 1 if more or (cut and not beyond) else None
        content.invisible_removed = self.tally.removed or None
        return content

    def _content(self, path: str, kind: str, note: str | None = None) -> Content:
        renamed = self.answer.renamed_to
        return Content(
            repo=str(self.repo),
            path=clip(path, _LONGEST_PATH)[0],
            type=kind,
            page=self.page,
            renamed_to=None if renamed is None else str(renamed),
            note=note,
            invisible_removed=self.tally.removed or None,
        )


def _entry(one: Fields) -> Entry:
    kind = "submodule" if "submodule_git_url" in one else one.text("type")
    return Entry(
        name=clip(one.text("name"), _LONGEST_NAME)[0],
        type="folder" if kind == "dir" else kind,
        size=one.number("size") if kind == "file" else None,
    )


async def _file(api: GitHubApi, route: Route, frame: _Frame, item: Fields) -> Content:
    if item.text("encoding") != "none":
        return frame.file(item, _bytes_of(item), cut=False)
    # From 1 to 100 MB GitHub gives a file only raw; of that, as much is read as this page needs.
    most = min(MOST_RAW_BYTES, frame.page * frame.body_bytes + 4_096)
    answer = await api.get_raw(route, RAW, most_bytes=most)
    return frame.file(item, answer.body, cut=answer.cut)


def _bytes_of(item: Fields) -> bytes:
    try:
        return base64.b64decode(item.raw_text("content"))
    except (binascii.Error, ValueError):
        raise GitHubError("bad_response", "GitHub's answer holds no base64.", "Try again later.") from None


def _decode(data: bytes, *, cut: bool) -> tuple[str, str | None] | None:
    """The text of a file and a note on its encoding; None where it is binary."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data[: len(data) & ~1].decode("utf-16", "replace"), "It is in UTF-16."
    if b"\0" in data[:_BINARY_SAMPLE]:
        return None
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=not cut)
    except UnicodeDecodeError:
        return data.decode("latin-1"), "It is not UTF-8; its bytes are shown as Latin-1."
    return text, None


def no_page(page: int) -> InvalidArgumentError:
    """The error for a page behind the last one."""
    return InvalidArgumentError(f"There is no page {page}.", "The last one had no next_page; begin with page=1.")
