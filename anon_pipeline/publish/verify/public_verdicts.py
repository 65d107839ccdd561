"""The gate on a released file, by the public part of the policy alone: as far as that goes.

Values and hierarchies that are not public are compared with nothing; what is judged without them is judged as
by the whole policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from anon_pipeline.base.packed_tables import Table, different_cells
from anon_pipeline.base.values import to_texts
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.limits.table import limit_of, limits_of
from anon_pipeline.policy.columns import Generalize, PerturbCategories
from anon_pipeline.policy.gate_limits import LIMIT_KEYS
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.public import PublicPolicy

_NEEDS_POLICY = "needs --policy"


def evaluate_in_part(frame: Table, policy: PublicPolicy) -> GateReport:
    """Judge a release by its public policy: what would need more stays unmeasured.

    Args:
        frame: (r, columns) the released table.
    """
    report, demanded = evaluate(frame, _without_lists(policy, frame)), {*limits_of(policy)}
    judged = (one for one in report.verdicts if one.limit in demanded)
    return replace(report, verdicts=tuple(_in_part(one, policy) for one in judged))


def known_levels(levels: dict[str, int], policy: Policy) -> dict[str, int]:
    """Return the levels of those columns whose hierarchy the policy says."""
    hidden = policy.hidden if isinstance(policy, PublicPolicy) else frozenset()
    return {name: level for name, level in levels.items() if name not in hidden}


def _without_lists(policy: PublicPolicy, frame: Table) -> Policy:
    """Return the policy with hidden lists left out, where values are compared with them.

    Limits on the number of values in a class do not depend on their order or hierarchy. The domain of drawn
    categories is what was released of it.
    """
    columns: dict[str, Any] = dict(policy.columns)
    for name in policy.hidden & set(frame.columns):
        column = columns[name]
        if isinstance(column, PerturbCategories):
            found = tuple(sorted(map(str, to_texts(different_cells(frame, name)).dropna().unique())))
            columns[name] = column.model_copy(update={"values": found, "hierarchy": None})
        elif not isinstance(column, Generalize):
            plain = {"distance": "equal", "order": None, "hierarchy": None, "level": None}
            known = {key: value for key, value in plain.items() if key in type(column).model_fields}
            columns[name] = column.model_copy(update=known)
    return policy.model_copy(update={"columns": columns})


def _in_part(verdict: Verdict, policy: PublicPolicy) -> Verdict:
    """Return the verdict as far as it was reached without what is private."""
    limit = limit_of(verdict.limit)
    if limit.name in LIMIT_KEYS:  # a plugin's limit may ask for anything
        return _unmeasured_verdict(verdict, _NEEDS_POLICY)
    compared = ", ".join(_uncompared_columns(policy))
    if limit.published.compares_lists and compared and verdict.status is Status.PASSED:
        return _unmeasured_verdict(
            verdict, f"kept as far as checked; the values of {compared} were not compared: {_NEEDS_POLICY}"
        )
    return verdict


def _uncompared_columns(policy: PublicPolicy) -> Iterator[str]:
    """Yield the columns whose released values a hidden list or hierarchy says."""
    for name in policy.released:
        column = policy.columns[name]
        drawn = isinstance(column, PerturbCategories)
        if name in policy.hidden and (drawn or getattr(column, "level", None) is not None):
            yield name


def _unmeasured_verdict(verdict: Verdict, why: str) -> Verdict:
    return Verdict(verdict.limit, Status.UNMEASURED, None, verdict.bound, verdict.sense, reason=why)
