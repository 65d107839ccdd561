"""From a batch to what an attacker gets right, by the very measures of the gate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.classes import EquivalenceClasses
from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.population_risk import classes_risk
from anon_pipeline.gate.great_expectations.arrays import (
    NoisyColumns,
    batch_columns,
    noisy_values,
    released_classes,
    released_rows,
    sensitive_codes,
)
from anon_pipeline.gate.great_expectations.batch import ORIGINAL
from anon_pipeline.gate.great_expectations.measures import Wanted
from anon_pipeline.limits.limit import Case, Demand
from anon_pipeline.limits.linking import LINKING_RISK
from anon_pipeline.limits.sizes import POPULATION_RISKS
from anon_pipeline.limits.table import demands
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.model import Policy

_STAGED: dict[str, Any] = {"k": 2, "confidence": None, "gate": {"linking": "realized"}}
_STAGES = ("linking", "linking_risk", "t_closeness", "l_diversity")


def attack_arguments(policy: Policy) -> dict[str, Any]:
    """Return what of a policy its attacks are measured by, as JSON types.

    Args:
        policy: with limits under ``gate.attacks``.
    Returns:
        The names of the generalize columns, the perturb and sensitive columns, the sections ``perturb``
        and ``gate.attacks``, without the population (neither its path nor any other), and what the stages
        behind the noise do: k, the confidence, and ``linking``, ``linking_risk``, ``t_closeness``,
        ``l_diversity`` of the gate.
    """
    columns = {**policy.noisy, **policy.sensitive}
    noise = policy.perturb
    as_json: dict[str, Any] = {"mode": "json", "exclude_none": True}
    return {
        "quasi_identifiers": list(policy.generalized),
        "columns": {name: column.model_dump(**as_json) for name, column in columns.items()},
        "perturb": None if noise is None else noise.model_dump(**as_json, exclude={"republish"}),
        "attacks": policy.gate.attacks.model_dump(**as_json, exclude={"population"}),
        "stages": {
            "k": policy.anonymize.k,
            "confidence": policy.suppress.confidence,
            "gate": policy.gate.model_dump(**as_json, include={*_STAGES}),
        },
    }


def _policy(wanted: Wanted) -> Policy:
    """Return a policy of what an attack is measured by; how a column was generalized plays no part."""
    generalized = {"role": "generalize", "hierarchy": {"suppress": True}}
    noise = {} if wanted["perturb"] is None else {"perturb": wanted["perturb"]}
    stages = _STAGED | (wanted.get("stages") or {})
    return policy_from(
        {
            "name": "batch",
            "source": {"path": "batch"},
            "columns": dict.fromkeys(wanted["quasi_identifiers"], generalized) | wanted["columns"],
            "anonymize": {"k": stages["k"]},
            "suppress": {"confidence": stages["confidence"]},
            "gate": {"attacks": wanted["attacks"]} | stages["gate"],
            **noise,
        }
    )


def attack_limit(wanted: Wanted) -> Demand:
    """Return the limit that an expectation names.

    Args:
        wanted: its arguments: ``attack`` and those of `attack_arguments`.
    Raises:
        PolicyError: what the policy's own rules refuse.
        InputError: the limits do not have this one.
    """
    return _limit(_policy(wanted), wanted["attack"])


def _limit(policy: Policy, attack: str) -> Demand:
    every = demands(policy)
    limits = {one.name: one for one in every if one.limit.attack or one.limit is LINKING_RISK}
    if attack not in limits:
        raise InputError(f"attack must be a limit in attacks ({', '.join(limits) or 'none'}), got {attack}")
    return limits[attack]


def attacked(frame: pd.DataFrame, wanted: Wanted) -> float:
    """Return what an attack gets right on the released records of a `gate_batch`.

    Args:
        frame: (n, columns).
        wanted: arguments of the expectation.
    """
    policy = _policy(wanted)
    evidence = _evidence(frame, policy, wanted)
    return _limit(policy, wanted["attack"]).value(Case(policy, evidence.released, evidence))


def _evidence(frame: pd.DataFrame, policy: Policy, wanted: Wanted) -> Evidence:
    """Take a batch apart into a release and its originals, and bring these together as the gate does."""
    rows, folder = released_rows(frame, wanted["released"]), Path(wanted["hierarchies"])
    before = {f"{ORIGINAL}{name}": name for name in policy.perturbed}
    steps = tuple(column.resolution for column in policy.perturbed.values())
    names = NoisyColumns(tuple(policy.perturbed), tuple(before), steps, CLASS)
    labels = noisy_values(frame, names, rows).labels
    column = wanted["attack"].partition(".")[2]
    if column in policy.sensitive:
        sensitive_codes(frame, column, policy.sensitive[column], rows, folder=folder)  # refuses gaps
    table = batch_columns(frame, [*policy.released, *before]).assign(**{RECORD: np.arange(len(frame))})
    originals = table.drop(columns=list(policy.noisy)).rename(columns=before).assign(**{CLASS: labels})
    return evidence_from(table[rows], policy, originals=originals, hierarchies=folder)


def known_population(frame: pd.DataFrame, wanted: Wanted) -> float:
    """Return what an attacker gets right who knows the population.

    Args:
        frame: (n, columns).
        wanted: arguments of the expectation.
    """
    rows = released_rows(frame, wanted["released"])
    classes = released_classes(frame, wanted["quasi_identifiers"], rows)
    persons = _persons(frame, wanted["population_column"], rows, classes)
    return POPULATION_RISKS[wanted["risk"]](classes_risk(classes.sizes, persons))


def _persons(
    frame: pd.DataFrame, name: str, rows: NDArray[np.bool_], classes: EquivalenceClasses
) -> NDArray[np.int64]:
    """Return the persons whom each class may be about, (m,): the same number in each of its records."""
    column = batch_columns(frame, [name])[name]
    if not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        raise InputError(f"{name}: must be a whole number in every record, got another type or gaps")
    counts = column.to_numpy(np.int64)[rows]
    persons = np.zeros(len(classes.sizes), np.int64)
    persons[classes.labels] = counts
    differ = int((persons[classes.labels] != counts).sum())
    if differ or int(persons.min()) < 0:
        raise InputError(
            f"{name}: must be the same number, 0 or more, in all records of a class, got {differ} that "
            f"differ and {int((counts < 0).sum())} below 0"
        )
    return persons
