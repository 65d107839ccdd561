"""Files that a command is asked to write: none of them replaces what it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations


def refuse_targets(
    policy: Policy, policy_file: Path, locations: Locations, *targets: Path | None, partition: str | None
) -> None:
    """Refuse, before any work, files that would replace policy, source or each other, or have no folder.

    Args:
        targets: files of the command's options; None: not asked for.
    Raises:
        InputError: names the file.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.sources.paths import filled_in  # noqa: PLC0415

    taken = [policy_file.resolve()]
    if policy.source.watched is not None:
        taken.append((locations.sources / filled_in(policy.source.watched, partition)).resolve())
    for path in (path for path in targets if path is not None):
        if path.resolve() in taken:
            raise InputError(
                f"{path.name} must be a file of its own: the policy, its source or the other option has it"
            )
        if not path.resolve().parent.is_dir():
            raise InputError(f"{path.name} must be writable: its folder does not exist")
        taken.append(path.resolve())
