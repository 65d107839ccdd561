"""What `ledger close --as failed` looks at: whether the process has ended, and the destination."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from anon_pipeline.cli.options import locations_of

if TYPE_CHECKING:
    from anon_pipeline.ledger.budget import State


def refuse_unless_ended(found: State, *, force: bool) -> bool:
    """Refuse to close what may still be at work.

    Args:
        force: also if it cannot be known; never if the process that writes it runs here.
    Returns:
        Whether it may still be at work, as far as is known.
    Raises:
        InputError: naming the process.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.ledger.owner import Life, has_ended  # noqa: PLC0415

    last, life = found.last, has_ended(found.last.owner)
    if life is Life.GONE:
        return False
    host, process, *_ = f"{last.owner}/?".split("/")
    ended = f"process {process} on {host}, which entered the last event of {last.release_id}, must have ended"
    if life is Life.RUNS and found.begun is not None:
        raise InputError(f"{ended}, but {life.value}. End it first.")
    if not force:
        raise InputError(
            f"{ended}, but {life.value}. Look there. --force closes the release anyway; if the process goes "
            f"on, it is refused."
        )
    return True


def destination_of(found: State, policy_file: Path | None, project: Path | None) -> Callable[[], bool]:
    """Return the question whether a release is at its destination.

    Raises:
        InputError: its writing had begun, and no policy, or another one, says where that is.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.accounting.booking import is_manifest_of  # noqa: PLC0415

    last = found.last
    if found.begun is None:
        return lambda: False
    if policy_file is None:
        raise InputError(
            f"{last.release_id} may have been written: give its --policy, or close it as published"
        )
    policy = load_policy(policy_file, retired=True)
    if policy.name != last.release:
        raise InputError(f"--policy must be that of {last.release}, got that of {policy.name}")
    folder = locations_of(policy_file, project).release(policy, last.partition)
    return lambda: is_manifest_of(folder, last.release_id)
