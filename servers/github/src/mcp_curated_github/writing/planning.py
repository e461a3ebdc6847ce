"""From a call to a plan: where it goes, as GitHub knows that place now, whether it may, and what a person is asked."""

from dataclasses import dataclass, replace
from typing import Final

from mcp_curated_github.api import Fields, GitHubApi, Tally
from mcp_curated_github.api.moves import repo_name
from mcp_curated_github.errors import GitHubError, one_line
from mcp_curated_github.models import THIRD_PARTIES
from mcp_curated_github.names import RepoName
from mcp_curated_github.routes import Route, issue, issue_comments, issues, repository
from mcp_curated_github.writing.drafts import Draft
from mcp_curated_shared.errors import CuratedError, NotAllowedError
from mcp_curated_shared.security.allowlist import Allowlist
from mcp_curated_shared.security.confirmation import Plan

_MOST_LOOKED_AT: Final = 20
_LONGEST_SHOWN: Final = 120


@dataclass(frozen=True, slots=True)
class Target:
    """A repository as GitHub knows it now.

    Attributes:
        repo: Its full name today.
        id: What stays when its name changes: a consent is for this repository, not for whoever takes its name.
        visibility: "public", "private" or "internal".
        asked: The name that the call gave, where that is an old one.
        has_issues: Whether it takes issues.
        notes: What a person should know besides.
    """

    repo: RepoName
    id: int
    visibility: str
    has_issues: bool = True
    asked: RepoName | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Write:
    """One write, complete.

    Attributes:
        target: The repository.
        draft: What is sent.
        plan: The question, and what a consent is bound to.
        number: The issue that is commented on; None where one is created.
    """

    target: Target
    draft: Draft
    plan: Plan
    number: int | None = None

    @property
    def route(self) -> Route:
        """Where it is posted."""
        if self.number is None:
            return issues(self.target.repo)
        return issue_comments(self.target.repo, self.number)


def check_allowed(allowed: Allowlist, repo: RepoName) -> None:
    """Refuse a repository in which nothing may be written.

    Raises:
        NotAllowedError: GITHUB_ALLOWED_REPOS does not name it.
    """
    if not allowed.allows(str(repo)):
        raise NotAllowedError(
            f"Nothing was written: {repo} is not among the repositories that may be written to here.",
            "Only the operator can add it (GITHUB_ALLOWED_REPOS).",
        )


async def find_target(api: GitHubApi, allowed: Allowlist, repo: RepoName) -> Target:
    """Look at the repository that is to be written to.

    A rename is followed here, by the repository's id, and its new name must be allowed too: the old name may belong to
    somebody else tomorrow.

    Raises:
        NotAllowedError: It, or what it was renamed to, may not be written to.
        GitHubError: It is not there, is archived, or there is no token.
    """
    check_allowed(allowed, repo)
    api.needs_token("Writing")
    answer = await api.get_json(repository(repo), scoped=False)
    found = answer.fields(Tally())
    now = repo_name(found.text("full_name"))
    if now is None or found.number("id") < 1:  # a consent is bound to the id: without one it would fit any other too
        raise GitHubError(
            "bad_response",
            "Nothing was written: GitHub's answer does not tell which repository it is about.",
            "Perhaps a proxy answered; the operator can check GITHUB_API_URL.",
        )
    if now != repo:
        _check_renamed(allowed, repo, now)
    if found.flag("archived"):
        raise GitHubError("archived", f"Nothing was written: {now} is archived, so it is read-only.", "Do not retry.")
    takes_issues = "has_issues" not in found or found.flag("has_issues")
    target = Target(now, found.number("id"), _visibility(found), takes_issues, repo if now != repo else None)
    return replace(target, notes=await _notes(api, target))


def _check_renamed(allowed: Allowlist, repo: RepoName, now: RepoName) -> None:
    if not allowed.allows(str(now)):
        raise NotAllowedError(
            f"Nothing was written: {repo} is now {now}, which is not among the repositories that may be written to.",
            "Only the operator can add it (GITHUB_ALLOWED_REPOS).",
        )


def _visibility(found: Fields) -> str:
    told = found.text("visibility")
    if told in {"public", "private", "internal"}:
        return told
    return "private" if found.flag("private") else "public"


async def _notes(api: GitHubApi, target: Target) -> tuple[str, ...]:
    notes: list[str] = []
    if target.asked is not None:
        notes.append(f"Note: {target.asked} is called {target.repo} now.")
    if target.visibility == "public" and await private_was_read(api):
        notes.append(
            "Warning: everybody can read this repository, and private repositories were read before. See that nothing"
            " of them is in the text."
        )
    return tuple(notes)


