"""What sites give in place of a page: a challenge for browsers, or an empty shell that only scripts fill."""

import re
from typing import Final

from mcp_curated_web.extraction.page import Extracted

_CHALLENGE_MARKS: Final = re.compile(
    r"challenge-platform|cf-chl|cf_chl_|_cf_chl_opt|/cdn-cgi/challenge|px-captcha|captcha-delivery|"
    r"class=[\"']?(?:g-recaptcha|h-captcha|cf-turnstile)|_Incapsula_Resource|awswaf|aws-waf-token|"
    r"data-sitekey=|/_sec/cp_challenge|anomaly-modal|ddos-guard|sucuri_cloudproxy",
    re.IGNORECASE,
)
_CHALLENGE_WORDS: Final = re.compile(
    r"just a moment|checking (?:if the site connection|your browser)|verify (?:that )?you are (?:a )?human|"
    r"are you a (?:robot|human)|attention required|access denied|enable javascript and cookies to continue|"
    r"unusual traffic|not a robot|ddos protection by|security check|please wait while we verify|"
    r"pardon our interruption",
    re.IGNORECASE,
)
_WAITS: Final = re.compile(r"enable javascript|javascript (?:is )?(?:required|disabled)|^\W*loading\W*$", re.IGNORECASE)
_SHORT: Final = 1_500
_EMPTY: Final = 200
_NOTHING: Final = 20


def is_challenge(html: str, extracted: Extracted, status: int) -> bool:
    """Whether the page asks its reader to prove to be a person, and is nothing else.

    A page that only carries a captcha in its form is none: it has text. So one needs a known mark or an error status
    beside the words, and little text.
    """
    if extracted.visible_length > _SHORT:
        return False
    words = f"{extracted.title}\n{extracted.text[:4_000]}"
    said = bool(_CHALLENGE_WORDS.search(words))
    marked = bool(_CHALLENGE_MARKS.search(html[:300_000]))
    return (said and (marked or status in {202, 403, 429, 503})) or (marked and extracted.visible_length < _EMPTY)


def shell_text(extracted: Extracted) -> str | None:
    """The text to give for an empty shell of a script application; None for a page that has text of its own."""
    waits = bool(_WAITS.search(extracted.text[:1_000]))
    if not extracted.scripts or extracted.visible_length > (_SHORT if waits else _EMPTY) // 2:
        return None
    says_more = waits or len(extracted.description) > len(extracted.text)
    if extracted.visible_length > _NOTHING and not says_more:
        return None
    return "\n\n".join(part for part in (extracted.title, extracted.description, extracted.text) if part)
