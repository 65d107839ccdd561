"""What others need to know of a limit, in four records: its words, its judging, its publishing, its forecast.

A new limit needs `Words` and `Judged`; each field of the others has a default that fits most limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from anon_pipeline.evidence.expectation import Expectation
from anon_pipeline.limits.case import Case, Need
from anon_pipeline.limits.forecast import Foreseen
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.private import Staged

if TYPE_CHECKING:
    from anon_pipeline.limits.limit import Demand

Question = Literal["singling out", "linkability", "inference"]
"""What European guidance on anonymization asks (WP29, Opinion 05/2014)."""


def _number(wanted: Any) -> float | None:
    return None if wanted is None else float(wanted)


@dataclass(frozen=True, slots=True)
class Words:
    """What is said of a limit to people.

    meaning: one sentence. ``{}`` stands for the column or part, ``{k}`` for the gate's k, ``{counted}`` for
        records, or for people where the policy says whose records they are.
    parts: the name of each part that the sentence does not fit, and the sentence for it.
    of_people: the same sentence where people are counted, and ``{counted}`` is not enough to say so.
    advice: what to change in the policy where it is refused; for limits that tuning cannot judge.
    advice_for: the same for one policy and what a verdict is about: ``""`` or a column; None: ``advice``.
    only: from a policy to which part of the limit can be judged for it, as in "holds (identifiers only)", and
        a sentence that says so; None: all of it.
    question: of the European guidance that it answers; None: none of them.
    knows: what its attacker knows of a person, where its value is the share of the records that he gets
        right, or his chance; empty where its value is something else.
    knows_plain: the same where no column gets noise; empty: the same.
    """

    meaning: str
    parts: tuple[tuple[str, str], ...] = ()
    of_people: str = ""
    advice: str = ""
    advice_for: Callable[[Policy, str], str] | None = None
    only: Callable[[Policy], tuple[str, str] | None] | None = None
    question: Question | None = None
    knows: str = ""
    knows_plain: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """How a release is judged by a limit: by ``measure`` and ``bound``, or by ``judge``.

    measure: what is compared with the bound.
    judge: takes the place of ``measure`` where one number and its bound do not say it.
    bound: from what the policy demands to the number that a verdict shows.
    sense: of a value and its bound.
    sense_of: the same, where it depends on what the policy demands; None: it does not.
    tolerance: what floats are given, as a share of the bound where that is above 1.
    needs: what it cannot be measured without; then it stays unmeasured, and the release is not published.
    regards: what else it looks at where it is there, and is judged without where it is not.
    people: whether it counts people where the policy says who they are; it then needs the originals, and its
        value is not published.
    judges_records: whether it judges a file alone by records all the same, where people are counted.
    over_noise: the mean of ``measure`` over the noise; None where it does not look at the drawn noise.
    before_drawing: from a demand, its policy and the stage `k_anonymized` to why the gate would refuse it
        whatever noise is drawn, which would cost its ε: names, bounds and what to do, nothing that was
        measured; to None where it may be kept. None: nothing is known before the draw.
    """

    measure: Callable[[Case, Demand], float] | None = None
    judge: Callable[[Case, Demand], Verdict] | None = None
    bound: Callable[[Any], float | None] = _number
    sense: str = "at most"
    sense_of: Callable[[Any], str] | None = None
    tolerance: float = 0.0
    needs: tuple[Need, ...] = ()
    regards: tuple[Need, ...] = ()
    people: bool = False
    judges_records: bool = False
    over_noise: Callable[[Case, Demand], Expectation] | None = None
    before_drawing: Callable[[Demand, Policy, Staged], str | None] | None = None

    def __post_init__(self) -> None:
        if (self.measure is None) == (self.judge is None):
            raise ValueError("exactly one of measure and judge must be given.")


@dataclass(frozen=True, slots=True)
class Published:
    """What manifests and reports say of a limit.

    valued: whether its verdict has a value and a bound; else it says only whether the limit holds.
    boundless: whether a manifest may record a value of it without a bound.
    banded: whether its verdict says in which band its value lies, which may be published; see `BANDS`.
    missing: whether its value is the share of the input that is not released, which the stages count, too.
    together: whether it bounds what all releases of a person reveal together.
    promise: sentence of a release's guarantee on what it demands; None: it promises nothing to people.
    compares_lists: whether it compares released values with lists and hierarchies of the policy, so that a
        public policy, which hides some, does not show that it is kept.
    by_version: whether a release that is out is held to it by the rules of its manifest's version.
    """

    valued: bool = True
    boundless: bool = False
    banded: bool = False
    missing: bool = False
    together: bool = False
    promise: Callable[[Demand], str] | None = None
    compares_lists: bool = False
    by_version: bool = False


@dataclass(frozen=True, slots=True)
class Forecast:
    """What tuning makes of a limit before there is a release.

    value: what it compares with the bound; None: it cannot judge the limit, or by ``of_column``.
    of_column: the same of a limit that is about columns, by the column's name.
    certain: whether the limit holds in every release that the stages make, so that there is nothing to judge.
    mapped: whether maps of risk and information loss show it as the risk.
    """

    value: Callable[[Foreseen, Policy], float] | None = None
    of_column: Callable[[Foreseen, str], float] | None = None
    certain: bool = False
    mapped: bool = False

    @property
    def is_possible(self) -> bool:
        """Whether tuning can judge the limit."""
        return self.value is not None or self.of_column is not None
