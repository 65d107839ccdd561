"""Whether facts keep the rules of their fields and say what their policy says: alike for every version."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from anon_pipeline.encode.categories import category_facts
from anon_pipeline.encode.grids import epsilon_shares, noises
from anon_pipeline.encode.noise import whole_column_facts
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts import fact_rules as must
from anon_pipeline.stages.facts.records import Facts, PerturbedFacts, RawFacts


@dataclass(frozen=True, slots=True)
class FactVersion:
    """What the facts of one version of manifests are held against.

    fields: the rule of every field, by stage.
    said: from a stage and a policy to the facts that the policy alone decides, see `said_of`.
    noise: from a policy to what it says of the noise of each perturb column, see `noise_said`.
    people: fields, by stage, that are there with the policy's ``person``, and only with it.
    advice: what to do about a stage; ``{}`` stands for its name.
    """

    fields: Mapping[str, Mapping[str, must.Rule]]
    said: Callable[[str, Policy], Mapping[str, Any]]
    noise: Callable[[Policy], Mapping[str, Mapping[str, Any]]]
    people: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    advice: str = ""


def broken_facts(version: FactVersion, policy: Policy, facts: Facts, *, making: str) -> Iterator[str]:
    """Yield a line for each stage whose facts are not its own, with their fields; never what was found there.

    Args:
        policy: whose columns are the only names in them, and what they say.
        facts: of some or all stages.
        making: digest of what of the policy decides the tables: facts that claim it must say what it says.
    """
    strange = len(set(facts) - set(version.fields))
    if strange:
        yield f"the facts of a table must be of the stages, got {strange} others"
    records = facts.get(RawFacts.stage, {}).get("records")
    known = must.Known(policy, must.MOST if records is None or not must.is_count(records) else records)
    for stage in version.fields:
        if stage not in facts:
            continue
        broken = set(_unfit(version.fields[stage], facts[stage], known))
        if facts[stage].get("made_by") == making:
            broken |= set(_contradicted_fields(version, stage, facts[stage], policy))
        if broken:
            advice = version.advice.format(stage)
            yield (
                f"the facts of {stage} must be what that stage writes; these are not: "
                f"{', '.join(sorted(broken))}{advice}"
            )


def _unfit(fields: Mapping[str, must.Rule], values: Mapping[str, Any], known: must.Known) -> Iterator[str]:
    """Yield the fields that lack, or hold what does not belong there; what is unknown is not quoted."""
    rules = {**fields, "made_by": must.digest}
    if set(values) - set(rules):
        yield "fields that are not known"
    for name, rule in rules.items():
        if name not in values or not rule(values[name], known):
            yield name


def _contradicted_fields(
    version: FactVersion, stage: str, values: Mapping[str, Any], policy: Policy
) -> Iterator[str]:
    """Yield the fields that the policy contradicts."""
    for name, said in version.said(stage, policy).items():
        if name in values and not _equal(values[name], said):
            yield name
    for name in version.people.get(stage, ()):
        if (values.get(name) is None) != (policy.person is None):
            yield name
    if stage == PerturbedFacts.stage:
        if not _same_noise(values.get("columns"), version.noise(policy)):
            yield "columns"
        if not _possible_spending(values.get("composition"), policy):
            yield "composition"


def decided_by(version: FactVersion, policy: Policy) -> Iterator[tuple[str, ...]]:
    """Yield the facts that the policy alone decides, so that they are compared with it: the keys to each.

    A list among them is decided with all its items.
    """
    for stage in version.fields:
        for name in version.said(stage, policy):
            yield from ((stage, name), (stage, name, "*"))
    for column, said in version.noise(policy).items():
        yield from ((PerturbedFacts.stage, "columns", column, name) for name in said)
    if not policy.noisy:
        yield PerturbedFacts.stage, "columns"


def _equal(value: Any, said: Any) -> bool:
    """Compare a fact with what the policy says, where a tuple may have become a list."""
    return bool(value == said or (isinstance(value, tuple) and list(value) == said))


def said_of(policy: Policy, actions: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the facts that the policy alone decides, by stage.

    Args:
        actions: from the field that lists identifiers to what happens to these.
    """
    wanted, noise, confidence = policy.anonymize, policy.perturb, policy.suppress.confidence
    return {
        RawFacts.stage: {"columns": len(policy.columns)},
        "deidentified": {
            fact: [name for name, column in policy.identifiers.items() if column.action == action]
            for fact, action in actions.items()
        },
        "k_anonymized": {
            name: getattr(wanted, name) for name in ("recoder", "k", "loss", "suppression_limit")
        },
        PerturbedFacts.stage: {
            "passed_through": not policy.noisy,
            "epsilon": policy.noise_epsilon,
            "mechanism": policy.mechanism_of_numbers,
            "republish": "fresh" if noise is None else noise.republish,
        },
        "shuffled": {},
        "suppressed": {"passed_through": confidence is None, "confidence": confidence},
    }


def noise_said(policy: Policy) -> dict[str, dict[str, Any]]:
    """Return what the policy says of the noise of each perturb column."""
    return {
        name: whole_column_facts(noise, column)
        if noise.whole_column
        else {
            "mechanism": noise.mechanism,
            "epsilon": float(noise.epsilon),
            "delta": None if noise.delta is None else float(noise.delta),
            "sensitivity": column.sensitivity,
            "resolution": column.resolution,
        }
        for (name, column), noise in zip(policy.perturbed.items(), noises(policy), strict=True)
    } | category_facts(policy)


def _same_noise(columns: Any, said: Mapping[str, Mapping[str, Any]]) -> bool:
    """Tell whether facts name the policy's perturb columns, each with its noise and resolution."""
    if not isinstance(columns, Mapping) or not all(isinstance(noise, Mapping) for noise in columns.values()):
        return False
    return set(said) == set(columns) and all(
        found.get(field) == value for name, found in columns.items() for field, value in said[name].items()
    )


def _possible_spending(composed: Any, policy: Policy) -> bool:
    """Tell whether the ε that facts say is spent can be a sum of the columns' shares: digits are text."""
    if policy.record_key is None or not isinstance(composed, Mapping):
        return policy.record_key is None and composed is None
    said, shares = composed.get("epsilon_spent"), epsilon_shares(policy)
    if not must.is_fraction_text(said, must.Known(policy, must.MOST)):
        return False
    whole, spent = sum(shares, Fraction(0)), Fraction(str(said))
    return spent <= whole and math.lcm(*(share.denominator for share in shares)) % spent.denominator == 0
