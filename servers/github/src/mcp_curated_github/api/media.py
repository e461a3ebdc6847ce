"""The media types that GitHub is asked for, and the version of its API (docs.github.com, "Media types")."""

from typing import Final

API_VERSION: Final = "2022-11-28"
JSON: Final = "application/vnd.github+json"
RAW: Final = "application/vnd.github.raw+json"
DIFF: Final = "application/vnd.github.diff"
STARRED: Final = "application/vnd.github.star+json"
TEXT_MATCH: Final = "application/vnd.github.text-match+json"
