"""Values of a released column that only a few people have."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.risk.people import count_people


def rare_records(evidence: Evidence, name: str, *, k: int) -> int:
    """Count the released records whose value of a column fewer than k records have.

    Where people are counted: fewer than k people. A missing value is none.

    Args:
        name: of the column.
    """
    codes, values = pd.factorize(evidence.released[name], use_na_sentinel=True)
    present = codes >= 0
    records = np.bincount(codes[present], minlength=len(values))
    people = evidence.people
    holders = records if people is None else count_people(codes[present], people[present], m=len(values))
    return int(records[holders < k].sum())
