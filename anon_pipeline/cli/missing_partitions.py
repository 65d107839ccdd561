"""`run --missing`: which partitions have no release yet, and what those with one lack."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations


def missing_partitions(policy: Policy, locations: Locations, keys: Sequence[str | None]) -> list[str | None]:
    """Return the partitions that have no release, say how many have one, and finish what these lack.

    A run that was killed may have published a partition without entering or delivering it.

    Args:
        keys: that were asked for.
    Raises:
        InputError: no partitions were asked for; or as `finish_published`.
    """
    from anon_pipeline.base.errors import InputError, private_stage  # noqa: PLC0415
    from anon_pipeline.publish.unfinished_releases import finish_published  # noqa: PLC0415

    if keys == [None]:
        raise InputError("--missing must be given with --partitions only")
    left = [key for key in keys if not _is_there(locations.release(policy, key))]
    there = [key for key in keys if key is not None and key not in left]
    click.echo(f"{len(there)} of {len(keys)} partitions have a release", err=True)
    with private_stage("published"):
        delivered = finish_published(policy, locations, there)
    if delivered:
        click.echo(f"delivered now, at no cost: {', '.join(delivered)}", err=True)
    return left if policy.stream is None else _without_those_over(policy, locations, left)


def _is_there(folder: Path) -> bool:
    """Tell whether there is a manifest that can be read, and each file that it names."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.publish.writer import read_manifest  # noqa: PLC0415

    try:
        document = read_manifest(folder)
    except InputError:
        return False
    return document is not None and all((folder / one["name"]).is_file() for one in document["files"])


def _without_those_over(policy: Policy, locations: Locations, keys: Sequence[str | None]) -> list[str | None]:
    """Return the partitions of a stream that can still be made, and say which cannot."""
    from anon_pipeline.windows.window_states import window_states  # noqa: PLC0415
    from anon_pipeline.windows.window_table import partitions_over  # noqa: PLC0415

    over = partitions_over(policy, map(str, keys), window_states(policy, locations))
    if over:
        click.echo(f"over, since later ones were made, and without a release: {', '.join(over)}", err=True)
    return [key for key in keys if key not in over]
