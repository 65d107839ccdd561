"""Acknowledged shares against what is measured: one far beyond it would never lapse."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import numpy as np

from anon_pipeline.base.packed_tables import Table
from anon_pipeline.evidence.released_columns import combined_codes
from anon_pipeline.policy.acknowledgements import Acknowledged, hashed_columns
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.singling_out import distinct_share

FREE = 0.5
"""Share up to which an acknowledgement stands whatever is measured: half of the records is said in it."""

_TIMES = 2  # the measured share, that a larger acknowledged one may be


def blank_acknowledgements(frame: Table, policy: Policy, today: datetime.date) -> Iterator[str]:
    """Yield the acknowledgements in force that say far more than is measured.

    A share above `FREE` must be at most twice what the columns single out, or of a single column at most
    twice its share of different values. Then it lapses, as any other does, when that grows beyond it. A
    released hash is different for each person from the first day on.

    Args:
        frame: (n, columns) the table of `deidentified` or `k_anonymized`.
        today: day on which they are in force.
    Returns:
        Columns, what the policy says, and what to do; no number that was measured.
    """
    hashed = hashed_columns(policy.columns)
    for one in policy.acknowledged:
        in_force = one.covers(one.columns, today) and not {*one.columns} <= {*hashed}
        if in_force and one.share > FREE and _TIMES * _measure(frame, policy, one) < one.share:
            yield (
                f"{', '.join(one.columns)}: must be acknowledged with a share near what is measured, which "
                f"is less than half of {one.share:.3g}: it would not lapse when more people are singled out. "
                f"Set share to what you answer for, {FREE:g} or less"
            )


def holds_for_all(frame: Table, policy: Policy, one: Acknowledged) -> bool:
    """Tell whether all combinations of acknowledged columns single out no more than is acknowledged.

    They do not if the columns all together do not: a combination singles out at least as many as each part of
    it. Where a value is missing that is not so, and nothing is said.

    Args:
        one: about insensitive columns.
    """
    missing = any(bool(frame[name].isna().any()) for name in one.columns)
    return not missing and _measure(frame, policy, one) <= one.share


def _measure(frame: Table, policy: Policy, one: Acknowledged) -> float:
    """Return the share that an acknowledgement is about: records that are alone, or different values."""
    codes = combined_codes(frame, one.columns)
    if len(one.columns) == 1 or not {*one.columns} <= {*policy.insensitive}:
        return distinct_share(codes)
    there = codes[codes >= 0]
    return float(np.mean(np.bincount(there)[there] == 1)) if len(there) else 0.0
