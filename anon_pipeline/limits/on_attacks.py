"""The gate's limits on attacks, judged in the order in which they are named.

Belongs here: comparing what attackers get right with ``gate.attacks``. Does not belong here: the other limits
(`judge`), attacking (`risk`), measuring it on a release (`measure`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial

from anon_pipeline.evidence import attackers as measured
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.expected import Expectation, expectation, expected_linking
from anon_pipeline.evidence.linkage import linked_by
from anon_pipeline.evidence.measures import linking
from anon_pipeline.evidence.population_risk import sampled_risk
from anon_pipeline.limits.comparing import bounded, needing
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.population import PopulationRisk
from anon_pipeline.risk.sizes import size_risk
from anon_pipeline.sources.population import Population

__all__ = [
    "POPULATION_RISKS",
    "WITHOUT_POPULATION",
    "AttackLimit",
    "attack_limits",
    "attack_verdicts",
    "limits_on_attacks",
    "limits_on_population",
    "linking_limit",
    "on_expectation",
    "verdict_on",
]

WITHOUT_POPULATION = "needs the population table"
"""Why a limit on who knows the population is unmeasured."""

Measure = Callable[[Evidence, Policy], float]

_ON_ORIGINALS: dict[str, Measure] = {
    "attacker_success": lambda evidence, policy: linking(evidence, policy).attacker_success,
    "assignment_risk": measured.assigned,
    "expected_linking_risk": measured.expected,
}
_OF_NOISE = ("attacker_success", "assignment_risk")
"""Limits that look at the noise that was drawn; they judge each class by itself."""
_ON_FILES: dict[str, Measure] = {
    "prosecutor_risk": lambda evidence, policy: size_risk(evidence.classes.sizes).prosecutor,
    "marketer_risk": lambda evidence, policy: size_risk(evidence.classes.sizes).marketer,
    "sample_uniques": measured.unique,
    "minimal_uniques": measured.singled_out,
}
_LINKAGE = ("exact", "threshold", "rules", "probabilistic")

POPULATION_RISKS: dict[str, Callable[[PopulationRisk], float]] = {
    "journalist_risk": lambda risk: risk.journalist,
    "marketer_risk": lambda risk: risk.marketer,
}
"""What the limits on who knows the population bound, by their names."""


@dataclass(frozen=True, slots=True)
class AttackLimit:
    """A limit on an attack, and what measures it.

    name: such as ``linkage.exact``.
    bound: what the policy demands.
    measure: from the evidence and the policy to what is compared.
    sense: ``at most`` or ``at least``.
    alone: whether a file alone can be measured.
    over_noise: from the evidence and the policy to the mean of ``measure`` over the noise; None where it
        does not look at noise, or is measured on a file alone.
    tolerance: what floats are given, as a share of the bound where that is above 1.
    """

    name: str
    bound: float
    measure: Measure
    sense: str = "at most"
    alone: bool = False
    tolerance: float = 0.0
    over_noise: Callable[[Evidence, Policy], Expectation] | None = None

    def judged(self, value: float, realized: float | None = None) -> Verdict:
        """Compare what was measured with the bound."""
        near = abs(value - self.bound) <= self.tolerance * max(self.bound, 1.0)
        return bounded(self.name, self.bound if near else value, self.bound, self.sense, realized)

    def value(self, evidence: Evidence, policy: Policy) -> float:
        """Return what is compared with the bound: the mean over the noise, or what was realized."""
        if self.over_noise is None or not on_expectation(policy):
            return self.measure(evidence, policy)
        return self.over_noise(evidence, policy).judged

    def realized(self, evidence: Evidence, policy: Policy) -> float | None:
        """Return the same of the noise that was drawn; None where that is what is compared."""
        if self.over_noise is None or not on_expectation(policy):
            return None
        return self.measure(evidence, policy)


def on_expectation(policy: Policy) -> bool:
    """Tell whether limits on linking are judged on the mean over the noise; without noise there is none."""
    return policy.gate.linking == "expected" and bool(policy.perturbed)


def attack_limits(policy: Policy) -> list[str]:
    """Name the limits on attacks that a policy sets, in the order of `attack_verdicts`."""
    population = [f"population.{name}" for name in limits_on_population(policy)]
    return [limit.name for limit in limits_on_attacks(policy)] + population


def limits_on_attacks(policy: Policy) -> Iterator[AttackLimit]:
    """Yield the limits on attacks that a policy sets, but those that need the population."""
    limits = policy.gate.attacks
    for name, measure in _ON_ORIGINALS.items():
        if (bound := getattr(limits, name)) is not None:
            mean = _mean_of(measure, together=True) if name in _OF_NOISE else None
            yield AttackLimit(name, bound, measure, over_noise=mean)
    if (averaging := limits.averaging) is not None:
        yield AttackLimit("averaging", averaging.risk, partial(measured.averaged, limit=averaging))
    for kind in _LINKAGE:
        if (bound := getattr(limits.linkage, kind)) is not None:
            linked = partial(linked_by, kind=kind)
            yield AttackLimit(f"linkage.{kind}", bound, linked, over_noise=_mean_of(linked))
    yield from _on_columns(policy)
    for name, measure in _ON_FILES.items():
        if (bound := getattr(limits, name)) is not None:
            yield AttackLimit(name, bound, measure, alone=True)


def linking_limit(policy: Policy) -> AttackLimit | None:
    """Return ``gate.linking_risk`` as a limit on an attack; None where it is not set."""
    bound = policy.gate.linking_risk
    if bound is None:
        return None
    return AttackLimit(
        "linking_risk",
        bound,
        lambda evidence, policy: linking(evidence, policy).risk,
        over_noise=expected_linking,
    )


def _mean_of(measure: Measure, *, together: bool = False) -> Callable[[Evidence, Policy], Expectation]:
    return partial(expectation, measure=measure, together=together)


def _on_columns(policy: Policy) -> Iterator[AttackLimit]:
    """Yield the limits on what is learned of sensitive columns; floats are given 1e-12, as in t-closeness."""
    limits = policy.gate.attacks
    for name, bound in limits.homogeneity.items():
        measure = partial(measured.homogeneous, name=name)
        yield AttackLimit(f"homogeneity.{name}", bound, measure, alone=True, tolerance=1e-12)
    for name, bound in limits.skewness.items():
        measure = partial(measured.skewed, name=name)
        yield AttackLimit(f"skewness.{name}", bound, measure, tolerance=1e-12)
    for name, bound in limits.similarity.items():
        measure = partial(measured.spread, name=name)
        yield AttackLimit(f"similarity.{name}", bound, measure, "at least", tolerance=1e-12)


def limits_on_population(policy: Policy) -> dict[str, float]:
    """Return the limits that a policy sets on who knows the population: their bounds by name."""
    limits = policy.gate.attacks.population
    bounds = {name: getattr(limits, name, None) for name in POPULATION_RISKS}
    return {name: bound for name, bound in bounds.items() if bound is not None}


def attack_verdicts(
    evidence: Evidence, policy: Policy, population: Population | None = None
) -> Iterator[tuple[str, Callable[[], Verdict]]]:
    """Yield each limit on an attack that the policy sets, and what judges it."""
    for limit in limits_on_attacks(policy):
        judge = partial(verdict_on, limit, evidence, policy)
        if limit.alone:
            yield limit.name, judge
        else:
            yield needing(evidence, limit.name, limit.bound, judge, limit.sense)
    yield from _of_population(evidence, policy, population)


def verdict_on(limit: AttackLimit, evidence: Evidence, policy: Policy) -> Verdict:
    """Measure and judge."""
    return limit.judged(limit.value(evidence, policy), limit.realized(evidence, policy))


def _of_population(
    evidence: Evidence, policy: Policy, population: Population | None
) -> Iterator[tuple[str, Callable[[], Verdict]]]:
    """Yield the limits on who knows the population, which is brought to the release once for all of them."""

    @cache
    def risk(table: Population) -> PopulationRisk:
        return sampled_risk(evidence, policy, table)

    def judge(name: str, bound: float) -> Verdict:
        limit = f"population.{name}"
        if population is None:
            return Verdict(limit, Status.UNMEASURED, None, bound, "at most", reason=WITHOUT_POPULATION)
        return bounded(limit, POPULATION_RISKS[name](risk(population)), bound, "at most")

    for name, bound in limits_on_population(policy).items():
        yield f"population.{name}", partial(judge, name, bound)
