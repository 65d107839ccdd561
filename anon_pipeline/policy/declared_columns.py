"""Declared columns: all values that each can have, whatever the data."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator, model_validator

from anon_pipeline.policy.fields import Plain, Positive, Real, Strict, Whole
from anon_pipeline.policy.hierarchies import Names, as_texts
from anon_pipeline.policy.marks import SHOWN

NUMBER = re.compile(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,2})?", re.ASCII)
"""How a policy writes a number as a text."""
MOST_VALUES = 100_000
"""Values that a column can have."""
MOST_STEPS = 2**40
"""Steps of the resolution between the bounds of a column: sums over a billion records stay exact."""


def _as_text_of_value(value: Any) -> Any:
    """Write a number as a text the way that a list of values does."""
    return value if isinstance(value, str) else as_texts([value])[0]


class DeclaredColumn(Strict):
    """A column of the source that is released, and all values that it can have, whatever the data."""

    bounds: Annotated[tuple[Real, Real] | None, SHOWN] = Field(
        None, description="Of numbers: the lowest and the highest one. Others are moved to the nearest bound."
    )
    resolution: Annotated[Positive, SHOWN] = Field(
        1, description="Of numbers: the step between two of them, to which each is rounded."
    )
    bins: Annotated[Whole | None, SHOWN] = Field(
        None,
        ge=1,
        le=MOST_VALUES,
        description="Of numbers, with histograms of an ε-DP release: intervals of equal width that are "
        "counted. Default: each number is counted by itself.",
    )
    values: Annotated[Names | None, SHOWN] = Field(
        None, description="Of categories: all values that the column can have, also those not in the data."
    )
    otherwise: Annotated[
        Plain, BeforeValidator(_as_text_of_value, json_schema_input_type=Plain | float), SHOWN
    ] = Field(
        description="The value that a record counts with if its cell is empty, unreadable or not declared.",
    )
    weight: Annotated[Positive, SHOWN] = Field(
        1,
        ge=1e-3,
        le=1e3,
        description="Of an ε-DP release: share of ε, relative to the other columns; with histograms, tables "
        "share ε equally.",
    )

    @field_validator("bounds", mode="before")
    @classmethod
    def _not_from_data(cls, value: Any) -> Any:
        if isinstance(value, str) and not value.strip().startswith("["):
            raise ValueError(
                "must be [lowest, highest], what the column can have by what is known without the data: "
                "bounds from the data would tell of its largest and smallest record"
            )
        return value

    @model_validator(mode="after")
    def _declared(self) -> DeclaredColumn:
        if (self.bounds is None) == (self.values is None):
            raise ValueError(
                "exactly one of bounds (for numbers) and values (for categories) must be given, and not be "
                "taken from the data"
            )
        if self.values is not None:
            self._check_categories(self.values)
        else:
            self._check_numbers()
        return self

    def _check_categories(self, values: tuple[str, ...]) -> None:
        if self.resolution != 1 or self.bins is not None:
            raise ValueError("resolution and bins must be left out with values")
        if len({*values}) != len(values) or not 2 <= len(values) <= MOST_VALUES:
            raise ValueError(f"values must name 2 to {MOST_VALUES:,} different values")
        if self.otherwise not in values:
            raise ValueError(f"otherwise must be one of values, got {self.otherwise}")

    def _check_numbers(self) -> None:
        low, high = self.range
        if not low < high or (high - low) % self.step:
            raise ValueError("bounds must be [lowest, highest], a whole number of resolutions apart")
        units = int(max(abs(low), abs(high), key=float) / self.step)
        if units > 2**52 or self.steps > MOST_STEPS:
            raise ValueError(f"bounds must be at most {MOST_STEPS:,} resolutions apart")
        if max(units, 1) * self.step.numerator > 2**53 or self.step.denominator > 2**53:
            raise ValueError("bounds and resolution must have fewer digits: not each number would be exact")
        if low % self.step:
            raise ValueError("bounds must be whole multiples of resolution")
        if self.bins is not None and self.bins > self.steps + 1:
            raise ValueError(f"bins must be at most the {self.steps + 1:,} numbers that there are")
        if not NUMBER.fullmatch(self.otherwise) or not low <= Fraction(self.otherwise) <= high:
            raise ValueError("otherwise must be a number within bounds")
        if Fraction(self.otherwise) % self.step:
            raise ValueError("otherwise must be a whole multiple of resolution")

    @property
    def step(self) -> Fraction:
        """The resolution as the exact decimal that its text says."""
        return Fraction(repr(float(self.resolution)))

    @property
    def range(self) -> tuple[Fraction, Fraction]:
        """The bounds as the exact decimals that their texts say; (0, 0) of categories."""
        low, high = (0.0, 0.0) if self.bounds is None else self.bounds
        return Fraction(repr(float(low))), Fraction(repr(float(high)))

    @property
    def steps(self) -> int:
        """Steps between the bounds of numbers: the column has one value more than these."""
        low, high = self.range
        return int((high - low) / self.step)

    @property
    def size(self) -> int:
        """How many values the column can have."""
        return self.steps + 1 if self.values is None else len(self.values)

    @property
    def counted(self) -> int:
        """How many of them a histogram counts: bins of numbers, or each value."""
        return self.size if self.bins is None else self.bins
