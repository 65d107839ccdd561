"""What synthetic releases do, as releases with declared columns."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from anon_pipeline.declared.parts import Parts
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.copies import synthetic_tables
from anon_pipeline.synthetic.synthetic_gate import MEANINGS, judge_synthetic, refuse_synthetic
from anon_pipeline.synthetic.synthetic_guarantee import synthetic_guarantee

_METHODS = {
    "copula": "a normal copula",
    "trees": "sequential trees",
}


def _epsilon(policy: SyntheticPolicy) -> Fraction:
    return Fraction(0)


def _losses(policy: SyntheticPolicy, records: int) -> list[str]:
    drawn = policy.copy_records or records
    return [f"{policy.copies} copies of {drawn:,} records; combine estimates over them (docs/synthetic.md)"]


def _report_words(policy: SyntheticPolicy, records: int) -> dict[str, Any]:
    return {
        "headline": "Synthetic records, without a guarantee.",
        "subline": "What simulated attackers learn is within the policy's limits.",
        "method": _METHODS[policy.method],
        "losses_title": "Copies",
        "judged_by": "The gate simulated attackers on the data. What it measured is not published, since it "
        "comes from the data; that each limit was kept is.",
        "not_checked": "What no file can show is how the copies were drawn, and what attackers learned.",
    }


SYNTHETIC_PARTS = Parts(
    makes=synthetic_tables,
    refuses=refuse_synthetic,
    judges=judge_synthetic,
    guarantee=synthetic_guarantee,
    epsilon=_epsilon,
    losses=_losses,
    meanings=MEANINGS,
    section=Path(__file__).parent / "copies.html.j2",
    shown=_report_words,
)
