"""Limits on the sensitive values of each class: their distribution, number and differences."""

from __future__ import annotations

import numpy as np

from anon_pipeline.catalog import class_limits
from anon_pipeline.evidence import attackers
from anon_pipeline.evidence.measures import class_l_diversity, class_t_closeness, is_l_diverse, is_t_close
from anon_pipeline.limits import usual
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Advised, Demand, Demanded, Limit
from anon_pipeline.limits.traits import Forecast, Judged, Published, Words
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.recoding import LDiversity

_ROUNDING = 1e-12  # as in t-closeness


def _t_closeness(case: Case, demand: Demand) -> Verdict:
    distances = class_t_closeness(case.evidence, case.policy, demand.of)
    status = Status.PASSED if bool(is_t_close(distances, demand.wanted).all()) else Status.REFUSED
    return Verdict(demand.name, status, float(distances.max()), demand.wanted, demand.sense)


def _l_diversity(case: Case, demand: Demand) -> Verdict:
    limit: LDiversity = demand.wanted
    values = class_l_diversity(case.evidence, case.policy, demand.of, limit)
    recursive = limit.kind == "recursive"
    worst = float(values.max() if recursive else values.min())
    return Verdict(
        demand.name,
        Status.PASSED if bool(is_l_diverse(values, limit).all()) else Status.REFUSED,
        worst if np.isfinite(worst) else None,
        demand.bound,
        demand.sense,
        reason=None if np.isfinite(worst) else f"a class has fewer than {limit.l:g} distinct values",
    )


def _diverse(demand: Demand) -> str:
    limit: LDiversity = demand.wanted
    c = "" if limit.c is None else f", c = {limit.c:g}"
    return f"In each class {demand.of} is l-diverse ({limit.kind}, l = {limit.l:g}{c})."


def _homogeneous(policy: Policy) -> Demanded:
    """Return the policy's own limits; as advice, the usual one of every other sensitive column."""
    own = policy.gate.attacks.homogeneity
    return {**{name: Advised(usual.HOMOGENEITY) for name in sorted(policy.sensitive)}, **own}


T_CLOSENESS = Limit(
    class_limits.T_CLOSENESS.name,
    Words(
        "In every class {} is distributed as in the whole input, up to this distance.",
        advice="allow a larger distance, or more suppression, or take a larger k.",
        question="inference",
    ),
    Judged(judge=_t_closeness, needs=("originals",)),
    demanded=lambda policy: policy.class_limits[class_limits.T_CLOSENESS.name],
    expectation="expect_release_to_be_t_close",
    published=Published(
        promise=lambda demand: (
            f"In each class {demand.of} is distributed as in the whole input, to within {demand.wanted:g} "
            f"(t-closeness)."
        )
    ),
    forecast=Forecast(certain=True),
)
L_DIVERSITY = Limit(
    class_limits.L_DIVERSITY.name,
    Words(
        "Every class has enough different values of {}.",
        advice="ask for fewer values, or allow more suppression, or take a larger k.",
        question="inference",
    ),
    Judged(
        judge=_l_diversity,
        people=True,
        bound=lambda limit: limit.c if limit.kind == "recursive" else limit.l,
        sense="at least",
        sense_of=lambda limit: "below" if limit.kind == "recursive" else "at least",
    ),
    demanded=lambda policy: policy.class_limits[class_limits.L_DIVERSITY.name],
    expectation="expect_release_to_be_l_diverse",
    published=Published(boundless=True, promise=_diverse),
    forecast=Forecast(certain=True),
)
HOMOGENEITY = Limit(
    "homogeneity",
    Words(
        "At most this share of the {counted} is in classes with a single value of {}.",
        advice="set gate.l_diversity for the column (the recoder then keeps it), or take a larger k.",
        question="inference",
    ),
    Judged(
        measure=lambda case, demand: attackers.homogeneity(case.evidence, case.policy, demand.of),
        people=True,
        tolerance=_ROUNDING,
    ),
    demanded=_homogeneous,
    attack=True,
    advisable=True,
)
SKEWNESS = Limit(
    "skewness",
    Words(
        "In no class is a value of {} more than this many times as frequent as in the whole input.",
        advice="set gate.t_closeness for the column (the recoder then keeps it), or take a larger k.",
        question="inference",
    ),
    Judged(
        measure=lambda case, demand: attackers.skewness(case.evidence, case.policy, demand.of),
        tolerance=_ROUNDING,
        needs=("originals",),
    ),
    demanded=lambda policy: policy.gate.attacks.skewness,
    attack=True,
)
SIMILARITY = Limit(
    "similarity",
    Words(
        "Every class has two values of {} that differ by at least this much.",
        advice="set gate.l_diversity for the column (the recoder then keeps it), or take a larger k.",
        question="inference",
    ),
    Judged(
        measure=lambda case, demand: attackers.similarity(case.evidence, case.policy, demand.of),
        sense="at least",
        tolerance=_ROUNDING,
        needs=("originals",),
    ),
    demanded=lambda policy: policy.gate.attacks.similarity,
    attack=True,
)
