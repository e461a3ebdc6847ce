"""Pages of a text add up to it; outline and section; what else than HTML gives a text."""

import io
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.errors import NotFoundError
from mcp_curated_web.extraction import extract_page
from mcp_curated_web.fetching.contents import document_of, kind_of
from mcp_curated_web.fetching.documents import Document, of_page, of_text, outline_of, page_of, section_of
from mcp_curated_web.fetching.errors import ChallengeError, UnsupportedContentError
from mcp_curated_web.fetching.snapshots import MOST_ENTRIES, Snapshot, Snapshots

URL = "https://site.test/a/b"


def parts(document: Document, longest: int) -> list[str]:
    found: list[str] = []
    start: int | None = 0
    while start is not None:
        page = page_of(document, start, longest)
        assert page.text and len(page.text) <= longest
        found.append(page.text)
        start = page.following
    return found


@given(
    st.lists(st.text(alphabet="abc \n<b>&", min_size=1, max_size=80), min_size=1, max_size=12),
    st.integers(min_value=1, max_value=120),
)
def test_the_pages_of_a_text_add_up_to_it(paragraphs: list[str], longest: int):
    document = of_page(extract_page("".join(f"<p>x{p}</p>" for p in paragraphs), URL), "utf-8", "utf-8")
    assert "".join(parts(document, longest)) == document.text


def test_pages_are_cut_at_block_borders():
    document = of_page(extract_page("".join(f"<p>{'word ' * 30}end{n}</p>" for n in range(20)), URL), "", "")
    assert all(part.rstrip().rsplit(" ", 1)[-1].startswith("end") for part in parts(document, 500))


def test_the_last_page_names_no_next_one_even_when_it_is_full():
    document = of_text("a" * 100, extraction="text")
    assert page_of(document, 50, 50).following is None


def test_past_the_end_is_an_empty_page_with_the_total():
    page = page_of(of_text("abc", extraction="text"), 99, 10)
    assert (page.text, page.following, page.total) == ("", None, 3)


HEADED = "<h1>Guide</h1><p>intro</p><h2 id=inst>Install</h2><p>how</p><h3>Linux</h3><p>apt</p><h2>Use it</h2><p>so</p>"


def headed() -> Document:
    return of_page(extract_page(f"<main>{HEADED}</main>", URL), "", "")


def test_the_outline_says_where_each_heading_begins():
    document = headed()
    assert outline_of(document).split("\n")[1].startswith("  - Install (start_index ")
    assert all(document.text.startswith("#", one.start) for one in document.headings)


@pytest.mark.parametrize("wanted", ["Install", "install", "inst", "## Install", "Insta"])
def test_a_section_goes_up_to_the_next_heading_of_its_level(wanted: str):
    assert section_of(headed(), wanted).text == "## Install\n\nhow\n\n### Linux\n\napt"


def test_a_section_that_there_is_not_is_told_with_those_there_are():
    with pytest.raises(NotFoundError, match='"Use it"'):
        section_of(headed(), "Windows")


def snapshot(body: bytes | str, content_type: str, status: int = 200) -> Snapshot:
    return Snapshot(URL, URL, status, content_type, body.encode() if isinstance(body, str) else body)


def markdown(body: bytes | str, content_type: str) -> Document:
    return document_of(snapshot(body, content_type), "markdown")


def test_markdown_passes_as_it_came_with_its_outline():
    source = "# T\n\n```\n# no heading\n```\n\n- [a](b)\n"
    got = markdown(source, "text/markdown; charset=utf-8")
    assert got.text == source and [one.title for one in got.headings] == ["T"]


def test_json_is_fenced_and_indented():
    got = markdown(json.dumps({"b": [1, "\u00e9"]}), "application/ld+json")
    assert got.text == '```json\n{\n  "b": [\n    1,\n    "\u00e9"\n  ]\n}\n```'


def test_json_that_is_none_is_given_as_it_is():
    assert "{broken" in markdown("{broken", "application/json").text


def test_xml_is_fenced_and_no_entity_is_expanded():
    bomb = '<!DOCTYPE x [<!ENTITY a "boom"><!ENTITY b SYSTEM "file:///etc/hostname">]><x>&a;&b;</x>'
    got = markdown(f"<?xml version='1.0'?>{bomb}", "application/xml").text
    assert got.startswith("```xml") and "&a;&b;" in got


@pytest.mark.parametrize(
    "feed",
    [
        "<rss><channel><title>News</title><item><title>One</title><link>https://x.test/1</link>"
        "<pubDate>Mon</pubDate><description><![CDATA[<p>About <b>it</b></p>]]></description></item></channel></rss>",
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><title>One</title>'
        '<link href="https://x.test/1"/><updated>Mon</updated><summary>About it</summary></entry></feed>',
    ],
)
def test_a_feed_is_a_list_of_its_entries(feed: str):
    got = markdown(f"<?xml version='1.0'?>{feed}", "application/rss+xml").text
    assert got == "# News\n\n- [One](https://x.test/1) (Mon)\n  About it"


