"""What the commands `run`, `verify` and `check-policy` do with ε-DP releases."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.options import locations_of
from anon_pipeline.cli.shared import Progress, echo_json, print_report

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from anon_pipeline.epsilon_dp.dp_release import DpPublished
    from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
    from anon_pipeline.policy.locations import Locations

_NOT_OF_RUN = {
    "partition": "--partition",
    "span": "--partitions",
    "missing": "--missing",
    "internal_report": "--internal-report",
    "to_dagster": "--report-to-dagster",
}
"""Options of `run` that an ε-DP release does not have."""


def run_dp(policy_file: Path, options: Mapping[str, Any]) -> None:
    """Make the ε-DP release of a policy, and print it.

    Args:
        options: of the command `run`.
    Raises:
        InputError: an option that does not fit; see `epsilon_dp.dp_release.make_dp_release`.
    """
    from anon_pipeline.base.errors import GateRefused, InputError  # noqa: PLC0415
    from anon_pipeline.epsilon_dp.dp_release import make_dp_release  # noqa: PLC0415
    from anon_pipeline.policy.load_epsilon_dp import load_dp_policy  # noqa: PLC0415

    strange = [flag for name, flag in _NOT_OF_RUN.items() if options[name] not in (None, False)]
    if options.get("pipes") is not None:
        strange.append("Dagster Pipes")
    if strange or options["jobs"] > 1:
        raise InputError(f"{', '.join(strange) or '--jobs'} must be left out for an ε-DP release")
    policy = load_dp_policy(policy_file)
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    try:
        with Progress() as progress:
            written = make_dp_release(policy, locations, observe=progress)
    except GateRefused as refused:
        if options["as_json"]:
            echo_json(_refused_document(policy, str(refused)))
        else:
            click.echo(f"refused: {refused}", err=True)
        sys.exit(refused.exit_code)
    if options["as_json"]:
        echo_json(_document(policy, locations, written))
    else:
        _print_release(policy, locations, written)


def _print_release(policy: EpsilonDpPolicy, locations: Locations, written: DpPublished) -> None:
    print_report(written.report, f"ε-DP release {policy.name}", at_hand=True)
    click.echo(
        f"release   {written.path}\nmanifest  {written.manifest_path}\nreport    {written.report_path}"
    )
    click.echo("\n".join(["Expected errors:", *(f"  {line}" for line in _errors(policy, written))]))
    cost = _cost(policy, locations)
    if cost is not None:
        click.echo(f"ledger    {cost}")


def _errors(policy: EpsilonDpPolicy, written: DpPublished) -> list[str]:
    from anon_pipeline.epsilon_dp.expected_errors import expected_errors  # noqa: PLC0415

    errors = expected_errors(policy, written.manifest["records"])
    return [f"{name}: {error:.2%}" for name, error in errors.items()]


def _cost(policy: EpsilonDpPolicy, locations: Locations) -> str | None:
    """Say what the release has cost; a ledger that cannot be read now is no reason to fail."""
    from anon_pipeline.base.errors import AnonPipelineError  # noqa: PLC0415
    from anon_pipeline.epsilon_dp.dp_cost import dp_cost  # noqa: PLC0415

    with suppress(AnonPipelineError):
        return dp_cost(policy, locations)
    return None


def _document(policy: EpsilonDpPolicy, locations: Locations, written: DpPublished) -> dict[str, Any]:
    """Return what `run` says of an ε-DP release that is published, as JSON types."""
    return {
        "published": True,
        "release": policy.name,
        "partition": None,
        "data": str(written.path),
        "files": [str(written.path)],
        "manifest": str(written.manifest_path),
        "report": str(written.report_path),
        "verdicts": written.report.to_json()["verdicts"],
        "records": written.manifest["records"],
        "left": _errors(policy, written),
        "ledger": _cost(policy, locations),
        "advice": [],
    }


def _refused_document(policy: EpsilonDpPolicy, error: str) -> dict[str, Any]:
    return {
        "published": False,
        "release": policy.name,
        "partition": None,
        "verdicts": [],
        "advice": [],
        "error": error,
    }


def is_dp_release(release: Path) -> bool:
    """Tell whether a folder or a manifest is of an ε-DP release."""
    from anon_pipeline.epsilon_dp.dp_manifest import read_dp_manifest  # noqa: PLC0415
    from anon_pipeline.publish.manifest.manifest import MANIFEST  # noqa: PLC0415

    return read_dp_manifest(release / MANIFEST if release.is_dir() else release) is not None


def verify_dp(
    release: Path, policy_file: Path | None, key: Ed25519PublicKey | None, *, as_json: bool
) -> None:
    """Check an ε-DP release against its manifest, and print what was found."""
    from anon_pipeline.base.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.epsilon_dp.dp_verify import verify_dp_release  # noqa: PLC0415
    from anon_pipeline.gate import Status  # noqa: PLC0415
    from anon_pipeline.policy.load_epsilon_dp import load_dp_policy  # noqa: PLC0415

    policy = None if policy_file is None else load_dp_policy(policy_file, retired=True)
    with private_stage("verify"):
        report = verify_dp_release(release, policy=policy, key=key)
    refused = report.with_status(Status.REFUSED)
    if as_json:
        echo_json(
            {
                "verified": not refused,
                "in_part": False,
                "verdicts": report.to_json()["verdicts"],
                "unverified": [],
                "warnings": [],
            }
        )
    else:
        print_report(report, f"{release.resolve().name}, checked", at_hand=True)
        if not refused:
            click.echo("Nothing contradicts the manifest. What no file can show is how the noise was drawn.")
    if refused:
        click.echo(f"refused by {', '.join(verdict.limit for verdict in refused)}", err=True)
        sys.exit(1)


def check_dp_policy(file: Path, locations: Locations) -> tuple[tuple[str, str], ...]:
    """Check the policy of an ε-DP release; return what it accepts beyond what is usual, by key.

    Raises:
        PolicyError, InputError, PublishError: it is refused.
        GateRefused: its noise is expected to tell too little, for the number of records that it states.
    """
    from anon_pipeline.epsilon_dp.dp_gate import refuse_errors  # noqa: PLC0415
    from anon_pipeline.policy.load_epsilon_dp import load_dp_policy  # noqa: PLC0415

    policy = load_dp_policy(file)
    locations.confine(policy)
    locations.release(policy)
    if policy.records is not None:
        refuse_errors(policy, policy.records)
    if policy.epsilon > _STRONG:
        said = f"ε = {policy.epsilon:g}: with more than {_STRONG:g}, differential privacy promises little."
        return (("epsilon", said),)
    return ()


_STRONG = 5.0
