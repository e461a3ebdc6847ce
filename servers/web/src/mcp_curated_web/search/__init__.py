"""Searching the web: one question and one answer, whoever is asked."""

from mcp_curated_web.search.engine import SearchEngine
from mcp_curated_web.search.model import SearchAnswer, SearchProvider, SearchQuery, SearchResult

__all__ = ["SearchAnswer", "SearchEngine", "SearchProvider", "SearchQuery", "SearchResult"]
