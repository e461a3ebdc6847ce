"""What is sent: nothing hidden in it, no secret, within the limits, and exactly what was shown."""

import base64
import json
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from unittest.mock import create_autospec

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared import _otel
from opentelemetry.trace import Span

from mcp_curated_github.names import RepoName
from mcp_curated_github.writing.drafts import Draft, Rules, SecretInTextError
from mcp_curated_github.writing.planning import Target, plan_issue
from mcp_curated_github.writing.preview import SHOWN_BYTES, shown
from mcp_curated_shared.errors import CuratedError, InvalidArgumentError, TooLargeError
from mcp_curated_shared.security.redaction import Redactor
from mcp_curated_shared.security.untrusted import INVISIBLE
from mcp_curated_shared.testing.clients import MODERN, Era
from mcp_curated_shared.testing.wire import running
from tests.github.desk import ISSUE, REPO, Desk, corpus, create, structure, willing
from tests.github.double import faults
from tests.github.double.credentials import token_text
from tests.github.serving import refused, text_of

RULES = Rules(Redactor(), 4_000)


def secrets_of_every_form() -> dict[str, str]:
    """Texts that each hold a secret of their own, and that secret; made now."""
    word = secrets.token_hex(12)
    found = {kind: token_text(kind) for kind in ("classic", "fine_grained", "oauth", "installation")}
    found["password"] = f"Zx9!{word}"
    return {
        found["classic"]: f"The token is {found['classic']}.",
        found["fine_grained"]: f'curl -H "Authorization: Bearer {found["fine_grained"]}" https://api.example',
        found["oauth"]: f"https://{found['oauth']}@github.com/octo-org/hello.git",
        found["installation"]: f"GITHUB_TOKEN={found['installation']}",
        found["password"]: f'{{"password": "{found["password"]}"}}',
    }


@given(st.text(max_size=300), st.text(min_size=1, max_size=60))
def test_a_draft_of_a_draft_is_the_same_draft(body: str, title: str):
    try:
        draft = RULES.issue(title, body, None)
    except CuratedError:
        return
    again = RULES.issue(draft.title or "", draft.body, None)
    assert (again.document, again.removed) == (draft.document, 0)


@given(st.text(max_size=300))
def test_a_draft_can_be_sent_and_holds_no_control_characters(body: str):
    draft = RULES.issue("x", body, None)
    json.dumps(draft.document, ensure_ascii=False).encode()
    assert not any((ord(one) < 32 and one not in "\n\t") or 127 <= ord(one) < 160 for one in draft.body)
    assert not {"\u2028", "\u2029"} & set(draft.body)


@given(st.text(max_size=200), st.text(min_size=1, max_size=60), st.sampled_from(["", "password=", "token "]))
def test_a_draft_is_in_its_question_to_the_last_character(body: str, title: str, before: str):
    try:
        draft = RULES.issue(title, f"{body}\n{before}{token_text('classic')}", None)
    except CuratedError:
        return
    target = Target(RepoName.parse(REPO), 1, "public")
    plan = plan_issue(target, draft).plan
    lines = plan.text.split("\n")
    assert "\n".join(line[2:] for line in lines if line.startswith("| ")) == draft.body
    assert lines[1] == f"Title: {draft.title}"
    assert json.loads(plan.content.partition(b"\0")[2]) == draft.document
    assert draft.redacted


def test_visible_text_is_sent_as_it_was_given():
    body = "Returns `Promise<string>`, can't find <workspace_id> &amp; 👩‍👩‍👧 نمی‌خواهم\n\ttab"
    draft = RULES.issue("can't `<b>`", body, ["good first issue"])
    assert draft.document == {"title": "can't `<b>`", "body": body, "labels": ["good first issue"]}
    assert (draft.redacted, draft.removed) == ((), 0)


def test_what_is_invisible_is_taken_out_and_counted():
    hidden = "\U000e0041\u200b\u202e\x1b\x00"
    draft = RULES.issue(f"Ti{hidden}tle", f"bo{hidden}dy", [f"b{hidden}ug"])
    assert draft.document == {"title": "Title", "body": "body", "labels": ["bug"]}
    assert draft.removed == 15
    assert INVISIBLE.search(draft.body) is None


def test_a_secret_split_by_invisible_characters_is_found():
    token = token_text("classic")
    draft = RULES.issue("x", f"{token[:9]}\u200b{token[9:]}", None)
    assert token[9:] not in draft.body
    assert draft.redacted


def test_secrets_in_title_body_and_labels_are_replaced_and_named_by_kind():
    for secret, text in secrets_of_every_form().items():
        draft = RULES.issue(text[:256] if len(text) <= 256 else "x", text, None)
        assert secret not in json.dumps(draft.document)
        assert draft.redacted
    token = token_text("classic")
    draft = RULES.issue("x", "", [token])
    assert token not in json.dumps(draft.document)


