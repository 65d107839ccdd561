"""What an ε-DP release may do, and is warned of: a large ε, cells of single people, new noise without an end.

All of it is judged by the policy, the number of records and the ledger, which are public or do not depend on
what the data holds.
"""

from __future__ import annotations

from fractions import Fraction

from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.epsilon_dp import LARGE_EPSILON, EpsilonDpPolicy

EPSILON, CELLS, REPEATED = "large_epsilon", "cells_per_record", "endless_noise"

WARNED_OF = {
    EPSILON: f"ε is at most {LARGE_EPSILON}. With more, an attacker can multiply the odds of a guess by more "
    "than 20. Only advice.",
    CELLS: "No table of counts has more cells than the data has records: otherwise most cells count single "
    "people, whom a large ε shows. Only advice.",
    REPEATED: "New noise is not drawn for the same people without an end, by a schedule or by hand: the ε of "
    "all releases add up. Only advice.",
}
"""Limits that only warn, in words."""

_MOST_CELLS = 1.0  # per record


def judge_epsilon(policy: EpsilonDpPolicy) -> Verdict:
    """Judge the ε of one release."""
    status = Status.PASSED if policy.epsilon <= LARGE_EPSILON else Status.WARNED
    return Verdict(EPSILON, status, policy.epsilon, LARGE_EPSILON, "at most", recomputable=True)


def judge_cells(policy: EpsilonDpPolicy, records: int) -> Verdict:
    """Judge how many cells the largest table of counts has for each record; other methods have none."""
    cells = 0 if policy.histograms is None else max(map(policy.cells, policy.tables))
    share = cells / records
    status = Status.PASSED if share <= _MOST_CELLS else Status.WARNED
    return Verdict(CELLS, status, share, _MOST_CELLS, "at most", recomputable=True)


def judge_repeats(policy: EpsilonDpPolicy, earlier: Fraction | None, *, from_files: bool) -> Verdict:
    """Judge whether releases of the same people add up without an end.

    Args:
        earlier: ε of the dataset's releases that were published before; None: no ledger says.
        from_files: whether whoever judges has the released files alone.
    """
    if from_files:
        return Verdict(REPEATED, Status.UNMEASURED, reason="needs the ledger, and the whole policy")
    endless = None if policy.source.kind.generated else _endless(policy)
    if endless is None or not (earlier or policy.schedule is not None):
        return Verdict(REPEATED, Status.PASSED)
    repeats = "the schedule draws new noise for the same source each time"
    if earlier:
        together = float(earlier + exact_fraction(policy.epsilon))
        repeats = f"the releases of {policy.dataset or policy.name} have ε = {together:g} together"
    return Verdict(REPEATED, Status.WARNED, reason=f"{repeats}, and {endless}. Set a budget without a window")


def _endless(policy: EpsilonDpPolicy) -> str | None:
    """Say why nothing ends what adds up in time; None: a budget does."""
    if policy.budget is None:
        return "no budget ends it"
    return None if policy.budget.window is None else "the budget forgets what was spent before its window"
