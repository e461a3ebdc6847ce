"""The arguments that several tools share, described once."""

from typing import Annotated

from pydantic import Field

FilePath = Annotated[str, Field(description="File, absolute or relative to an allowed folder")]
FolderPath = Annotated[str, Field(description="Folder, absolute or relative to an allowed folder")]
AnyPath = Annotated[str, Field(description="File or folder, absolute or relative to an allowed folder")]
Excluded = Annotated[list[str] | None, Field(description="Globs left out at any depth, e.g. ['dist', '*.min.js']")]
IncludeIgnored = Annotated[
    bool, Field(description="Look also at what .gitignore hides and at .git, node_modules, .venv, __pycache__")
]
IfVersion = Annotated[str | None, Field(description="Version tag of an earlier read; refused if the file differs now")]
