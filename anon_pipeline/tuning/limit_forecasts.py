"""Which limits of the gate can be judged before anything is drawn, and how they are.

Certain: ``k``, ``confidence_k``, ``attacks.prosecutor_risk``; t-closeness and
l-diversity hold in what is released, because classes beyond them are left out, which the suppression counts.
On expectation: ``linking_risk`` and ``attacks.expected_linking_risk``, as the gate judges them;
``suppression``, and with ``gate.linking: realized`` the linking risk: of a point that just keeps such a
limit, half of the releases do not keep it. The limits on usefulness are judged by what they measure of the
recoding and of the noise's law, and the share released as ``suppression`` is. What a known category lets be
linked is judged where no number has noise, since it has a closed form then.
"""

from __future__ import annotations

from collections.abc import Iterator

from anon_pipeline.limits.known_columns import KNOWN_COLUMNS, name_of
from anon_pipeline.limits.limit import Demand
from anon_pipeline.limits.table import LIMITS, demands
from anon_pipeline.limits.usefulness import KEPT_CATEGORIES
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.tuning.results import Expected


def verdicts(policy: Policy, expected: Expected) -> tuple[Verdict, ...]:
    """Judge one point; of an interval that is expected the worse end is judged."""
    return tuple(_verdicts(policy, expected))


def _verdicts(policy: Policy, expected: Expected) -> Iterator[Verdict]:
    for limit in LIMITS:
        demanded = list(limit.demands(policy))
        if limit.forecast.is_possible:
            yield from (demand.foreseen(expected, policy) for demand in demanded)
        if limit.published.missing and not demanded and expected.suppression > 1 - 1e-9:
            yield Verdict(limit.name, Status.REFUSED, 1.0, 1.0, "below", reason="no record is left")
    for demand, name in _of_categories(policy):
        found = expected.kept if demand.limit is KEPT_CATEGORIES else expected.linked_categories
        yield demand.judge_expected(found[name])


def _of_categories(policy: Policy) -> Iterator[tuple[Demand, str]]:
    """Yield what is demanded of drawn categories and follows from their law, and the column's name."""
    alone = {} if policy.perturbed else {name_of([name]): name for name in policy.drawn_categories}
    own = {name: name for name in policy.drawn_categories}
    for limit, names in ((KEPT_CATEGORIES, own), (KNOWN_COLUMNS, alone)):
        yield from ((demand, names[demand.of]) for demand in limit.demands(policy) if demand.of in names)


def limits_not_judged(policy: Policy) -> tuple[str, ...]:
    """Name the limits of the gate that only a release can be judged by."""
    judged = {demand.name for demand, _ in _of_categories(policy)}
    return tuple(
        demand.name
        for demand in demands(policy)
        if not (demand.limit.forecast.is_possible or demand.limit.forecast.certain)
        and demand.name not in judged
    )
