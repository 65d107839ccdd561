"""The policy of a synthetic release: records that are drawn from a model of the data, in several copies.

Decision: docs/adr/0091-synthetic-releases.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from anon_pipeline.catalog.release_kinds import SYNTHETIC, ReleaseKind
from anon_pipeline.policy.declared_columns import DeclaredColumn
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.fields import Plain, Real, Share, Strict, Whole
from anon_pipeline.policy.marks import LATER, SHOWN, TEXT
from anon_pipeline.policy.named_columns import named_like_identifiers


class SyntheticGate(Strict):
    """What simulated attackers may learn of records that the model has seen, beyond others."""

    copied_records: Annotated[Share, SHOWN] = Field(
        0.02,
        description="Share of unique records that are in a copy as they are, beyond the share for records "
        "that the model has not seen.",
    )
    membership: Annotated[Real, SHOWN] = Field(
        0.55,
        ge=0.5,
        le=1,
        description="Probability that an attacker tells a record that the model has seen from one that it "
        "has not; 0.5 is a coin.",
    )
    attribute_gain: Annotated[Share, SHOWN] = Field(
        0.05,
        description="Share of the records whose sensitive value an attacker guesses right, beyond the share "
        "for records that the model has not seen.",
    )


class SyntheticPolicy(DeclaredRelease):
    """One synthetic release, as its policy describes it."""

    kind: ClassVar[ReleaseKind] = SYNTHETIC
    others: ClassVar[Mapping[str, str]] = {
        "epsilon": "no noise is added; for a guarantee with ε make an ε-DP release (docs/epsilon-dp.md)",
        "anonymize": "nothing is generalized",
        "perturb": "no noise is added",
        "suppress": "no record of the data is released",
        "clean": "each cell that does not fit counts as otherwise",
        "budget": "no ε is spent",
    }

    k: Annotated[Whole, SHOWN] = Field(
        10,
        ge=2,
        le=10_000,
        description="Values that fewer records have are not released; released numbers lie between means of "
        "so many.",
    )
    copies: Annotated[Whole, SHOWN] = Field(
        5, ge=1, le=100, description="How many tables are drawn, each from a model of its own, as data files."
    )
    copy_records: Annotated[Whole | None, SHOWN] = Field(
        None, ge=1, le=100_000_000, description="Records of each copy. Default: as many as the source has."
    )
    sensitive: Annotated[tuple[Plain, ...], SHOWN, TEXT] = Field(
        (), description="Columns that an attacker who knows the others wants to learn."
    )
    person: Annotated[Plain | None, SHOWN, TEXT, LATER] = Field(
        None,
        description="Column of the source that identifies people, if they have several records: attackers "
        "are then measured by people. It is not released.",
    )
    one_record_per_person: Annotated[Literal[True] | None, SHOWN, LATER] = Field(
        None,
        description="true: you have made sure that no person has several records, even if records repeat.",
    )
    method: Annotated[Literal["copula", "trees"], SHOWN] = Field(
        description="copula: the distribution of each column, and how each pair of columns is correlated; "
        "trees: a tree for each column, given the columns before it in the policy."
    )
    leaf: Annotated[Whole | None, SHOWN] = Field(
        None, ge=2, description="Of trees: records in each leaf, at least. Default: five times k."
    )
    gate: Annotated[SyntheticGate, SHOWN] = SyntheticGate()

    def broken_method(self) -> list[str]:
        """Say what is wrong with the method and the columns that it takes."""
        problems = []
        for name, column in self.columns.items():
            if column.bins is not None or column.weight != 1:
                problems.append(f"columns.{name}: bins and weight must be left out of a synthetic release")
        unknown = [name for name in self.sensitive if name not in self.columns]
        if unknown or len({*self.sensitive}) != len(self.sensitive):
            problems.append("sensitive: must name columns of columns, each once")
        elif self.sensitive and len(self.columns) < 2:
            problems.append("sensitive: an attacker must know another column, there is none")
        if self.person in self.columns:
            problems.append("person: must not be one of columns, which are released")
        if self.person is not None and self.one_record_per_person:
            problems.append("one_record_per_person: must be left out with person")
        listed = {name: column for name, column in self.columns.items() if column.values is not None}
        problems += named_like_identifiers(listed, "values that k records have are released as they are")
        if self.budget is not None:
            problems.append(self.misfit("budget"))
        if self.leaf is not None and self.method != "trees":
            problems.append("leaf: must be left out without method: trees")
        if self.leaf is not None and self.leaf < self.k:
            problems.append(f"leaf: must be at least k, {self.k}")
        return problems

    @property
    def person_column(self) -> str | None:
        """Column of the source that says whose a record is; None: the policy names none."""
        return self.person

    @property
    def rare_below(self) -> int:
        """Records that a category must have in the whole table to be released."""
        return self.k

    def least(self, column: DeclaredColumn) -> int:
        """Return how many records a value of a column, or a group of its numbers, must have."""
        return self.k if column.values is None else self.rare_below

    @property
    def leaf_records(self) -> int:
        """Records in each leaf of a tree, at least."""
        return 5 * self.k if self.leaf is None else self.leaf
