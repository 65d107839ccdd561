"""What the facts of manifest version 1 may say, as 0.1.0 wrote them; these rules never change again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from anon_pipeline.encode.categories import category_facts
from anon_pipeline.encode.grids import epsilon_shares, noises
from anon_pipeline.facts import fact_rules as must
from anon_pipeline.facts.records import Facts
from anon_pipeline.policy.model import Policy

_OF_NUMBERS = ("discrete_laplace", "staircase", "discrete_gaussian", "uniform")
_RECODERS = (
    *("ola", "optimal", "incognito", "samarati", "datafly", "mingen", "mondrian", "mondrian_relaxed"),
    *("mdav", "vmdav", "univariate", "merge", "kanon_first", "tclose_first"),
)
_LOSSES = ("precision", "granularity", "discernibility", "average_class_size", "entropy", "classification")


def _among(*words: str) -> must.Rule:
    """Return the rule of one of the words that 0.1.0 knew; what came later is in no manifest of version 1."""
    return lambda value, known: isinstance(value, str) and value in words


def _limit(value: Any, known: must.Known) -> bool:
    """Tell whether this names a limit of 0.1.0 on a column's classes."""
    kind, _, name = value.partition(".") if isinstance(value, str) else ("", "", "")
    return kind in ("t_closeness", "l_diversity") and name in known.policy.columns


_NOISE = must.exactly(
    {
        "mechanism": _among(*_OF_NUMBERS),
        "epsilon": must.number,
        "delta": must.or_none(must.share),
        "sensitivity": _among("class", "declared"),
        "resolution": must.number,
        "classes_without_noise": must.records,
        "mean_scale": must.or_none(must.number),
        "expected_relative_error": must.or_none(must.number),
    }
)
_CATEGORIES = must.exactly(
    {
        "mechanism": _among("randomized_response", "exponential"),
        "epsilon": must.number,
        "values": must.count,
        "least_kept": must.share,
        "most_kept": must.share,
        "mean_distance": must.share,
    }
)
_NOISE_FIELDS = frozenset(
    {"mechanism", "epsilon", "delta", "sensitivity", "resolution"}
    | {"values", "least_kept", "most_kept", "mean_distance"}
)
"""What the policy says of a column's noise."""
_COMPOSITION = must.exactly(
    {
        "releases_before": must.count,
        "values_reused": must.values,
        "values_drawn": must.values,
        "epsilon_spent": must.spent,
    }
)

FIELDS_1: dict[str, dict[str, must.Rule]] = {
    "raw": {"records": must.count, "columns": must.count, "incomplete_records": must.records},
    "deidentified": dict.fromkeys(("dropped", "masked", "hashed"), must.listed(must.column)),
    "k_anonymized": {
        "recoder": _among(*_RECODERS),
        "k": must.count,
        "smallest_class": must.records,
        "classes": must.records,
        "levels": must.or_none(must.mapping(must.column, must.level)),
        "hierarchies": must.mapping(must.column, must.digest),
        "loss": _among(*_LOSSES),
        "information_loss": must.share,
        "suppressed_incomplete": must.records,
        "suppressed_by_recoding": must.records,
        "suppressed_cells": must.cells,
        "suppression_limit": must.share,
        "nodes_checked": must.count,
        "equal_distance": must.listed(must.column),
        "sse": must.or_none(must.share),
    },
    "perturbed": {
        "passed_through": must.flag,
        "epsilon": must.or_none(must.number),
        "mechanism": must.or_none(_among(*_OF_NUMBERS)),
        "columns": must.mapping(must.column, must.either(_NOISE, _CATEGORIES)),
        "seeded": must.flag,
        "republish": _among("fresh", "sticky"),
        "composition": must.or_none(_COMPOSITION),
        "release_id": must.or_none(must.release_id),
    },
    "shuffled": {"records": must.records, "seeded": must.flag},
    "suppressed": {
        "passed_through": must.flag,
        "confidence": must.or_none(must.share),
        "released": must.records,
        "classes": must.records,
        "suppressed_unconfident": must.records,
        "suppressed_small_classes": must.records,
        "suppressed_by_limit": must.mapping(_limit, must.records),
        "suppressed_in_all": must.records,
    },
}


def broken_facts_1(policy: Policy, facts: Facts, *, making: str) -> list[str]:
    """List the stages whose facts are not what 0.1.0 wrote, with their fields; never what was found there.

    Args:
        policy: whose columns are the only names in them, and what they say.
        facts: of all stages.
        making: digest that 0.1.0 gave to the policy's sections, `policy.version_1.making_1`.
    """
    return list(_problems(policy, facts, making))


