"""The gate: a release, its originals and a policy in, a report out. Pure; there is no other gate.

Belongs here: comparing what `measure` says with the policy's limits, failing closed. Does not belong here:
who asks (Dagster, `published`, the command line), and how anything is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from anon_pipeline.digest import digest_frame
from anon_pipeline.encode import PRIVATE
from anon_pipeline.errors import InputError
from anon_pipeline.facts import Facts
from anon_pipeline.gate.contracts import broken_contract, release_contract
from anon_pipeline.gate.report import GateReport, Status, Verdict
from anon_pipeline.measure.evidence import Evidence, evidence_from
from anon_pipeline.measure.measures import (
    class_closeness,
    class_diversity,
    close,
    confident_originals,
    diverse,
    linking,
    suppressed_share,
)
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.sections import LDiversity

__all__ = ["evaluate", "limits_of"]

_ALONE = "a file alone does not have the originals that this is measured against"


def limits_of(policy: Policy) -> list[str]:
    """Name the limits of a policy in the order in which the gate judges them."""
    gate = policy.gate
    names = ["contract", "origin", "k"]
    names += [f"t_closeness.{name}" for name in gate.t_closeness]
    names += [f"l_diversity.{name}" for name in gate.l_diversity]
    optional = ("linking_risk", "suppression", "confidence_k")
    return names + [name for name in optional if getattr(gate, name) is not None]


def evaluate(
    release: pd.DataFrame,
    policy: Policy,
    facts: Facts | None = None,
    *,
    originals: pd.DataFrame | None = None,
    hierarchies: Path = Path(),
) -> GateReport:
    """Judge a release by the limits of its policy.

    Args:
        release: (r, columns) the table to be published; with the record ids when ``originals`` are given.
        policy: its limits; k is always judged.
        facts: of the stages; None for a file alone.
        originals: (n, columns) the recoded table of the vault; None for a file alone.
        hierarchies: folder of the hierarchy tables.
    Returns:
        A verdict for each limit. What could not be measured is unmeasured (a file alone) or refused
        (anything that went wrong): the report then has not passed.
    """
    shown = [name for name in policy.released if name in release.columns]
    digest = digest_frame(release[shown])
    try:
        evidence = evidence_from(release, policy, originals=originals, hierarchies=hierarchies)
    except Exception as error:  # noqa: BLE001 - fail closed: what cannot be measured is refused
        refused = (Verdict(name, Status.REFUSED, reason=_reason(error)) for name in limits_of(policy))
        return GateReport(tuple(refused), digest, policy.digest)
    verdicts = (_judged(name, judge) for name, judge in _judges(evidence, policy, release, facts))
    return GateReport(tuple(verdicts), digest, policy.digest)


def _reason(error: Exception) -> str:
    """Say what went wrong without quoting the data: named errors are safe, of others only the type is."""
    return (
        "; ".join(error.problems)
        if isinstance(error, InputError)
        else f"the measure raised {type(error).__name__}"
    )


def _judged(name: str, judge: Callable[[], Verdict]) -> Verdict:
    try:
        return judge()
    except Exception as error:  # noqa: BLE001 - fail closed: a measure that raises refuses
        return Verdict(name, Status.REFUSED, reason=_reason(error))


def _judges(
    evidence: Evidence, policy: Policy, release: pd.DataFrame, facts: Facts | None
) -> Iterator[tuple[str, Callable[[], Verdict]]]:
    """Yield each limit's name and what judges it, in the order of `limits_of`."""
    gate, measured_alone = policy.gate, evidence.originals is None

    def alone(name: str) -> Callable[[], Verdict]:
        return lambda: Verdict(name, Status.UNMEASURED, reason=_ALONE)

    shown = release if measured_alone else release.drop(columns=[*PRIVATE], errors="ignore")
    yield "contract", lambda: _contract(shown, policy)
    yield "origin", alone("origin") if measured_alone else lambda: _origin(policy, facts)
    yield "k", lambda: _bounded("k", evidence.classes.k, policy.gate_k, "at least")
    for name, t in gate.t_closeness.items():
        limit = f"t_closeness.{name}"
        yield (
            limit,
            alone(limit) if measured_alone else partial(_closeness, evidence, policy, name, t),
        )
    for name, l_limit in gate.l_diversity.items():
        yield f"l_diversity.{name}", partial(_diversity, evidence, policy, name, l_limit)
    if gate.linking_risk is not None:
        yield "linking_risk", alone("linking_risk") if measured_alone else lambda: _linking(evidence, policy)
    if gate.suppression is not None:
        yield (
            "suppression",
            alone("suppression") if measured_alone else lambda: _suppression(evidence, policy),
        )
    if gate.confidence_k is not None:
        yield (
            "confidence_k",
            alone("confidence_k") if measured_alone else lambda: _confidence(evidence, policy),
        )


