"""What the facts of manifest version 1 may say, as 0.1.0 wrote them; these rules never change again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts import fact_rules as must
from anon_pipeline.stages.facts.agreement import FactVersion, broken_facts, decided_by, noise_said, said_of
from anon_pipeline.stages.facts.records import Facts

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
        "epsilon_spent": must.is_fraction_text,
    }
)

FIELDS_1: dict[str, dict[str, must.Rule]] = {
    "raw": {"records": must.count, "columns": must.count, "incomplete_records": must.records},
    "deidentified": dict.fromkeys(("dropped", "masked", "hashed"), must.list_of(must.column)),
    "k_anonymized": {
        "recoder": _among(*_RECODERS),
        "k": must.count,
        "smallest_class": must.records,
        "classes": must.records,
        "levels": must.or_none(must.mapping_of(must.column, must.level)),
        "hierarchies": must.mapping_of(must.column, must.digest),
        "loss": _among(*_LOSSES),
        "information_loss": must.share,
        "suppressed_incomplete": must.records,
        "suppressed_by_recoding": must.records,
        "suppressed_cells": must.cells,
        "suppression_limit": must.share,
        "nodes_checked": must.count,
        "equal_distance": must.list_of(must.column),
        "sse": must.or_none(must.share),
    },
    "perturbed": {
        "passed_through": must.flag,
        "epsilon": must.or_none(must.number),
        "mechanism": must.or_none(_among(*_OF_NUMBERS)),
        "columns": must.mapping_of(must.column, must.either(_NOISE, _CATEGORIES)),
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
        "suppressed_by_limit": must.mapping_of(_limit, must.records),
        "suppressed_in_all": must.records,
    },
}


def _policy_facts(stage: str, policy: Policy) -> Mapping[str, Any]:
    return said_of(policy, {"dropped": "drop", "masked": "mask", "hashed": "hash"})[stage]


def _noise_said(policy: Policy) -> dict[str, dict[str, Any]]:
    """Return what the policy says of the noise of each perturb column, as 0.1.0 wrote it."""
    return {
        column: {name: value for name, value in said.items() if name in _NOISE_FIELDS}
        for column, said in noise_said(policy).items()
    }


_VERSION_1 = FactVersion(FIELDS_1, _policy_facts, _noise_said)


def broken_facts_1(policy: Policy, facts: Facts, *, making: str) -> list[str]:
    """List the stages whose facts are not what 0.1.0 wrote, with their fields; never what was found there.

    Args:
        policy: whose columns are the only names in them, and what they say.
        facts: of all stages.
        making: digest that 0.1.0 gave to the policy's sections, `policy.version_1.making_1`.
    """
    return list(broken_facts(_VERSION_1, policy, facts, making=making))


def decided_1(policy: Policy) -> Iterator[tuple[str, ...]]:
    """Yield the facts that the policy alone decides: the keys to each, see `decided_by`."""
    return decided_by(_VERSION_1, policy)