def pdf(words: str) -> bytes:
    """A one-page PDF, written by hand."""
    stream = f"BT /F1 12 Tf 72 720 Td ({words}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, 2)
    places: list[int] = []
    for number, one in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, one))
    start = out.tell()
    out.write(b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


@pytest.mark.parametrize("content_type", ["application/pdf", "application/octet-stream", "text/plain"])
def test_a_pdf_is_given_as_its_text(content_type: str):
    got = markdown(pdf("Hello PDF world"), content_type)
    assert got.text == "## Page 1\n\nHello PDF world" and got.extraction == "pdf"


@pytest.mark.parametrize("body", [b"%PDF-1.4 nothing", b"%PDF-", pdf("")])
def test_a_pdf_without_text_is_refused(body: bytes):
    with pytest.raises(UnsupportedContentError):
        markdown(body, "application/pdf")


def test_a_binary_is_refused_with_its_type_and_size():
    with pytest.raises(UnsupportedContentError, match="application/zip, 1,000 bytes"):
        markdown(b"PK" + bytes(998), "application/zip")


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("", b"<!doctype html><p>x", "html"),
        ("", b"\x00\x01\x02", "binary"),
        ("", b"words", "text"),
        ("application/octet-stream", b"\x89PNG\r\n", "image"),
        ("text/plain", b"<html>", "text"),
        ("text/x-python", b"x = 1", "text"),
        ("image/svg+xml", b"<svg/>", "binary"),
        ("video/mp4", b"", "binary"),
        ("application/problem+json", b"{}", "json"),
        ("application/atom+xml", b"<feed/>", "xml"),
        ("TEXT/HTML ; charset=x", b"", "html"),
    ],
)
def test_what_came_is_told_by_its_type_and_looked_at_without_one(content_type: str, body: bytes, kind: str):
    assert kind_of(content_type, body) == kind


CHALLENGE = (
    "<html><head><title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/x.js></script></head>"
    "<body><p>Verify you are human by completing the action below.</p></body></html>"
)


def test_a_challenge_is_said_to_be_one():
    with pytest.raises(ChallengeError, match="challenge for browsers"):
        markdown(CHALLENGE, "text/html")


def test_an_article_about_challenges_is_none():
    words = "<p>The words are you a robot and just a moment are shown by many sites to their readers.</p>" * 30
    assert (
        "many sites"
        in markdown(f"<main><h1>Captchas</h1>{words}<div class=g-recaptcha></div></main>", "text/html").text
    )


SHELL = (
    "<html><head><title>My app</title><meta name=description content='Plans trips.'>"
    '<script type="application/ld+json">{"@type": "WebApp", "name": "Trips", '
    '"description": "A planner of trips"}</script>'
    "<script src=/app.js></script></head><body><div id=root></div><noscript>Enable JavaScript</noscript></body></html>"
)


def test_an_empty_shell_is_said_to_be_one_with_what_it_tells_of_itself():
    got = markdown(SHELL, "text/html")
    assert got.extraction == "description only"
    assert got.text == "My app\n\nPlans trips.\n\nTrips\n\nA planner of trips"
    assert any("empty shell" in notice for notice in got.notices)


def test_a_short_page_with_a_script_is_no_shell():
    got = markdown("<title>T</title><script>x</script><p>The service is up and all of it works.</p>", "text/html")
    assert got.extraction != "description only"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("# " + " " * 500_000 + "#", "text/markdown"),
        ("#" * 500_000, "text/markdown"),
        ("\n \t" * 200_000, "text/markdown"),
        ("```\n" * 100_000, "text/markdown"),
        ("<rss>" + "<![CDATA[" * 100_000, "application/rss+xml"),
        ("<rss>" + "<link>" * 100_000, "application/rss+xml"),
        ("[" * 200_000, "application/json"),
        ("1" * 500_000, "application/json"),
        ("<!--" * 100_000, ""),
        (b"\xff<" * 100_000, "text/html"),
        ("<meta " * 100_000, "text/html"),
    ],
    ids=range(11),
)
def test_answers_made_to_take_long_do_not(body: bytes | str, content_type: str):
    started = time.process_time()
    markdown(body, content_type)
    assert time.process_time() - started < 15


def test_raw_is_the_source_as_it_came():
    assert document_of(snapshot("<p>a</p>\n", "text/html"), "raw").text == "<p>a</p>\n"


def test_snapshots_are_bounded_and_the_oldest_go_first():
    store = Snapshots()
    for number in range(MOST_ENTRIES + 1):
        store.put(f"u{number}", snapshot("x", "text/plain"))
    assert store.get("u0") is None and store.get(f"u{MOST_ENTRIES}") is not None


def test_large_snapshots_push_others_out():
    store = Snapshots()
    for number in range(8):
        store.put(f"u{number}", snapshot(bytes(5 << 20), "text/plain"))
    assert store.get("u0") is None and store.get("u7") is not None


def test_a_snapshot_is_forgotten_after_five_minutes():
    now = [0.0]
    store = Snapshots(lambda: now[0])
    store.put("u", snapshot("x", "text/plain"))
    now[0] = 299.0
    assert store.get("u") is not None
    now[0] = 301.0
    assert store.get("u") is None
