"""Commands about releases that were made: `verify`, `keygen`.

Belongs here: arguments and what is printed. Does not belong here: any work; what is heavy is imported when a
command runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from anon_pipeline.cli.shared import allow_outside_option, locations_of, print_report, project_option

__all__ = ["keygen", "verify"]


@click.command()
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--policy", "policy_file", type=click.Path(path_type=Path), help="The policy that made it.")
@click.option(
    "--public-key",
    type=click.Path(path_type=Path),
    help="Key that must have signed it; a missing or wrong signature is then refused.",
)
@project_option
@allow_outside_option
def verify(
    release: Path,
    policy_file: Path | None,
    public_key: Path | None,
    project: Path | None,
    allow_outside: bool,
) -> None:
    """Verify that RELEASE (its folder, or its manifest) is what its manifest says.

    Recomputes the digests of files, content, policy and hierarchies, and judges the file by the policy's
    limits. What cannot be verified without --policy, --public-key or the originals is named; it does not
    count as refused.
    """
    from anon_pipeline.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.gate import Status  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.signing import read_public_key  # noqa: PLC0415
    from anon_pipeline.publish.verify import Against, verify_release  # noqa: PLC0415

    key = None if public_key is None else read_public_key(public_key)
    against = Against(key=key)
    if policy_file is not None:
        policy = load_policy(policy_file, retired=True)
        locations = locations_of(policy_file, project, outside=allow_outside)
        locations.confine(policy)
        against = Against(policy, locations.hierarchies, key, locations.sources)
    with private_stage("verify"):
        report = verify_release(release, against)
    print_report(report, f"{release.name}, verified")
    unmeasured = ", ".join(verdict.limit for verdict in report.having(Status.UNMEASURED))
    if unmeasured:
        click.echo(f"Not verified: {unmeasured}.")
    refused = ", ".join(verdict.limit for verdict in report.having(Status.REFUSED))
    if refused:
        click.echo(f"refused by {refused}", err=True)
        sys.exit(1)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def keygen(file: Path) -> None:
    """Write a new key pair for signing manifests: FILE (private, for its owner alone) and FILE.pub."""
    from anon_pipeline.publish.signing import write_keys  # noqa: PLC0415

    public = write_keys(file)
    click.echo(f"private key  {file}\npublic key   {public}")
