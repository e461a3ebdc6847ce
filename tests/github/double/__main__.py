"""The double as a process, for demonstrations: `python -m tests.github.double`.

Prints one line of JSON, `{"url": ..., "token": ..., "repo": ...}`; then answers each line on standard input with one:
`posts` with how many writes came, `issues` with the titles and bodies that are there. It ends when standard input does.
"""

import json
import sys

from tests.github.double.serving import serve


def main() -> None:
    """Serve until standard input ends."""
    with serve() as there:
        github = there.github
        github.organisation("octo-org", members=["octocat"])
        repository = github.repository("octo-org/hello", description="Says hello.", stars=7)
        repository.file("README.md", "# Hello\n\nSay `hello`.\n")
        start = {"url": there.url, "token": github.token("octocat"), "repo": repository.full_name}
        print(json.dumps(start), flush=True)
        for line in sys.stdin:
            if line.strip() == "posts":
                told: object = len(there.journal.posts)
            else:
                told = [[one.title, one.body] for one in repository.issues.values()]
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
