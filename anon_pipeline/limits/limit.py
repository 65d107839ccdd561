"""The entry of a kind of limit, a policy's demand for it, and judging a release by that demand.

Decision: docs/adr/0066-an-entry-of-a-limit-is-four-records.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from anon_pipeline.base.audience import FILE, Audience, Number, Source
from anon_pipeline.limits.case import MISSING, Case, Need
from anon_pipeline.limits.contradiction import contradiction
from anon_pipeline.limits.forecast import Foreseen
from anon_pipeline.limits.traits import Forecast, Judged, Published, Words
from anon_pipeline.limits.verdicts import Status, Verdict, band_of
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts.records import COUNTED

Demanded = Mapping[str, Any]
"""What a policy demands by one kind of limit: by column or part, ``""`` where it has none."""


@dataclass(frozen=True, slots=True)
class Advised:
    """What is demanded of a release that is published all the same, with a warning.

    wanted: as the policy would have it.
    """

    wanted: Any


_SOURCES: Mapping[Need, Source] = {
    "originals": "originals",
    "memory": "history",
    "population": "population table",
}


@dataclass(frozen=True, slots=True)
class Limit:
    """A kind of limit: all that others need to know of it.

    name: in verdicts, and in the policy.
    words: what is said of it to people.
    judged: how a release is judged by it.
    demanded: what a policy demands by it; empty where the limit is not set. None, as every limit of a plugin
        has it: what ``gate.<name>`` says.
    always: whether every policy demands it.
    advisable: whether it may be demanded as advice (`Advised`): a release beyond it has a warning.
    attack: whether it stands under ``gate.attacks``.
    of_policy: whether it is about the policy and not about what is made by it: each demand is a key.
    usefulness: of limits on what a release may lose: ``recoding`` if no ε changes that, else ``noise``;
        tuning looks for points that keep these. Empty of all others.
    published: what manifests and reports say of it.
    forecast: what tuning makes of it.
    expectation: its name in Great Expectations; None: by the default of `expectation_name`; empty where a
        table and its originals alone do not show whether it is kept.
    """

    name: str
    words: Words
    judged: Judged
    demanded: Callable[[Policy], Demanded] | None = None
    always: bool = False
    advisable: bool = False
    attack: bool = False
    of_policy: bool = False
    usefulness: Literal["", "recoding", "noise"] = ""
    published: Published = field(default_factory=Published)
    forecast: Forecast = field(default_factory=Forecast)
    expectation: str | None = None

    @property
    def number(self) -> Number:
        """What its value is computed from, and who sees it.

        The public sees it if it follows from released file and policy, so that `verify` measures it anew.
        The share that is missing follows from the file and from how many records came in, which the facts
        count.
        """
        if self.published.missing:
            return COUNTED
        if not (self.judged.needs or self.judged.regards) and self.judged.over_noise is None:
            return FILE
        noise: tuple[Source, ...] = () if self.judged.over_noise is None else ("noise",)
        seen = (*self.judged.needs, *self.judged.regards)
        return Number((*(_SOURCES[need] for need in seen), *noise))

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

    def demands(self, policy: Policy) -> Iterator[Demand]:
        """Yield what a policy demands by this limit."""
        demanded = _at_gate(policy, self.name) if self.demanded is None else self.demanded(policy)
        for of, wanted in demanded.items():
            if isinstance(wanted, Advised):
                yield Demand(self, of, wanted.wanted, advised=True)
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
    """

    limit: Limit
    of: str
    wanted: Any
    advised: bool = False

    @property
    def name(self) -> str:
        """Its name in verdicts: ``k``, ``t_closeness.salary``."""
        return f"{self.limit.name}.{self.of}" if self.of else self.limit.name

    @property
    def bound(self) -> float | None:
        """The number that a verdict shows; None where the limit has none."""
        return self.limit.judged.bound(self.wanted)

    @property
    def sense(self) -> str:
        """Of a value and the bound."""
        return (
            self.limit.judged.sense
            if self.limit.judged.sense_of is None
            else self.limit.judged.sense_of(self.wanted)
        )

    def verdict(self, case: Case) -> Verdict:
        """Judge a release; a limit that lacks what it needs stays unmeasured."""
        told = self.limit.recomputable and not (self.limit.judged.people and case.policy.person)
        return replace(self._judge(case), recomputable=told)

    def _judge(self, case: Case) -> Verdict:
        of_people = self.limit.judged.people and not self.limit.judged.judges_records and case.policy.person
        counted: tuple[Need, ...] = ("originals",) if of_people else ()
        for need in (*self.limit.judged.needs, *counted):
            if not case.has[need]:
                sense = "holds" if self.bound is None else self.sense
                return Verdict(self.name, Status.UNMEASURED, None, self.bound, sense, reason=MISSING[need])
        if self.limit.judged.judge is None:
            found = self.compare(self.value(case), self.realized_value(case))
        else:
            found = self.limit.judged.judge(case, self)
        if type(found) is not Verdict or found.limit != self.name or not found.is_readable:
            raise ValueError(f"{self.name} must be judged by a verdict on itself, not on another limit.")
        said_more = found.reason or (found.realized is not None and self.limit.judged.over_noise is None)
        if self.limit.published.banded and found.value is not None:
            found = replace(found, band=band_of(found.value))
        kept = found.status is Status.PASSED
        if found.status is Status.WARNED:
            raise ValueError(f"{self.name} must be kept or refused; whether that warns, its demand says.")
        if kept and (said_more or found.bound != self.bound or contradiction(self.limit, found)):
            raise ValueError(f"{self.name} must be kept within its bound by a finite value.")
        warned = replace(found, status=Status.WARNED)
        warns = self.advised and found.status is Status.REFUSED
        return warned if warns and contradiction(self.limit, warned) is None else found

    def value(self, case: Case) -> float:
        """Return what is compared with the bound: the mean over the noise, or what was realized."""
        if self.limit.judged.over_noise is None or not judges_expectation(case.policy):
            return self._measure(case)
        return self.limit.judged.over_noise(case, self).judged

    def realized_value(self, case: Case) -> float | None:
        """Return the same of the noise that was drawn; None where that is what is compared."""
        if self.limit.judged.over_noise is None or not judges_expectation(case.policy):
            return None
        return self._measure(case)

    def foreseen(self, expected: Foreseen, policy: Policy) -> Verdict:
        """Judge what tuning expects of a release.

        Raises:
            ValueError: the limit has no bound, or cannot be judged beforehand.
        """
        if self.limit.forecast.value is not None:
            value = self.limit.forecast.value(expected, policy)
        elif self.limit.forecast.of_column is not None:
            value = self.limit.forecast.of_column(expected, self.of)
        else:
            raise ValueError(f"{self.name} was not foreseen.")
        return self.judge_expected(value)

    def judge_expected(self, value: float) -> Verdict:
        """Compare what is expected with the bound; what is only advised warns."""
        found = self.compare(value)
        warns = self.advised and not found.status.publishable
        return replace(found, status=Status.WARNED) if warns else found

    def compare(self, value: float, realized: float | None = None) -> Verdict:
        """Compare what was measured with the bound."""
        bound = self.bound
        if bound is None:
            raise ValueError(f"{self.name} must have a bound to be compared with.")
        near = abs(value - bound) <= self.limit.judged.tolerance * max(bound, 1.0)
        return judge_bound(self.name, bound if near else value, bound, self.sense, realized)

    def _measure(self, case: Case) -> float:
        if self.limit.judged.measure is None:
            raise ValueError(f"{self.name} must have a measure.")
        return self.limit.judged.measure(case, self)


def judge_bound(name: str, value: float, bound: float, sense: str, realized: float | None = None) -> Verdict:
    """Judge a value against the bound that it must reach (``at least``) or not exceed (``at most``)."""
    kept = value >= bound if sense == "at least" else value <= bound
    return Verdict(
        name, Status.PASSED if kept else Status.REFUSED, float(value), float(bound), sense, None, realized
    )


def unit_of(policy: Policy) -> str:
    """Return what limits count that count people where the policy says whose records they are."""
    return "records" if policy.person is None else "people"


def judges_expectation(policy: Policy) -> bool:
    """Tell whether limits on linking are judged on the mean over the noise; without noise there is none."""
    return policy.gate.linking == "expected" and bool(policy.noisy)
