"""Pull requests: facts, changed files, and the diff, by page or by path."""

import difflib
from typing import Final

from mcp_curated_github.api import Answer, Fields, GitHubApi, Tally
from mcp_curated_github.api.media import DIFF
from mcp_curated_github.errors import GitHubError
from mcp_curated_github.models import ChangedFile, PullRequest
from mcp_curated_github.names import RepoName
from mcp_curated_github.reading.contents import no_page
from mcp_curated_github.reading.sizes import clip, part_of, size_of
from mcp_curated_github.routes import pull_request, pull_request_files
from mcp_curated_shared.errors import NotFoundError
from mcp_curated_shared.security.untrusted import clean

FILES: Final = 20
"""Files on a page of a pull request whose whole diff is too large for GitHub."""

DIFF_BYTES: Final = 9_500
"""Of the diff on a page."""

FIRST_DIFF_BYTES: Final = 4_000
"""Of the diff on the first page, which holds the description and the files as well."""

_BODY_BYTES: Final = 2_500
_FILES_BYTES: Final = 2_500
_MOST_DIFF_BYTES: Final = 4_000_000
_LARGEST_PAGE: Final = 100
_MOST_PAGES: Final = 30
"""GitHub lists at most 3,000 files of a pull request."""

_FACTS_OF_A_FILE: Final = 70
_LONGEST_PATH: Final = 300
_LONGEST_NAME: Final = 80


async def get_pull_request(
    api: GitHubApi, repo: RepoName, number: int, *, path: str | None = None, page: int = 1
) -> PullRequest:
    """A pull request, with a page of its diff, or of the diff of one file.

    Where the whole diff is too large for GitHub (406: over 300 files or 20,000 lines), the pages are of its files.

    Raises:
        InvalidArgumentError: There is no such page.
        NotFoundError: No changed file has that path.
        GitHubError: It is not there, or may not be read.
    """
    tally = api.tally()
    answer = await api.get_json(pull_request(repo, number))
    item = answer.fields(tally)
    found = _facts(item, repo, page)
    if answer.renamed_to is not None:
        found.renamed_to = str(answer.renamed_to)
    where = answer.renamed_to or repo
    if path is not None:
        await _one_file(api, where, found, path, tally)
    else:
        if page == 1 and item.text("body"):
            found.body, cut = clip(item.text("body"), _BODY_BYTES)
            found.body_truncated = cut or None
        await _diff(api, where, found, tally)
    found.invisible_removed = tally.removed or None
    return found


def _facts(item: Fields, repo: RepoName, page: int) -> PullRequest:
    head, base = item.inner("head"), item.inner("base")
    return PullRequest(
        repo=str(repo),
        number=item.number("number"),
        title=clip(item.text("title"), 1_100)[0],
        state=item.text("state"),
        author=clip(item.login(), _LONGEST_NAME)[0],
        association=item.text("author_association"),
        updated=item.text("updated_at"),
        head=_end(head),
        head_sha="" if head is None else head.text("sha")[:64],
        base=_end(base),
        draft=item.flag("draft") or None,
        merged=item.flag("merged") or None,
        mergeable=item.flag("mergeable") if "mergeable" in item else None,
        changed_files=item.number("changed_files"),
        additions=item.number("additions"),
        deletions=item.number("deletions"),
        page=page,
    )


def _end(end: Fields | None) -> str:
    """`owner:branch`, as GitHub writes the two ends; only the branch where a fork is gone."""
    if end is None:
        return ""
    return clip(end.text("label") or end.text("ref"), 2 * _LONGEST_NAME)[0]


