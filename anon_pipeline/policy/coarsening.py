"""Columns that are released coarser than they are: rounded, within public bounds, at a hierarchy's level."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

from pydantic import Field, model_validator

from anon_pipeline.policy.allow import Allowing
from anon_pipeline.policy.fields import Real, Whole
from anon_pipeline.policy.hierarchies import HierarchySpec
from anon_pipeline.policy.marks import LATER, SHOWN
from anon_pipeline.policy.protection import COARSER, LESS, MORE


class Coarsened(Allowing):
    """A column that is released without noise, if wanted coarser than it is."""

    round: Annotated[Real | None, SHOWN, LATER, COARSER] = Field(
        None, gt=0, description="Numbers are released as the nearest multiple of this; a half goes up."
    )
    bottom: Annotated[Real | None, SHOWN, LATER, MORE] = Field(
        None, description="Public bound: smaller numbers are released as this one."
    )
    top: Annotated[Real | None, SHOWN, LATER, LESS] = Field(
        None, description="Public bound: larger numbers are released as this one."
    )
    hierarchy: Annotated[HierarchySpec | None, LATER] = Field(None, description="For level.")
    level: Annotated[Whole | None, SHOWN, LATER, MORE] = Field(
        None, ge=1, description="Level of the hierarchy that is released; 0 would be the value itself."
    )

    @model_validator(mode="after")
    def _coarser(self) -> Coarsened:
        if problems := list(self._unfit()):
            raise ValueError("; ".join(problems))
        return self

    def _unfit(self) -> Iterator[str]:
        if self.level is not None and self.hierarchy is None:
            yield "level must be given with a hierarchy"
        if self.level is not None and self.bounded:
            yield "level must be given without round, top and bottom: a column is coarsened in one way"
        if self.bottom is not None and self.top is not None and self.bottom >= self.top:
            yield f"bottom must be below top, got {self.bottom:g} and {self.top:g}"
        if self.round is not None:
            step = Fraction(repr(float(self.round)))
            ends = {"bottom": self.bottom, "top": self.top}
            for name, end in ends.items():
                if end is not None and (Fraction(repr(float(end))) / step).denominator != 1:
                    yield f"{name} must be a multiple of round, got {end:g} and {self.round:g}"

    @property
    def bounded(self) -> bool:
        """Whether its values are numbers that are rounded or moved to bounds."""
        return any(value is not None for value in (self.round, self.bottom, self.top))

    @property
    def coarse(self) -> bool:
        """Whether it is released coarser than it is."""
        return self.bounded or self.level is not None

    @property
    def words(self) -> str:
        """How it is released, for people."""
        said = [] if self.round is None else [f"to the nearest {self.round:.15g}"]
        said += [] if self.bottom is None else [f"not below {self.bottom:.15g}"]
        said += [] if self.top is None else [f"not above {self.top:.15g}"]
        said += [] if self.level is None else [f"at level {self.level} of its hierarchy"]
        return ", ".join(said)
