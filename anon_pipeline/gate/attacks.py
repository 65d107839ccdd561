"""The gate's limits on attacks, judged in the order in which they are named.

Belongs here: comparing what attackers get right with ``gate.attacks``. Does not belong here: the other limits
(`judge`), attacking (`risk`), measuring it on a release (`measure`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

from anon_pipeline.gate.report import Status, Verdict
from anon_pipeline.gate.verdicts import bounded, needing
from anon_pipeline.measure import attacks as measured
from anon_pipeline.measure.evidence import Evidence
from anon_pipeline.measure.linkage import linked_by
from anon_pipeline.measure.measures import linking
from anon_pipeline.measure.population import sampled_risk
from anon_pipeline.policy.attacks import Averaging
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.population import PopulationRisk
from anon_pipeline.risk.sizes import size_risk
from anon_pipeline.sources.population import Population

__all__ = ["WITHOUT_POPULATION", "attack_limits", "attack_verdicts"]

WITHOUT_POPULATION = "needs the population table"
"""Why a limit on who knows the population is unmeasured."""

_Judge = Callable[[Evidence, Policy], float]

_ON_ORIGINALS: dict[str, _Judge] = {
    "attacker_success": lambda evidence, policy: linking(evidence, policy).attacker_success,
    "assignment_risk": measured.assigned,
    "expected_linking_risk": measured.expected,
}
_ON_FILES: dict[str, _Judge] = {
    "prosecutor_risk": lambda evidence, policy: size_risk(evidence.classes.sizes).prosecutor,
    "marketer_risk": lambda evidence, policy: size_risk(evidence.classes.sizes).marketer,
    "sample_uniques": measured.unique,
    "minimal_uniques": measured.singled_out,
}
_ON_POPULATION: dict[str, Callable[[PopulationRisk], float]] = {
    "journalist_risk": lambda risk: risk.journalist,
    "marketer_risk": lambda risk: risk.marketer,
}
_LINKAGE = ("exact", "threshold", "rules", "probabilistic")


def attack_limits(policy: Policy) -> list[str]:
    """Name the limits on attacks that a policy sets, in the order of `attack_verdicts`."""
    limits = policy.gate.attacks
    names = [name for name in _ON_ORIGINALS if getattr(limits, name) is not None]
    names += ["averaging"] if limits.averaging is not None else []
    names += [f"linkage.{kind}" for kind in _LINKAGE if getattr(limits.linkage, kind) is not None]
    for attack in ("homogeneity", "skewness", "similarity"):
        names += [f"{attack}.{column}" for column in getattr(limits, attack)]
    names += [name for name in _ON_FILES if getattr(limits, name) is not None]
    wanted = [name for name in _ON_POPULATION if getattr(limits.population, name, None) is not None]
    return names + [f"population.{name}" for name in wanted]


def attack_verdicts(
    evidence: Evidence, policy: Policy, population: Population | None = None
) -> Iterator[tuple[str, Callable[[], Verdict]]]:
    """Yield each limit on an attack that the policy sets, and what judges it."""
    limits = policy.gate.attacks
    for name, measure in _ON_ORIGINALS.items():
        if (bound := getattr(limits, name)) is not None:
            yield needing(evidence, name, bound, _at_most(name, bound, measure, evidence, policy))
    if (averaging := limits.averaging) is not None:
        judge = partial(_averaging, evidence, policy, averaging)
        yield needing(evidence, "averaging", averaging.risk, judge)
    for kind in _LINKAGE:
        if (bound := getattr(limits.linkage, kind)) is not None:
            judge = partial(_linkage, evidence, policy, kind, bound)
            yield needing(evidence, f"linkage.{kind}", bound, judge)
    yield from _of_columns(evidence, policy)
    for name, measure in _ON_FILES.items():
        if (bound := getattr(limits, name)) is not None:
            yield name, _at_most(name, bound, measure, evidence, policy)
    yield from _of_population(evidence, policy, population)


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
        return bounded(limit, _ON_POPULATION[name](risk(population)), bound, "at most")

    for name in _ON_POPULATION:
        if (bound := getattr(policy.gate.attacks.population, name, None)) is not None:
            yield f"population.{name}", partial(judge, name, bound)


def _of_columns(evidence: Evidence, policy: Policy) -> Iterator[tuple[str, Callable[[], Verdict]]]:
    """Yield the limits on what is learned of sensitive columns."""
    limits = policy.gate.attacks
    for name, bound in limits.homogeneity.items():
        yield f"homogeneity.{name}", partial(_column, "homogeneity", name, bound, evidence, policy)
    for name, bound in limits.skewness.items():
        judge = partial(_column, "skewness", name, bound, evidence, policy)
        yield needing(evidence, f"skewness.{name}", bound, judge)
    for name, bound in limits.similarity.items():
        judge = partial(_column, "similarity", name, bound, evidence, policy)
        yield needing(evidence, f"similarity.{name}", bound, judge, "at least")


def _at_most(
    name: str, bound: float, measure: _Judge, evidence: Evidence, policy: Policy
) -> Callable[[], Verdict]:
    return lambda: bounded(name, measure(evidence, policy), bound, "at most")


def _averaging(evidence: Evidence, policy: Policy, limit: Averaging) -> Verdict:
    return bounded("averaging", measured.averaged(evidence, policy, limit), limit.risk, "at most")


def _linkage(evidence: Evidence, policy: Policy, kind: str, bound: float) -> Verdict:
    return bounded(f"linkage.{kind}", linked_by(evidence, policy, kind), bound, "at most")


def _column(attack: str, name: str, bound: float, evidence: Evidence, policy: Policy) -> Verdict:
    """Judge one attack on one sensitive column; floats are given 1e-12, as in t-closeness."""
    measures = {
        "homogeneity": measured.homogeneous,
        "skewness": measured.skewed,
        "similarity": measured.spread,
    }
    value = measures[attack](evidence, policy, name)
    near = abs(value - bound) <= 1e-12 * max(bound, 1.0)
    sense = "at least" if attack == "similarity" else "at most"
    return bounded(f"{attack}.{name}", bound if near else value, bound, sense)
