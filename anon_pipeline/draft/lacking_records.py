"""Records that a proposed policy leaves out because they lack a value, and the limits that allow for them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from anon_pipeline.draft.profile.look import Look
from anon_pipeline.draft.profile.proposals import Proposal
from anon_pipeline.draft.profile.roles import MOST_LACKING
from anon_pipeline.policy.columns import Perturb, Sensitive
from anon_pipeline.policy.fields import LEFT_OUT

RECODED_OUT, ALL_LEFT_OUT = 0.05, 0.2
"""Shares of the records that may be left out for k, and altogether, where few lack a value."""


def lacking_columns(proposals: Sequence[Proposal]) -> list[str]:
    """Name the columns whose empty cells leave out records."""
    return [one.name for one in _leaving_out(proposals) if one.seen.missing_share > 0]


def allowance(looks: Sequence[Look], proposals: Sequence[Proposal]) -> float:
    """Return by how much the limits are higher than usual: the share that lacks a value, rounded up to 0.01.

    Args:
        looks: the columns of the table.
        proposals: one for each. If one says whose record it is, the share is of people with at least one
            record that lacks a value.
    Returns:
        The share; 0 if it is at most `MOST_LACKING`.
    """
    leaving = _leaving_out(proposals)
    if not leaving:
        return 0.0
    codes = {look.seen.name: look.codes for look in looks}
    lacks = np.logical_or.reduce([codes[one.name] < 0 for one in leaving])
    owner = next((codes[one.name] for one in proposals if one.person), np.arange(len(lacks)))
    share = len(np.unique(owner[lacks])) / len(np.unique(owner))
    return math.ceil(share * 100) / 100 if share > MOST_LACKING else 0.0


def recoding_limit(more: float) -> float:
    """Return the limit on what is left out for k; see `allowance`."""
    return round(min(RECODED_OUT + more, 1.0), 2)


def gate_limit(more: float) -> float:
    """Return the limit on what is left out altogether; see `allowance`.

    >>> gate_limit(0.0), gate_limit(0.03), gate_limit(0.21)
    (0.2, 0.2, 0.36)
    """
    return round(min(max(ALL_LEFT_OUT, ALL_LEFT_OUT - RECODED_OUT + more), 1.0), 2)


def _leaving_out(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return the columns without whose value a record is left out."""
    return [
        one
        for one in proposals
        if isinstance(one.column, (Perturb, Sensitive)) and one.column.missing == LEFT_OUT
    ]
