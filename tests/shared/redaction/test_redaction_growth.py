"""The work grows with the text and not with its malice."""

import sys
from types import FrameType

import pytest

from mcp_curated_shared.security.redaction import scan

SEEDS = (
    "password=",
    "token=token=",
    "key key ",
    "cookie:",
    "pass(",
    "://",
    "a://a:",
    "eyJ",
    "eyJ.",
    "eyJhbGciOiJIUzI1NiJ9.",
    "-----BEGIN PRIVATE KEY-----",
    "----",
    "gh" + "p_",
    "gh" + "p_\n",
    "xsk-",
    "Cookie: a=b; ",
    "authorization:",
    "Bearer ",
    "basic ",
    "curl -u ",
    "mysql -p",
    "kind: Secret\ndata:\n",
    '"kind":"Secret","data":{',
    'password: "',
    "<password>",
    "[REDACTED:",
    "secret[REDACTED:x]",
    "AKIA",
    "a1Q~",
    "0",
    "aA1",
    "\\",
    "%3A%2F%2F",
    "pa\u200bss",
    "a-T3Blbk" + "FJ",
    "aaaaaaaaaaaa.atlasv1.",
    "MII",
    "LS0tLS1CRUdJTi",
    "Private-Lines: 9\nAAAA ",
    "password is ",
    "x=1;",
    "密码\uff1a",
    "machine a login b password ",
    "echo x | ",
    "a:5432:b:c:",
    "a:b@tcp(",
    "jdbc:oracle:thin:",
    '{"name":"token","value":',
    "token: a[a[",
    "${",
    "{{",
    "+ASt",
    "a/b+c",
    "_gitlab_session=",
    "cookie=",
    "pass || '",
    "secret { get; set; } = ",
    'form-data; name="token"\n\n',
    "zip -P",
)


def _seconds(text: str) -> float:
    import time

    best = 9.0
    for _ in range(3):
        start = time.thread_time()
        scan(text)
        best = min(best, time.thread_time() - start)
    return best


@pytest.mark.parametrize("seed", SEEDS)
def test_eight_times_the_text_takes_about_eight_times_the_work(seed: str) -> None:
    unit = (seed * 2000)[:2000]
    # Counted beside a text of the same length that costs next to nothing, so that a slow machine is slow for both; a
    # quadratic step would show as a factor of 64.
    small, large = _seconds(unit), _seconds(unit * 8)
    assert large < 24 * max(small, 0.0005)


def _calls(text: str) -> int:
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(trace)
    try:
        scan(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("seed", SEEDS)
def test_the_number_of_steps_grows_with_the_length(seed: str) -> None:
    unit = (seed * 1000)[:1000]
    once, four = _calls(unit), _calls(unit * 4)
    assert four < 4.5 * 2 * once + 2000  # twice: one more reading follows where something was found
