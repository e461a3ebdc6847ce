"""The text of each result: what is said by others, to be framed, and our own line on how to go on."""

from collections.abc import Iterable
from dataclasses import dataclass

from mcp_curated_github.models import (
    THIRD_PARTIES,
    Account,
    ChangedFile,
    CodeHit,
    CodeHits,
    Comment,
    Content,
    Entry,
    Issue,
    IssueHit,
    IssueHits,
    PullRequest,
    RepositoryHit,
    RepositoryHits,
    Untrusted,
)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A result in words.

    Attributes:
        body: What others wrote, names included.
        source: Where it is from.
        author: Who wrote it, where it is one.
        after: Our own words on it: what is missing, how to go on.
    """

    body: str
    source: str
    author: str = ""
    after: str = ""


def _lines(*lines: str | None) -> str:
    return "\n".join(line for line in lines if line)


def _after(result: Untrusted, page: int, *more: str | None) -> str:
    """Our own words at the end of every result by others."""
    hidden = result.invisible_removed
    return " ".join(
        part
        for part in (
            f"{THIRD_PARTIES[0].upper()}{THIRD_PARTIES[1:]}.",
            f"{hidden} invisible characters removed." if hidden else None,
            *more,
            f"Page {page}; call again with page={result.next_page}." if result.next_page is not None else None,
        )
        if part
    )


def _counted(total: int | None, incomplete: bool | None, shown: int) -> str | None:
    if not shown and not total:
        return "Nothing was found."
    late = " GitHub ran out of time: there may be more." if incomplete else ""
    return f"{total:,} found.{late}" if total is not None else late.strip() or None


def repositories(found: RepositoryHits, page: int, source: str = "GitHub search") -> Rendered:
    """One line a repository."""
    body = _lines(*(repository_line(one) for one in found.hits))
    return Rendered(body, source, after=_after(found, page, _counted(found.total, found.incomplete, len(found.hits))))


def repository_line(one: RepositoryHit) -> str:
    """A repository on one line."""
    facts = ", ".join(
        part
        for part in (
            f"{one.stars} stars",
            one.language,
            "private" if one.private else None,
            "archived" if one.archived else None,
            one.updated,
            f"starred {one.starred}" if one.starred else None,
        )
        if part
    )
    return f"{one.repo} ({facts})" + (f": {_one_line(one.description)}" if one.description else "")


def code(found: CodeHits, page: int) -> Rendered:
    """One line a file, with what was found in it."""
    body = _lines(*(_code(one) for one in found.hits))
    return Rendered(
        body, "GitHub code search", after=_after(found, page, _counted(found.total, found.incomplete, len(found.hits)))
    )


def _code(one: CodeHit) -> str:
    return f"{one.repo}: {one.path}" + (f": {_one_line(one.text)}" if one.text else "")


def issues(found: IssueHits, page: int) -> Rendered:
    """One line an issue."""
    body = _lines(*(_issue_hit(one) for one in found.hits))
    return Rendered(
        body, "GitHub issue search", after=_after(found, page, _counted(found.total, found.incomplete, len(found.hits)))
    )


def _issue_hit(one: IssueHit) -> str:
    kind = "PR" if one.is_pull_request else "issue"
    facts = f"{one.state} {kind} by {one.author}, {one.association}, {one.updated}, {one.comments} comments"
    return f"{one.repo}#{one.number} ({facts}): {_one_line(one.title)}" + (f": {one.text}" if one.text else "")


def content(found: Content) -> Rendered:
    """The text of a file as it is, or the entries of a folder."""
    source = f"{found.repo}: {found.path or '/'}"
    facts = [found.type]
    if found.size is not None:
        facts.append(f"{found.size:,} bytes")
    if found.sha:
        facts.append(f"sha {found.sha}")
    if found.target:
        facts.append(f"leads to {_one_line(found.target)}")
    facts += _renamed(found.renamed_to)
    if found.entries is not None:
        body = _lines(*(_entry(one) for one in found.entries)) or "(empty)"
    else:
        body = found.text or ""
    return Rendered(body, source, after=_after(found, found.page, f"{source}: {', '.join(facts)}.", found.note))


def _entry(one: Entry) -> str:
    return one.name + {"folder": "/", "file": f"  {one.size or 0}"}.get(one.type, f"  ({one.type})")


def issue(found: Issue, page: int) -> Rendered:
    """The issue, then what was said."""
    kind = "pull request" if found.is_pull_request else "issue"
    facts = [f"{found.state} {kind}", f"by {found.author} ({found.association})", f"created {found.created}"]
    facts.append(f"updated {found.updated}")
    if found.labels:
        facts.append(f"labels {', '.join(found.labels)}")
    if found.assignees:
        facts.append(f"assigned to {', '.join(found.assignees)}")
    facts += _renamed(found.renamed_to)
    head = f"{found.repo}#{found.number}: {_one_line(found.title)}"
    body = _lines(head, f"({', '.join(facts)})", found.body, *(_comment(one) for one in found.comments))
    part = f"Part {found.body_part} of the body." if found.body_part else None
    count = f"{found.comment_count} comments in all." if found.comment_count else "No comments."
    return Rendered(
        body,
        f"{found.repo}#{found.number}",
        "" if found.comments else found.author,
        _after(found, page, part, count, found.note),
    )


def _comment(one: Comment) -> str:
    return f"--- comment {one.n} by {one.author} ({one.association}), {one.created}:\n{one.body}"


def pull_request(found: PullRequest) -> Rendered:
    """Its facts, then its files, then the diff."""
    facts = [found.state, *(word for word in ("draft", "merged") if getattr(found, word))]
    facts += [f"by {found.author} ({found.association})", f"updated {found.updated}"]
    facts += [f"{found.head} at {found.head_sha} into {found.base}"]
    facts += [f"{found.changed_files} files, +{found.additions} -{found.deletions}"]
    if found.mergeable is not None:
        facts.append("mergeable" if found.mergeable else "not mergeable")
    facts += _renamed(found.renamed_to)
    body = _lines(
        f"{found.repo}#{found.number}: {_one_line(found.title)}",
        f"({', '.join(facts)})",
        found.body,
        *(_changed(one) for one in found.files or ()),
        found.diff,
    )
    cut = "The description is cut; get_issue gives all of it." if found.body_truncated else None
    return Rendered(body, f"{found.repo}#{found.number}", after=_after(found, found.page, cut, found.note))


def _changed(one: ChangedFile) -> str:
    before = f" (was {one.previous_path})" if one.previous_path else ""
    omitted = ", no diff" if one.patch_omitted else ""
    return f"* {one.path}{before}: {one.status}, +{one.additions} -{one.deletions}{omitted}"


def account(found: Account) -> str:
    """Who it is, in one or two lines."""
    if not found.authenticated:
        who = f"No token: public data of {found.api} is read, and nothing is written."
    else:
        named = f" ({_one_line(found.name)})" if found.name else ""
        scopes = f", scopes {found.scopes or 'none'}" if found.scopes is not None else ", a token without scopes"
        who = f"{found.login or 'No account'}{named}, {found.type or 'account'}, on {found.api}{scopes}."
    left = ""
    if found.requests_left is not None:
        left = f" {found.requests_left} of {found.requests_limit} requests left for {found.resets_in_s} s."
    return who + left


def _renamed(name: str | None) -> Iterable[str]:
    return [f"renamed to {name}"] if name else []


def _one_line(text: str) -> str:
    return " ".join(text.split())