def _problems(policy: Policy, facts: Facts, making: str) -> Iterator[str]:
    """Yield a line for each stage whose facts are not its own."""
    strange = len(set(facts) - set(FIELDS_1))
    if strange:
        yield f"the facts of a table must be of the stages, got {strange} others"
    records = facts.get("raw", {}).get("records")
    known = must.Known(policy, must.MOST if records is None or not must.is_count(records) else records)
    for stage in FIELDS_1:
        if stage in facts:
            broken = sorted(set(_broken(stage, facts[stage], known, making)))
            if broken:
                yield (
                    f"the facts of {stage} must be what that stage writes, got others: {', '.join(broken)}"
                )


def _broken(stage: str, values: Mapping[str, Any], known: must.Known, making: str) -> Iterator[str]:
    """Yield the fields that lack, or hold what does not belong there; what is unknown is not quoted."""
    rules = {**FIELDS_1[stage], "made_by": must.digest}
    if set(values) - set(rules):
        yield "fields that are not known"
    for name, rule in rules.items():
        if name not in values or not rule(values[name], known):
            yield name
    if values.get("made_by") == making:
        for name, said in _said(stage, known.policy).items():
            if name in values and not _equal(values[name], said):
                yield name
        if stage == "perturbed" and not _same_noise(values.get("columns"), known.policy):
            yield "columns"
        if stage == "perturbed" and not _possible_spending(values.get("composition"), known.policy):
            yield "composition"


def decided_1(policy: Policy) -> Iterator[tuple[str, ...]]:
    """Yield the facts that the policy alone decides: the keys to each, see `check.decided_facts`."""
    for stage in FIELDS_1:
        for name in _said(stage, policy):
            yield from ((stage, name), (stage, name, "*"))
    for column, said in _noise_said(policy).items():
        yield from (("perturbed", "columns", column, name) for name in said)
    if not policy.noisy:
        yield "perturbed", "columns"


def _equal(value: Any, said: Any) -> bool:
    """Compare a fact with what the policy says, where a tuple may have become a list."""
    return bool(value == said or (isinstance(value, tuple) and list(value) == said))


def _said(stage: str, policy: Policy) -> Mapping[str, Any]:
    """Return the facts of a stage that the policy alone decides."""
    wanted, noise, confidence = policy.anonymize, policy.perturb, policy.suppress.confidence
    if stage == "raw":
        return {"columns": len(policy.columns)}
    if stage == "deidentified":
        actions = {"dropped": "drop", "masked": "mask", "hashed": "hash"}
        return {name: _with(policy, action) for name, action in actions.items()}
    if stage == "k_anonymized":
        return {name: getattr(wanted, name) for name in ("recoder", "k", "loss", "suppression_limit")}
    if stage == "perturbed":
        return {
            "passed_through": not policy.noisy,
            "epsilon": None if noise is None else noise.epsilon,
            "mechanism": policy.mechanism_of_numbers,
            "republish": "fresh" if noise is None else noise.republish,
        }
    if stage == "suppressed":
        return {"passed_through": confidence is None, "confidence": confidence}
    return {}


def _with(policy: Policy, action: str) -> list[str]:
    return [name for name, column in policy.identifiers.items() if column.action == action]


def _noise_said(policy: Policy) -> dict[str, dict[str, Any]]:
    """Return what the policy says of the noise of each perturb column, as 0.1.0 wrote it."""
    said: dict[str, dict[str, Any]] = {
        name: {
            "mechanism": noise.mechanism,
            "epsilon": float(noise.epsilon),
            "delta": None if noise.delta is None else float(noise.delta),
            "sensitivity": column.sensitivity,
            "resolution": column.resolution,
        }
        for (name, column), noise in zip(policy.perturbed.items(), noises(policy), strict=True)
    } | category_facts(policy)
    return {
        column: {name: value for name, value in values.items() if name in _NOISE_FIELDS}
        for column, values in said.items()
    }


def _same_noise(columns: Any, policy: Policy) -> bool:
    """Tell whether facts name the policy's perturb columns, each with its noise and resolution."""
    said = _noise_said(policy)
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
    if not must.spent(said, must.Known(policy, must.MOST)):
        return False
    whole, spent = sum(shares, Fraction(0)), Fraction(str(said))
    return spent <= whole and math.lcm(*(share.denominator for share in shares)) % spent.denominator == 0