async def _diff(api: GitHubApi, repo: RepoName, found: PullRequest, tally: Tally) -> None:
    page = found.page
    try:
        most = min(_MOST_DIFF_BYTES, page * DIFF_BYTES + 4_096)
        answer = await api.get_raw(pull_request(repo, found.number), DIFF, most_bytes=most)
    except GitHubError as error:
        if error.kind != "too_large":
            raise
        await _files_instead(api, repo, found, tally)
        return
    if page == 1 and found.changed_files:
        listed = (await _files(api, repo, found.number, _LARGEST_PAGE, 1)).items(tally)
        found.files = _fitting([_file(one) for one in listed])
    whole = tally.clean(answer.body.decode("utf-8", "replace"))
    found.diff, more = part_of(whole, page, DIFF_BYTES, FIRST_DIFF_BYTES)
    if not found.diff and page > 1:
        raise no_page(page)
    found.next_page = page + 1 if more else None
    found.note = _what_is_missing(found, cut=answer.cut and not more)


async def _files_instead(api: GitHubApi, repo: RepoName, found: PullRequest, tally: Tally) -> None:
    answer = await _files(api, repo, found.number, FILES, found.page)
    found.files = [_file(one) for one in answer.items(tally)[:FILES]]
    if not found.files and found.page > 1:
        raise no_page(found.page)
    found.note = "The whole diff is too large for GitHub; path gives the diff of one file."
    found.next_page = answer.next_page


def _fitting(files: list[ChangedFile]) -> list[ChangedFile]:
    """As many of the first files as there is room for beside a description and a diff."""
    room = _FILES_BYTES
    for index, one in enumerate(files):
        room -= size_of(one.path) + size_of(one.previous_path or "") + _FACTS_OF_A_FILE
        if room < 0:
            return files[:index]
    return files


def _what_is_missing(found: PullRequest, *, cut: bool) -> str | None:
    if cut:
        return f"Only the first {_MOST_DIFF_BYTES:,} bytes of the diff are read; path gives the diff of one file."
    if found.files is not None and len(found.files) < found.changed_files:
        return f"{len(found.files)} of {found.changed_files} files are listed here; the diff has all of them."
    return None


async def _files(api: GitHubApi, repo: RepoName, number: int, size: int, page: int) -> Answer:
    return await api.get_json(pull_request_files(repo, number, per_page=size, page=page))


def _file(item: Fields) -> ChangedFile:
    previous = item.text("previous_filename")
    longest = _LONGEST_PATH // 2 if previous else _LONGEST_PATH
    return ChangedFile(
        path=clip(item.text("filename"), longest)[0],
        status=item.text("status"),
        additions=item.number("additions"),
        deletions=item.number("deletions"),
        previous_path=clip(previous, longest)[0] if previous else None,
        patch_omitted=None if "patch" in item else True,
    )


async def _one_file(api: GitHubApi, repo: RepoName, found: PullRequest, path: str, tally: Tally) -> None:
    item = await _find(api, repo, found, path, tally)
    found.files = [_file(item)]
    if "patch" not in item:
        found.note = "GitHub shows no diff of this file: it is binary, too large, or only renamed. get_file reads it."
        return
    found.diff, more = part_of(item.text("patch"), found.page, DIFF_BYTES)
    if not found.diff and found.page > 1:
        raise no_page(found.page)
    found.next_page = found.page + 1 if more else None


async def _find(api: GitHubApi, repo: RepoName, found: PullRequest, path: str, tally: Tally) -> Fields:
    names: list[str] = []
    page: int | None = 1
    while page is not None and page <= _MOST_PAGES:
        answer = await _files(api, repo, found.number, _LARGEST_PAGE, page)
        for item in answer.items(tally):
            name = clean(item.raw_text("filename")).text
            if path in {name, item.raw_text("filename")}:
                return item
            names.append(name)
        page = answer.next_page
    close = difflib.get_close_matches(path, names, n=1, cutoff=0.6)
    step = f"Did you mean {clip(close[0], _LONGEST_PATH)[0]}?" if close else "Without path it lists the files."
    raise NotFoundError(f"The pull request changes no file {clip(path, _LONGEST_PATH)[0]}.", step)
