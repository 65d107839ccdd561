"""The batch of a release: what the expectations of a policy measure, in one table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.packed_tables import Table, unpack_table
from anon_pipeline.base.rows import some_rows
from anon_pipeline.encode.categories import noisy_columns, noisy_units
from anon_pipeline.encode.codes import CLASS, PERSON
from anon_pipeline.evidence.evidence import Evidence, evidence_from
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.evidence.population_risk import class_populations
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
"""Column of a batch with the people of the population who fit the record's class; −1 for none."""

PUBLISHED = "_published_"
"""Prefix of the columns of a batch that hold the published values that must stay."""


def gate_batch(
    released: Table,
    originals: Table,
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
        and ``_published_<column>``, of the released records. Private, as the originals are.
    Raises:
        InputError: the two do not belong together, or values of the population are in no hierarchy; what the
            gate refuses for as well.
    """
    evidence = evidence_from(released, policy, originals=originals, hierarchies=hierarchies)
    behind = require_originals(evidence)
    batch = unpack_table(behind.frame[[*policy.generalized, *policy.unchanged, CLASS]]).copy()
    batch[RELEASED] = np.isin(np.arange(len(batch)), behind.own)
    for name in policy.noisy:
        batch[name] = _at(behind.own, evidence.released[name], len(batch))
        batch[f"{ORIGINAL}{name}"] = behind.frame[name]
    if behind.people is not None:
        batch[PEOPLE] = behind.people
    if population is not None:
        people = class_populations(evidence, policy, population)[evidence.classes.labels]
        batch[POPULATION] = _at(behind.own, pd.Series(people), len(batch), rest=-1)
    if memory is not None and PERSON in behind.frame:
        for name, values in _publications(evidence, policy, memory):
            rest = -1 if name.startswith(MEMBER) else None
            batch[name] = _at(behind.own, values, len(batch), rest=rest)
    return batch


def _at(rows: NDArray[np.int64], values: pd.Series, n: int, *, rest: Any = None) -> NDArray[Any]:
    """Return (n,) values that are given for some rows, the same in all others; None: missing there."""
    return values.set_axis(rows).reindex(range(n), fill_value=rest).to_numpy()


def _publications(evidence: Evidence, policy: Policy, memory: Memory) -> Iterator[tuple[str, pd.Series]]:
    """Yield what was published of the people of the release: their classes, and the noise that must stay."""
    behind = require_originals(evidence)
    own = some_rows(behind.frame, behind.own)
    joined = histories(memory, own[PERSON], class_texts(evidence.released, policy))
    yield from ((f"{MEMBER}{i}", pd.Series(joined[:, i])) for i in range(joined.shape[1]))
    found = recall(memory, policy, own, noisy_units(own, policy))
    values = pd.DataFrame(noisy_columns(found.noisy, policy))
    for j, name in enumerate(policy.noisy):
        yield f"{PUBLISHED}{name}", values[name].where(found.known[:, j])
