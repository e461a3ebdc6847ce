"""The caller: who it is, what it starred, how much it may still ask."""

from tests.github.double.answers import Answer, json_answer
from tests.github.double.routes.call import Call
from tests.github.double.shaping.accounts import private_user
from tests.github.double.shaping.repositories import listed

_STARRED_AT = "application/vnd.github.v3.star+json"


def whoami(call: Call) -> Answer:
    """The caller's account."""
    call.needs_account()
    assert call.view.viewer is not None
    return json_answer(private_user(call.view, call.view.account(call.view.viewer.login)))


def starred(call: Call) -> Answer:
    """The repositories that the caller starred, the newest star first."""
    call.needs_account()
    assert call.view.viewer is not None
    stars = [
        (repository, at)
        for repository, at in call.view.account(call.view.viewer.login).starred
        if call.github.sees(call.view.viewer, repository)
    ]
    if call.request.query.get("sort") == "updated":
        stars.sort(key=lambda star: star[0].pushed_at)
    if call.request.query.get("direction") != "asc":
        stars.reverse()
    with_time = call.form == "star"
    shaped = [
        {"starred_at": at, "repo": listed(call.view, one)} if with_time else listed(call.view, one) for one, at in stars
    ]
    items, links = call.page(shaped, "/user/starred")
    if with_time:
        return json_answer(items, headers=links, media=_STARRED_AT, described_as=_STARRED_AT)
    return json_answer(items, headers=links)


def rate_limit(call: Call) -> Answer:
    """What is left of each limit."""
    resources = {name: window.document() for name, window in call.limits.windows(call.view.viewer).items()}
    return json_answer({"resources": resources, "rate": resources["core"]})
