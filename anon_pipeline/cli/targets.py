"""Files that a command is asked to write: none of them replaces what it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import BaseModel

    from anon_pipeline.policy.locations import Locations


def refuse_targets(
    policy: BaseModel, policy_file: Path, locations: Locations, *targets: Path | None, partition: str | None
) -> None:
    """Refuse, before any work, files that would replace the policy, what it reads, or each other.

    Args:
        targets: files of the command's options; None: not asked for.
    Raises:
        InputError: names such a file, or one whose folder does not exist.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.policy.walks import named_paths  # noqa: PLC0415
    from anon_pipeline.sources.paths import filled_in  # noqa: PLC0415

    taken = [policy_file.resolve()]
    for named in named_paths(policy):
        folder: Path = getattr(locations, named.folder)
        taken.append((folder / filled_in(named.path, partition)).resolve())
    for path in (path for path in targets if path is not None):
        if path.resolve() in taken:
            raise InputError(
                f"{path.name} must be a file of its own: the policy, what it reads or the other option has it"
            )
        if not path.resolve().parent.is_dir():
            raise InputError(f"{path.name} must be writable: its folder does not exist")
        taken.append(path.resolve())
