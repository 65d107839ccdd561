"""Whether a manifest, a policy and a table belong together: a report is made of nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from anon_pipeline.base.audience import Audience
from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.gate import GateReport
from anon_pipeline.limits.table import limit_of
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.columns import discernibility
from anon_pipeline.stages.facts.audience import facts_seen_by
from anon_pipeline.stages.facts.check import checked_facts
from anon_pipeline.stages.facts.fields import PUBLIC_FIELDS
from anon_pipeline.stages.facts.records import Facts
from anon_pipeline.stages.private import STAGES


@dataclass(frozen=True, slots=True)
class Exact:
    """What the vault knows of a release beyond its manifest, for the internal report alone.

    facts: of every stage, with all fields.
    gate: its verdicts with all values; None where the vault has none of this release any more.
    """

    facts: Facts
    gate: GateReport | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """What a manifest says, after it was found to be of this table and policy.

    document: the manifest.
    facts: of every stage, as the public sees them.
    gate: its verdicts, all passed or with a warning, with the values that the public sees.
    loss: what the release alone shows of the information that it lost, see `columns.discernibility`.
    exact: what the vault knows beyond the manifest; None: nothing, as in a public report.
    """

    document: Mapping[str, Any]
    facts: Facts
    gate: GateReport
    loss: float
    exact: Exact | None = None


def table_description(document: Mapping[str, Any], policy: Policy, frame: Table) -> Described:
    """Return what a manifest says of a table.

    Raises:
        InputError: facts of a stage are missing, or not what stages write, or of another policy; the digests
            of table, policy and gate are not the manifest's; the gate has not passed it. All of it listed.
    """
    facts = document.get("facts")
    if not isinstance(facts, Mapping) or not all(isinstance(values, Mapping) for values in facts.values()):
        raise InputError("the report must be made of a manifest with facts, got one without")
    missing = [stage for stage in STAGES if stage not in facts]
    if missing:
        raise InputError(f"the report must be made of the facts of all stages, missing: {', '.join(missing)}")
    gate = _gate(document)
    problems = list(_problems(document, policy, frame, gate))
    if problems:
        raise InputError(problems)
    if document.get("manifest_version") == 1:  # it revealed more
        told: Facts = facts_seen_by(checked_facts(policy, facts), Audience.PUBLIC)
    else:
        told = checked_facts(policy, facts, PUBLIC_FIELDS)
    return Described(document, told, gate, discernibility(policy, frame))


def _gate(document: Mapping[str, Any]) -> GateReport:
    try:
        report = GateReport.from_json(document["gate"])
        told = {verdict.limit: limit_of(verdict.limit).recomputable for verdict in report.verdicts}
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    else:
        seen = tuple(replace(verdict, recomputable=told[verdict.limit]) for verdict in report.verdicts)
        return replace(report, verdicts=seen)
    raise InputError("the report must be made of the gate's verdicts, got a manifest without readable ones")


def _problems(document: Mapping[str, Any], policy: Policy, frame: Table, gate: GateReport) -> Iterator[str]:
    """Yield what speaks against the four belonging together."""
    if document.get("release") != policy.name or document.get("policy_digest") != policy.digest:
        yield "the manifest must be of a release by this policy, it is by another"
    if sorted(frame.columns) != sorted(policy.released) or document.get("data_digest") != digest_frame(frame):
        yield "the manifest is of another table: its data_digest differs"
    if (gate.data_digest, gate.policy_digest) != (document.get("data_digest"), document.get("policy_digest")):
        yield "the gate's verdicts must be on this release, they are on another"
    if not gate.passed:
        yield "the gate must have passed the release, it has not"
    facts = document["facts"]
    others = [stage for stage in STAGES if facts[stage].get("made_by") != policy.making]
    if others:
        yield f"the facts must be of tables made by this policy, others are: {', '.join(others)}"
    if facts["suppressed"].get("released") != len(frame):
        yield "the facts must be of this table, they count other records"
