"""A PostgreSQL for these tests, and what its catalog says."""

from tests.postgres import database

__all__ = ["database"]
