"""The caller: who it is, what it starred, how much it may still ask."""

from tests.github.double.answers import Answer, Failed, failure, json_answer
from tests.github.double.routes.call import Call
from tests.github.double.shaping.accounts import private_user
from tests.github.double.shaping.repositories import listed
from tests.github.double.state import Account

_STARRED_AT = "application/vnd.github.v3.star+json"


def whoami(call: Call) -> Answer:
    """The caller's account."""
    return json_answer(private_user(call.view, _caller(call)))


def starred(call: Call) -> Answer:
    """The repositories that the caller starred, the newest star first."""
    stars = [one for one in _caller(call).starred if call.github.sees(call.view.viewer, one[0])]
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


def _caller(call: Call) -> Account:
    """The account; an installation of an app is none."""
    viewer = call.needs_account()
    if viewer.kind == "installation":
        raise Failed(failure(403, "Resource not accessible by integration"))
    return call.view.account(viewer.login)


def rate_limit(call: Call) -> Answer:
    """What is left of each limit."""
    resources = {name: window.document() for name, window in call.limits.windows(call.view.viewer).items()}
    return json_answer({"resources": resources, "rate": resources["core"]})
