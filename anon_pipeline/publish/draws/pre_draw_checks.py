"""What the gate would refuse whatever the noise: looked at before a draw, which costs its ε."""

from __future__ import annotations

from anon_pipeline.base.errors import GateRefused, private_stage
from anon_pipeline.limits.table import demands
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.private import Staged


def refuse_before_drawing(policy: Policy, recoded: Staged) -> None:
    """Refuse a table that a limit of the policy will refuse whatever noise is drawn, see `Judged`.

    Args:
        recoded: the table of `k_anonymized`.
    Raises:
        GateRefused: naming limits, bounds and what to do.
    """
    with private_stage("k_anonymized"):
        asked = ((one, one.limit.judged.before_drawing) for one in demands(policy) if not one.advised)
        found = [refuses(one, policy, recoded.frame) for one, refuses in asked if refuses is not None]
    problems = [line for line in found if line is not None]
    if problems:
        raise GateRefused("\n".join([*problems, "No noise was drawn, and no ε was spent."]))
