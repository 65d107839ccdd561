"""The policy of an ε-DP release: what is published is differentially private from end to end.

Neighbouring tables have the same number of records, which is public, and differ in one of them. All that this
file says is public or decides nothing of what is published; no key of it takes anything from the data.

Decision: docs/adr/0090-releases-with-differential-privacy.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from anon_pipeline.catalog.release_kinds import EPSILON_DP, ReleaseKind
from anon_pipeline.catalog.sources import FORMATS
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.fields import Plain, Positive, Real, Strict, Whole
from anon_pipeline.policy.gate_limits import Gate
from anon_pipeline.policy.marks import SHOWN, TEXT
from anon_pipeline.policy.named_columns import named_like_identifiers
from anon_pipeline.policy.source import SOURCES

METHODS = ("histograms", "group_means", "column_means")
"""Keys of the methods, of which a policy names one."""
MOST_TABLES, MOST_COLUMNS = 1_000, 30
"""Histograms of a release, and columns of each."""
MOST_CELLS = 10_000_000
"""Cells of all histograms together, which are all in memory."""
LARGE_EPSILON = 3
"""ε above which a release has a warning: e³ = 20 takes a guess from 10 % to 69 %, e⁴ = 55 to 86 %.

Measured, of people who are alone in cells of a table of counts: an attribute that is guessed right for 30 %
without the release is guessed right for 57 % with ε = 4, 80 % with 6, 91 % with 8, 97 % with 10.
"""

_FROM_DATA = "is computed from the data without noise"
_OF_COLUMNS: Mapping[str, str] = {
    "role": "all columns get noise; a column that is not released is not named",
    "hierarchy": f"the level of a generalization {_FROM_DATA}",
    "mechanism": "the method of the whole release decides what noise there is",
    "sensitivity": "the declared bounds or values decide it",
    "input_bounds": "the key is bounds",
    "output_bounds": "the key is bounds",
}
"""Keys of columns of other releases, and why they do not fit."""


class Histograms(Strict):
    """Noisy counts of declared values; records are made up that have these counts."""

    tables: Annotated[tuple[Annotated[tuple[Plain, ...], Field(min_length=1)], ...] | None, SHOWN, TEXT] = (
        Field(
            None,
            description="Columns that are counted together, a list for each table; later tables add columns "
            "to the records, given the columns that they share with earlier ones. Default: one table of all.",
        )
    )


class GroupMeans(Strict):
    """Noisy means of groups of k records, which are formed in an order that the data does not decide."""

    k: Annotated[Whole, SHOWN] = Field(
        ge=2, le=10**9, description="Records of each group; the last one may have more."
    )
    orders: Annotated[Literal["one", "corners"], SHOWN] = Field(
        "one",
        description="From where groups are formed: one corner of the declared domain, or several corners in "
        "turns.",
    )


class ColumnMeans(Strict):
    """Noisy means of groups of k neighbours in each column by itself; columns are shuffled apart."""

    k: Annotated[Whole, SHOWN] = Field(
        ge=2, le=10**9, description="Values of each group; the last one may have more."
    )


class DpGate(Strict):
    """Limits that are judged by the policy and the noisy result alone."""

    expected_error: Annotated[Real, SHOWN] = Field(
        0.25,
        gt=0,
        le=1,
        description="Largest error that the noise is expected to cause, of the worst column or table: as a "
        "share of a column's range, or of the records that are counted wrongly.",
    )


class EpsilonDpPolicy(DeclaredRelease):
    """One ε-DP release, as its policy describes it."""

    kind: ClassVar[ReleaseKind] = EPSILON_DP
    others: ClassVar[Mapping[str, str]] = {
        "anonymize": f"the level of a generalization {_FROM_DATA}",
        "suppress": f"which records are suppressed {_FROM_DATA}",
        "perturb": "its ε is that of members of one class; here epsilon is that of the whole release",
        "clean": "what it refuses is decided by the data; each cell that does not fit counts as otherwise",
        "sample": "the number of sampled records, which would be published, depends on the data",
        "person": "each person must have one record, see one_record_per_person",
        "record_key": "noise that stays over releases would need a budget of its own",
        "acknowledged": "nothing that it could accept is measured",
    }

    one_record_per_person: Annotated[Literal[True], SHOWN] = Field(
        description="true: somebody has made sure that no person has several records. The guarantee is one "
        "for records, and this cannot be checked without looking at the data."
    )
    epsilon: Annotated[Positive, SHOWN] = Field(
        ge=1e-6,
        le=20,
        description="ε of the whole release. Up to 1 is strong; more than 3 has a warning.",
    )
    histograms: Annotated[Histograms | None, SHOWN] = None
    group_means: Annotated[GroupMeans | None, SHOWN] = None
    column_means: Annotated[ColumnMeans | None, SHOWN] = None
    gate: Annotated[DpGate, SHOWN] = DpGate()

    def broken_method(self) -> list[str]:
        """Say what is wrong with the source, the method and the columns that it takes."""
        listed = {name: column for name, column in self.columns.items() if column.values is not None}
        why = "values are published, with the policy and in records"
        return self._broken_source() or named_like_identifiers(listed, why) or self._broken_columns()

    def _broken_source(self) -> list[str]:
        """Say what is wrong with the source and the budget."""
        source = self.source
        if not (source.kind.by_cell and FORMATS[source.format].by_cell):
            formats = ", ".join(name for name, form in FORMATS.items() if form.by_cell)
            kinds = ", ".join(name for name, kind in SOURCES.items() if kind.by_cell)
            return [
                "source: must be one in which each cell is read by itself, since one record could change how "
                f"others are read: {kinds}; of files {formats}"
            ]
        if self.budget is not None and self.budget.epsilon < self.epsilon:
            return [f"budget.epsilon: must be at least epsilon, {self.epsilon:g}: no release could be made"]
        return []

    def _broken_columns(self) -> list[str]:
        """Say what is wrong with the method, and with the columns that it takes."""
        given = [name for name in METHODS if getattr(self, name) is not None]
        if len(given) != 1:
            return [f"exactly one of {', '.join(METHODS)} must be given"]
        if self.histograms is None:
            binned = [name for name, column in self.columns.items() if column.bins is not None]
            return [f"columns.{name}.bins: must be left out without histograms" for name in binned]
        weighed = [name for name, column in self.columns.items() if column.weight != 1]
        if weighed:
            return [f"columns.{name}.weight: must be left out with histograms" for name in weighed]
        return self._broken_tables()

    def _broken_tables(self) -> list[str]:
        """Say what is wrong with the histograms."""
        if len(self.tables) > MOST_TABLES or any(len(table) > MOST_COLUMNS for table in self.tables):
            return [f"histograms.tables: at most {MOST_TABLES:,} tables of at most {MOST_COLUMNS} columns"]
        named = [name for table in self.tables for name in table]
        if unknown := sorted({*named} - {*self.columns}):
            return [f"histograms.tables: must name columns of columns, got also {', '.join(unknown)}"]
        if absent := sorted({*self.columns} - {*named}):
            return [f"histograms.tables: must have every column, has not {', '.join(absent)}"]
        if any(len({*table}) != len(table) for table in self.tables):
            return ["histograms.tables: must name a column once in each table"]
        cells = sum(self.cells(table) for table in self.tables)
        if cells > MOST_CELLS:
            return [
                f"histograms: must count at most {MOST_CELLS:,} cells, got {cells:,}. Use bins, fewer values "
                "or smaller tables."
            ]
        return []

    @property
    def method(self) -> str:
        """The key of its method."""
        return next(name for name in METHODS if getattr(self, name) is not None)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """The columns of each histogram; one table of all columns unless the policy says otherwise."""
        listed = None if self.histograms is None else self.histograms.tables
        return (tuple(self.columns),) if listed is None else listed

    def cells(self, table: tuple[str, ...]) -> int:
        """Return how many cells a histogram of these columns has."""
        cells = 1
        for name in table:
            cells *= self.columns[name].counted
        return cells

    @classmethod
    def fit_attributes(cls, attributes: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return attributes without keys that would break the guarantee, and why each would."""
        left, problems = super().fit_attributes(attributes)
        gate = left.get("gate")
        if isinstance(gate, Mapping):
            others = [key for key in gate if str(key) in {*Gate.model_fields} - {*DpGate.model_fields}]
            problems += [
                f"gate.{key}: must be left out of an ε-DP release: what it measures {_FROM_DATA}"
                for key in others
            ]
            left["gate"] = {key: one for key, one in gate.items() if key not in others}
        columns = left.get("columns")
        if isinstance(columns, Mapping):
            left["columns"] = {
                name: _without_others(name, column, problems) for name, column in columns.items()
            }
        return left, problems


def _without_others(name: Any, column: Any, problems: list[str]) -> Any:
    """Return a column without keys of columns of other releases; note why they do not fit."""
    if not isinstance(column, Mapping):
        return column
    for key in [key for key in column if key in _OF_COLUMNS]:
        problems.append(f"columns.{name}.{key}: must be left out of an ε-DP release: {_OF_COLUMNS[key]}")
    return {key: one for key, one in column.items() if key not in _OF_COLUMNS}
