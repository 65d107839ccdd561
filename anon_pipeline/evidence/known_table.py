"""What releases are drawn of, to measure attackers who also know values that are released as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.encode.categories import changed_places
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.evidence.known_categories import codes_of
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.evidence.simulated_releases import DrawingTable, drawing_table
from anon_pipeline.evidence.value_order import column_ranks
from anon_pipeline.policy.model import Policy

SIMULATED_RECORDS = 2**15
"""Records whose noise is drawn to measure a table, all draws together."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class KnownTable:
    """What releases are drawn of, in an order of all that may be known.

    table: of the n records, some times over.
    ranks: (n,) of each column that is released as it is.
    codes: (n, c) original categories.
    """

    table: DrawingTable
    ranks: Mapping[str, NDArray[np.integer]] = field(repr=False)
    codes: Integers = field(repr=False)


def known_table(evidence: Evidence, policy: Policy) -> KnownTable:
    """Sort the originals by all that may be known of them; see `known_attack.known_attack`."""
    behind = require_originals(evidence)
    records = max(int(np.count_nonzero(behind.labels >= 0)), 1)
    copies = max(SIMULATED_RECORDS // (8 * records), 1) if policy.noisy else 1
    ranks = {name: column_ranks(behind.frame, name) for name in policy.unchanged}
    codes = codes_of(behind.frame, policy)
    order: dict[str, NDArray[np.integer]] = {**ranks}
    order |= {name: codes[:, at] for at, name in enumerate(policy.categorical)}
    return_freed_memory(records)
    changed = codes[:, changed_places(policy)]
    return KnownTable(drawing_table(evidence, policy, copies, order, changed), ranks, codes)
