"""Pull requests: as JSON, as a diff, and their files."""

from tests.github.double.answers import Answer, Failed, failure, json_answer, not_found, raw_answer
from tests.github.double.routes.call import Call
from tests.github.double.shaping import pulls as shaping
from tests.github.double.state import PullRequest
from tests.github.double.state.pulls import MOST_FILES_OF_A_DIFF, MOST_LINES_OF_A_DIFF

MOST_FILES = 3000


def get(call: Call) -> Answer:
    """One pull request; 406 where its diff is asked for and too large."""
    found, form = _pull(call), call.form
    if form not in ("diff", "patch"):
        return json_answer(shaping.pull_request(call.view, found))
    if found.diff_is_too_large:
        raise Failed(too_large(len(found.files) > MOST_FILES_OF_A_DIFF))
    head = f"From {found.id:040x}\nSubject: [PATCH] {found.title}\n---\n" if form == "patch" else ""
    return raw_answer((head + found.diff).encode(), f"application/vnd.github.{form}")


def files(call: Call) -> Answer:
    """The changed files, at most 3,000."""
    found = _pull(call)
    shaped = [shaping.changed_file(call.view, found, one) for one in found.files[:MOST_FILES]]
    items, links = call.page(shaped, f"/repositories/{found.repository.id}/pulls/{found.number}/files")
    return json_answer(items, headers=links)


def too_large(by_files: bool = True) -> Answer:
    """The answer to a request for a diff that is too large."""
    limit = f"files ({MOST_FILES_OF_A_DIFF})" if by_files else f"lines ({MOST_LINES_OF_A_DIFF})"
    return failure(
        406,
        f"Sorry, the diff exceeded the maximum number of {limit}. Consider using 'List pull requests files' API "
        "or locally cloning the repository instead.",
        errors=[{"resource": "PullRequest", "field": "diff", "code": "too_large"}],
    )


def _pull(call: Call) -> PullRequest:
    found = call.repository().issues.get(call.number("pull_number"))
    if not isinstance(found, PullRequest):
        raise not_found()
    return found
