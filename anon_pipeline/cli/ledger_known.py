"""Commands for a ledger or a memory that was lost: `ledger adopt`, `ledger forget`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.shared import allow_outside_option, locations_of, project_option

if TYPE_CHECKING:
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.publish.adopt import Opened


_policy = click.argument("policy_file", metavar="POLICY", type=click.Path(path_type=Path))


@click.command()
@_policy
@click.option(
    "--dataset",
    help="The policy's dataset, to confirm that the releases are of it: asked for where they were made by "
    "another policy, where only the memory knows them, or where the ledger has one of another dataset.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(min=0),
    help="The largest ε that any release can have spent whose ε nothing tells: asked for where only a memory "
    "of before version 0.2 knows it. Each of them counts with it, or with the policy's ε if that is larger.",
)
@project_option
@allow_outside_option
def adopt(
    policy_file: Path, dataset: str | None, epsilon: float | None, project: Path | None, allow_outside: bool
) -> None:
    """Enter published releases of POLICY that the ledger lacks.

    Each is booked with its whole ε.

    They are found by the manifests at their destinations and by the vault's memory. For a ledger that was
    lost, exchanged, or turned on late; restore a backup instead if there is one. They count for the dataset
    of POLICY: adopt them by the policy that they were made by.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.perturb.budget import exact_fraction  # noqa: PLC0415
    from anon_pipeline.publish.adopt import adopt_releases  # noqa: PLC0415

    if epsilon is not None and not math.isfinite(epsilon):
        raise InputError(f"--epsilon must be finite, got {epsilon}. Give the largest ε of these releases.")
    policy, locations, booked = _open_ledger(policy_file, project, allow_outside)
    memory = None
    if policy.record_key is not None:
        from anon_pipeline.publish.archive import VaultArchive  # noqa: PLC0415

        archive = VaultArchive(policy, locations)
        with archive.alone():
            memory = archive.kept()
    largest = None if epsilon is None else exact_fraction(epsilon)
    entered = adopt_releases(booked, policy, memory, dataset=dataset, epsilon=largest)
    for found in entered:
        click.echo(f"{found.release_id} is entered as published, ε = {found.epsilon}")
    click.echo(f"{policy.name}: releases entered: {len(entered)}. They count, even beyond the budget.")


@click.command()
@_policy
@project_option
@allow_outside_option
def forget(policy_file: Path, project: Path | None, allow_outside: bool) -> None:
    """Go on without the memory of POLICY, if it is lost for good.

    What was published until now is then no longer judged together with what follows (cross_release_k), and
    its noise is drawn anew. Its ε stays spent. Restore the vault instead if there is a backup.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.ledger import recovery  # noqa: PLC0415

    policy, _, booked = _open_ledger(policy_file, project, allow_outside)
    if policy.record_key is None:
        raise InputError("POLICY must have a record_key: without one there is no memory to give up")
    known = recovery.must_remember(booked.ledger, booked.asked)
    recovery.forget_memory(booked.ledger, booked.asked)
    click.echo(f"{policy.name}: releases that the memory no longer has to contain: {len(known)}")


def _open_ledger(policy_file: Path, project: Path | None, outside: bool) -> tuple[Policy, Locations, Opened]:
    """Open the ledger of a policy's release, over all of its partitions."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.ledger import ledger_at, requested_by  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.policy.locations import OFF  # noqa: PLC0415
    from anon_pipeline.publish.adopt import Opened  # noqa: PLC0415

    policy = load_policy(policy_file, retired=True)
    locations = locations_of(policy_file, project, outside=outside)
    if locations.ledger == OFF:
        raise InputError("ANON_PIPELINE_LEDGER must name a ledger, got off")
    ledger = ledger_at(locations.ledger)
    return policy, locations, Opened(ledger, requested_by(policy, None), locations.release(policy))
