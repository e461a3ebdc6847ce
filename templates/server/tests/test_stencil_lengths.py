"""Lengths keep their length, whatever they are measured in."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_stencil.lengths import METRES, Length, convert

units = st.sampled_from(list(METRES))


@given(st.floats(1e-6, 1e9), units, units)
def test_a_length_that_is_converted_and_back_is_the_same(value: float, unit: str, other: str) -> None:
    back = convert(convert(Length(value, unit), other, digits=15), unit, digits=15)
    assert math.isclose(back.value, value, rel_tol=1e-12)


def test_a_result_has_the_digits_that_were_asked_for() -> None:
    assert str(convert(Length(1, "mi"), "km", digits=3)) == "1.61 km"


@pytest.mark.parametrize(("unit", "hint"), [("kms", "Did you mean km?"), ("parsec", "Units are mm, cm")])
def test_an_unknown_unit_is_refused_with_the_next_step(unit: str, hint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"There is no unit '{unit}'") as refused:
        convert(Length(1, unit), "m", digits=6)
    assert hint in str(refused.value)