def _bounded(name: str, value: float, bound: float, sense: str) -> Verdict:
    kept = value >= bound if sense == "at least" else value <= bound
    return Verdict(name, Status.PASSED if kept else Status.REFUSED, float(value), float(bound), sense)


def _contract(released: pd.DataFrame, policy: Policy) -> Verdict:
    problems = broken_contract(released, release_contract(policy))
    return Verdict(
        "contract", Status.REFUSED if problems else Status.PASSED, reason="; ".join(problems) or None
    )


def _origin(policy: Policy, facts: Facts | None) -> Verdict:
    """Judge whether the noise and the order came from the operating system, by the facts of their stages."""
    stages = ("perturbed", "shuffled")
    known = facts is not None and all(stage in facts for stage in stages)
    if not known:
        return Verdict("origin", Status.REFUSED, reason="the facts of the noise and the shuffle are missing")
    if any(facts[stage]["seeded"] for stage in stages):  # type: ignore[index]
        return Verdict(
            "origin", Status.REFUSED, reason="made with a seed: whoever knows it can undo the noise"
        )
    return Verdict("origin", Status.PASSED)


def _closeness(evidence: Evidence, policy: Policy, name: str, t: float) -> Verdict:
    distances = class_closeness(evidence, policy, name)
    passed = bool(close(distances, t).all())
    return Verdict(
        f"t_closeness.{name}",
        Status.PASSED if passed else Status.REFUSED,
        float(distances.max()),
        t,
        "at most",
    )


def _diversity(evidence: Evidence, policy: Policy, name: str, limit: LDiversity) -> Verdict:
    values = class_diversity(evidence, policy, name, limit)
    recursive = limit.kind == "recursive"
    worst = float(values.max() if recursive else values.min())
    return Verdict(
        f"l_diversity.{name}",
        Status.PASSED if bool(diverse(values, limit).all()) else Status.REFUSED,
        worst if np.isfinite(worst) else None,
        limit.c if recursive else limit.l,
        "below" if recursive else "at least",
        reason=None if np.isfinite(worst) else f"a class has fewer than {limit.l:g} distinct values",
    )


def _linking(evidence: Evidence, policy: Policy) -> Verdict:
    return _bounded(
        "linking_risk", linking(evidence, policy).risk, float(policy.gate.linking_risk or 0), "at most"
    )


def _suppression(evidence: Evidence, policy: Policy) -> Verdict:
    return _bounded("suppression", suppressed_share(evidence), float(policy.gate.suppression or 0), "at most")


def _confidence(evidence: Evidence, policy: Policy) -> Verdict:
    """Judge the fewest originals in the interval of a released record; records that have none may stay."""
    bound = int(policy.gate.confidence_k or 0)
    counts = confident_originals(evidence, policy, cap=bound)
    within = counts[counts > 0]
    fewest = int(within.min()) if len(within) else bound
    return _bounded("confidence_k", fewest, bound, "at least")