async def private_was_read(api: GitHubApi) -> bool:
    """Whether this process has read of a repository that is not public.

    What was read is remembered by name; whether it is private is asked only now, when something is to be written.
    More than twenty that are not known yet count as private: a warning too many costs less than one too few.
    """
    unknown = [name for name in api.reads.names if name not in api.reads.public]
    if api.reads.private or len(unknown) > _MOST_LOOKED_AT:
        return True
    for name in unknown:
        try:
            found = (await api.get_json(repository(RepoName.parse(name)), scoped=False)).fields(Tally())
        except CuratedError:
            continue  # gone, or not ours to see any more: nothing can be told of it
        if _visibility(found) == "public":
            api.reads.public.add(name)
        else:
            api.reads.private = True
            return True
    return False


async def check_unchanged(api: GitHubApi, allowed: Allowlist, write: Write) -> None:
    """Look again, right before sending: a person may take minutes to answer, and what they agreed to must still be so.

    In the handshake eras the question is asked in the middle of the call. Meanwhile the repository may have become
    public, or its name somebody else's; the issue may have moved.

    Raises:
        GitHubError: A question would say something else now (`changed`), or GitHub refuses.
        NotAllowedError: It may not be written to any more.
    """
    target = await find_target(api, allowed, write.target.repo)
    number = write.number
    now = plan_issue(target, write.draft) if number is None else await plan_comment(api, target, number, write.draft)
    if now.plan.digest != write.plan.digest:
        raise GitHubError(
            "changed",
            f"Nothing was written: {write.target.repo} ({write.target.visibility}) is not what it was when its user was"
            f" asked; it is {target.repo} ({target.visibility}) now.",
            "Call again, so that they are asked anew.",
        )


def plan_issue(target: Target, draft: Draft) -> Write:
    """The plan of a new issue.

    Raises:
        GitHubError: The repository takes none.
    """
    if not target.has_issues:
        raise GitHubError(
            "issues_disabled", f"Nothing was written: {target.repo} has its issues switched off.", "Do not try again."
        )
    labels = () if not draft.labels else (f"Labels: {', '.join(draft.labels)}",)
    plan = Plan(
        operation="create_issue",
        question=f"Create an issue in {target.repo} ({target.visibility})?",
        word=str(target.repo),
        content=_content(target, draft),
        lines=(f"Title: {draft.title}", *labels, *_shown(draft.body)),
        not_done="NOT created",
        notes=(*_changed(draft), *target.notes),
    )
    return Write(target, draft, plan)


async def plan_comment(api: GitHubApi, target: Target, number: int, draft: Draft) -> Write:
    """The plan of a comment.

    Raises:
        GitHubError: There is no such issue, it was moved to another repository, or nothing may be said in it.
    """
    answer = await api.get_json(issue(target.repo, number), scoped=False)
    if answer.renamed_to is not None and answer.renamed_to != target.repo:
        raise GitHubError(
            "renamed",
            f"Nothing was written: the issue {target.repo}#{number} was moved to {answer.renamed_to}.",
            "Comment on it there, if that is allowed.",
        )
    found = answer.fields(Tally())
    if found.number("number") != number:
        raise GitHubError("bad_response", "GitHub answered with another issue.", "Try again later.")
    kind = "pull request" if "pull_request" in found else "issue"
    plan = Plan(
        operation="add_issue_comment",
        question=f"Comment on {target.repo}#{number} ({target.visibility})?",
        word=str(target.repo),
        content=b"%d\0" % number + _content(target, draft),
        lines=_shown(draft.body),
        not_done="NOT written",
        notes=(*_title_note(api, target, found, kind), *_changed(draft), *target.notes),
    )
    return Write(target, draft, plan, number)


def _title_note(api: GitHubApi, target: Target, found: Fields, kind: str) -> tuple[str, ...]:
    if not api.may_read(target.repo):  # what may not be read is not told on this way either
        return ()
    title = one_line(found.text("title"), _LONGEST_SHOWN).replace('"', "'")
    state, author = found.text("state"), f"{one_line(found.login(), 60)} ({found.text('author_association') or 'NONE'})"
    return (
        f'It is {"an open" if state == "open" else "a closed"} {kind} by {author}, titled "{title}" ({THIRD_PARTIES}).',
    )


def _content(target: Target, draft: Draft) -> bytes:
    return b"%d\0" % target.id + draft.content


def _shown(body: str) -> tuple[str, ...]:
    """The whole body behind bars: no line of it can pass for one of ours."""
    if not body:
        return ("Body: none",)
    return (f"Body, {len(body):,} characters:", *(f"| {line}" for line in body.split("\n")))


def _changed(draft: Draft) -> tuple[str, ...]:
    notes: list[str] = []
    if draft.redacted:
        notes.append(
            f"Secrets were found and replaced ({', '.join(draft.redacted)}): what is shown here is what is sent."
        )
    if draft.removed:
        some = "character was" if draft.removed == 1 else "characters were"
        notes.append(f"{draft.removed:,} invisible or control {some} taken out of it.")
    return tuple(notes)
