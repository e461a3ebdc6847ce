"""A PostgreSQL of this run."""

from tests.postgres import database

__all__ = ["database"]
