"""The arguments that several tools share, described once."""

from typing import Annotated

from pydantic import Field

FilePath = Annotated[str, Field(description="File, absolute or relative")]
FolderPath = Annotated[str, Field(description="Folder, absolute or relative")]
AnyPath = Annotated[str, Field(description="File or folder, absolute or relative")]
Excluded = Annotated[list[str] | None, Field(description="Globs to leave out, e.g. dist, *.min.js")]
IncludeIgnored = Annotated[bool, Field(description="Also what .gitignore hides, .git, node_modules, .venv")]
IfVersion = Annotated[str | None, Field(description="Tag from a read; refuses a file that differs now")]
