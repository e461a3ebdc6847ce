"""Strict arguments: what was meant is done, or one line says what was wrong."""

import json
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.mcpserver.tools import Tool
from pydantic import BaseModel, Field, field_validator

from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.testing import ERAS, Era, over_memory
from mcp_curated_shared.testing.contract import error_text
from mcp_curated_shared.transport.arguments import StrictMetadata
from tests.shared.testing.sample_server import build

Described = Field(description="Something.")


class Inner(BaseModel):
    old: str = Field(alias="oldText", description="Old.")
    count: int = Field(default=1, ge=1, description="Count.")


class Even(BaseModel):
    number: int = Field(description="An even number.")

    @field_validator("number")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("an odd number\nwill not do")
        return value


def everything(
    text: Annotated[str, Field(description="Text.", min_length=1, max_length=5)],
    whole: Annotated[int, Field(description="Whole.", ge=1, le=2000)] = 1,
    share: Annotated[float, Field(description="Share.", gt=0, lt=1)] = 0.5,
    flag: Annotated[bool, Described] = False,
    mode: Annotated[Literal["content", "files", "count"], Described] = "content",
    names: Annotated[list[str], Field(description="Names.", max_length=3)] = [],  # noqa: B006  # what the test is about
    inner: Annotated[list[Inner], Described] = [],  # noqa: B006  # what the test is about
    pair: Annotated[tuple[int, int] | None, Described] = None,
    unique: Annotated[set[str] | None, Described] = None,
    either: Annotated[int | str | None, Described] = None,
    table: Annotated[dict[str, int] | None, Described] = None,
    code: Annotated[str | None, Field(description="Code.", pattern="^[a-z]+$")] = None,
    even: Annotated[Even | None, Described] = None,
    step: Annotated[int | None, Field(description="Step.", multiple_of=5)] = None,
) -> str:
    return ""


TOOL = Tool.from_function(everything, name="everything", description="All of it.")
METADATA = StrictMetadata.of("everything", TOOL.fn_metadata, TOOL.parameters)


def validated(**arguments: Any) -> dict[str, Any]:
    return METADATA.validate_arguments({"text": "x", **arguments})


def refused(**arguments: Any) -> str:
    with pytest.raises(InvalidArgumentError) as caught:
        METADATA.validate_arguments({"text": "x", **arguments})
    context = caught.value.__context__
    assert context is None or caught.value.__suppress_context__, "the validator's own text would reach the log"
    assert caught.value.kind == "invalid_argument"
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"whole": 2.0}, 2),
        ({"share": 0.25}, 0.25),
        ({"names": '["a", "b"]'}, ["a", "b"]),
        ({"names": ["[1]"]}, ["[1]"]),
        ({"pair": [1, 2.0]}, (1, 2)),
        ({"pair": "[1, 2]"}, (1, 2)),
        ({"unique": ["a", "a"]}, {"a"}),
        ({"either": "2"}, "2"),
        ({"either": '["a"]'}, '["a"]'),
        ({"table": '{"a": 1}'}, {"a": 1}),
        ({"whole": None}, 1),
        ({"flag": None}, False),
        ({"code": None}, None),
    ],
)
def test_what_loses_nothing_is_taken(given: dict[str, Any], taken: object) -> None:
    [name] = given
    value = validated(**given)[name]
    assert value == taken
    assert type(value) is type(taken)


@pytest.mark.parametrize(
    "inner", [[{"oldText": "a"}], '[{"oldText": "a"}]', ['{"oldText": "a"}'], '["{\\"oldText\\": \\"a\\"}"]']
)
def test_models_come_as_objects_or_as_json_at_any_depth(inner: object) -> None:
    assert validated(inner=inner)["inner"] == [Inner(oldText="a")]


def test_null_for_an_optional_part_of_a_model_is_not_given() -> None:
    assert validated(inner=[{"oldText": "a", "count": None}])["inner"][0].count == 1


