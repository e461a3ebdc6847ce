"""The whole state, and the words in which a test builds it."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Literal

from tests.github.double.credentials import Kind, Token, token_text
from tests.github.double.state.accounts import Account
from tests.github.double.state.repositories import Repository

_BEGINNING = datetime(2024, 3, 1, 12, tzinfo=UTC)
_FORM = "%Y-%m-%dT%H:%M:%SZ"


class GitHub:
    """Accounts, repositories and tokens.

    What a test builds is of March 2024, each thing a second after the one before, so that orders by time are certain;
    what a request makes is of now.
    `index_lag`: whether search misses what requests have made until `index()`, as the real one does for a while.
    `incomplete_results`: what searches say of themselves. `enforce_limits`: whether a spent rate limit refuses.
    """

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.repositories: dict[int, Repository] = {}
        self.tokens: dict[str, Token] = {}
        self.limits: dict[str, int] = {}
        self.index_lag = False
        self.incomplete_results = False
        self.enforce_limits = False
        self._names: dict[str, int] = {}
        self._ids = count(1001)
        self._seconds = count(1)

    def moment(self) -> str:
        """The next moment of what is built, as GitHub writes it."""
        return (_BEGINNING + timedelta(seconds=next(self._seconds))).strftime(_FORM)

    @staticmethod
    def now() -> str:
        """The time by the clock, as GitHub writes it."""
        return datetime.now(UTC).strftime(_FORM)

    def next_id(self) -> int:
        """An id that nothing else has."""
        return next(self._ids)

    def account(self, login: str, kind: Literal["User", "Organization", "Bot"] = "User") -> Account:
        """The account of this login; one that is not there yet is made."""
        key = login.lower()
        if key not in self.accounts:
            self.accounts[key] = Account(login, self.next_id(), "Bot" if login.endswith("[bot]") else kind)
        return self.accounts[key]

    def organisation(self, login: str, *, members: Iterable[str] = ()) -> Account:
        """An organisation and its members, who may push to its repositories."""
        made = self.account(login, "Organization")
        made.kind = "Organization"
        made.members.update(self.account(member).login for member in members)
        return made

    def known(self, login: str | None) -> str | None:
        """The login, its account made where it was not there; None for an account that is gone."""
        return None if login is None else self.account(login).login

    def repository(
        self,
        full_name: str,
        *,
        description: str | None = "A sample.",
        private: bool = False,
        language: str | None = "Python",
        stars: int = 0,
        topics: Iterable[str] = (),
    ) -> Repository:
        """A new repository, empty; one that had its name before loses its redirection."""
        owner, _, name = full_name.partition("/")
        made = Repository(
            self, self.account(owner), name, self.next_id(), self.moment(), description, language, private
        )
        made.stars = stars
        made.topics = tuple(topics)
        self.repositories[made.id] = made
        self._names[full_name.lower()] = made.id
        return made

    def renamed(self, repository: Repository, full_name: str) -> None:
        """Give a repository another name, and perhaps owner."""
        owner, _, name = full_name.partition("/")
        repository.owner, repository.name = self.account(owner), name
        self._names[full_name.lower()] = repository.id

    def find(self, full_name: str) -> Repository | None:
        """The repository that has or had this name; letter case does not count."""
        return self.repositories.get(self._names.get(full_name.lower(), 0))

    def token(
        self,
        login: str = "octocat",
        kind: Kind = "classic",
        *,
        scopes: Iterable[str] = ("repo", "read:user"),
        permissions: Mapping[str, str] | None = None,
        repositories: Iterable[str] | None = None,
    ) -> str:
        """A new token of this account; `scopes` count for classic and OAuth ones, the rest for the other kinds."""
        text = token_text(kind)
        scoped = kind in ("classic", "oauth")
        self.tokens[text] = Token(
            text,
            kind,
            self.account(login).login,
            tuple(scopes) if scoped else (),
            None if scoped else dict(permissions if permissions is not None else {"issues": "write"}),
            None if repositories is None else frozenset(name.lower() for name in repositories),
        )
        return text

    def index(self) -> None:
        """Let search find everything."""
        for repository in self.repositories.values():
            for issue in repository.issues.values():
                issue.indexed = True

    def sees(self, viewer: Token | None, repository: Repository) -> bool:
        """Whether a caller may know of this repository."""
        if not repository.private:
            return True
        if viewer is not None and viewer.kind == "installation":
            return viewer.repositories is None or repository.full_name.lower() in viewer.repositories
        if viewer is None or not repository.may_push(viewer.login):
            return False
        if viewer.scoped:
            return "repo" in viewer.scopes
        return viewer.repositories is None or repository.full_name.lower() in viewer.repositories
