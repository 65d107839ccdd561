"""What `run` says of a release: in lines for people, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.shared import print_paths, print_report, print_warnings

if TYPE_CHECKING:
    from anon_pipeline.base.errors import AnonPipelineError
    from anon_pipeline.gate import GateReport
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.publish import Published
    from anon_pipeline.publish.release_in_memory import Release

_FEWER = 0.5
"""Share of the previous release's records below which `run` asks whether the source is complete."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The release that `run` was asked for.

    partition: None where the schedule has none.
    before: records of the release that is there now, which this one replaces; None: there is none to read.
    """

    policy: Policy
    locations: Locations
    partition: str | None
    before: int | None = None


def print_release(asked: Asked, written: Published, *, exact: bool) -> None:
    """Print what was published: verdicts, warnings, paths, what is left of the data, what it has cost.

    Args:
        exact: whether to show all values, see `print_report`.
    """
    from anon_pipeline.vault.names import measured_name  # noqa: PLC0415

    print_report(written.report, f"Release {asked.policy.name}", exact=exact, policy=asked.policy)
    print_warnings(written.report, asked.policy)
    measured = measured_name(asked.policy.name, asked.partition)
    print_paths(written.paths, written.manifest_path, written.report_path, measured)
    if asked.policy.stream is not None:
        click.echo(
            "waiting   counted in the vault, for the curator: anon-pipeline vault waiting POLICY --out FILE"
        )
    if asked.policy.publish.deliver is not None:
        click.echo(f"delivered to the place that publish.deliver.{asked.policy.publish.deliver.kind} names")
    records = _records(written.manifest)
    if asked.before is not None and records < _FEWER * asked.before:
        click.echo(
            f"fewer     {records:,} records, the previous release had {asked.before:,}. Is the source "
            "complete?"
        )
    files = count_earlier(asked.policy, written)
    if files:
        counted, them = ("1 file", "it") if files == 1 else (f"{files} files", "them")
        click.echo(
            f"earlier   {counted} of the previous release {'is' if files == 1 else 'are'} still in the "
            f"folder; the next release removes {them}. Whoever has both releases learns more than from one "
            "of them."
        )
    rest = _rest(asked, written)
    if rest:
        click.echo("\n".join(["What is left:", *(f"  {line}" for line in rest)]))
    print_cost(asked)


def release_document(asked: Asked, written: Published) -> dict[str, Any]:
    """Return what `run` says of a release that is published, as JSON types."""
    return {
        "published": True,
        "release": asked.policy.name,
        "partition": asked.partition,
        "data": str(written.path),
        "files": [str(path) for path in written.paths],
        "manifest": str(written.manifest_path),
        "report": str(written.report_path),
        "verdicts": written.report.to_json()["verdicts"],
        "earlier": count_earlier(asked.policy, written),
        "records": _records(written.manifest),
        "records_before": asked.before,
        "left": _rest(asked, written),
        "ledger": _cost(asked),
        "advice": [],
    }


def rehearsal_document(asked: Asked, made: Release) -> dict[str, Any]:
    """Return what `rehearse` says of a release that the gate has passed: no value, nobody has the file."""
    from anon_pipeline.report.words import describe_rest  # noqa: PLC0415

    frame, policy, hierarchies = made.frame, asked.policy, asked.locations.hierarchies
    return {
        "published": False,
        "release": policy.name,
        "partition": asked.partition,
        "verdicts": without_values(made.report),
        "records": len(frame),
        "left": describe_rest(policy, made.facts, frame, hierarchies=hierarchies),
        "advice": [],
    }


def without_values(report: GateReport) -> list[dict[str, Any]]:
    """Return the verdicts on a table that nobody has."""
    verdicts = (
        {key: told for key, told in verdict.items() if key != "band"}
        for verdict in report.to_json()["verdicts"]
    )
    return [verdict | {"value": None} for verdict in verdicts]


def refusal_document(asked: Asked, refused: AnonPipelineError) -> dict[str, Any]:
    """Return what `run` says of a release that was refused: no value, since nobody else has the file."""
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415

    said: dict[str, Any] = {
        "published": False,
        "release": asked.policy.name,
        "partition": asked.partition,
        "verdicts": [],
        "advice": [],
    }
    if not isinstance(refused, GateRefused) or not isinstance(refused.report, GateReport):
        return said | {"error": str(refused)}
    return said | {"verdicts": without_values(refused.report), "advice": list(refused.advice)}


def records_before(policy: Policy, locations: Locations, partition: str | None) -> int | None:
    """Return how many records the published release has; None if there is none, or none that can be read.

    A manifest that cannot be read is refused later, when the release is made.
    """
    from anon_pipeline.base.errors import AnonPipelineError  # noqa: PLC0415
    from anon_pipeline.publish.writer import read_manifest  # noqa: PLC0415

    with suppress(AnonPipelineError, LookupError, TypeError, ValueError):
        document = read_manifest(locations.release(policy, partition))
        return None if document is None else _records(document)
    return None


def _records(manifest: Mapping[str, Any]) -> int:
    from anon_pipeline.catalog.releases import released_records  # noqa: PLC0415

    return released_records(manifest)


def count_earlier(policy: Policy, written: Published) -> int:
    """Count the files of the previous release in the folder; 0 if the folder is unreadable."""
    from anon_pipeline.publish.release_files import limits_of  # noqa: PLC0415
    from anon_pipeline.publish.verify.stray_files import count_stray_files  # noqa: PLC0415

    most = limits_of(policy).file_bytes
    with suppress(OSError):
        folder = written.manifest_path.parent
        return count_stray_files(folder, written.manifest, most=most, divides=lambda key: True).former
    return 0


def _rest(asked: Asked, written: Published) -> list[str]:
    """Say what is left of the data, in words, from the released table, its manifest and the policy alone."""
    from anon_pipeline.base.errors import InputError, private_stage  # noqa: PLC0415
    from anon_pipeline.report.words import describe_rest  # noqa: PLC0415

    facts, hierarchies = written.manifest["facts"], asked.locations.hierarchies
    with suppress(InputError), private_stage("report"):  # a hierarchy's file may be gone
        return list(describe_rest(asked.policy, facts, written.frame, hierarchies=hierarchies))
    return []


def print_cost(asked: Asked, *, refused: bool = False) -> None:
    """Print what the release has cost."""
    said = _cost(asked, refused=refused)
    if said is not None:
        click.echo(f"ledger    {said}", err=refused)


def _cost(asked: Asked, *, refused: bool = False) -> str | None:
    """Say what the release has cost; a ledger that cannot be read now is no reason to fail."""
    from anon_pipeline.base.errors import AnonPipelineError  # noqa: PLC0415
    from anon_pipeline.publish.accounting.accounts import describe_cost  # noqa: PLC0415

    with suppress(AnonPipelineError):
        return describe_cost(asked.policy, asked.locations, partition=asked.partition, refused=refused)
    return None
