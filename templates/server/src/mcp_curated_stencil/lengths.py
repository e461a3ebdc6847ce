"""Lengths and their units. Plain Python: nothing here knows the protocol."""

from dataclasses import dataclass
from typing import Final

from mcp_curated_shared.errors import InvalidArgumentError
from mcp_curated_shared.nearest import nearest

METRES: Final = {
    "mm": 0.001,
    "cm": 0.01,
    "m": 1.0,
    "km": 1000.0,
    "in": 0.0254,
    "ft": 0.3048,
    "yd": 0.9144,
    "mi": 1609.344,
    "nmi": 1852.0,
}
"""Each unit in metres; exact by definition (NIST SP 811, appendix B.8)."""


@dataclass(frozen=True, slots=True)
class Length:
    """A length in a unit of `METRES`."""

    value: float
    unit: str

    def __str__(self) -> str:
        return f"{self.value:.15g} {self.unit}"


def convert(length: Length, unit: str, *, digits: int) -> Length:
    """The same length in another unit.

    Args:
        length: Any length.
        unit: A unit of `METRES`.
        digits: Significant digits of the result, 1 to 15.

    Raises:
        InvalidArgumentError: A unit is unknown.
    """
    metres = length.value * _metres(length.unit)
    return Length(float(f"{metres / _metres(unit):.{digits}g}"), unit)


def _metres(unit: str) -> float:
    if unit in METRES:
        return METRES[unit]
    meant = nearest(unit, METRES)
    hint = f"Did you mean {meant}?" if meant is not None else f"Units are {', '.join(METRES)}."
    raise InvalidArgumentError(f"There is no unit {unit[:40]!r}.", hint)
