"""What the gate would refuse whatever the noise: looked at before a draw, which costs its ε."""

from __future__ import annotations

from anon_pipeline.base.errors import GateRefused, private_stage
from anon_pipeline.limits.table import demands
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.expected_columns import unwritable_columns
from anon_pipeline.publish.parts import most_files
from anon_pipeline.stages.private import Staged


def refuse_before_drawing(policy: Policy, recoded: Staged) -> None:
    """Refuse a table that a limit of the policy will refuse whatever noise is drawn, see `Judged`.

    Args:
        recoded: the stage `k_anonymized`.
    Raises:
        GateRefused: naming limits, bounds and what to do.
    """
    with private_stage("k_anonymized"):
        asked = ((one, one.limit.judged.before_drawing) for one in demands(policy) if not one.advised)
        found = [refuses(one, policy, recoded) for one, refuses in asked if refuses is not None]
        found += [_too_many_files(policy, len(recoded.frame)), _unwritable(policy, recoded)]
        problems = [line for line in found if line is not None]
    if problems:
        raise GateRefused("\n".join([*problems, "No noise was drawn, and no ε was spent."]))


def _too_many_files(policy: Policy, records: int) -> str | None:
    """Say what to write in the policy if a release of so many records would have too many data files."""
    each, most = policy.publish.records_per_file, most_files(policy.released)
    if each is None or records <= each * most:
        return None
    return (
        f"publish.records_per_file: a release with these columns has at most {most:,} data files, this one "
        f"could have {-(-records // each):,}. Set it to at least {-(-records // most):,}."
    )


def _unwritable(policy: Policy, recoded: Staged) -> str | None:
    """Say which columns have values that no file of the policy's format can hold."""
    names = unwritable_columns(policy, recoded.frame)
    if not names:
        return None
    return (
        f"publish.format: {policy.publish.format} has no type for the values of {', '.join(names)}, such as "
        f"whole numbers beyond 64 bits or decimal numbers with very many digits. Make them texts or shorter "
        f"in the source."
    )
