"""The content of a manifest other than its digests, compared with policy, file and itself.

All that is asked here has the shape of its version (`shape`); none of it can break these rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import AnonPipelineError, InputError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.catalog.releases import PARTITION_KINDS, RELEASE_FORMATS, released_records
from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.hierarchy.level_of_text import broken_levels
from anon_pipeline.limits.contradiction import CLOSE
from anon_pipeline.limits.table import demands, limit_of, names_where
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.public import PublicPolicy
from anon_pipeline.publish.manifest.manifest import BESIDE
from anon_pipeline.publish.verify.balance import count_seen
from anon_pipeline.publish.verify.public_verdicts import known_levels
from anon_pipeline.publish.verify.versions import Rules
from anon_pipeline.stages.facts.records import KAnonymizedFacts, PerturbedFacts, SuppressedFacts

_OF_PEOPLE = names_where(lambda limit: limit.judged.people and limit.recomputable)
_MISSING = names_where(lambda limit: limit.published.missing)


def broken_gate(
    document: Mapping[str, Any], policy: Policy | None, anew: GateReport | None, *, rules: Rules
) -> list[str]:
    """List what speaks against the gate's report that a manifest records.

    Args:
        policy: whose limits must be in it, all of them in their order; None: at least those of every policy.
        anew: the gate's report on the file alone; what it says of a limit must be recorded alike.
        rules: of the manifest's version.
    """
    gate = GateReport.from_json(document["gate"])
    names = [verdict.limit for verdict in gate.verdicts]
    problems = [problem for verdict in gate.verdicts if (problem := _contradiction(verdict, rules))]
    problems += _untold_of_records(document, gate)
    digests = ("data_digest", "policy_digest")
    others = [name for name in digests if getattr(gate, name) != document[name]]
    if others:
        problems.append(f"it judged another release ({', '.join(others)})")
    if not gate.passed:
        problems.append("it has not passed the release")
    if len(set(names)) != len(names) or tuple(names[: len(rules.always)]) != rules.always:
        problems.append(f"it must judge each limit once, and always {', '.join(rules.always)}")
    elif policy is not None and names != rules.limits(policy):
        problems.append("it must judge the policy's limits, all of them and no others, in their order")
    elif rules.names_tables and policy is not None and _misses_population(gate, policy):
        problems.append("it must name the population by its digest where the policy does, and only there")
    else:
        problems += [] if policy is None else [*_too_lenient(gate, policy), *_told_of_people(gate, policy)]
        problems += [] if anew is None else _others(gate, anew, rules)
    return list(dict.fromkeys(problems))


def _misses_population(gate: GateReport, policy: Policy) -> bool:
    """Tell whether a report names the population otherwise than the policy does."""
    named = any("population" in demand.limit.judged.needs for demand in demands(policy))
    return (gate.population_digest is not None) != named


def _contradiction(verdict: Verdict, rules: Rules) -> str | None:
    """Say what contradicts a verdict that a manifest records, also where its limit is not known here."""
    try:
        return rules.verdict(limit_of(verdict.limit), verdict)
    except KeyError:
        return f"{verdict.limit} is no limit that is known here"


def _too_lenient(gate: GateReport, policy: Policy) -> Iterator[str]:
    """Yield the limits that the policy demands, and that a recorded report only warns of."""
    advised = {demand.name for demand in demands(policy) if demand.advised}
    for verdict in gate.with_status(Status.WARNED):
        if verdict.limit not in advised:
            yield f"{verdict.limit}: the policy demands it, a warning is not enough"


def _untold_of_records(document: Mapping[str, Any], gate: GateReport) -> Iterator[str]:
    """Yield the limits that count people elsewhere, and lack the value though these facts count records."""
    facts: Any = document.get("facts")
    stage = facts.get("deidentified") if isinstance(facts, dict) else None
    if not isinstance(stage, dict) or stage.get("people") is not None:
        return
    for verdict in gate.verdicts:
        known = verdict.value is not None or verdict.limit.partition(".")[0] not in _OF_PEOPLE
        if not known and verdict.bound is not None:
            yield f"{verdict.limit}: it must have a value, records are counted"


def _told_of_people(gate: GateReport, policy: Policy) -> Iterator[str]:
    """Yield the limits whose value counts people, which the file does not show, and is recorded."""
    if policy.person is not None:
        for verdict in gate.verdicts:
            if verdict.value is not None and limit_of(verdict.limit).judged.people:
                yield f"{verdict.limit}: its value must not be published"


def _others(gate: GateReport, anew: GateReport, rules: Rules) -> Iterator[str]:
    """Yield how a recorded report differs from one that was made anew; values as far as they are recorded."""
    by_name = {verdict.limit: verdict for verdict in gate.verdicts}
    if rules.names_tables and anew.population_digest not in (None, gate.population_digest):
        yield "it was measured on another population"
    for found in anew.verdicts:
        recorded = by_name.get(found.limit)
        if recorded is None or (found.status is Status.REFUSED and found.bound is None):
            continue  # of another version; nothing was measured, and that is refused already
        if (recorded.bound, recorded.sense) != (found.bound, found.sense):
            yield f"{found.limit}: its bound must be the policy's"
        elif found.value is not None and not (
            _alike(recorded.value, found.value) or (recorded.value is None and not found.recomputable)
        ):
            yield f"{found.limit}: its value must be the file's"
        elif found.status is Status.WARNED and recorded.status is not Status.WARNED:
            yield f"{found.limit}: its warning must be recorded"


def _alike(one: float | None, other: float) -> bool:
    return one is not None and math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)


def broken_share(document: Mapping[str, Any]) -> list[str]:
    """Say whether the recorded share of suppressed records, or people, is another than the facts'.

    Args:
        document: the manifest; gate and facts have the shape of its version.
    """
    facts = document["facts"]
    people, gaps = facts["deidentified"].get("people"), facts["suppressed"].get("people_with_gaps")
    if people is None or gaps is None:
        share = facts["suppressed"]["suppressed_in_all"] / max(facts["raw"]["records"], 1)
    else:
        share = gaps / max(people, 1)
    told = [(v["limit"], v["value"]) for v in document["gate"]["verdicts"] if v["limit"] in _MISSING]
    return [f"{name}: its value must be the facts'" for name, value in told if not _alike(value, share)]


def broken_facts(document: Mapping[str, Any], policy: Policy | None, *, rules: Rules) -> list[str]:
    """List where a manifest's facts do not fit the policy and themselves; origin and table are not asked.

    Args:
        document: the manifest, with facts of every stage.
    """
    facts = document["facts"]
    wrong = []
    if facts[SuppressedFacts.stage].get("released") != released_records(document):
        wrong.append("the number of released records differs from the files'")
    told = facts[KAnonymizedFacts.stage].get("hierarchies")
    if rules.names_tables and told != document["hierarchies"]:
        wrong.append("the hierarchy tables differ from those of the manifest")
    if policy is not None:
        if facts[KAnonymizedFacts.stage].get("k") != policy.anonymize.k:
            wrong.append("k is another than the policy's")
        if facts[PerturbedFacts.stage].get("epsilon") != _epsilon(policy):
            wrong.append("ε is another than the policy's")
    if not rules.worded(document):
        return wrong
    unwritten = [] if policy is None else rules.facts(policy, facts)
    return [*wrong, *unwritten, *rules.told(facts, None if unwritten else policy)]


def broken_seen_facts(
    document: Mapping[str, Any], policy: Policy, frame: Table, *, rules: Rules, hierarchies: Path
) -> list[str]:
    """List where a manifest's facts contradict the released table: its classes, its levels.

    Args:
        document: the manifest, whose facts `broken_facts` does not refuse.
    """
    facts = document["facts"]
    if not rules.worded(document):
        return []
    wrong = rules.seen(facts, count_seen(frame, policy))
    recoded = facts[KAnonymizedFacts.stage]
    if recoded["levels"] is not None:
        with suppress(AnonPipelineError):  # hierarchy tables that cannot be read are said there
            wrong += broken_levels(
                frame,
                policy,
                known_levels(recoded["levels"], policy),
                cells=recoded.get("suppressed_cells"),
                hierarchies=hierarchies,
            )
    return wrong


def _epsilon(policy: Policy) -> float | None:
    return policy.noise_epsilon


def broken_statements(document: Mapping[str, Any], policy: Policy, *, rules: Rules) -> list[str]:
    """List which of a manifest's statements are not what this policy leads to."""
    wrong = []
    epsilon = document.get("epsilon")
    if isinstance(epsilon, bool) or epsilon != policy.promised_epsilon:
        wrong.append("epsilon is another than the policy's")
    if rules.worded(document) and document.get("guarantee") != rules.guarantee(policy):
        wrong.append("the guarantee differs from the policy's")
    if document.get("allowed", []) != policy.allowed:
        wrong.append("allowed is another than the policy's")
    if document.get("acknowledged", []) != policy.answered_for:
        wrong.append("acknowledged is another than the policy's")
    told = not isinstance(policy, PublicPolicy)  # else the schedule is not known
    if told and not can_be_partition(document.get("partition"), policy):
        wrong.append("partition is none of the policy's")
    if ("signature" in document) != (policy.publish.sign is not None):
        wrong.append("it must be signed where the policy signs, and only there")
    if any(item.get("format", policy.publish.format) != policy.publish.format for item in document["files"]):
        wrong.append("the format is another than the policy's")
    return wrong


