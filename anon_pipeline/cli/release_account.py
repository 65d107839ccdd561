"""What `run` says of a release that was made or refused: for people, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.earlier import count_earlier, print_earlier
from anon_pipeline.cli.shared import print_paths, print_report, print_warnings

if TYPE_CHECKING:
    from anon_pipeline.base.errors import AnonPipelineError
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.publish import Published


def print_release(
    policy: Policy, partition: str | None, written: Published, locations: Locations, *, exact: bool
) -> None:
    """Print a release that was published.

    Args:
        exact: whether to show all measured values, to the curator on a terminal.
    """
    from anon_pipeline.vault.names import measured_name  # noqa: PLC0415

    print_report(written.report, f"Release {policy.name}", exact=exact)
    print_warnings(written.report, policy)
    measured = measured_name(policy.name, partition)
    print_paths(written.path, written.manifest_path, written.report_path, measured)
    print_earlier(policy, written)
    rest = _rest(policy, written.path, written.manifest, locations.hierarchies)
    if rest:
        click.echo("\n".join(["What is left:", *(f"  {line}" for line in rest)]))
    print_cost(policy, locations, partition)


def account_of(
    policy: Policy, partition: str | None, written: Published, locations: Locations
) -> dict[str, Any]:
    """Return what `run` says of a release that is published, as JSON types."""
    return {
        "published": True,
        "release": policy.name,
        "partition": partition,
        "data": str(written.path),
        "manifest": str(written.manifest_path),
        "report": str(written.report_path),
        "verdicts": written.report.to_json()["verdicts"],
        "earlier": count_earlier(policy, written),
        "left": _rest(policy, written.path, written.manifest, locations.hierarchies),
        "ledger": _cost(policy, locations, partition),
        "advice": [],
    }


def refusal_account(policy: Policy, partition: str | None, refused: AnonPipelineError) -> dict[str, Any]:
    """Return what `run` says of a release that was refused: no value, since nobody else has the file."""
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415

    said: dict[str, Any] = {"published": False, "release": policy.name, "partition": partition}
    if isinstance(refused, GateRefused) and isinstance(refused.report, GateReport):
        verdicts = [verdict | {"value": None} for verdict in refused.report.to_json()["verdicts"]]
        return said | {"verdicts": verdicts, "advice": list(refused.advice)}
    return said | {"verdicts": [], "advice": [], "error": str(refused)}


def _rest(policy: Policy, data: Path, document: Mapping[str, Any], hierarchies: Path) -> list[str]:
    """Say what is left of the data, in words, from the released file, its manifest and the policy alone."""
    from anon_pipeline.base.errors import InputError, private_stage  # noqa: PLC0415
    from anon_pipeline.publish.file_formats import read_release  # noqa: PLC0415
    from anon_pipeline.report.words import describe_rest  # noqa: PLC0415

    with suppress(InputError), private_stage("report"):  # who removes the file at once need not be told
        frame = read_release(data, policy)
        return list(describe_rest(policy, document["facts"], frame, hierarchies=hierarchies))
    return []


def print_cost(policy: Policy, locations: Locations, partition: str | None, *, refused: bool = False) -> None:
    """Print what the release has cost."""
    said = _cost(policy, locations, partition, refused=refused)
    if said is not None:
        click.echo(f"ledger    {said}", err=refused)


def _cost(
    policy: Policy, locations: Locations, partition: str | None, *, refused: bool = False
) -> str | None:
    """Say what the release has cost; a ledger that cannot be read now is no reason to fail."""
    from anon_pipeline.base.errors import AnonPipelineError  # noqa: PLC0415
    from anon_pipeline.publish.accounts import describe_cost  # noqa: PLC0415

    with suppress(AnonPipelineError):
        return describe_cost(policy, locations, partition=partition, refused=refused)
    return None
