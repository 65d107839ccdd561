"""The digest of all that noise is added to: a draw is used again for exactly the same alone."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.canonical import Canonical
from anon_pipeline.base.order import sorted_places
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.stages.facts.records import Facts, KAnonymizedFacts
from anon_pipeline.stages.history.sticky import Recalled


def without_numbers(recoded: Table) -> Table:
    """Return a recoded table without what numbers its records and classes: random ids, numbers of classes.

    Args:
        recoded: (n, columns) the table of `k_anonymized`; who is suppressed stays to be seen.
    """
    return recoded.drop(columns=[RECORD]).assign(**{CLASS: recoded[CLASS] >= 0})


def noise_input(table: Canonical, in_class: NDArray[np.bool_], stays: Recalled, *, facts: Facts) -> str:
    """Return the digest of what noise is added to, equal for any order of the records.

    Args:
        table: of `k_anonymized`, suppressed records included, without random ids.
        in_class: (n,) whether a record is in a class, and so gets noise.
        stays: noise that stays, of the records that get noise, in their order.
        facts: of the stages before; the hierarchies are named by their digests there.
    Returns:
        SHA-256, 64 hexadecimal digits.
    """
    order = sorted_places(table.places[in_class], len(table.places))
    kept = np.where(stays.known, stays.noisy, 0).take(order, axis=0).astype("<i8")
    sha = hashlib.sha256(kept.tobytes())
    sha.update(np.stack((stays.known, stays.booked)).take(order, axis=1).tobytes())
    recoded: Any = facts.get(KAnonymizedFacts.stage, {})
    document = {
        "table": table.digest,
        "stays": sha.hexdigest(),
        "shape": list(kept.shape),
        "hierarchies": recoded.get("hierarchies"),
    }
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
