"""The gate: a release, its originals and a policy in, a report out. Pure; there is no other gate."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError, ScratchError, is_named
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.base.threads import side_by_side_unless_huge
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.value_order import with_numbered_classes
from anon_pipeline.limits.case import Case
from anon_pipeline.limits.limit import Demand
from anon_pipeline.limits.table import demands, limits_of
from anon_pipeline.limits.verdicts import GateReport, Status, Verdict
from anon_pipeline.policy.gate_limits import LIMIT_KEYS
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.population import Population
from anon_pipeline.stages.facts.records import Facts
from anon_pipeline.stages.history.in_ledger import NOTHING_IN_LEDGER, InLedger
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.lineage import Descent


def evaluate(  # noqa: PLR0913 - all that is known about a release
    release: Table,
    policy: Policy,
    facts: Facts | None = None,
    *,
    originals: Table | None = None,
    hierarchies: Path = Path(),
    memory: Memory | None = None,
    population: Population | None = None,
    descent: Descent | None = None,
    in_ledger: InLedger = NOTHING_IN_LEDGER,
) -> GateReport:
    """Judge a release by the limits of its policy.

    Args:
        release: (r, columns) the table to be published; with the record ids when ``originals`` are given.
        policy: its limits; k is always judged.
        facts: of the stages; None for a file alone.
        originals: (n, columns) the recoded table of the vault; None for a file alone.
        memory: what was published before; needed with ``record_key``.
        population: needed with ``gate.attacks.population``.
        descent: what the tables were made from, which `origin` judges; None: of whoever made them just now.
        in_ledger: what the ledger has of other releases.
    Returns:
        A verdict for each limit. What could not be measured is unmeasured (a file alone) or refused
        (anything that went wrong): the report then has not passed.
    """
    shown = [name for name in policy.released if name in release.columns]
    digest = digest_frame(release[shown])
    measured_on = None if population is None else population.sha256
    try:
        evidence = with_numbered_classes(
            evidence_from(release, policy, originals=originals, hierarchies=hierarchies), policy
        )
    except ScratchError:  # says nothing about the release: it ends, and may be made again
        raise
    except Exception as error:  # noqa: BLE001 - fail closed: what cannot be measured is refused
        refused = (Verdict(name, Status.REFUSED, reason=_reason(error)) for name in limits_of(policy))
        return GateReport(tuple(refused), digest, policy.digest, measured_on)
    return_freed_memory(len(release))
    case = Case(policy, release, evidence, facts, descent, memory, population, in_ledger)
    return GateReport(tuple(_verdicts(case)), digest, policy.digest, measured_on)


def _verdicts(case: Case) -> list[Verdict]:
    """Judge a case by all of its limits, side by side; by those of plugins after the others.

    A plugin's limit gets a copy of the case, which nobody may write to meanwhile.
    """
    asked = list(demands(case.policy))
    own = [at for at, demand in enumerate(asked) if demand.limit.name not in LIMIT_KEYS]
    judged = side_by_side_unless_huge(
        [partial(_judge, asked[at], case) for at in own], records=len(case.release)
    )
    found = dict(zip(own, judged, strict=True))
    return [found[at] if at in found else _judge(demand, case) for at, demand in enumerate(asked)]


def copy_for_plugin(case: Case) -> Case:
    """Copy a case for a plugin, whose measures expect the tables of pandas."""
    evidence = case.evidence
    behind = evidence.originals
    if behind is not None:
        behind = replace(behind, frame=unpack_table(behind.frame))
    evidence = replace(evidence, released=unpack_table(evidence.released), originals=behind)
    descent = case.descent
    if descent is not None:
        descent = replace(descent, frame=unpack_table(descent.frame))
    release = unpack_table(case.release)
    return deepcopy(replace(case, release=release, evidence=evidence, descent=descent))


def _reason(error: Exception) -> str:
    """Say what went wrong without quoting the data: named errors are safe, of others only the type is."""
    return (
        "; ".join(error.problems)
        if isinstance(error, InputError) and is_named(error)
        else f"the measure raised {type(error).__name__}"
    )


def _judge(demand: Demand, case: Case) -> Verdict:
    """Judge by one limit; that of a plugin gets a copy, since what it changes would be published."""
    try:
        return demand.verdict(copy_for_plugin(case) if demand.limit.name in LIMIT_KEYS else case)
    except ScratchError:
        raise
    except Exception as error:  # noqa: BLE001 - fail closed: a measure that raises refuses
        return Verdict(demand.name, Status.REFUSED, reason=_reason(error))
    finally:
        return_freed_memory(len(case.release))
