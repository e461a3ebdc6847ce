"""Every relative link of the documentation leads somewhere, down to the heading."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

REPOSITORY = Path(__file__).resolve().parents[2]
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_EXPLICIT_ANCHOR = re.compile(r"""<a\s+(?:id|name)=["']([^"']+)["']""")


def pages() -> list[Path]:
    """Every page of documentation: at the top, in docs/, and beside each package."""
    found = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]
    found += [
        *REPOSITORY.glob("shared/*.md"),
        *REPOSITORY.glob("servers/*/*.md"),
        *REPOSITORY.glob("templates/**/*.md"),
    ]
    return sorted(found)


def tokens(text: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        yield token
        yield from token.children or ()


def links(text: str) -> list[str]:
    """Targets of the links and images of a page; code is not looked into."""
    targets = [
        token.attrGet("href") or token.attrGet("src") for token in tokens(text) if token.type in ("link_open", "image")
    ]
    return [str(target) for target in targets if target]


def anchors(text: str) -> set[str]:
    """The names that a page's headings get from code hosts, and those that it gives itself."""
    found = set(_EXPLICIT_ANCHOR.findall(text))
    flat = list(tokens(text))
    for opening, heading in pairwise(flat):
        if opening.type == "heading_open":
            name = _slug("".join(child.content for child in heading.children or ()))
            number = 1
            candidate = name
            while candidate in found:
                candidate, number = f"{name}-{number}", number + 1
            found.add(candidate)
    return found


def _slug(heading: str) -> str:
    kept = (
        character for character in heading.lower() if character in " -_" or unicodedata.category(character)[0] in "LN"
    )
    return "".join(kept).replace(" ", "-")


def broken(page: Path) -> list[str]:
    """The relative links of `page` that lead nowhere, each with what is missing."""
    faults: list[str] = []
    for target in links(page.read_text(encoding="utf-8")):
        if _SCHEME.match(target):
            continue
        place, _, anchor = unquote(target).partition("#")
        file = (page.parent / place).resolve() if place else page
        if not file.exists():
            faults.append(f"{target}: there is no {place}")
        elif REPOSITORY not in file.parents and file != REPOSITORY and REPOSITORY in page.parents:
            faults.append(f"{target}: leads out of the repository")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            faults.append(f"{target}: {file.name} has no heading #{anchor}")
    return faults


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_relative_link_of_a_page_leads_to_a_file_and_a_heading(page: Path):
    assert broken(page) == []


def test_a_link_to_a_missing_file_or_heading_is_found(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(
        "# One `two`, three!\n[a](gone.md) [b](#gone) [c](#one-two-three) [d](page.md) `[e](code.md)`", "utf-8"
    )
    assert broken(page) == ["gone.md: there is no gone.md", "#gone: page.md has no heading #gone"]


def test_every_decision_is_in_the_list_of_decisions():
    folder = REPOSITORY / "docs" / "decisions"
    notes = {path.name for path in folder.glob("[0-9]*.md")}
    assert notes == {target for target in links((folder / "README.md").read_text(encoding="utf-8")) if target in notes}
    assert [name[:4] for name in sorted(notes)] == [f"{number:04}" for number in range(1, len(notes) + 1)]
