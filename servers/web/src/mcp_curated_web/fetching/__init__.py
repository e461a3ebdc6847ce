"""Fetching a page: robots, request, redirects, what kind of thing came, and its text in pages."""
