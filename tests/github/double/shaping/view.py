"""Who asks, and where the API and the pages are."""

from dataclasses import dataclass

from tests.github.double.credentials import Token
from tests.github.double.state import Account, GitHub

WEB = "https://github.com"


@dataclass(frozen=True, slots=True)
class View:
    """What an answer depends on besides the state: the API's base URL and the caller (None: anonymous)."""

    github: GitHub
    api: str
    viewer: Token | None

    def account(self, login: str) -> Account:
        """The account of a login."""
        return self.github.account(login)


def node_id(kind: str, number: int) -> str:
    """A global id."""
    return f"{kind}_kwDO{number:08d}"
