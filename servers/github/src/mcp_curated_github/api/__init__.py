"""Asking GitHub's API: one client, typed answers, every text cleaned as it comes in."""

from mcp_curated_github.api.client import Answer, Connection, GitHubApi, RenamedError, UnansweredError
from mcp_curated_github.api.fields import Fields, Tally

__all__ = ["Answer", "Connection", "Fields", "GitHubApi", "RenamedError", "Tally", "UnansweredError"]
