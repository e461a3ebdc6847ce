"""What a reply says about a page of text, apart from the text: where it is from, how it is stored, what comes next."""

from mcp_curated_filesystem.reading.excerpts import Excerpt
from mcp_curated_filesystem.reading.pages import LONGEST_PATH, Page
from mcp_curated_filesystem.text import newlines
from mcp_curated_shared.security.limits import call_text

_SHORT_PATH = 200


def facts(page: Page) -> str:
    """One line for a plain small file, a few when there is more to say; the text itself is not in it."""
    sentences = (
        page.location.note if len(page.location.note) <= LONGEST_PATH else "",
        _extent(page),
        f"Version {page.version}.",
        _storage(page),
        _oddities(page),
        *_shortened(page),
        _final_newline(page),
        _continuation(page),
    )
    return " ".join(sentence for sentence in sentences if sentence)


def brief_facts(page: Page) -> str:
    """The facts in little room, beside those of many other files: the path comes first and is not repeated."""
    following = f'Next: read_file with "offset": {page.following.offset}.' if page.following is not None else ""
    sentences = (
        f"{shorten(page.location.shown)}:",
        _extent(page),
        f"Version {page.version}.",
        _storage(page),
        following,
    )
    return " ".join(sentence for sentence in sentences if sentence)


def shorten(text: str, most: int = 160) -> str:
    """A text without its middle, if it is longer than `most` characters."""
    half = (most - 5) // 2
    return text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"


def blocks(page: Page) -> tuple[str, ...]:
    """The reply as content blocks: the facts, then the body alone, fit to be copied into `edit_file` as it is."""
    return (facts(page), page.body) if page.body else (facts(page),)


def render(page: Page) -> str:
    """The reply as one text: the facts, an empty line, the body."""
    return "\n\n".join(blocks(page))


def _extent(page: Page) -> str:
    if not page.lines:
        return "The file is empty (0 bytes)." if not page.size else f"The file has no text ({page.size:,} bytes)."
    if page.first is None:
        return f"The last {_lines(page.lines)} of a file of {page.size:,} bytes."
    last = page.first + page.lines - 1
    span = f"Line {page.first}" if page.lines == 1 else f"Lines {page.first}-{last}"
    return f"{span} of {page.total}." if page.total is not None else f"{span} of a file of {page.size:,} bytes."


def _storage(page: Page) -> str:
    """Only what is not plain: nearly every file is UTF-8 with LF, and a word about it would be lost on the reader."""
    form = page.form
    parts: list[str] = []
    if form.encoding != "utf-8" or not form.certain:
        guess = "" if form.certain else " (a guess: give `encoding` if the text looks wrong)"
        parts.append(f"encoding {form.encoding}{guess}")
    if form.bom:
        parts.append("with a byte order mark")
    if form.newline not in ("\n", ""):
        parts.append(f"{newlines.NAMES[form.newline]} line endings")
    return f"Stored as: {', '.join(parts)}." if parts else ""


def _oddities(page: Page) -> str:
    sentences: list[str] = []
    if page.undecodable:
        what = "byte or character that is" if page.undecodable == 1 else "bytes or characters that are"
        verb = "is" if page.undecodable == 1 else "are"
        sentences.append(
            rf"{page.undecodable:,} {what} no text in {page.form.encoding} {verb} shown as an escape such as \xe9."
        )
    if page.invisible:
        noun, verb = ("character", "is") if page.invisible == 1 else ("characters", "are")
        sentences.append(f"{page.invisible:,} invisible {noun} (zero-width, bidirectional or tag) {verb} in this text.")
    return " ".join(sentences)


def _shortened(page: Page) -> list[str]:
    """Where to read a cut line in full: alone it may fill the reply; what is longer still is left to a search."""
    if not page.shortened:
        return []
    if page.alone:
        return ["The line is cut; search_content finds text in the rest of it."]
    most = 3 if len(page.location.shown) <= _SHORT_PATH else 1
    told = [_alone(page, line.index) for line in page.shortened[:most]] if page.first is not None else []
    more = f" and {len(page.shortened) - most} more" if len(page.shortened) > most else ""
    calls = f": {', '.join(told)}{more}" if told else ""
    return [f"{_lines(len(page.shortened))} cut; read alone, a line is shown up to a whole reply{calls}."]


def _alone(page: Page, index: int) -> str:
    return _call(page, Excerpt(offset=(page.first or 1) + index, limit=1))


def _final_newline(page: Page) -> str:
    at_end = page.lines > 0 and page.following is None and page.total is not None
    return "No newline at the end of the file." if at_end and page.body[-1:] not in ("\n", "\r") else ""


def _continuation(page: Page) -> str:
    if page.following is not None:
        return f"Next: {_call(page, page.following)}."
    if page.earlier is not None:
        return f"Not all fitted; before these: {_call(page, page.earlier)}."
    return ""


def _call(page: Page, excerpt: Excerpt) -> str:
    path = page.location.shown
    path = path if len(path) <= LONGEST_PATH else "(the same path)"
    return call_text("read_file", path=path, offset=excerpt.offset, limit=excerpt.limit, encoding=page.encoding)


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
