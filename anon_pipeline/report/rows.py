"""What a policy, a manifest's facts and its verdicts look like in a report: rows of texts and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.meanings import limits_nothing
from anon_pipeline.limits.table import demanded_by, demands, limit_meaning, limit_of, outcome_of
from anon_pipeline.limits.verdicts import NOT_PUBLISHED
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.public import public_attributes
from anon_pipeline.stages.facts.records import Facts

_NOISE = {
    "mechanism": "mechanism",
    "epsilon": "ε",
    "delta": "δ",
    "sensitivity": "sensitivity",
    "resolution": "resolution",
    "amount": "amount",
    "mean_scale": "mean scale",
    "expected_relative_error": "expected relative error",
    "classes_without_noise": "classes without noise",
    "values": "values that it may have",
    "least_kept": "least chance to be released as it is",
    "most_kept": "largest chance to be released as it is",
    "mean_distance": "mean distance, of the largest",
}


def verdict_rows(gate: GateReport, policy: Policy, *, exact: bool) -> list[dict[str, str]]:
    """Return what was measured and demanded, a row per limit.

    Args:
        exact: whether to show every value; otherwise those that follow from the released file.
    """
    return [
        {
            "limit": v.limit,
            "measured": _measured_text(v, exact=exact),
            "bound": bound_of(v, policy),
            "outcome": outcome_of(v),
            "meaning": limit_meaning(v.limit, policy),
        }
        for v in gate.verdicts
    ]


def bound_of(verdict: Verdict, policy: Policy) -> str:
    """Say the bound of a verdict, and that it is advised where a release beyond it is published."""
    limit, said = limit_of(verdict.limit), demanded_by(verdict, policy)
    advised = verdict.status is Status.WARNED or any(
        demand.advised for demand in limit.demands(policy) if demand.name == verdict.limit
    )
    plain = limit.of_policy or limits_nothing(verdict, limit)
    return f"advised: {said}" if advised and not plain else said


def known_rows(evidence: Evidence, policy: Policy) -> list[tuple[str, float, float]]:
    """Return whom attackers with known columns link: columns, share on average, its standard error."""
    case = Case(policy, evidence.released, evidence)
    found = [
        (demand.of, demand.limit.judged.over_noise(case, demand))
        for demand in demands(policy)
        if demand.limit.published.banded and demand.limit.judged.over_noise is not None
    ]
    return [(of, share.mean, share.standard_error) for of, share in found]


def _measured_text(verdict: Verdict, *, exact: bool) -> str:
    if exact:
        return verdict.measured or verdict.band or "–"
    value = verdict.value_seen(at_hand=True)
    without = "–" if verdict.bound is None else NOT_PUBLISHED
    return (verdict.band or without) if value is None else f"{value:.6g}"


def suppressed_rows(facts: Facts, policy: Policy) -> Iterator[tuple[str, int]]:
    """Yield reasons and records, those that took none left out; then all.

    Public facts give no reasons for suppression. Records beyond ``rows_per_person`` are not suppressed: the
    account lists them separately, and then the sum.
    """
    recoded, last = facts["k_anonymized"], facts["suppressed"]
    excess, suppressed = facts["deidentified"].get("excess_records", 0), last["suppressed_in_all"]
    whole = [("in all", suppressed)]
    if excess:
        whole = [
            ("suppressed, in all", suppressed),
            (f"beyond {policy.rows} per person (rows_per_person)", excess),
            ("not in the release", suppressed + excess),
        ]
    if "suppressed_incomplete" not in recoded:
        yield from whole
        return
    rows = [
        ("a value is missing (missing: suppress)", recoded["suppressed_incomplete"]),
        ("the recoding suppressed them", recoded["suppressed_by_recoding"]),
        ("the confidence interval of their noise would single them out", last["suppressed_unconfident"]),
        ("their class became smaller than k", last["suppressed_small_classes"]),
        *((f"their class broke {limit}", count) for limit, count in last["suppressed_by_limit"].items()),
    ]
    yield from ((reason, count) for reason, count in rows if count)
    yield from whole
    if last.get("people_with_gaps") is not None:
        yield "people with a suppressed record", last["people_with_gaps"]
    if recoded["suppressed_cells"]:
        yield "cells blanked in records that are released", recoded["suppressed_cells"]


def noise_rows(facts: Facts) -> list[tuple[str, dict[str, str]]]:
    """Return what the facts say of each perturb column's noise; the same titles for all of them."""
    columns: Mapping[str, Mapping[str, Any]] = facts["perturbed"]["columns"]
    told = [key for key in _NOISE if any(key in noise for noise in columns.values())]
    return [
        (name, {_NOISE[key]: _value_text(noise.get(key)) for key in told}) for name, noise in columns.items()
    ]


def _value_text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def policy_text(policy: Policy, *, internal: bool) -> str:
    """Write a policy as YAML.

    Args:
        internal: whether to show all of it. Else only what is marked as public, see `policy.marks`; lists of
            values are replaced by how many they are: they may name what nobody released has.
    """
    document = (
        policy.model_dump(mode="json", exclude_defaults=True) if internal else public_attributes(policy)
    )
    text: str = yaml.safe_dump(
        document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
    )
    return text
