"""The gate of ε-DP releases: it uses the policy, and what is released, and nothing else.

A gate that measured the originals would publish a bit of them by its answer. This one answers equally for
neighbouring tables with equal noise.
"""

from __future__ import annotations

from anon_pipeline.base.errors import GateRefused
from anon_pipeline.declared.declared_values import DRAW, VALUES, judge_draw, judge_values
from anon_pipeline.declared.parts import Release
from anon_pipeline.epsilon_dp.dp_warnings import WARNED_OF, judge_cells, judge_epsilon, judge_repeats
from anon_pipeline.epsilon_dp.expected_errors import expected_errors
from anon_pipeline.epsilon_dp.methods import refuse_inexact_noise
from anon_pipeline.limits.verdicts import GateReport, Status, Verdict
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy

ERROR = "expected_error"
"""Name of the limit that these releases alone have."""

MEANINGS = {
    VALUES: "The file has the declared columns, only declared values, and as many records as it must.",
    DRAW: "The noise comes from the operating system's random numbers.",
    ERROR: "The error that the noise is expected to cause is at most what the policy accepts.",
    **WARNED_OF,
}


def judge_errors(policy: EpsilonDpPolicy, records: int) -> Verdict:
    """Judge the expected error of the worst column or table, by policy and number of records."""
    errors = expected_errors(policy, records)
    worst = max(errors, key=lambda name: errors[name])
    bound, value = policy.gate.expected_error, errors[worst]
    if value <= bound:
        return Verdict(ERROR, Status.PASSED, value, bound, "at most", recomputable=True)
    return Verdict(ERROR, Status.REFUSED, value, bound, "at most", f"of {worst}", recomputable=True)


def refuse_dp(policy: EpsilonDpPolicy, records: int) -> None:
    """Refuse a release whose noise would tell too little, or could not be exact, before it is drawn.

    Raises:
        GateRefused: naming the worst column or table, and what to change.
        InputError: see `noisy_means.refuse_unfit_noise`.
    """
    refuse_inexact_noise(policy, records)
    verdict = judge_errors(policy, records)
    if verdict.status is Status.PASSED:
        return
    helps = {
        "histograms": "fewer bins or values, or smaller tables",
        "group_means": "a larger k, fewer columns, or the method column_means",
        "column_means": "a larger k, or fewer columns",
    }[policy.method]
    report = GateReport((verdict,), "", policy.digest)
    said = (
        f"gate.expected_error: the expected error must be at most {verdict.bound:g}, got {verdict.value:.3g} "
        f"{verdict.reason}. These make it smaller: more records, a larger epsilon, {helps}. No noise was "
        "drawn, and no ε was spent."
    )
    raise GateRefused(said, report)


def judge_dp(policy: EpsilonDpPolicy, release: Release) -> list[Verdict]:
    """Judge an ε-DP release by its policy, its file and the ledger; the source's codes are not looked at."""
    from_files = release.codes is None
    return [
        judge_values(policy, release.tables[0], release.records),
        judge_draw(seeded=release.seeded, from_files=from_files),
        judge_errors(policy, release.records),
        judge_epsilon(policy),
        judge_cells(policy, release.records),
        judge_repeats(policy, release.earlier, from_files=from_files),
    ]