def test_this_servers_own_token_is_replaced_whatever_its_form():
    own = secrets.token_urlsafe(24)
    rules = Rules(Redactor([own]), 4_000)
    draft = rules.comment(f"{own} and {base64.b64encode(own.encode()).decode()}")
    assert own not in draft.body
    assert base64.b64encode(own.encode()).decode()[:20] not in draft.body


def test_a_secret_refuses_the_text_where_the_operator_says_so():
    rules = Rules(Redactor(), 4_000, block=True)
    with pytest.raises(SecretInTextError, match="NOT created: the text holds a secret"):
        rules.issue("x", f"token {token_text('classic')}", None)
    assert rules.issue("x", "nothing here", None).body == "nothing here"


def test_no_secret_of_the_development_corpus_is_sent():
    sent = 0
    for row in corpus():
        try:
            draft = Rules(Redactor(), 65_536).comment(row["text"])
        except InvalidArgumentError:
            continue
        sent += row["secret"] in draft.body
    assert sent / len(corpus()) <= 0.02  # how many the redactor finds is measured on its own


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("x" * 257, "", None), TooLargeError, "The title has 257 characters"),
        (("x", "y" * 4_001, None), TooLargeError, "4,001 characters; at most 4,000"),
        (("\u200b \n", "", None), InvalidArgumentError, "needs a title"),
        (("one\ntwo", "", None), InvalidArgumentError, "A title is one line"),
        (("x", "", ["a,b"]), InvalidArgumentError, "A label is a name"),
        (("x", "", [""]), InvalidArgumentError, "A label is a name"),
        (("x", "", ["y" * 51]), InvalidArgumentError, "A label is a name"),
        (("x", "", [str(one) for one in range(101)]), TooLargeError, "101 labels"),
    ],
)
def test_what_github_would_not_take_is_refused_before_it_is_asked(arguments: Any, error: Any, words: str):
    with pytest.raises(error, match=words):
        RULES.issue(*arguments)


def test_the_limits_themselves_are_allowed():
    draft = RULES.issue("x" * 256, "y" * 4_000, ["z" * 50])
    assert (len(draft.title or ""), len(draft.body)) == (256, 4_000)


def test_an_empty_comment_is_refused():
    with pytest.raises(InvalidArgumentError, match="needs a text"):
        RULES.comment("\u200b\n ")


def test_only_given_fields_are_sent():
    assert RULES.issue("x", "", None).document == {"title": "x", "body": ""}
    assert RULES.issue("x", "", []).document == {"title": "x", "body": "", "labels": []}
    assert Draft("hi").document == {"body": "hi"}


def test_a_long_plan_keeps_its_beginning_and_its_end_and_says_what_is_missing():
    text = "First.\n" + "é" * 60_000 + "\nWarning: last."
    cut = shown(text)
    assert len(cut.encode()) <= SHOWN_BYTES + 200
    assert cut.startswith("First.\néé")
    assert cut.endswith("éé\nWarning: last.")
    missing = int(cut.partition("\n[")[2].partition(" ")[0].replace(",", ""))
    assert missing == text.count("é") - cut.count("é")
    assert shown("short") == "short"


# Through the server


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["classic", "fine_grained", "oauth", "installation"])
async def test_what_was_shown_is_what_is_posted(kind: Any, era: Era, desk: Desk):
    token = token_text(kind)
    person = willing()
    title, body = f"Leak {token}", f"one\u200b\r\nAuthorization: Bearer {token}"
    if len(title) > 256:
        title = "Leak"
    async with desk.serving(era, person) as client:
        preview = text_of(await create(client, title=title, body=body, dry_run=True))
        made = structure(await create(client, title=title, body=body))
    (post,) = desk.there.journal.posts
    sent: Any = post.json
    bars = "\n".join(f"| {line}" for line in sent["body"].split("\n"))
    for text in (preview, person.asked[0]):
        assert f"Title: {sent['title']}\n" in text
        assert bars in text
        assert "Secrets were found and replaced" in text
        assert "1 invisible or control character was taken out" in text
    assert made["redacted"]
    assert made["invisible_removed"] == 1
    assert token[:12] not in post.wire.decode()


@pytest.mark.anyio
async def test_blocking_refuses_a_secret_before_anything_is_asked_of_anybody(era: Era, desk: Desk):
    person = willing()
    async with desk.serving(era, person, GITHUB_ON_SECRET="block") as client:
        for dry_run in (True, False):
            told, facts = await refused(
                client, "create_issue", **{**ISSUE, "body": f"token={token_text('classic')}", "dry_run": dry_run}
            )
            assert facts["kind"] == "secret_in_text"
            assert "ghp_" not in told
    assert (len(desk.there.journal), person.asked) == (0, [])


