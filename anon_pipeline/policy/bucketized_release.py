"""The policy of a bucketized release: columns in several tables, which only buckets of records connect.

Decision: docs/adr/0092-bucketized-releases.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from anon_pipeline.catalog.release_kinds import BUCKETIZED, ReleaseKind
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.fields import Plain, Real, Strict, Whole
from anon_pipeline.policy.frozen_mapping import FrozenMapping, Keyed
from anon_pipeline.policy.marks import LATER, SHOWN, TEXT
from anon_pipeline.policy.named_columns import named_like_identifiers

BUCKET = "bucket"
"""Name of the column that connects the tables."""

_Guessed = Annotated[Real, Field(gt=0, le=1)]
_Slice = Annotated[tuple[Plain, ...], Field(min_length=1)]


class BucketizedGate(Strict):
    """What attackers may learn of a sensitive value."""

    guessed: Annotated[Real, SHOWN] = Field(
        0.5,
        gt=0,
        le=1,
        description="Share of the records whose sensitive value an attacker guesses right who knows all "
        "other values of a person, and has learned from all buckets which values go with which.",
    )
    guessed_of: Annotated[Keyed[_Guessed], SHOWN, TEXT, LATER] = Field(
        default_factory=FrozenMapping,
        description="Further columns that are secrets, of any slice, and the same share for each. Buckets "
        "are not made by them.",
    )


class BucketizedPolicy(DeclaredRelease):
    """One bucketized release, as its policy describes it."""

    kind: ClassVar[ReleaseKind] = BUCKETIZED
    others: ClassVar[Mapping[str, str]] = {
        "epsilon": "no noise is added; for a guarantee with ε make an ε-DP release (docs/epsilon-dp.md)",
        "anonymize": "nothing is generalized",
        "perturb": "no noise is added",
        "suppress": "no record is suppressed",
        "clean": "each cell that does not fit counts as otherwise",
        "budget": "no ε is spent",
    }

    slices: Annotated[tuple[_Slice, ...], SHOWN, TEXT] = Field(
        min_length=2,
        description="Columns of each table, each column in one of them. Within a bucket nothing tells which "
        "rows of two tables belong together. The last one has the sensitive column.",
    )
    sensitive: Annotated[Plain, SHOWN, TEXT] = Field(
        description="Column that must have l different values in each bucket, none with more than 1/l of it."
    )
    l: Annotated[Whole, SHOWN] = Field(  # noqa: E741 - the name of the measure
        ge=2,
        le=1_000,
        description="A sensitive value is guessed with probability 1/l at most, by its bucket.",
    )
    k: Annotated[Whole, SHOWN] = Field(
        2, ge=2, le=10_000, description="Records of each bucket, at least; at least l in any case."
    )
    gate: Annotated[BucketizedGate, SHOWN] = BucketizedGate()

    def broken_method(self) -> list[str]:
        """Say what is wrong with the slices and the columns."""
        problems, named = [], [name for one in self.slices for name in one]
        if sorted(named) != sorted(self.columns):
            problems.append("slices: must have each column of columns exactly once, and no other")
        if self.sensitive not in self.slices[-1]:
            problems.append("sensitive: must be in the last slice")
        if BUCKET in self.columns:
            problems.append(f"columns.{BUCKET}: must have another name, the tables have a column of this one")
        if not {*self.gate.guessed_of} <= {*self.columns} - {self.sensitive}:
            problems.append(
                "gate.guessed_of: must name columns of columns other than sensitive, which gate.guessed is of"
            )
        secrets = {self.sensitive, *self.gate.guessed_of}
        for name, column in self.columns.items():
            if column.weight != 1 or (column.bins is not None and name not in secrets):
                problems.append(
                    f"columns.{name}: weight must be left out of a bucketized release, and bins but for a "
                    "sensitive column of numbers (or one of gate.guessed_of), whose values count as "
                    "different if their bins are"
                )
        problems += named_like_identifiers(self.columns, "a bucketized release has values as they are")
        if self.budget is not None:
            problems.append(self.misfit("budget"))
        return problems
