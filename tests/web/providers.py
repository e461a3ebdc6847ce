"""The answers of each search provider, written by hand after its documentation. A further one is a further case."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """One provider.

    Attributes:
        name: Its name.
        environment: What configures it, but for its key.
        key_variable: The variable of its key; empty when it has none.
        method: Of its request.
        url: Of its request, without the query.
        golden: An answer with two results and more to come.
        wanted: What is made of the first result.
        more: Whether the golden answer has a further page.
        sparse: An answer whose result lacks everything that may be absent.
        empty: An answer with no result.
        changed: JSON that is no answer of it.
        query: Parameters that the golden question must send.
        body: Members of the body that the golden question must send.
    """

    name: str
    method: str
    url: str
    golden: Mapping[str, Any]
    wanted: tuple[str, str, str]
    sparse: Mapping[str, Any]
    empty: Mapping[str, Any]
    more: bool = False
    changed: Any = field(default_factory=lambda: {"status": "ok"})
    environment: Mapping[str, str] = field(default_factory=dict)
    key_variable: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)

    def settings(self, key: str = "") -> dict[str, str]:
        return {**self.environment, **({self.key_variable: key} if self.key_variable and key else {})}


CASES = (
    Case(
        name="brave",
        method="GET",
        url="https://api.search.brave.com/res/v1/web/search",
        key_variable="BRAVE_API_KEY",
        golden={
            "type": "search",
            "query": {"original": "tides", "more_results_available": True},
            "web": {
                "type": "search",
                "results": [
                    {
                        "title": "The <strong>tides</strong>",
                        "url": "https://sea.test/tides",
                        "description": "Why &amp; when the sea <strong>rises</strong>.",
                        "page_age": "2026-01-02T00:00:00",
                        "profile": {"name": "Sea"},
                        "unknown": {"x": 1},
                    },
                    {"title": "Other", "url": "https://other.test/", "description": "o"},
                ],
            },
        },
        more=True,
        wanted=("The tides", "https://sea.test/tides", "Why & when the sea rises."),
        sparse={"type": "search", "web": {"results": [{"url": "https://sea.test/x"}]}},
        empty={"type": "search", "query": {"original": "tides"}},
        query={"q": "tides", "count": "5", "offset": "0", "freshness": "pw", "search_lang": "de", "country": "DE"},
    ),
    Case(
        name="tavily",
        method="POST",
        url="https://api.tavily.com/search",
        key_variable="TAVILY_API_KEY",
        golden={
            "query": "tides",
            "response_time": "1.2",
            "results": [
                {"title": "The tides", "url": "https://sea.test/tides", "content": "Why the sea rises.", "score": 0.9},
                {"title": "Other", "url": "https://other.test/", "content": "o", "published_date": "2026-01-02"},
            ],
        },
        wanted=("The tides", "https://sea.test/tides", "Why the sea rises."),
        sparse={"results": [{"url": "https://sea.test/x"}]},
        empty={"results": []},
        body={"query": "tides", "max_results": 5, "time_range": "week", "country": "germany"},
    ),
    Case(
        name="searxng",
        method="GET",
        url="http://10.1.2.3:8888/search",
        environment={"SEARXNG_URL": "http://10.1.2.3:8888/"},
        golden={
            "query": "tides",
            "results": [
                {
                    "title": "The tides",
                    "url": "https://sea.test/tides",
                    "content": "Why the sea rises.",
                    "engine": "e1",
                },
                {"title": "Other", "url": "https://other.test/", "content": "o", "publishedDate": None},
            ],
            "unresponsive_engines": [["e2", "timeout"]],
        },
        more=True,
        wanted=("The tides", "https://sea.test/tides", "Why the sea rises."),
        sparse={"results": [{"url": "https://sea.test/x"}]},
        empty={"results": [], "unresponsive_engines": []},
        query={"q": "tides", "format": "json", "pageno": "1", "time_range": "week", "language": "de"},
    ),
    Case(
        name="wikipedia",
        method="GET",
        url="https://de.wikipedia.org/w/api.php",
        golden={
            "continue": {"sroffset": 5, "continue": "-||"},
            "query": {
                "search": [
                    {
                        "title": "The tides",
                        "snippet": 'Why the <span class="searchmatch">sea</span> rises.',
                        "pageid": 1,
                    },
                    {"title": "Other", "snippet": "o", "timestamp": "2026-01-02T00:00:00Z"},
                ]
            },
        },
        more=True,
        wanted=("The tides", "https://de.wikipedia.org/wiki/The_tides", "Why the sea rises."),
        sparse={"query": {"search": [{"title": "X"}]}},
        empty={"query": {"search": []}},
        query={"action": "query", "list": "search", "srsearch": "tides", "srlimit": "5", "sroffset": "0"},
    ),
)


def as_json(value: object) -> bytes:
    return json.dumps(value).encode()
