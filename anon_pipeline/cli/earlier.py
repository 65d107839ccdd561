"""What `run` says of the release before, which the new one has replaced."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from anon_pipeline.policy import Policy
    from anon_pipeline.publish import Published


def count_earlier(policy: Policy, written: Published) -> int:
    """Count the files of the release before that lie beside the new one; 0 where the folder is unreadable."""
    from anon_pipeline.publish.release_files import limits_of  # noqa: PLC0415
    from anon_pipeline.publish.stray_files import count_stray_files  # noqa: PLC0415

    most = limits_of(policy).file_bytes
    with suppress(OSError):
        folder = written.manifest_path.parent
        return count_stray_files(folder, written.manifest, most=most, divides=lambda key: True).former
    return 0


def print_earlier(policy: Policy, written: Published) -> None:
    """Say that a release was replaced, and that its files lie there still."""
    files = count_earlier(policy, written)
    if files:
        click.echo(
            f"earlier   {files} file{'' if files == 1 else 's'} of the release before lie here still. This "
            "release has replaced its manifest, and the next one removes them. Readers may have copies: both "
            "releases together say more than one."
        )
