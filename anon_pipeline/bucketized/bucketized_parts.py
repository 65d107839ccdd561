"""What bucketized releases do, as releases with declared columns."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from anon_pipeline.bucketized.bucket_tables import bucket_tables
from anon_pipeline.bucketized.bucketized_gate import MEANINGS, judge_bucketized, refuse_bucketized
from anon_pipeline.bucketized.bucketized_guarantee import bucketized_guarantee
from anon_pipeline.declared.parts import Parts
from anon_pipeline.policy.bucketized_release import BucketizedPolicy


def _epsilon(policy: BucketizedPolicy) -> Fraction:
    return Fraction(0)


def _losses(policy: BucketizedPolicy, records: int) -> list[str]:
    slices = "; ".join(", ".join(one) for one in policy.slices)
    return [f"values as they are; what connects the columns of different tables is left to buckets: {slices}"]


def _report_words(policy: BucketizedPolicy, records: int) -> dict[str, Any]:
    return {
        "headline": f"By its bucket, a value of {policy.sensitive} is guessed with probability "
        f"1/{policy.l} at most.",
        "subline": "Quasi-identifiers are released as they are: whoever knows some of a person's sees the "
        "others.",
        "method": f"buckets of at least {max(policy.k, policy.l)} records (Anatomy, slicing)",
        "losses_title": "Tables",
        "judged_by": "The gate judged all tables together. Size and shares of each bucket can be counted in "
        "the files; the attacker was simulated on the data.",
        "not_checked": "What no file can show is how the buckets were drawn, and what the attacker guessed.",
    }


BUCKETIZED_PARTS = Parts(
    makes=bucket_tables,
    refuses=refuse_bucketized,
    judges=judge_bucketized,
    guarantee=bucketized_guarantee,
    epsilon=_epsilon,
    losses=_losses,
    meanings=MEANINGS,
    section=Path(__file__).parent / "tables.html.j2",
    shown=_report_words,
)
