"""The command that compiles kernels ahead of time: `warmup`."""

from __future__ import annotations

from pathlib import Path

import click

from anon_pipeline.cli.options import PATH, json_option
from anon_pipeline.cli.shared import Progress, echo_json


@click.command()
@click.argument("policy_files", metavar="[POLICY]...", nargs=-1, type=PATH)
@json_option
def warmup(policy_files: tuple[Path, ...], as_json: bool) -> None:
    """Compile the kernels that each POLICY needs, so that the first run is as fast as the others.

    Without POLICY it compiles those of all recoders and mechanisms. It reads no data: small tables of
    generated patients are released in memory and thrown away. The kernels are kept in NUMBA_CACHE_DIR, or
    next to the installed package. In an image, run it as the user of the container.

    \b
    Example:
      anon-pipeline warmup policy.yaml
    """
    from anon_pipeline.cli.warmup_releases import warm_up  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415

    policies = [load_policy(file) for file in policy_files]
    with Progress() as progress:
        compiled = warm_up(policies, observe=progress)
    if as_json:
        echo_json({"compiled": compiled})
        return
    click.echo(f"compiled  {compiled} kernels" if compiled else "compiled  nothing: all kernels were on disk")
