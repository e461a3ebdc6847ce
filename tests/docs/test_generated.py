"""The tables of the READMEs say what the code says."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
from mcp_types import Tool, ToolAnnotations

from mcp_curated_shared.settings import Boolean, Secret, SecretText, Settings, describe, optional, setting
from scripts import generate_docs
from scripts.generate_docs import REPOSITORY, Server, rewritten, servers, settings_table, tools_table


@dataclass(frozen=True, slots=True)
class SampleSettings(Settings):
    environment_prefix: ClassVar[str] = "SAMPLE_"

    careful: bool = setting(Boolean(), default=False, help="Look twice.")
    key: Secret | None = optional(SecretText(), help="What opens it.")


def tool(name: str, hints: ToolAnnotations) -> Tool:
    schema = {"type": "object", "properties": {"path": {}, "limit": {}}, "required": ["path"]}
    return Tool(name=name, description="Does a thing. In words.", input_schema=schema, annotations=hints)


@pytest.mark.parametrize("server", servers(REPOSITORY), ids=lambda server: server.folder.name)
def test_a_readme_holds_the_tables_that_the_code_gives(server: Server):
    page = server.readme.read_text(encoding="utf-8")
    assert rewritten(page, generate_docs.parts_of(server)) == page, "run `make docs`"


@pytest.mark.parametrize("server", servers(REPOSITORY), ids=lambda server: server.folder.name)
def test_every_flag_and_variable_of_a_server_is_in_its_readme(server: Server):
    page = server.readme.read_text(encoding="utf-8")
    page = page.replace("\\|", "|")
    names = [name for info in describe(server.settings()) for name in (info.usage, *info.environment, *info.files)]
    assert [name for name in names if name not in page] == []


def test_a_tool_is_shown_with_its_arguments_and_what_it_may_change():
    tools = [
        tool("look", ToolAnnotations(read_only_hint=True)),
        tool("put", ToolAnnotations(destructive_hint=True)),
        tool("add", ToolAnnotations(destructive_hint=False)),
    ]
    assert tools_table(tools).splitlines()[2:] == [
        "| `look` | `path` [`limit`] | Does a thing. | nothing |",
        "| `put` | `path` [`limit`] | Does a thing. | may replace or remove |",
        "| `add` | `path` [`limit`] | Does a thing. | only adds |",
    ]


def test_a_setting_is_shown_with_its_flag_its_variables_and_its_default():
    assert settings_table(describe(SampleSettings)).splitlines()[2:] == [
        "| `--careful` | `SAMPLE_CAREFUL` | `false` | Look twice. |",
        "|  | `SAMPLE_KEY`, `SAMPLE_KEY_FILE` |  | What opens it. |",
    ]


def test_only_the_part_between_the_markers_is_rewritten():
    page = "# Title\n<!-- generated:tools -->\nold\n<!-- /generated:tools -->\nend\n"
    fresh = rewritten(page, {"tools": "new"})
    assert fresh == "# Title\n<!-- generated:tools -->\n\nnew\n\n<!-- /generated:tools -->\nend\n"
    assert rewritten(fresh, {"tools": "new"}) == fresh


@pytest.mark.parametrize(
    "page", ["# Title\n", "<!-- generated:tools -->\nno end\n", "<!-- generated:other -->\n<!-- /generated:other -->\n"]
)
def test_a_page_without_the_right_markers_is_refused(page: str):
    with pytest.raises(ValueError, match=r"markers for|lacks"):
        rewritten(page, {"tools": "new"})
