"""Advice on small groups of which most are found, while the mean over all records keeps its bound."""

from __future__ import annotations

from anon_pipeline.evidence.found_groups import found_groups
from anon_pipeline.limits import usual
from anon_pipeline.limits.limit import Advised, Demanded, Limit
from anon_pipeline.limits.traits import Judged, Words
from anon_pipeline.policy.model import Policy


def _insensitive(policy: Policy) -> Demanded:
    """Advise on insensitive columns: others may know them, and `known_columns` bounds the mean."""
    return {name: Advised(usual.FOUND_GROUPS) for name in sorted(policy.insensitive)}


FOUND_GROUPS = Limit(
    "found_groups",
    Words(
        "At most this share of the records has a value of {} that identifies a small group, such as a rare "
        "nationality: an attacker who also knows the generalized values finds more than four in five of "
        "those who have the value. The mean over all records does not show this. Only advice.",
        advice="generalize the column (role: generalize), so that it is part of the classes; or release it "
        "coarser (round, top, bottom, level), so that rare values are in larger groups; or take a larger k.",
        question="linkability",
    ),
    Judged(measure=lambda case, demand: found_groups(case.evidence, demand.of), people=True),
    demanded=_insensitive,
    advisable=True,
)
