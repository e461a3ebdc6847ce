"""Asking GitHub's API: one client, typed answers, every text cleaned as it comes in."""

from mcp_curated_github.api.answers import Answer, RenamedError, UnansweredError
from mcp_curated_github.api.client import GitHubApi
from mcp_curated_github.api.connection import Connection
from mcp_curated_github.api.fields import Fields, Tally

__all__ = ["Answer", "Connection", "Fields", "GitHubApi", "RenamedError", "Tally", "UnansweredError"]
