"""Groups of records with one value of a column, most of which are found by that value and their class."""

from __future__ import annotations

import numpy as np

from anon_pipeline.base.classes import pack_columns
from anon_pipeline.base.order import rank_values
from anon_pipeline.base.packed_tables import factorize_column
from anon_pipeline.evidence.evidence import Evidence
from anon_pipeline.risk.people import count_people

MOSTLY = 0.8
"""Share of the records with a value that are linked, above which the value gives its group away."""


def found_groups(evidence: Evidence, name: str) -> float:
    """Return the share of the released records whose value of a column gives most who have it away.

    An attacker who knows class and value of a person picks one of the records with both: right with 1 by
    their number. This is exact, and has no noise of small numbers: what noise hides of other columns, he does
    not use. A missing value is a value. Where people are counted, he picks one of the people.

    Args:
        name: of a column that is released as it is.
    Returns:
        Share of the records with values of which the mean chance is above `MOSTLY`, in [0, 1].
    """
    codes, values = factorize_column(evidence.released, name, use_na_sentinel=False)
    if not len(codes):
        return 0.0
    labels = evidence.classes.labels
    cells, many = rank_values(*pack_columns([labels, codes]))
    people = evidence.people
    sizes = np.bincount(cells) if people is None else count_people(cells, people, m=many)
    records = np.bincount(codes, minlength=len(values))
    chance = np.bincount(codes, weights=1 / sizes[cells], minlength=len(values))
    return float(records[chance > MOSTLY * records].sum() / len(codes))
