"""The gate: a release, its originals and a policy in, a report out. Pure; there is no other gate.

Belongs here: comparing what `measure` says with the policy's limits, failing closed. Does not belong here:
who asks (Dagster, `published`, the command line), and how anything is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import PERSON, PRIVATE
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.measures import (
    class_closeness,
    class_diversity,
    close,
    confident_originals,
    diverse,
    needs_originals,
    suppressed_share,
)
from anon_pipeline.facts.origin import broken_origin
from anon_pipeline.facts.records import Facts
from anon_pipeline.gate.contracts import broken_contract, release_contract
from anon_pipeline.limits.comparing import ALONE, bounded, needing
from anon_pipeline.limits.on_attacks import attack_limits, attack_verdicts, linking_limit, verdict_on
from anon_pipeline.limits.verdicts import GateReport, Status, Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.recoding import LDiversity
from anon_pipeline.sources.population import Population
from anon_pipeline.stages.history.intersection import fewest_compatible, history
from anon_pipeline.stages.history.memory import Memory, class_texts
from anon_pipeline.stages.history.sticky import redrawn
from anon_pipeline.stages.lineage import Descent

_FORGOTTEN = "needs the memory of what was published; Memory.empty() says that nothing was"

__all__ = ["ALONE", "evaluate", "limits_of"]


def limits_of(policy: Policy) -> list[str]:
    """Name the limits of a policy in the order in which the gate judges them."""
    gate = policy.gate
    names = ["contract", "origin", "k"]
    names += [f"t_closeness.{name}" for name in gate.t_closeness]
    names += [f"l_diversity.{name}" for name in gate.l_diversity]
    optional = ("linking_risk", "suppression", "confidence_k")
    names += [name for name in optional if getattr(gate, name) is not None]
    names += attack_limits(policy)
    names += ["cross_release_k"] if gate.cross_release_k is not None else []
    return [*names, "sticky"] if _is_sticky(policy) else names


def _is_sticky(policy: Policy) -> bool:
    return policy.perturb is not None and policy.perturb.republish == "sticky"


def evaluate(  # noqa: PLR0913 - all that is known of a release beside itself
    release: pd.DataFrame,
    policy: Policy,
    facts: Facts | None = None,
    *,
    originals: pd.DataFrame | None = None,
    hierarchies: Path = Path(),
    memory: Memory | None = None,
    population: Population | None = None,
    descent: Descent | None = None,
) -> GateReport:
    """Judge a release by the limits of its policy.

    Args:
        release: (r, columns) the table to be published; with the record ids when ``originals`` are given.
        policy: its limits; k is always judged.
        facts: of the stages; None for a file alone.
        originals: (n, columns) the recoded table of the vault; None for a file alone.
        hierarchies: folder of the hierarchy tables.
        memory: what was published before; needed with ``record_key``.
        population: needed with ``gate.attacks.population``.
        descent: what the tables were made from, which `origin` judges; None: of whoever made them just now.
    Returns:
        A verdict for each limit. What could not be measured is unmeasured (a file alone) or refused
        (anything that went wrong): the report then has not passed.
    """
    shown = [name for name in policy.released if name in release.columns]
    digest = digest_frame(release[shown])
    measured_on = None if population is None else population.sha256
    try:
        evidence = evidence_from(release, policy, originals=originals, hierarchies=hierarchies)
    except Exception as error:  # noqa: BLE001 - fail closed: what cannot be measured is refused
        refused = (Verdict(name, Status.REFUSED, reason=_reason(error)) for name in limits_of(policy))
        return GateReport(tuple(refused), digest, policy.digest, measured_on)
    judges = _judges(evidence, policy, release, facts, descent)
    attacks = attack_verdicts(evidence, policy, population)
    together = _composed(evidence, policy, memory)
    verdicts = [_judged(name, judge) for name, judge in (*judges, *attacks, *together)]
    return GateReport(tuple(verdicts), digest, policy.digest, measured_on)


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
    evidence: Evidence, policy: Policy, release: pd.DataFrame, facts: Facts | None, descent: Descent | None
) -> Iterator[tuple[str, Callable[[], Verdict]]]:
    """Yield the name of each limit before those on attacks and what judges it, in order of `limits_of`."""
    gate = policy.gate
    shown = release if evidence.originals is None else release.drop(columns=[*PRIVATE], errors="ignore")
    yield "contract", partial(_contract, shown, policy)
    yield needing(evidence, "origin", None, partial(_origin, evidence, policy, facts, descent))
    yield "k", partial(bounded, "k", evidence.classes.k, policy.gate_k, "at least")
    for name, t in gate.t_closeness.items():
        yield needing(evidence, f"t_closeness.{name}", t, partial(_closeness, evidence, policy, name, t))
    for name, limit in gate.l_diversity.items():
        yield f"l_diversity.{name}", partial(_diversity, evidence, policy, name, limit)
    if (limit_of_linking := linking_limit(policy)) is not None:
        judge = partial(verdict_on, limit_of_linking, evidence, policy)
        yield needing(evidence, limit_of_linking.name, limit_of_linking.bound, judge)
    if (share := gate.suppression) is not None:
        yield needing(evidence, "suppression", share, partial(_suppression, evidence, share))
    if (k := gate.confidence_k) is not None:
        yield needing(evidence, "confidence_k", k, partial(_confidence, evidence, policy, k), "at least")


def _composed(
    evidence: Evidence, policy: Policy, memory: Memory | None
) -> Iterator[tuple[str, Callable[[], Verdict]]]:
    """Yield the limits on all releases together."""
    if (k := policy.gate.cross_release_k) is not None:
        judge = partial(_intersection, evidence, policy, memory, k)
        yield needing(evidence, "cross_release_k", k, judge, "at least")
    if _is_sticky(policy):
        yield needing(evidence, "sticky", 0, partial(_sticky, evidence, policy, memory))


def _contract(released: pd.DataFrame, policy: Policy) -> Verdict:
    problems = broken_contract(released, release_contract(policy))
    return Verdict(
        "contract", Status.REFUSED if problems else Status.PASSED, reason="; ".join(problems) or None
    )


def _origin(evidence: Evidence, policy: Policy, facts: Facts | None, descent: Descent | None) -> Verdict:
    """Judge whether every stage was made by this policy, noise and order without a seed, here, of these."""
    problems = broken_origin(policy, facts or {}, hierarchies=evidence.hierarchies)
    if descent is not None:
        problems += descent.broken(needs_originals(evidence).frame)
    return Verdict(
        "origin", Status.REFUSED if problems else Status.PASSED, reason="; ".join(problems) or None
    )


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


def _suppression(evidence: Evidence, bound: float) -> Verdict:
    return bounded("suppression", suppressed_share(evidence), bound, "at most")


def _confidence(evidence: Evidence, policy: Policy, bound: int) -> Verdict:
    """Judge the fewest originals in the interval of a released record; records that have none may stay."""
    counts = confident_originals(evidence, policy, cap=bound)
    within = counts[counts > 0]
    fewest = int(within.min()) if len(within) else bound
    return bounded("confidence_k", fewest, bound, "at least")


def _persons(evidence: Evidence) -> pd.DataFrame:
    """Return the originals of the released records, record by record, with the persons."""
    behind = evidence.originals
    if behind is None or PERSON not in behind.frame:
        raise InputError("the vault must have the persons of its records: materialize deidentified again")
    return behind.frame.iloc[behind.own].reset_index(drop=True)


def _forgotten(name: str, bound: float, sense: str) -> Verdict:
    """Return that nothing was measured: it is not known whether anything was published before."""
    return Verdict(name, Status.UNMEASURED, None, bound, sense, reason=_FORGOTTEN)


def _intersection(evidence: Evidence, policy: Policy, memory: Memory | None, bound: int) -> Verdict:
    """Judge the fewest persons who fit all classes that one of this release was published in."""
    if memory is None:
        return _forgotten("cross_release_k", bound, "at least")
    classes = class_texts(evidence.released, policy)
    fewest = fewest_compatible(history(memory, _persons(evidence)[PERSON], classes))
    if fewest is None:  # nobody of this release was published before: k is all there is to keep
        fewest = evidence.classes.k
    return bounded("cross_release_k", fewest, bound, "at least")


def _sticky(evidence: Evidence, policy: Policy, memory: Memory | None) -> Verdict:
    """Judge whether all noise stayed that had to; another run may have published since it was drawn."""
    if memory is None:
        return _forgotten("sticky", 0, "at most")
    anew = redrawn(memory, policy, evidence.released, _persons(evidence))
    verdict = bounded("sticky", anew, 0, "at most")
    return replace(verdict, reason="materialize perturbed again") if anew else verdict