def broken_names(document: Mapping[str, Any]) -> list[str]:
    """List the files that are not named as releases name them: release, digits of the SHA-256, format."""
    release, wrong = document["release"], []
    for item in document["files"]:
        form = item.get("format") or item["name"].rpartition(".")[2]
        if form not in RELEASE_FORMATS or item["name"] != f"{release}-{item['sha256'][:16]}.{form}":
            wrong.append("the data file must be named by release, digest and format")
    for part, ending in BESIDE.items():
        item = document.get(part)
        if item is not None and item["name"] != f"{release}-{part}-{item['sha256'][:16]}.{ending}":
            wrong.append(f"the {part} must be named by release and digest")
    return wrong


def can_be_partition(key: object, policy: Policy) -> bool:
    """Tell whether a partition can be one of the policy's; whether it has begun is not asked."""
    schedule = policy.schedule
    if schedule is None or schedule.partitions is None:
        return key is None or (policy.source.kind.generated and _is_plain(key))
    begins = PARTITION_KINDS[schedule.partitions].begins
    if begins is None:
        return key in schedule.keys
    try:
        day = date.fromisoformat(str(key))
    except ValueError:
        return False
    return day.isoformat() == key and day >= schedule.start and begins(day)


def _is_plain(key: object) -> bool:
    try:
        return isinstance(key, str) and plain_partition(key) == key
    except InputError:
        return False
