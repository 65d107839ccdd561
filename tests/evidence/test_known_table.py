"""What releases are drawn of: records in classes, some times over, in an order of all that may be known."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anon_pipeline.encode.codes import CLASS, RECORD
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.known_table import SIMULATED_RECORDS, known_table
from anon_pipeline.policy import policy_from

N = 64


def test_small_tables_are_repeated_and_suppressed_records_left_out() -> None:
    policy = policy_from(
        {
            "name": "people",
            "source": {"path": "people.csv"},
            "columns": {
                "town": {"role": "generalize", "hierarchy": {"suppress": True}},
                "income": {"role": "perturb", "resolution": 1},
                "note": {"role": "insensitive"},
            },
            "anonymize": {"k": 2},
            "perturb": {"epsilon": 1},
        }
    )
    labels = np.where(np.arange(N) < 4, -1, np.arange(N) % 2)
    table = pd.DataFrame({"town": [f"town {label}" for label in labels], "income": np.arange(N) * 1.0})
    table = table.assign(note=["b", "a"] * (N // 2), **{RECORD: np.arange(N), CLASS: labels})
    kept = table[labels >= 0].drop(columns=CLASS)
    found = known_table(evidence_from(kept, policy, originals=table), policy)
    copies = SIMULATED_RECORDS // (8 * (N - 4))
    assert len(found.table.labels) == copies * (N - 4) > N
    assert found.ranks["note"].tolist() == [1, 0] * (N // 2) and found.codes.shape == (N, 0)
    drawn = found.table.originals
    assert set((drawn.own % N).tolist()) == set(range(4, N))
