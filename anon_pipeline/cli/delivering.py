"""The command `deliver`: bring a published release to its readers again, at no cost."""

from __future__ import annotations

from pathlib import Path

import click

from anon_pipeline.cli.options import (
    json_option,
    locations_of,
    partition_option,
    policy_argument,
    project_options,
)
from anon_pipeline.cli.partition_keys import check_partition
from anon_pipeline.cli.shared import echo_json


@click.command()
@policy_argument
@partition_option
@json_option
@project_options
def deliver(
    policy_file: Path, partition: str | None, as_json: bool, project: Path | None, allow_outside: bool
) -> None:
    """Deliver what is published of POLICY to where `publish.deliver` says.

    The files in the release's folder are checked against their manifest and sent. Nothing is made again: no
    noise is drawn, nothing is booked.
    """
    from anon_pipeline.base.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.deliver.delivery import deliver_release  # noqa: PLC0415

    policy = load_policy(policy_file)
    check_partition(policy, partition)
    locations = locations_of(policy_file, project, outside=allow_outside)
    locations.confine(policy, partition)
    with private_stage("deliver"):
        document = deliver_release(policy, locations, partition=partition)
    if as_json:
        echo_json(
            {
                "delivered": True,
                "release": policy.name,
                "partition": partition,
                "data_digest": document["data_digest"],
            }
        )
        return
    click.echo(f"delivered {policy.name}, made at {document['made_at']}")
