"""What a manifest says beside its digests, held against the policy and against itself.

Belongs here: the recorded gate, facts, ε, guarantee, partition, time. Does not belong here: reading files
(`verify`), measuring (`gate`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from importlib import metadata
from typing import Any

from anon_pipeline.errors import InputError
from anon_pipeline.facts import Facts, KAnonymizedFacts, PerturbedFacts, SuppressedFacts
from anon_pipeline.gate import GateReport, Status, Verdict, limits_of
from anon_pipeline.locations import plain_partition
from anon_pipeline.measure.recorded import checked_facts
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.guarantee import guarantee
from anon_pipeline.publish.manifest import RECORDED

__all__ = ["broken_facts", "broken_gate", "broken_statements", "of_this_version"]

_ALWAYS = ("contract", "origin", "k")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!_-]{0,60}")
_CLOSE = 1e-9  # sums of floats, in whatever order


def broken_gate(document: Mapping[str, Any], policy: Policy | None, anew: GateReport | None) -> list[str]:
    """List what speaks against the gate's report that a manifest records.

    Args:
        document: the manifest.
        policy: whose limits must be in it, all of them and no others; None: at least those of every policy.
        anew: the gate's report on the file alone; what it says of a limit must be recorded alike.
    """
    try:
        gate = GateReport.from_json(document["gate"])
        names = [verdict.limit for verdict in gate.verdicts]
        problems = [problem for verdict in gate.verdicts if (problem := _broken(verdict))]
    except (ValueError, LookupError, TypeError, AttributeError):
        return ["its verdicts cannot be read"]
    digests = ("data_digest", "policy_digest")
    others = [name for name in digests if getattr(gate, name) != document[name]]
    if others:
        problems.append(f"it judged another release ({', '.join(others)})")
    if not gate.passed or document["gate"].get("passed") is not True:
        problems.append("it has not passed the release")
    if len(set(names)) != len(names) or not set(_ALWAYS) <= set(names):
        problems.append(f"it must judge each limit once, and always {', '.join(_ALWAYS)}")
    elif policy is not None and set(names) != set(limits_of(policy)):
        problems.append("it must judge the policy's limits, all of them and no others")
    elif policy is not None and _is_digest(gate.population_digest) != _on_population(policy):
        problems.append("it must name the population by its digest where the policy does, and only there")
    elif anew is not None:
        problems += _others(gate, anew)
    return list(dict.fromkeys(problems))


def _on_population(policy: Policy) -> bool:
    return policy.gate.attacks.population is not None


def _is_digest(text: object) -> bool:
    return isinstance(text, str) and re.fullmatch(r"[0-9a-f]{64}", text) is not None


def _broken(verdict: Verdict) -> str | None:
    """Say whether a verdict contradicts itself; a limit of l-diversity has none to be held against."""
    if verdict.bound is None:
        return None
    if verdict.value is None or not math.isfinite(verdict.value) or not math.isfinite(verdict.bound):
        return "a limit must have a value"
    slack = _CLOSE * max(1.0, abs(verdict.bound))
    kept = {
        "at least": verdict.value >= verdict.bound - slack,
        "at most": verdict.value <= verdict.bound + slack,
        "below": verdict.value < verdict.bound + slack,
    }
    return None if kept.get(verdict.sense) else "a value is beyond its bound, and yet it passed"


def _others(gate: GateReport, anew: GateReport) -> Iterator[str]:
    """Yield how a recorded report differs from one that was made anew."""
    by_name = {verdict.limit: verdict for verdict in gate.verdicts}
    if anew.population_digest not in (None, gate.population_digest):
        yield "it was measured on another population"
    for found in anew.verdicts:
        recorded = by_name[found.limit]
        if found.status is Status.REFUSED and found.bound is None:
            continue  # nothing was measured, and that is refused already
        if (recorded.bound, recorded.sense) != (found.bound, found.sense):
            yield f"{found.limit}: its bound must be the policy's"
        elif found.value is not None and not _alike(recorded.value, found.value):
            yield f"{found.limit}: its value must be the file's"


def _alike(one: float | None, other: float) -> bool:
    return one is not None and math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)


def broken_facts(document: Mapping[str, Any], policy: Policy | None) -> list[str]:
    """List where a manifest's facts do not fit the file and the policy; `origin` is not asked here.

    Args:
        document: the manifest, with facts of every stage.
        policy: that should have made it.
    """
    facts = document["facts"]
    wrong = []
    if facts[SuppressedFacts.stage].get("released") != document["files"][0]["records"]:
        wrong.append("the released records are others than the file's")
    if policy is not None:
        if facts[KAnonymizedFacts.stage].get("k") != policy.anonymize.k:
            wrong.append("k is another than the policy's")
        if facts[PerturbedFacts.stage].get("epsilon") != _epsilon(policy):
            wrong.append("ε is another than the policy's")
        if of_this_version(document):
            wrong += _unwritten(facts, policy)
    return wrong


def _unwritten(facts: Facts, policy: Policy) -> list[str]:
    """List the fields that no stage writes so: forged facts may hold any text."""
    try:
        checked_facts(policy, facts)
    except InputError as error:
        return list(error.problems)
    return []


def _epsilon(policy: Policy) -> float | None:
    return None if policy.perturb is None else policy.perturb.epsilon


def broken_statements(document: Mapping[str, Any], policy: Policy) -> list[str]:
    """List which of a manifest's statements are not what this policy leads to."""
    wrong = []
    epsilon = document.get("epsilon")
    if isinstance(epsilon, bool) or epsilon != policy.promised_epsilon:
        wrong.append("epsilon is another than the policy's")
    if of_this_version(document) and document.get("guarantee") != guarantee(policy):
        wrong.append("guarantee is another than the policy's")
    if document.get("allowed", []) != policy.allowed:
        wrong.append("allowed is another than the policy's")
    if not _is_partition(document.get("partition"), policy):
        wrong.append("partition is none of the policy's")
    if not _is_time(document.get("made_at")):
        wrong.append("made_at must be a time with its zone")
    if not _are_packages(document.get("packages"), this_version=of_this_version(document)):
        wrong.append("packages must be names with their versions")
    return wrong


def of_this_version(document: Mapping[str, Any]) -> bool:
    """Tell whether a manifest says that this version made it: another may word the guarantee otherwise."""
    packages = document.get("packages")
    made_by = packages.get("anon-pipeline") if isinstance(packages, dict) else None
    return bool(made_by == metadata.version("anon-pipeline"))


def _are_packages(packages: object, *, this_version: bool) -> bool:
    """Tell whether these are versions of packages; another version may have named others."""
    return isinstance(packages, dict) and all(
        (name in RECORDED or not this_version)
        and isinstance(version, str)
        and _VERSION.fullmatch(version) is not None
        for name, version in packages.items()
    )


def _is_time(text: object) -> bool:
    try:
        return datetime.fromisoformat(str(text)).tzinfo is not None
    except ValueError:
        return False


def _is_partition(key: object, policy: Policy) -> bool:
    """Tell whether a partition can be one of the policy's; whether it has begun is not asked."""
    schedule = policy.schedule
    if schedule is None or schedule.partitions is None:
        return key is None or (policy.source.generate is not None and _is_plain(key))
    try:
        day = date.fromisoformat(str(key))
    except ValueError:
        return False
    first = {"daily": True, "weekly": day.weekday() == 0, "monthly": day.day == 1}
    return day.isoformat() == key and day >= schedule.start and first[schedule.partitions]


def _is_plain(key: object) -> bool:
    try:
        return isinstance(key, str) and plain_partition(key) == key
    except InputError:
        return False
