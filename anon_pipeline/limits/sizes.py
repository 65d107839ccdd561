"""Limits on whom the size of a class, or the population, gives away."""

from __future__ import annotations

from collections.abc import Callable

from anon_pipeline.evidence import attackers
from anon_pipeline.limits.limit import Demanded, Limit
from anon_pipeline.limits.linking import demand_on_release
from anon_pipeline.limits.traits import Forecast, Judged, Words
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.population import PopulationRisk
from anon_pipeline.risk.sizes import size_risk

_LARGER_K = "take a larger k, coarser hierarchies, or fewer quasi-identifiers."

POPULATION_RISKS: dict[str, Callable[[PopulationRisk], float]] = {
    "journalist_risk": lambda risk: risk.journalist,
    "marketer_risk": lambda risk: risk.marketer,
}
"""What the limits on attackers who know the population bound, by their names."""


def _on_population(policy: Policy) -> Demanded:
    limits = policy.gate.attacks.population
    bounds = {name: getattr(limits, name, None) for name in POPULATION_RISKS}
    return {name: bound for name, bound in bounds.items() if bound is not None}


PROSECUTOR_RISK = Limit(
    "prosecutor_risk",
    Words(
        "The chance of picking a given person's record is at most this.",
        question="singling out",
        knows="the generalized values, and that the person is in the release",
    ),
    Judged(measure=lambda case, demand: size_risk(case.evidence.class_sizes).prosecutor, people=True),
    demanded=lambda policy: demand_on_release(policy.gate.attacks.prosecutor_risk),
    attack=True,
    forecast=Forecast(value=lambda expected, policy: 1 / expected.smallest_class),
)
MARKETER_RISK = Limit(
    "marketer_risk",
    Words(
        "At most this share of the {counted} is matched to the right person with one guess per record.",
        advice=_LARGER_K,
        question="singling out",
        knows="the generalized values of everybody in the release",
    ),
    Judged(measure=lambda case, demand: size_risk(case.evidence.class_sizes).marketer, people=True),
    demanded=lambda policy: demand_on_release(policy.gate.attacks.marketer_risk),
    attack=True,
)
SAMPLE_UNIQUES = Limit(
    "sample_uniques",
    Words(
        "At most this share of the records is unique in its quasi-identifiers.",
        advice=_LARGER_K,
        question="singling out",
    ),
    Judged(measure=lambda case, demand: attackers.sample_uniques(case.evidence, case.policy)),
    demanded=lambda policy: demand_on_release(policy.gate.attacks.sample_uniques),
    attack=True,
)
MINIMAL_UNIQUES = Limit(
    "minimal_uniques",
    Words(
        "At most this share of the records is singled out by up to three quasi-identifiers.",
        advice=_LARGER_K,
        question="singling out",
    ),
    Judged(measure=lambda case, demand: attackers.minimal_uniques(case.evidence, case.policy)),
    demanded=lambda policy: demand_on_release(policy.gate.attacks.minimal_uniques),
    attack=True,
)
POPULATION = Limit(
    "population",
    Words(
        "An attacker who knows the population can name the people of at most this share: {}.",
        advice=_LARGER_K,
        question="singling out",
        knows="the generalized values of the whole population",
    ),
    Judged(
        measure=lambda case, demand: POPULATION_RISKS[demand.of](case.population_risk),
        people=True,
        needs=("population",),
    ),
    demanded=_on_population,
    expectation="expect_release_to_hide_in_population",
)
