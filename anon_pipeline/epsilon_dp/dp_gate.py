"""The gate of ε-DP releases: it uses the policy, and what is released, and nothing else.

A gate that measured the originals would publish a bit of them by its answer. This one answers equally for
neighbouring tables with equal noise.
"""

from __future__ import annotations

import pandas as pd

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.epsilon_dp.domain_codes import whole_numbers
from anon_pipeline.epsilon_dp.expected_errors import expected_errors
from anon_pipeline.limits.verdicts import GateReport, Status, Verdict
from anon_pipeline.policy.dp_columns import DpColumn
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy

VALUES, NOISE, ERROR = "declared_values", "noise", "expected_error"
"""Names of the limits."""

_SLACK = 1e-6  # of a step: decimals that were read from a text

MEANINGS = {
    VALUES: "The file has the declared columns, only declared values, and as many records as it must.",
    NOISE: "The noise comes from the operating system's random numbers, and its ε adds up to the policy's.",
    ERROR: "The error that the noise is expected to cause is at most what the policy accepts.",
}


def judge_errors(policy: EpsilonDpPolicy, records: int) -> Verdict:
    """Judge the expected error of the worst column or table, by policy and number of records."""
    errors = expected_errors(policy, records)
    worst = max(errors, key=lambda name: errors[name])
    bound, value = policy.gate.expected_error, errors[worst]
    if value <= bound:
        return Verdict(ERROR, Status.PASSED, value, bound, "at most", recomputable=True)
    return Verdict(ERROR, Status.REFUSED, value, bound, "at most", f"of {worst}", recomputable=True)


def refuse_errors(policy: EpsilonDpPolicy, records: int) -> None:
    """Refuse a release whose noise would tell too little, before it is drawn.

    Raises:
        GateRefused: naming the worst column or table, and what to change.
    """
    verdict = judge_errors(policy, records)
    if verdict.status is Status.PASSED:
        return
    helps = {
        "histograms": "fewer bins or values, smaller tables",
        "group_means": "a larger k, fewer columns, column_means",
        "column_means": "a larger k, fewer columns",
    }[policy.method]
    report = GateReport((verdict,), "", policy.digest)
    said = (
        f"gate.expected_error: the expected error must be at most {verdict.bound:g}, got {verdict.value:.3g} "
        f"{verdict.reason}. More records, a larger epsilon, or {helps} make it smaller. No noise was drawn, "
        "and no ε was spent."
    )
    raise GateRefused(said, report)


def judge_release(
    policy: EpsilonDpPolicy, frame: pd.DataFrame, records: int, *, seeded: bool = False
) -> GateReport:
    """Judge a released table.

    Args:
        frame: as it was read back from its file.
        records: that it must have.
        seeded: whether the noise can be made again by who knows a seed.
    """
    wrong = broken_values(policy, frame, records)
    noise = "the noise was made from a seed, for a test" if seeded else None
    verdicts = (
        Verdict(VALUES, Status.REFUSED if wrong else Status.PASSED, reason=wrong),
        Verdict(NOISE, Status.REFUSED if noise else Status.PASSED, reason=noise),
        judge_errors(policy, records),
    )
    return GateReport(verdicts, digest_frame(frame), policy.digest)


def broken_values(policy: EpsilonDpPolicy, frame: pd.DataFrame, records: int) -> str | None:
    """Say what is wrong with a released table, by counts and names; None: nothing."""
    if list(frame.columns) != list(policy.columns):
        return "the columns must be those of the policy, in its order"
    problems = [] if len(frame) == records else [f"there must be {records:,} records, got {len(frame):,}"]
    for name, column in policy.columns.items():
        strange = _strange_cells(column, frame[name])
        if strange:
            problems.append(f"{name} must have declared values only, got {strange:,} others")
    return "; ".join(problems) or None


def _strange_cells(column: DpColumn, cells: pd.Series) -> int:
    """Count the cells that hold no value of the domain."""
    if column.values is not None:
        return int((~cells.isin(column.values)).sum())
    if not pd.api.types.is_numeric_dtype(cells) or pd.api.types.is_bool_dtype(cells):
        return len(cells)
    if whole_numbers(column) and not pd.api.types.is_integer_dtype(cells):
        return len(cells)
    low, high = column.range
    found = cells.to_numpy("float64", na_value=float("nan"))
    units = (found - float(low)) / float(column.step)
    fits = (found >= float(low)) & (found <= float(high)) & (abs(units - units.round()) <= _SLACK)
    return int((~fits).sum())
