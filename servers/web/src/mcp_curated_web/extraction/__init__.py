"""From a page's HTML to Markdown: a tree of our own, the region that matters, and an iterative serialiser."""

from mcp_curated_web.extraction.page import Extracted, Heading, Link, extract_page

__all__ = ["Extracted", "Heading", "Link", "extract_page"]
