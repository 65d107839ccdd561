"""The command that packs a release for an auditor: `bundle`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.options import (
    PATH,
    json_option,
    open_policy,
    policy_option,
    project_options,
    release_argument,
    show_values_option,
)
from anon_pipeline.cli.shared import echo_json
from anon_pipeline.cli.withdrawals import print_withdrawal, warning_documents

if TYPE_CHECKING:
    from anon_pipeline.ledger import Ledger
    from anon_pipeline.policy.locations import Locations


@click.command()
@release_argument
@policy_option("The policy that made it.", required=True)
@click.option("--to", "path", required=True, type=PATH, help="ZIP file to write; a new one.")
@click.option(
    "--with-hierarchies",
    "tables",
    is_flag=True,
    help="Pack the hierarchy tables that the policy names, too. They can hold values of nobody released.",
)
@project_options
@show_values_option
@json_option
def bundle(  # noqa: PLR0913 - the options of a command
    *,
    release: Path,
    policy_file: Path,
    path: Path,
    tables: bool,
    project: Path | None,
    allow_outside: bool,
    as_json: bool,
) -> None:
    """Pack a release for an auditor: release, report, policy, ledger extract, versions, how to check it.

    RELEASE is its folder or its manifest.

    It is verified first, as it will be where it is unpacked. The vault and the source are never packed.
    """
    from anon_pipeline.base.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.publish import bundle as packing  # noqa: PLC0415
    from anon_pipeline.publish.verify.verify import Against  # noqa: PLC0415

    _refuse_place(path, release)
    policy, locations = open_policy(policy_file, project, outside=allow_outside, retired=True)
    against = Against(policy, locations.hierarchies, sources=locations.sources)
    with private_stage("bundle"):
        data = packing.bundle(release, policy_file, against, ledger=_ledger(locations), tables=tables)
        packing.write_bundle(path, data)
        warnings = print_withdrawal(release, locations)
    if as_json:
        echo_json({"bundle": str(path), "warnings": warning_documents(warnings)})
    else:
        click.echo(f"bundle    {path}")
    click.echo(
        "It has the whole policy and host names from the ledger: for an auditor, not for publication.",
        err=True,
    )


def _refuse_place(path: Path, release: Path) -> None:
    """Refuse a name that is taken or not a ZIP file's, and the release's folder."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    folder = release if release.suffix != ".json" else release.parent
    if path.suffix != ".zip":
        raise InputError("the bundle's file name must end in .zip")
    if path.exists() or path.is_symlink():
        raise InputError(f"{path.name} exists: the bundle must be a new file. Give another name to --to.")
    if path.resolve().is_relative_to(folder.resolve()):
        raise InputError("the bundle must not go to the release's folder: what is there counts as published")


def _ledger(locations: Locations) -> Ledger | None:
    """Open the ledger of the deployment, None where it keeps none."""
    from anon_pipeline.ledger import ledger_at  # noqa: PLC0415
    from anon_pipeline.policy.locations import OFF  # noqa: PLC0415

    return None if locations.ledger == OFF else ledger_at(locations.ledger, make=False)
