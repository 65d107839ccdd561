"""Commands for a ledger or a memory that was lost: `ledger adopt`, `ledger forget`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.options import json_option, locations_of, policy_argument, project_options
from anon_pipeline.cli.shared import echo_json

if TYPE_CHECKING:
    from anon_pipeline.ledger import Ledger
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.declared_release import DeclaredRelease
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.publish.accounting.adopt import Opened


@click.command()
@policy_argument
@click.option(
    "--dataset",
    help="The policy's dataset, to confirm that the releases belong to it. Required if another policy made "
    "them, if only the memory knows them, or if the ledger has one of them in another dataset.",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(min=0),
    help="The largest ε that a release of unknown ε can have spent. Required for releases that only a memory "
    "from before version 0.2 knows. Each counts with this ε, or with the policy's if that is larger.",
)
@project_options
@json_option
def adopt(
    policy_file: Path,
    dataset: str | None,
    epsilon: float | None,
    project: Path | None,
    allow_outside: bool,
    as_json: bool,
) -> None:
    """Enter published releases of POLICY that the ledger lacks.

    Use this if the ledger was lost, replaced or turned on late. If you have a backup, restore that instead.

    Releases are found through the manifests at their destinations and through the vault's memory. Each is
    booked with its whole ε for the dataset of POLICY: use the policy that made them.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.perturb.budget import exact_fraction  # noqa: PLC0415
    from anon_pipeline.policy import Policy  # noqa: PLC0415
    from anon_pipeline.publish.accounting.adopt import adopt_releases  # noqa: PLC0415

    if epsilon is not None and not math.isfinite(epsilon):
        raise InputError(f"--epsilon must be finite, got {epsilon}. Give the largest ε of these releases.")
    policy, locations, booked = _open_ledger_of_any(policy_file, project, allow_outside)
    memory = None
    if isinstance(policy, Policy) and policy.record_key is not None:
        from anon_pipeline.publish.accounting.archive import VaultArchive  # noqa: PLC0415

        archive = VaultArchive(policy, locations)
        with archive.alone():
            memory = archive.read_kept()
    largest = None if epsilon is None else exact_fraction(epsilon)
    entered = adopt_releases(booked, policy, memory, dataset=dataset, epsilon=largest)
    if as_json:
        releases = [{"id": found.release_id, "epsilon": found.epsilon} for found in entered]
        echo_json({"release": policy.name, "entered": releases})
        return
    for found in entered:
        click.echo(f"{found.release_id} is entered as published, ε = {found.epsilon}")
    click.echo(f"{policy.name}: releases entered: {len(entered)}. They count, even beyond the budget.")


@click.command()
@policy_argument
@project_options
@json_option
def forget(policy_file: Path, project: Path | None, allow_outside: bool, as_json: bool) -> None:
    """Go on without the memory of POLICY, if it is lost for good.

    If you have a backup of the vault, restore that instead.

    Later releases are then no longer judged together with those published so far (cross_release_k), and draw
    new noise. The ε of those published so far stays spent.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.ledger import recovery  # noqa: PLC0415

    policy, _, booked = _open_ledger(policy_file, project, allow_outside)
    if policy.record_key is None:
        raise InputError("POLICY must have a record_key: without one there is no memory to give up")
    known = recovery.must_remember(booked.ledger, booked.asked)
    recovery.forget_memory(booked.ledger, booked.asked)
    if as_json:
        echo_json({"release": policy.name, "releases": len(known)})
    else:
        click.echo(f"{policy.name}: releases that the memory no longer has to contain: {len(known)}")


def _open_ledger_of_any(
    policy_file: Path, project: Path | None, outside: bool
) -> tuple[Policy | DeclaredRelease, Locations, Opened]:
    """Open the ledger of a policy of any kind of release."""
    from anon_pipeline.declared.draft import asked_by  # noqa: PLC0415
    from anon_pipeline.policy.load_declared import kind_of_policy, load_declared  # noqa: PLC0415
    from anon_pipeline.publish.accounting.adopt import Opened  # noqa: PLC0415

    kind = kind_of_policy(policy_file)
    if kind is None:
        return _open_ledger(policy_file, project, outside)
    policy = load_declared(policy_file, kind, retired=True)
    locations = locations_of(policy_file, project, outside=outside)
    return policy, locations, Opened(_ledger_at(locations), asked_by(policy), locations.release(policy))


def _ledger_at(locations: Locations) -> Ledger:
    """Open the ledger of a deployment that keeps one."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.ledger import ledger_at  # noqa: PLC0415
    from anon_pipeline.policy.locations import OFF  # noqa: PLC0415

    if locations.ledger == OFF:
        raise InputError("ANON_PIPELINE_LEDGER must name a ledger, got off")
    return ledger_at(locations.ledger)


def _open_ledger(policy_file: Path, project: Path | None, outside: bool) -> tuple[Policy, Locations, Opened]:
    """Open the ledger of a policy's release, over all of its partitions."""
    from anon_pipeline.ledger import requested_by  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.accounting.adopt import Opened  # noqa: PLC0415

    policy = load_policy(policy_file, retired=True)
    locations = locations_of(policy_file, project, outside=outside)
    return (
        policy,
        locations,
        Opened(_ledger_at(locations), requested_by(policy, None), locations.release(policy)),
    )
