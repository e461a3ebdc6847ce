"""The variables of the GitHub server, among the many that begin alike."""

from pathlib import Path

import pytest

from mcp_curated_github.settings import GithubSettings
from mcp_curated_shared.errors import SettingsError
from mcp_curated_shared.settings import load, render
from tests.github.double.credentials import token_text

# What GitHub Actions, Codespaces and the CLI set or read.
FOREIGN = [
    "GITHUB_ACTION", "GITHUB_ACTIONS", "GITHUB_ACTION_PATH", "GITHUB_ACTION_REF", "GITHUB_ACTION_REPOSITORY",
    "GITHUB_ACTOR", "GITHUB_ACTOR_ID", "GITHUB_BASE_REF", "GITHUB_ENV", "GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH",
    "GITHUB_GRAPHQL_URL", "GITHUB_HEAD_REF", "GITHUB_JOB", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_REF",
    "GITHUB_REF_NAME", "GITHUB_REF_PROTECTED", "GITHUB_REF_TYPE", "GITHUB_REPOSITORY", "GITHUB_REPOSITORY_ID",
    "GITHUB_REPOSITORY_OWNER", "GITHUB_REPOSITORY_OWNER_ID", "GITHUB_RETENTION_DAYS", "GITHUB_RUN_ATTEMPT",
    "GITHUB_RUN_ID", "GITHUB_RUN_NUMBER", "GITHUB_SERVER_URL", "GITHUB_SHA", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",
    "GITHUB_TRIGGERING_ACTOR", "GITHUB_WORKFLOW", "GITHUB_WORKFLOW_REF", "GITHUB_WORKFLOW_SHA", "GITHUB_WORKSPACE",
    "GITHUB_USER", "GITHUB_CODESPACE_TOKEN", "GITHUB_CODESPACES_PORT_FORWARDING_DOMAIN", "GITHUB_ENTERPRISE_TOKEN",
    "GH_ENTERPRISE_TOKEN", "GH_HOST", "GH_REPO", "GH_CONFIG_DIR", "GH_PAGER", "GITHUB_HOST", "GITHUB_TOOLSETS",
    "GITHUB_READ_ONLY", "GITHUB_PERSONAL",
]  # fmt: skip


def loaded(*arguments: str, **environment: str):
    return load(GithubSettings, [*arguments], environment)


@pytest.mark.parametrize("variable", FOREIGN)
def test_a_variable_of_actions_or_codespaces_is_not_taken_for_ours(variable: str):
    assert loaded(**{variable: "something"}).settings == loaded().settings


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("GITHUB_TOKNE", "GITHUB_TOKEN"),
        ("GITHUB_ALOWED_REPOS", "GITHUB_ALLOWED_REPOS"),
        ("GITHUB_ALLOWED_REPO", "GITHUB_ALLOWED_REPOS"),
        ("GITHUB_READ_REPO", "GITHUB_READ_REPOS"),
        ("GITHUB_CONFIRMS", "GITHUB_CONFIRM"),
        ("GITHUB_API_ULR", "GITHUB_API_URL"),
        ("github_token", "GITHUB_TOKEN"),
    ],
)
def test_a_near_miss_of_ours_is_refused_with_the_right_name(variable: str, meant: str):
    with pytest.raises(SettingsError) as refusal:
        loaded(**{variable: "x"})
    assert variable in str(refusal.value)
    assert meant in str(refusal.value)


def test_the_token_is_looked_for_under_three_names_in_order_and_then_in_a_file(tmp_path: Path):
    file = tmp_path / "token"
    file.write_text(token_text("classic") + "\n")
    named = {name: token_text("classic") for name in ("GITHUB_TOKEN", "GH_TOKEN", "GITHUB_PERSONAL_ACCESS_TOKEN")}
    left = {**named, "GITHUB_TOKEN_FILE": str(file)}
    for name, text in named.items():
        token = loaded(**left).settings.token
        assert token is not None and token.reveal() == text
        del left[name]
    token = loaded(**left).settings.token
    assert token is not None and token.reveal() == file.read_text().strip()
    assert loaded().settings.token is None


def test_the_token_is_among_the_known_secrets_and_is_never_shown():
    token = token_text("fine_grained")
    found = loaded(GITHUB_TOKEN=token)
    assert token in found.secrets
    assert token not in render(found)
    assert token not in repr(found.settings)


def test_a_token_that_a_host_did_not_expand_is_refused():
    with pytest.raises(SettingsError) as refusal:
        loaded(GITHUB_TOKEN="${GITHUB_PAT}")
    assert "GITHUB_PAT" in str(refusal.value)


@pytest.mark.parametrize("text", ["", ",", "  ", " , ,"])
def test_unset_empty_or_a_comma_means_that_nothing_may_be_written(text: str):
    assert not loaded(GITHUB_ALLOWED_REPOS=text).settings.allowed_repos


@pytest.mark.parametrize("text", [",", "octo", "*"])
def test_a_list_of_readable_repositories_that_names_none_stops_the_start(text: str):
    with pytest.raises(SettingsError):
        loaded(GITHUB_READ_REPOS=text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://api.github.com", "https://api.github.com"),
        ("https://API.github.com/", "https://api.github.com"),
        ("https://ghe.example/api/v3/", "https://ghe.example/api/v3"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/api", "http://[::1]:8080/api"),
        ("http://localhost:1", "http://localhost:1"),
    ],
)
def test_the_api_is_asked_over_https_or_on_this_machine(text: str, expected: str):
    assert str(loaded(GITHUB_API_URL=text).settings.api_url) == expected


@pytest.mark.parametrize(
    "text",
    [
        "http://ghe.example/api/v3", "http://10.0.0.1", "http://127.0.0.1.evil.test", "ftp://ghe.example",
        "https://user:pw@ghe.example", "https://ghe.example/api?x=1", "https://ghe.example/a/../b", "https://github.com",
        "https://ghe.example/%2e%2e", "ghe.example",
    ],
)  # fmt: skip
def test_another_address_of_the_api_stops_the_start(text: str):
    with pytest.raises(SettingsError):
        loaded(GITHUB_API_URL=text)


def test_the_longest_body_is_between_one_character_and_what_github_takes():
    assert loaded().settings.max_body == 4_000
    assert loaded(GITHUB_MAX_BODY="65536").settings.max_body == 65_536
    for text in ("0", "65537", "many"):
        with pytest.raises(SettingsError):
            loaded(GITHUB_MAX_BODY=text)


def test_consent_and_secrets_are_strict_by_default():
    settings = loaded().settings
    assert (settings.confirm, settings.on_secret, settings.use_gh) == ("ask", "redact", False)
    assert loaded(GITHUB_CONFIRM="deny", GITHUB_ON_SECRET="block", GITHUB_USE_GH="1").settings.use_gh
