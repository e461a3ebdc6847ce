"""What each operation answers, by its name in the published description."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from tests.github.double.answers import Answer
from tests.github.double.routes import account, contents, issues, pulls, search
from tests.github.double.routes.call import Call

Handler: TypeAlias = Callable[[Call], Answer]

HANDLERS: Mapping[str, Handler] = {
    "activity/list-repos-starred-by-authenticated-user": account.starred,
    "issues/create": issues.create,
    "issues/create-comment": issues.create_comment,
    "issues/get": issues.get,
    "issues/list-comments": issues.comments,
    "issues/list-for-repo": issues.listed,
    "pulls/get": pulls.get,
    "pulls/list-files": pulls.files,
    "rate-limit/get": account.rate_limit,
    "repos/get": contents.repository,
    "repos/get-content": contents.get,
    "repos/get-readme": contents.readme,
    "search/code": search.code,
    "search/issues-and-pull-requests": search.issues,
    "search/repos": search.repositories,
    "users/get-authenticated": account.whoami,
}
