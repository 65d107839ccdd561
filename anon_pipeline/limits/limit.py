"""The entry of a kind of limit, a policy's demand for it, and judging a release by that demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from anon_pipeline.base.audience import FILE, Audience, Number, Source
from anon_pipeline.evidence.expected import Expectation
from anon_pipeline.facts.records import COUNTED
from anon_pipeline.limits.case import MISSING, Case, Need
from anon_pipeline.limits.contradiction import contradiction
from anon_pipeline.limits.foreseen import Foreseen
from anon_pipeline.limits.verdicts import Status, Verdict, band_of
from anon_pipeline.policy.model import Policy

Demanded = Mapping[str, Any]
"""What a policy demands by one kind of limit: by column or part, ``""`` where it has none."""


@dataclass(frozen=True, slots=True)
class Advised:
    """What is demanded of a release that is published all the same, with a warning.

    wanted: as the policy would have it.
    since: `GENERATION` of advice that has it first; a release of an earlier one verifies without it.
    """

    wanted: Any
    since: int = 0


GENERATION = 1
"""Of advice: 1 since told_originals, rare_texts, repeated_noise, and accepted bounds that demand nothing."""


Question = Literal["singling out", "linkability", "inference"]
"""What European guidance on anonymization asks (WP29, Opinion 05/2014)."""
_SOURCES: Mapping[Need, Source] = {
    "originals": "originals",
    "memory": "history",
    "population": "population table",
}


def _number(wanted: Any) -> float | None:
    return None if wanted is None else float(wanted)


@dataclass(frozen=True, slots=True)
class Limit:
    """A kind of limit: all that others need to know of it.

    name: in verdicts, and in the policy.
    meaning: one sentence for people; ``{}`` stands for the column or part.
    demanded: what a policy demands by it; empty where the limit is not set. None, as every limit of a plugin
        has it: what ``gate.<name>`` says.
    measure: what is compared with the bound.
    judge: takes the place of ``measure`` where one number and its bound do not say it.
    bound: from what the policy demands to the number that a verdict shows.
    sense: of a value and its bound.
    sense_of: the same, where it depends on what the policy demands; None: it does not.
    tolerance: what floats are given, as a share of the bound where that is above 1.
    needs: what it cannot be measured without; then it stays unmeasured, and the release is not published.
    people: whether it counts people where the policy says who they are; it then needs the originals, and its
        value is not published.
    judges_records: whether it judges a file alone by records all the same, where people are counted.
    over_noise: the mean of ``measure`` over the noise; None where it does not look at the drawn noise.
    attack: whether it stands under ``gate.attacks``.
    certain: whether it holds in every release that the stages make.
    always: whether every policy demands it.
    advisable: whether it may be demanded as advice (`Advised`): a release beyond it has a warning.
    banded: whether its verdict says in which band its value lies, which may be published; see `BANDS`.
    valued: whether its verdict has a value and a bound; else it says only whether the limit holds.
    boundless: whether a manifest may record a value of it without a bound.
    missing: whether its value is the share of the input that is not released, which the stages count, too.
    mapped: whether maps of risk and information loss show it as the risk.
    together: whether it bounds what all releases of a person tell together.
    promise: sentence of a release's guarantee on what it demands; None: it promises nothing to persons.
    foreseen: what tuning compares with the bound before there is a release; None: it cannot judge the limit.
    foreseen_of: the same of a limit that is about columns, by the column's name.
    usefulness: of limits on what a release may lose: ``recoding`` if no ε changes that, else ``noise``;
        tuning looks for points that keep these. Empty of all others.
    advice: what to change in the policy where it is refused; for limits that tuning cannot judge.
    advice_for: the same for one policy and what a verdict is about: ``""`` or a column; None: ``advice``.
    expectation: its name in Great Expectations; None: by the default of `expectation_name`; empty where a
        table and its originals alone do not show whether it is kept.
    question: of the European guidance that it answers; None: none of them.
    knows: what its attacker knows of a person, where its value is the share of the records that he gets
        right, or his chance; empty where its value is something else.
    meaning_for: its meaning in one policy, which says for example what is counted; None: ``meaning``.
    """

    name: str
    meaning: str
    demanded: Callable[[Policy], Demanded] | None = None
    measure: Callable[[Case, Demand], float] | None = None
    judge: Callable[[Case, Demand], Verdict] | None = None
    bound: Callable[[Any], float | None] = _number
    sense: str = "at most"
    sense_of: Callable[[Any], str] | None = None
    tolerance: float = 0.0
    needs: tuple[Need, ...] = ()
    people: bool = False
    judges_records: bool = False
    over_noise: Callable[[Case, Demand], Expectation] | None = None
    attack: bool = False
    certain: bool = False
    always: bool = False
    advisable: bool = False
    banded: bool = False
    valued: bool = True
    boundless: bool = False
    missing: bool = False
    mapped: bool = False
    together: bool = False
    promise: Callable[[Demand], str] | None = None
    foreseen: Callable[[Foreseen, Policy], float] | None = None
    foreseen_of: Callable[[Foreseen, str], float] | None = None
    usefulness: Literal["", "recoding", "noise"] = ""
    advice: str = ""
    advice_for: Callable[[Policy, str], str] | None = None
    expectation: str | None = None
    question: Question | None = None
    knows: str = ""
    meaning_for: Callable[[Policy], str] | None = None

    def __post_init__(self) -> None:
        if (self.measure is None) == (self.judge is None):
            raise ValueError(f"exactly one of measure and judge must be given, not so for {self.name}.")

    @property
    def number(self) -> Number:
        """What its value is computed from, and who sees it.

        The public does where released file and policy tell it, so that `verify` measures it anew. The share
        that is missing follows from the file and from how many records came in, which the facts count.
        """
        if self.missing:
            return COUNTED
        if not self.needs and self.over_noise is None:
            return FILE
        noise: tuple[Source, ...] = () if self.over_noise is None else ("noise",)
        return Number((*(_SOURCES[need] for need in self.needs), *noise))

    @property
    def recomputable(self) -> bool:
        """Whether its value is published."""
        return Audience.PUBLIC.sees(self.number)

    @property
    def expectation_name(self) -> str:
        """Its name in Great Expectations; empty where it has no expectation."""
        if self.expectation is not None:
            return self.expectation
        return "expect_release_to_withstand_attack" if self.attack else f"expect_release_to_keep_{self.name}"

    @property
    def is_foreseen(self) -> bool:
        """Whether tuning can judge it before there is a release."""
        return self.foreseen is not None or self.foreseen_of is not None

    def demands(self, policy: Policy) -> Iterator[Demand]:
        """Yield what a policy demands by this limit."""
        demanded = _at_gate(policy, self.name) if self.demanded is None else self.demanded(policy)
        for of, wanted in demanded.items():
            if isinstance(wanted, Advised):
                yield Demand(self, of, wanted.wanted, advised=True, since=wanted.since)
            else:
                yield Demand(self, of, wanted)


def _at_gate(policy: Policy, name: str) -> Demanded:
    """Return what stands at a key of the gate: by column where it is a mapping."""
    wanted = getattr(policy.gate, name)
    if wanted is None:
        return {}
    return wanted if isinstance(wanted, Mapping) else {"": wanted}


@dataclass(frozen=True, slots=True)
class Demand:
    """A limit as one policy demands it.

    of: column or part that it is about; empty where it is about the whole release.
    wanted: as the policy has it.
    advised: whether a release beyond it is published, with a warning.
    since: generation of advice that has it first, see `Advised`.
    """

    limit: Limit
    of: str
    wanted: Any
    advised: bool = False
    since: int = 0

    @property
    def name(self) -> str:
        """Its name in verdicts: ``k``, ``t_closeness.salary``."""
        return f"{self.limit.name}.{self.of}" if self.of else self.limit.name

    @property
    def meaning(self) -> str:
        """One sentence for people."""
        return self.limit.meaning.format(self.of)

    @property
    def bound(self) -> float | None:
        """The number that a verdict shows; None where the limit has none."""
        return self.limit.bound(self.wanted)

    @property
    def sense(self) -> str:
        """Of a value and the bound."""
        return self.limit.sense if self.limit.sense_of is None else self.limit.sense_of(self.wanted)

    def verdict(self, case: Case) -> Verdict:
        """Judge a release; a limit that lacks what it needs stays unmeasured."""
        told = self.limit.recomputable and not (self.limit.people and case.policy.person)
        return replace(self._judged(case), recomputable=told)

    def _judged(self, case: Case) -> Verdict:
        of_people = self.limit.people and not self.limit.judges_records and case.policy.person
        counted: tuple[Need, ...] = ("originals",) if of_people else ()
        for need in (*self.limit.needs, *counted):
            if not case.has[need]:
                sense = "holds" if self.bound is None else self.sense
                return Verdict(self.name, Status.UNMEASURED, None, self.bound, sense, reason=MISSING[need])
        if self.limit.judge is None:
            found = self.compared(self.value(case), self.realized(case))
        else:
            found = self.limit.judge(case, self)
        if type(found) is not Verdict or found.limit != self.name or not found.is_readable:
            raise ValueError(f"{self.name} must be judged by a verdict on itself, got another.")
        said_more = found.reason or (found.realized is not None and self.limit.over_noise is None)
        if self.limit.banded and found.value is not None:
            found = replace(found, band=band_of(found.value))
        kept = found.status is Status.PASSED
        if found.status is Status.WARNED:
            raise ValueError(f"{self.name} must be kept or refused; whether that warns, its demand says.")
        if kept and (said_more or found.bound != self.bound or contradiction(self.limit, found)):
            raise ValueError(f"{self.name} must be kept within its bound by a finite value, it is not.")
        warned = replace(found, status=Status.WARNED)
        warns = self.advised and found.status is Status.REFUSED
        return warned if warns and contradiction(self.limit, warned) is None else found

    def value(self, case: Case) -> float:
        """Return what is compared with the bound: the mean over the noise, or what was realized."""
        if self.limit.over_noise is None or not judges_expectation(case.policy):
            return self._measured(case)
        return self.limit.over_noise(case, self).judged

    def realized(self, case: Case) -> float | None:
        """Return the same of the noise that was drawn; None where that is what is compared."""
        if self.limit.over_noise is None or not judges_expectation(case.policy):
            return None
        return self._measured(case)

    def foreseen(self, expected: Foreseen, policy: Policy) -> Verdict:
        """Judge what tuning expects of a release.

        Raises:
            ValueError: the limit has no bound, or cannot be judged beforehand.
        """
        if self.limit.foreseen is not None:
            value = self.limit.foreseen(expected, policy)
        elif self.limit.foreseen_of is not None:
            value = self.limit.foreseen_of(expected, self.of)
        else:
            raise ValueError(f"{self.name} must be foreseen, it is not.")
        found = self.compared(value)
        warns = self.advised and not found.status.publishable
        return replace(found, status=Status.WARNED) if warns else found

    def compared(self, value: float, realized: float | None = None) -> Verdict:
        """Compare what was measured with the bound."""
        bound = self.bound
        if bound is None:
            raise ValueError(f"{self.name} must have a bound to be compared with.")
        near = abs(value - bound) <= self.limit.tolerance * max(bound, 1.0)
        return judge_bound(self.name, bound if near else value, bound, self.sense, realized)

    def _measured(self, case: Case) -> float:
        if self.limit.measure is None:
            raise ValueError(f"{self.name} must have a measure.")
        return self.limit.measure(case, self)


def judge_bound(name: str, value: float, bound: float, sense: str, realized: float | None = None) -> Verdict:
    """Judge a value against the bound that it must reach (``at least``) or not exceed (``at most``)."""
    kept = value >= bound if sense == "at least" else value <= bound
    return Verdict(
        name, Status.PASSED if kept else Status.REFUSED, float(value), float(bound), sense, None, realized
    )


def counted(policy: Policy) -> str:
    """Return what limits count that count people where the policy says whose records they are."""
    return "records" if policy.person is None else "people"


def judges_expectation(policy: Policy) -> bool:
    """Tell whether limits on linking are judged on the mean over the noise; without noise there is none."""
    return policy.gate.linking == "expected" and bool(policy.noisy)