def test_a_text_that_looks_like_json_stays_a_text() -> None:
    for text in ("[1]", "null", "{}", "1"):
        assert validated(text=text)["text"] == text


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"whole": "2"}, 'whole must be an integer from 1 to 2000, not the string "2".'),
        ({"whole": 2.5}, "whole must be an integer from 1 to 2000, not 2.5."),
        ({"whole": True}, "whole must be an integer from 1 to 2000, not true."),
        ({"whole": 0}, "whole must be an integer from 1 to 2000, not 0."),
        ({"whole": 10**60}, "whole must be an integer from 1 to 2000, not so long a number."),
        ({"share": 0}, "share must be more than 0, not 0."),
        ({"share": 1.5}, "share must be less than 1, not 1.5."),
        ({"share": True}, "share must be a number, not true."),
        ({"flag": "false"}, 'flag must be true or false, not the string "false".'),
        ({"flag": 0}, "flag must be true or false, not 0."),
        ({"mode": "contents"}, 'mode must be one of "content", "files", "count", not the string "contents".'),
        ({"names": "a"}, 'names must be a list of at most 3 strings, not the string "a".'),
        ({"names": ["a", 1]}, "names[1] must be a string, not 1."),
        ({"names": list("abcd")}, "names must be a list of at most 3 strings, not a list of 4."),
        ({"inner": {}}, "inner must be a list of objects, not an object."),
        ({"inner": [{"oldText": "a", "count": 0}]}, "inner[0].count must be an integer of at least 1, not 0."),
        ({"inner": [{}]}, "inner[0].oldText is required: a string."),
        ({"either": 1.5}, "either must be an integer or a string, not 1.5."),
        ({"table": [1]}, "table must be an object, not a list of 1."),
        ({"code": "A1"}, 'code must be a string that matches ^[a-z]+$, not the string "A1".'),
        ({"even": {"number": 3}}, "even.number: an odd number will not do."),
        ({"step": 7}, "step must be a multiple of 5, not 7."),
        ({"text": ""}, 'text must be a string of 1 to 5 characters, not the string "".'),
        ({"text": "y" * 5_000}, "text must be a string of 1 to 5 characters, not a string of 5,000 characters."),
        ({"text": None}, "text is required: a string of 1 to 5 characters."),
        ({"share": float("nan")}, "A number among the arguments is nan; numbers must be finite."),
        ({"names": [float("inf")]}, "A number among the arguments is inf; numbers must be finite."),
    ],
)
def test_a_wrong_value_is_told_with_what_is_allowed_and_what_came(given: dict[str, Any], message: str) -> None:
    assert refused(**given) == message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"Whole_": 1}, '"Whole_" is not an argument of everything; did you mean whole?'),
        ({"dry_run": True}, '"dry_run" is not an argument of everything; it takes text, whole, '),
        ({"inner": [{"old_text": "a"}]}, '"old_text" is not part of inner[0]; did you mean oldText?'),
        ({"inner": [{"oldText": "a", "zzz": 1}]}, '"zzz" is not part of inner[0]; it takes oldText, count.'),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest_right_one(given: dict[str, Any], message: str) -> None:
    assert refused(**given).startswith(message)


def test_a_name_that_was_meant_for_a_missing_one_is_told_once() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        METADATA.validate_arguments({"texts": "x"})
    assert str(caught.value) == '"texts" is not an argument of everything; did you mean text?'


def test_several_problems_are_told_on_one_line_up_to_three() -> None:
    message = refused(whole="2", flag=1, mode="x", names=1, nothing=1)
    assert message.startswith('"nothing" is not an argument')
    assert message.endswith("And 2 more.")
    assert "\n" not in message


def test_what_came_is_shown_escaped_and_short() -> None:
    message = refused(mode="a\n\u202e\x1b[2J\u200b")
    assert message.endswith('not the string "a\\n\\u202e\\u001b[2J\\u200b".')
    assert message.isprintable()
    assert len(refused(**{"n\u202e" * 500: 1})) < 400


def test_no_message_holds_the_validators_words_or_link() -> None:
    for wrong in ({"whole": "2"}, {"inner": [1]}, {"pair": [1]}, {"unique": [[1]]}, {"even": 1}):
        message = refused(**wrong)
        assert "pydantic" not in message
        assert "Input should" not in message
        assert "http" not in message


@pytest.mark.parametrize("depth", [100, 300, 480, 700, 950, 100_000])
def test_deeply_nested_json_text_is_refused_not_followed(depth: int) -> None:
    assert refused(names="[" * depth + "]" * depth).startswith("names")
    assert refused(table='{"a":' * depth + "1" + "}" * depth).startswith("table")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from([*TOOL.parameters["properties"], "Text", "dry_run", "\u202e", ""])


@given(st.dictionaries(NAMES, JSON | JSON.map(json.dumps), max_size=6))
def test_whatever_comes_is_taken_or_refused_in_one_printable_line(arguments: dict[str, Any]) -> None:
    try:
        METADATA.validate_arguments(arguments)
    except InvalidArgumentError as error:
        assert str(error).isprintable()
        assert len(str(error)) < 1_500


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_a_misspelt_dry_run_changes_nothing(era: Era) -> None:
    async with over_memory(build(), era) as client:
        edits = [{"oldText": "a", "newText": "b"}]
        result = await client.call_tool("change", {"path": "p", "edits": edits, "dry_run": True})
    assert error_text(result) == '"dry_run" is not an argument of change; did you mean dryRun?'


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
async def test_arguments_as_hosts_send_them_work(era: Era) -> None:
    async with over_memory(build(), era) as client:
        edits = json.dumps([{"oldText": "a", "newText": "b", "count": 2.0}])
        result = await client.call_tool("change", {"path": "p", "edits": edits, "dryRun": None})
    assert not result.is_error
    assert "[('a', 'b', 2)] False" in str(result.content)
