"""What tuning finds: what to expect of each point, which pass, which one is recommended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from anon_pipeline.base.notebook import image, object_html, paragraph, tabular
from anon_pipeline.evidence.expectation import STANDARD_ERRORS
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.tuning.grid import Choice

DROWNED = "the noise moves a value further than the values differ from each other (standard deviation)"
"""What is said of columns with noise of which next to nothing is left, see `Expected.drowned`."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What to expect of a release, before any noise is drawn; of the records in classes unless said.

    error: mean |y − x|/|x|, the mean of the perturb columns; None where no record has x ≠ 0.
    error_of_range: mean |y − x| over the range of the column in the input, the mean of the perturb columns.
    linking: share linked, a tie counting as linked ([methods 8.1]); without perturb columns classes/records.
    linking_released: share linked of the records that are released; what ``gate.linking_risk`` is about.
    suppression: share of the input that is not released; where classes may yet break t or l by what the
        confidence leaves out, the least that it may be.
    suppression_at_most: the most that it may be; equal where it is exact. None where it is simulated: then
        nothing bounds it, and ``suppression`` is an estimate with its standard error.
    information_loss: of the recoding, by the policy's loss.
    loss: share of what the quasi-identifiers say that is lost: 1 for a record that is left out, else the mean
        over columns of the information loss, of the error of the range (at most 1), and of the share of
        categories that are replaced.
    standard_error: of linking_released and of suppression where they were simulated (several perturb
        columns, or people), at least that of k records in all that were drawn; 0: exact.
    smallest_class: least records of a class that is released, for certain.
    errors: by perturb column with numbers, the same as ``error``; 0 where no record has x ≠ 0.
    hidden: generalized columns with one value in all classes of the recoding.
    of_spread: by perturb column with numbers, mean |y − x| over the spread of the column, see
        `perturb.error.shift_over_spread`.
    kept: by perturb column of categories, the share of its values that is released as it is.
    linked_categories: by the same, what an attacker links who knows the class and the original category.
    """

    error: float | None
    error_of_range: float | None
    linking: float
    linking_released: float
    suppression: float
    suppression_at_most: float | None
    information_loss: float
    loss: float
    standard_error: tuple[float, float]
    smallest_class: int
    errors: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    hidden: tuple[str, ...] = ()
    of_spread: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    kept: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    linked_categories: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def constant(self) -> int:
        """How many generalized columns have one value in all classes."""
        return len(self.hidden)

    @property
    def drowned(self) -> list[str]:
        """The columns that the noise moves further, on average, than their values spread."""
        return [name for name, moved in self.of_spread.items() if moved > 1]

    @property
    def suppression_judged(self) -> float:
        """What a limit is compared with: the bound, or an estimate and three standard errors."""
        if self.suppression_at_most is not None:
            return self.suppression_at_most
        return min(self.suppression + STANDARD_ERRORS * self.standard_error[1], 1.0)

    @property
    def linking_known(self) -> float | None:
        """The most that a known category lets be linked; None without perturbed categories."""
        return max(self.linked_categories.values(), default=None)

    @property
    def risk(self) -> float:
        """What the map shows as risk: the share linked of what is released, or by a known category."""
        return max(self.linking_released, self.linking_known or 0.0)


@dataclass(frozen=True, slots=True)
class Point:
    """One choice with what to expect of it.

    verdicts: on the limits of the gate that can be judged without drawing.
    on_front: whether no other point has less of risk or loss and not more of the other.
    """

    choice: Choice
    expected: Expected
    verdicts: tuple[Verdict, ...]
    on_front: bool = False

    @property
    def passes(self) -> bool:
        """Whether it keeps every limit that can be judged."""
        return all(verdict.status.publishable for verdict in self.verdicts)


@dataclass(frozen=True, slots=True)
class Impossible:
    """A k and recoder that have no recoding within the policy's limits.

    reached_k: the largest smallest class that was found; 0 if none.
    """

    k: int
    recoder: str
    reached_k: int


@dataclass(frozen=True, slots=True)
class Nearest:
    """Where no point passes: the one that is nearest to it, and the limit that keeps it out.

    limit: the verdict that misses its bound by most.
    excess: by how much of the bound; infinite for a bound of 0.
    """

    point: Point
    limit: Verdict
    excess: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """A grid, judged.

    points: of the grid, in its order, but for the impossible ones.
    impossible: what could not be recoded.
    recommended: of the points that pass; None if none does.
    rule: how it was chosen, in words.
    nearest: None if a point passes, or all are impossible.
    unjudged: limits of the gate that only a release can be judged by.
    records: n, of the input.
    simulated: why linking and suppression were simulated; empty where they were not.
    without_amount: columns that are changed as a whole by a mechanism that takes no amount, and it.
    people: P, of the input, where suppression is a share of them; None: it is a share of the records.
    refused: why the gate refuses every point, whatever its k and ε; None: nothing is known to.
    """

    points: tuple[Point, ...]
    impossible: tuple[Impossible, ...]
    recommended: Point | None
    rule: str
    nearest: Nearest | None
    unjudged: tuple[str, ...]
    records: int
    simulated: str = ""
    without_amount: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    people: int | None = None
    refused: str | None = None

    @property
    def counted(self) -> int:
        """How many people the input has, or records where these are counted."""
        return self.records if self.people is None else self.people

    def _repr_html_(self) -> str:
        """Show what is recommended, the map of risk and loss, and every point, in a notebook."""
        from anon_pipeline.tuning.chart import ru_map  # noqa: PLC0415 - they draw what this module holds
        from anon_pipeline.tuning.output import COLUMNS, describe, rows  # noqa: PLC0415

        points = tabular(list(COLUMNS), [[row[name] for name in COLUMNS] for row in rows(self)])
        picture = image(ru_map(self), "Linking risk against loss; the table has the numbers")
        return object_html("Tuning", [*map(paragraph, describe(self)), picture, points])

    @property
    def front(self) -> tuple[Point, ...]:
        """The points that no other is better than, by risk, least first."""
        chosen = [point for point in self.points if point.on_front]
        return tuple(sorted(chosen, key=lambda point: (point.expected.risk, point.expected.loss)))
