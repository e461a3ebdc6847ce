"""The doctor: what kind of token, what it may do, what is left of the limits, what may be written, and each fix."""

import secrets
import socket
from pathlib import Path

import pytest

from mcp_curated_github.__main__ import PROGRAM
from mcp_curated_github.doctor import checks, online_checks, token_kind
from mcp_curated_github.settings import GithubSettings
from mcp_curated_shared.doctor import Finding, doctor
from mcp_curated_shared.settings import Secret, load
from tests.github.desk import REPO, Desk
from tests.github.double import faults
from tests.github.double.credentials import Kind, token_text
from tests.github.serving import environment


def local(**variables: str) -> dict[str, Finding]:
    found = checks(load(GithubSettings, [], variables))
    return {one.subject: one for one in found}


def online(desk: Desk, token: str | None, *arguments: str, **variables: str) -> list[Finding]:
    given = environment(desk.there, token, **variables)
    return list(online_checks(load(GithubSettings, list(arguments), given)))


def about(findings: list[Finding], subject: str) -> Finding:
    return next(one for one in findings if one.subject == subject)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("classic", "classic"),
        ("fine_grained", "fine-grained"),
        ("installation", "installation"),
        ("oauth", "OAuth"),
    ],
)
def test_a_token_is_known_by_its_form(kind: Kind, told: str):
    assert token_kind(Secret(token_text(kind))) == told


def test_no_token_an_old_one_and_one_that_nobody_knows_are_told_apart():
    assert token_kind(None) == "none"
    assert token_kind(Secret(secrets.token_hex(20))) == "classic"
    assert token_kind(Secret("x" * 30)) == "unknown"


def test_without_a_list_nothing_can_be_written_and_that_is_fine():
    assert local()["allowlist"].level == "ok"
    assert "not listed" in local()["allowlist"].text


def test_a_whole_owner_on_the_list_is_pointed_out():
    found = local(GITHUB_ALLOWED_REPOS="octo-org/hello, octo-org/*")["allowlist"]
    assert (found.level, bool(found.fix)) == ("warn", True)
    assert "octo-org/hello" in found.text


@pytest.mark.parametrize(("policy", "level"), [("ask", "ok"), ("elicit", "ok"), ("deny", "ok"), ("host", "warn")])
def test_what_counts_as_consent_is_told_and_the_weak_kind_pointed_out(policy: str, level: str):
    found = local(GITHUB_CONFIRM=policy)["consent"]
    assert (found.level, bool(found.fix)) == (level, level == "warn")
    assert found.text.startswith(f"{policy}: ")


def test_writing_without_an_audit_is_pointed_out():
    found = {one.subject: one for one in checks(load(GithubSettings, ["--audit", "off", "--allowed-repos", REPO], {}))}
    assert (found["audit"].level, found["audit"].fix) == ("warn", "Leave out --audit off.")


def test_a_good_token_is_told_with_its_account_scopes_limit_and_repositories(desk: Desk):
    findings = online(desk, desk.token, GITHUB_ALLOWED_REPOS=REPO)
    assert {one.level for one in findings} == {"ok"}
    assert about(findings, "API").text == f"{desk.there.url} answers, as octocat"
    assert about(findings, "token").text == "classic, with the scopes repo, read:user"
    assert "requests left" in about(findings, "rate limit").text
    assert about(findings, "allowlist").text == f"{REPO} is there (public) and takes issues"
    assert not [one for one in findings if desk.token in one.text + one.fix]


def test_a_token_that_cannot_write_or_may_too_much_is_pointed_out_with_a_fix(desk: Desk):
    poor = about(online(desk, desk.there.github.token(scopes=["gist"]), GITHUB_ALLOWED_REPOS=REPO), "token")
    assert (poor.level, "can write no issue" in poor.text) == ("warn", True)
    rich = about(online(desk, desk.there.github.token(scopes=["repo", "delete_repo"])), "token")
    assert (rich.level, "delete_repo is far more" in rich.text) == ("warn", True)
    assert poor.fix
    assert rich.fix


def test_an_installation_is_no_account_and_no_failure(desk: Desk):
    findings = online(desk, desk.there.github.token("app[bot]", "installation"), GITHUB_ALLOWED_REPOS=REPO)
    assert not [one for one in findings if one.level == "fail"]
    assert about(findings, "token").text.startswith("installation")


def test_no_token_reads_and_is_a_failure_only_where_writing_is_wanted(desk: Desk):
    assert about(online(desk, None), "token").level == "ok"
    found = about(online(desk, None, GITHUB_ALLOWED_REPOS=REPO), "token")
    assert (found.level, "GITHUB_TOKEN" in found.fix) == ("fail", True)


def test_a_token_that_is_refused_is_a_failure_with_a_fix(desk: Desk):
    (found,) = online(desk, token_text("classic"))
    assert (found.level, found.subject) == ("fail", "token")
    assert found.fix


def test_a_spent_limit_says_when_it_begins_anew(desk: Desk):
    desk.there.github.limits["core"] = 2
    found = about(online(desk, desk.token), "rate limit")
    assert found.level == "warn"
    assert found.text.startswith("1 of 2 requests left; it begins anew in 60 minutes")
    assert found.fix == "Wait."


def test_repositories_that_cannot_be_written_to_are_each_pointed_out(desk: Desk):
    github = desk.there.github
    github.repository("octo-org/old").archived = True
    github.repository("octo-org/quiet").has_issues = False
    github.repository("octo-org/before").rename("octo-org/after")
    listed = "octo-org/old octo-org/quiet octo-org/before octo-org/missing octo-org/*"
    findings = [one for one in online(desk, desk.token, GITHUB_ALLOWED_REPOS=listed) if one.subject == "allowlist"]
    assert [(one.level, bool(one.fix)) for one in findings] == [("warn", True)] * 4
    told = "\n".join(one.text for one in findings)
    for words in ("is archived", "issues switched off", "is called octo-org/after now", "octo-org/missing"):
        assert words in told


def test_an_api_that_cannot_be_reached_is_a_failure_with_a_fix():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        (found,) = list(online_checks(load(GithubSettings, [], {"GITHUB_API_URL": url})))
    assert (found.level, found.subject, "GITHUB_API_URL" in found.fix) == ("fail", "API", True)


def test_a_gateway_that_fails_is_told_as_a_failure_of_the_api(desk: Desk):
    desk.there.faults.always(faults.unicorn())
    (found,) = online(desk, desk.token)
    assert (found.level, found.subject) == ("fail", "API")


def test_the_command_asks_github_unless_it_is_offline(desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    given = environment(desk.there, desk.token, GITHUB_ALLOWED_REPOS=REPO)
    state = ["--state-dir", str(tmp_path / "doctor")]
    assert doctor(PROGRAM, ["--offline", *state], given) == 0
    assert len(desk.there.journal) == 0
    assert doctor(PROGRAM, state, given) == 0
    shown = capsys.readouterr().out
    assert "answers, as octocat" in shown
    assert "create_issue" in shown
    assert desk.token not in shown
