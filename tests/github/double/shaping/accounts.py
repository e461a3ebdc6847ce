"""Users and organisations."""

from tests.github.double.answers import JsonObject
from tests.github.double.shaping.view import WEB, View, node_id
from tests.github.double.state import Account

_PATHS = {
    "url": "",
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}


def simple_user(view: View, account: Account) -> JsonObject:
    """An account as it stands in other objects."""
    links = {name: f"{view.api}/users/{account.login}{path}" for name, path in _PATHS.items()}
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("U", account.id),
        "avatar_url": f"https://avatars.githubusercontent.com/u/{account.id}?v=4",
        "gravatar_id": "",
        **links,
        "html_url": f"{WEB}/{account.login}",
        "type": account.kind,
        "site_admin": False,
        "user_view_type": "public",
    }


def author(view: View, login: str | None) -> JsonObject | None:
    """Who wrote something; None for an account that is gone."""
    return None if login is None else simple_user(view, view.account(login))


def private_user(view: View, account: Account) -> JsonObject:
    """The caller's own account."""
    owned = [one for one in view.github.repositories.values() if one.owner is account]
    return {
        **simple_user(view, account),
        "user_view_type": "private",
        "name": account.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": account.email,
        "notification_email": account.email,
        "hireable": None,
        "bio": account.bio,
        "twitter_username": None,
        "public_repos": sum(not one.private for one in owned),
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": "2020-01-01T00:00:00Z",
        "updated_at": "2024-02-01T00:00:00Z",
        "private_gists": 0,
        "total_private_repos": sum(one.private for one in owned),
        "owned_private_repos": sum(one.private for one in owned),
        "disk_usage": 1024,
        "collaborators": 0,
        "two_factor_authentication": True,
        "plan": {"name": "free", "space": 976562499, "collaborators": 0, "private_repos": 10000},
    }
