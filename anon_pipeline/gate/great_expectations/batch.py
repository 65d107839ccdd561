"""The batch of a release: what the expectations of a policy measure, in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.encode.categories import category_codes, noisy_units
from anon_pipeline.encode.codes import CLASS, PERSON
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.evidence.population_risk import class_populations
from anon_pipeline.perturb.grid import from_grid
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.population import Population
from anon_pipeline.stages.history.cross_release import histories
from anon_pipeline.stages.history.memory import Memory, class_texts
from anon_pipeline.stages.history.sticky import recall

RELEASED = "_released"
"""Column of a batch that marks the released records."""

ORIGINAL = "_original_"
"""Prefix of the columns of a batch that hold the original values of the perturb columns."""

PEOPLE = "_person_number"
"""Column of a batch that says which records are of one person, by numbers; only with ``person``."""

MEMBER = "_class_in_"
"""Prefix of the columns of a batch that hold each person's class in a release: 0 is the first one."""

POPULATION = "_population"
"""Column of a batch with the persons of the population whom the record's class may be about; −1 for none."""

CODE = "_code_of_"
"""Prefix of the columns of a batch that hold released categories as codes of their domains."""

PUBLISHED = "_published_"
"""Prefix of the columns of a batch that hold the published values that must stay."""


def batch_names(policy: Policy) -> dict[str, Any]:
    """Return which columns of a batch of a policy hold what was published before, and the population."""
    steps = [column.resolution for column in policy.perturbed.values()]
    return {
        "class_columns": [f"{MEMBER}0"],
        "released_columns": [*policy.perturbed, *(f"{CODE}{name}" for name in policy.categorical)],
        "published_columns": [f"{PUBLISHED}{name}" for name in policy.noisy],
        "resolutions": [*steps, *[1.0] * len(policy.categorical)],
        "population_column": POPULATION,
    }


def gate_batch(
    released: pd.DataFrame,
    originals: pd.DataFrame,
    policy: Policy,
    *,
    hierarchies: Path = Path(),
    memory: Memory | None = None,
    population: Population | None = None,
) -> pd.DataFrame:
    """Put a release and its originals into one table, as the expectations of `suite_for` measure it.

    Args:
        released: (r, columns) the suppressed table, with record ids.
        originals: (n, columns) the table of `k_anonymized`.
        memory: what was published before; needed with ``record_key``.
        population: needed with ``gate.attacks.population``.
    Returns:
        A row per original record, (n, columns): generalized, sensitive and insensitive columns,
        ``_class_id``, ``_released``, for each perturb column its released value (missing where the record is
        not released) and ``_original_<column>``. With ``person``, ``_person_number``.
        With a population, ``_population``. With a memory, ``_class_in_<i>`` for each release, this one last,
        and ``_published_<column>``, of the released records; for categories ``_code_of_<column>``, too, and
        both are codes. Private, as the originals are.
    Raises:
        InputError: the two do not belong together, or values of the population are in no hierarchy; what the
            gate refuses for as well.
    """
    evidence = evidence_from(released, policy, originals=originals, hierarchies=hierarchies)
    behind = require_originals(evidence)
    batch = behind.frame[[*policy.generalized, *policy.unchanged, CLASS]].copy()
    batch[RELEASED] = np.isin(np.arange(len(batch)), behind.own)
    for name in policy.perturbed:
        batch[name] = _at(behind.own, evidence.released[name].to_numpy(np.float64), np.nan, len(batch))
        batch[f"{ORIGINAL}{name}"] = behind.frame[name].to_numpy(np.float64)
    for name in policy.categorical:
        batch[name] = _at(behind.own, evidence.released[name].to_numpy(object), None, len(batch))
        batch[f"{ORIGINAL}{name}"] = behind.frame[name].to_numpy(object)
    if behind.people is not None:
        batch[PEOPLE] = behind.people
    if population is not None:
        persons = class_populations(evidence, policy, population)[evidence.classes.labels]
        batch[POPULATION] = _at(behind.own, persons, -1, len(batch))
    if memory is not None and PERSON in behind.frame:
        _remember(batch, evidence, policy, memory)
    return batch


def _at(rows: NDArray[np.int64], values: NDArray[Any], rest: Any, n: int) -> NDArray[Any]:
    """Return (n,) values that are given for some rows, the same in all others."""
    found = np.full(n, rest, values.dtype)
    found[rows] = values
    return found


def _remember(batch: pd.DataFrame, evidence: Evidence, policy: Policy, memory: Memory) -> None:
    """Add what was published of the persons of the release: their classes, and the noise that must stay."""
    behind = require_originals(evidence)
    own = behind.frame.iloc[behind.own].reset_index(drop=True)
    joined = histories(memory, own[PERSON], class_texts(evidence.released, policy))
    for i in range(joined.shape[1]):
        batch[f"{MEMBER}{i}"] = _at(behind.own, joined[:, i], -1, len(batch))
    found = recall(memory, policy, own, noisy_units(own, policy))
    steps = [column.resolution for column in policy.perturbed.values()] + [1.0] * len(policy.categorical)
    for j, (name, step) in enumerate(zip(policy.noisy, steps, strict=True)):
        known = found.known[:, j]
        values = from_grid(found.noisy[known, j], step)
        batch[f"{PUBLISHED}{name}"] = _at(behind.own[known], values, np.nan, len(batch))
    codes = category_codes(evidence.released, policy).astype(np.float64)
    for j, name in enumerate(policy.categorical):
        batch[f"{CODE}{name}"] = _at(behind.own, codes[:, j], np.nan, len(batch))
