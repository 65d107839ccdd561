"""What the gate would refuse whatever the noise: looked at before a draw, which costs its ε."""

from __future__ import annotations

from anon_pipeline.base.errors import GateRefused, private_stage
from anon_pipeline.limits.known_columns import refused_before_drawing
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.private import Staged


def refuse_known_categories(policy: Policy, recoded: Staged) -> None:
    """Refuse a table whose drawn categories would be linked too often, by the exact mean over all draws.

    Args:
        recoded: the table of `k_anonymized`.
    Raises:
        GateRefused: naming columns, bounds and what to do.
    """
    with private_stage("k_anonymized"):
        problems = refused_before_drawing(policy, recoded.frame)
    if problems:
        raise GateRefused("\n".join([*problems, "No noise was drawn, and no ε was spent."]))