@pytest.mark.anyio
async def test_no_secret_and_no_token_appears_in_a_request_a_result_a_log_or_the_audit(era: Era, desk: Desk):
    samples = secrets_of_every_form() | {desk.token: f"mine is {desk.token}"}
    body = "\n".join(samples.values())
    with running(desk.command("--audit", "all"), era) as server:
        for title in ("It breaks", f"It is {next(iter(samples))}"):
            arguments = {"repo": REPO, "title": title, "body": body}
            held = server.call("tools/call", {"name": "create_issue", "arguments": {**arguments, "dry_run": False}})
            operation = held["result"]["structuredContent"]["operation_id"]
            desk.approve(operation)
            call = {**arguments, "dry_run": False, "confirmed_operation_id": operation}
            made = server.call("tools/call", {"name": "create_issue", "arguments": call})
            assert made["result"]["structuredContent"]["status"] == "created"
        server.call(
            "tools/call", {"name": "create_issue", "arguments": {"repo": f"octo-org/{body[:40]}", "title": body}}
        )
        server.close()
        output = b"\n".join(server.lines) + server.error_output
    written = (desk.state / "audit.jsonl").read_bytes()
    posts = b"".join(post.body for post in desk.there.journal.posts)
    assert len(desk.there.journal.posts) == 2
    for secret in samples:
        for place in (output, written, posts):
            assert secret.encode() not in place
            assert base64.b64encode(secret.encode())[:24] not in place


class Recorder:
    """Traces nothing, and keeps whatever a span is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    @contextmanager
    def start_as_current_span(self, name: str, *arguments: Any, **more: Any) -> Generator[Any]:
        self.told.append(f"{name} {arguments} {more}")
        span = create_autospec(Span, instance=True)
        try:
            yield span
        except BaseException as error:
            self.told.append(repr(error))
            raise
        finally:
            self.told.extend(str(call) for call in span.mock_calls)


@pytest.mark.anyio
async def test_no_secret_and_no_token_appears_in_a_span(era: Era, desk: Desk, monkeypatch: pytest.MonkeyPatch):
    recorder = Recorder()
    monkeypatch.setattr(_otel, "_tracer", recorder)
    samples = secrets_of_every_form() | {desk.token: f"mine is {desk.token}"}
    body = "\n".join(samples.values())
    desk.there.faults.on("issues/create", faults.closed_before(), faults.invalid_fields())
    async with desk.serving(era, willing()) as client:
        for title in ("unknown", "refused", "created"):
            await create(client, title=title, body=body)
        await create(client, repo=next(iter(samples)), body=body)
        await create(client, labels=[*samples], body=body)
    told = "\n".join(recorder.told)
    assert "create_issue" in told
    assert not [secret for secret in samples if secret in told]


@pytest.mark.anyio
async def test_no_secret_of_the_corpus_is_posted_or_returned(desk: Desk):
    found = [row for row in corpus() if row["secret"] not in Redactor().redact(row["text"])]
    text = "\n\n".join(row["text"] for row in found)[:60_000]
    async with desk.serving(MODERN, willing(), GITHUB_MAX_BODY="65536") as client:
        result = await create(client, body=text)
    assert structure(result)["status"] == "created"
    (post,) = desk.there.journal.posts
    left = [row["kind"] for row in found if row["secret"] in text and row["secret"].encode() in post.body]
    assert len(left) <= len(found) // 100, left
    assert not [row for row in found if row["secret"] in text_of(result)]


@pytest.mark.anyio
async def test_every_reply_about_the_longest_body_stays_within_24_kilobytes(era: Era, desk: Desk):
    for sign in ("é", '"', "\U0001f600"):
        async with desk.serving(era, GITHUB_MAX_BODY="65536") as client:
            for dry_run in (True, False):
                result = await create(client, title=sign * 256, body=sign * 65_536, dry_run=dry_run)
                size = len(result.model_dump_json(by_alias=True, exclude_none=True).encode())
                assert size <= 24_000
    assert desk.posts == 0


@pytest.mark.anyio
async def test_without_an_allowlist_the_writing_tools_are_not_listed_and_cannot_be_called(era: Era, desk: Desk):
    for allowed in ("", " , "):
        desk.allowed = allowed
        async with desk.serving(era, willing()) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert not {"create_issue", "add_issue_comment"} & set(names)
            with pytest.raises(Exception, match="Unknown tool"):
                await create(client)
    assert len(desk.there.journal) == 0
