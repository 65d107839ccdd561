"""The policy of a bucketized release: columns in several tables, which only buckets of records connect.

Decision: docs/adr/0092-bucketized-releases.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from pydantic import Field

from anon_pipeline.catalog.detectors.identifying_names import telling_name
from anon_pipeline.catalog.release_kinds import BUCKETIZED, ReleaseKind
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.fields import Plain, Real, Strict, Whole
from anon_pipeline.policy.marks import SHOWN, TEXT

BUCKET = "bucket"
"""Name of the column that connects the tables."""

_SHOWABLE: Final = frozenset({"dates of birth"})
"""What a name may say of a column with many values: bucketized releases are for what others know."""
_FEW: Final = 100  # values that identify nobody, whatever the column's name

_Slice = Annotated[tuple[Plain, ...], Field(min_length=1)]


class BucketizedGate(Strict):
    """What attackers may learn of a sensitive value."""

    guessed: Annotated[Real, SHOWN] = Field(
        0.5,
        gt=0,
        le=1,
        description="Share of the records whose sensitive value an attacker guesses right who has learned "
        "from all buckets which values go with which quasi-identifiers.",
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
        for name, column in self.columns.items():
            if column.weight != 1 or (column.bins is not None and name != self.sensitive):
                problems.append(
                    f"columns.{name}: weight must be left out of a bucketized release, and bins but for a "
                    "sensitive column of numbers, whose values count as different if their bins are"
                )
        for name, column in self.columns.items():
            said = telling_name(name)
            if said is not None and said not in _SHOWABLE and column.size > _FEW:
                problems.append(
                    f"columns.{name}: must be left out, since it is named like {said}, has more than {_FEW} "
                    "values, and a bucketized release has values as they are. If it holds nothing of that "
                    "kind, give it another name"
                )
        if self.budget is not None:
            problems.append(self.misfit("budget"))
        return problems
