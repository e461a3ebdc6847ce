"""The arguments that several tools share, described once."""

from typing import Annotated, Any

from pydantic import Field

Statement = Annotated[str, Field(min_length=1, description="One SQL statement in the database's own dialect")]
Parameters = Annotated[
    list[Any] | None, Field(description="Values bound in order: ? in SQLite, $1 in PostgreSQL; never paste values in")
]
SourceName = Annotated[str | None, Field(description="Database by name, if there are several")]
