"""What `run`, `rehearse`, `verify` and `check-policy` do with releases whose columns are declared."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.options import locations_of, next_of_rehearsal
from anon_pipeline.cli.run_output import without_values
from anon_pipeline.cli.shared import (
    PRIVATE,
    Progress,
    echo_json,
    print_report,
    warn_of_questions,
)
from anon_pipeline.cli.withdrawals import find_withdrawal, print_warnings_about, warning_documents

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from anon_pipeline.catalog.release_kinds import ReleaseKind
    from anon_pipeline.declared.draft import DeclaredPublished
    from anon_pipeline.policy.declared_release import DeclaredRelease
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.publish.verify.old_warnings import Warned

_NOT_OF_RUN = {
    "partition": "--partition",
    "span": "--partitions",
    "missing": "--missing",
    "internal_report": "--internal-report",
    "to_dagster": "--report-to-dagster",
}
"""Options of `run` that these releases do not have."""


def run_declared(policy_file: Path, kind: ReleaseKind, options: Mapping[str, Any]) -> None:
    """Make the release of a policy, and print it.

    Args:
        options: of the command `run`.
    Raises:
        InputError: an option that does not fit; see `declared.draft.make_declared_release`.
    """
    from anon_pipeline.base.errors import GateRefused, InputError  # noqa: PLC0415
    from anon_pipeline.declared.draft import make_declared_release  # noqa: PLC0415
    from anon_pipeline.policy.load_declared import load_declared  # noqa: PLC0415

    strange = [flag for name, flag in _NOT_OF_RUN.items() if options[name] not in (None, False)]
    if options.get("pipes") is not None:
        strange.append("Dagster Pipes")
    if strange or options["jobs"] > 1:
        raise InputError(f"{', '.join(strange) or '--jobs'} must be left out for {kind.words}")
    policy = load_declared(policy_file, kind)
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    try:
        with Progress() as progress:
            written = make_declared_release(policy, locations, observe=progress)
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


def rehearse_declared_release(
    policy_file: Path, kind: ReleaseKind, options: Mapping[str, Any], *, exact: bool
) -> None:
    """Make the release of a policy, judge it, throw it away, and print what the gate says.

    Args:
        options: of the command `rehearse`.
        exact: whether to show what was measured.
    Raises:
        InputError: a partition; see `declared.declared_rehearsal.rehearse_declared`.
    """
    from anon_pipeline.base.errors import GateRefused, InputError  # noqa: PLC0415
    from anon_pipeline.declared.declared_rehearsal import rehearse_declared  # noqa: PLC0415
    from anon_pipeline.declared.domain_codes import unread_words  # noqa: PLC0415
    from anon_pipeline.declared.parts import parts_of  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415
    from anon_pipeline.policy.load_declared import load_declared  # noqa: PLC0415

    if options["partition"] is not None:
        raise InputError(f"--partition must be left out for {kind.words}")
    policy = load_declared(policy_file, kind)
    warn_of_questions(policy)
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    try:
        with Progress() as progress:
            made = rehearse_declared(policy, locations, observe=progress)
    except GateRefused as refused:
        if not options["as_json"]:
            raise
        report = refused.report
        verdicts = without_values(report) if isinstance(report, GateReport) else []
        echo_json({**_refused_document(policy, str(refused)), "verdicts": verdicts})
        sys.exit(refused.exit_code)
    left = parts_of(kind).losses(policy, made.records)
    warnings = [
        f"{name}: {unread_words(policy.columns[name], f'{max(100 * share, 0.1):.3g} %')}"
        for name, share in made.unread.items()
    ]
    if options["as_json"]:
        echo_json(
            {
                "published": False,
                "release": policy.name,
                "partition": None,
                "verdicts": without_values(made.report),
                "records": made.records,
                "left": left,
                "advice": warnings,
            }
        )
    else:
        print_report(made.report, f"Rehearsal of {policy.name}", exact=exact, published=False)
        for line in warnings:
            click.echo(f"warning: {line}", err=True)
        click.echo("\n".join(left))
        click.echo(next_of_rehearsal(policy, policy_file, options))
    click.echo(PRIVATE, err=True)


def _print_release(policy: DeclaredRelease, locations: Locations, written: DeclaredPublished) -> None:
    words = policy.kind.words.partition(" ")[2]
    print_report(written.report, f"{words} {policy.name}", at_hand=True)
    others = len(written.paths) - 1
    more = f"\n          and {others:,} more data file{'s' * (others != 1)}" if others else ""
    click.echo(
        f"release   {written.paths[0]}{more}\nmanifest  {written.manifest_path}\n"
        f"report    {written.report_path}"
    )
    for line in _losses(policy, written):
        click.echo(f"          {line}")
    cost = _cost(policy, locations)
    if cost is not None:
        click.echo(f"ledger    {cost}")
    for name in _mostly_otherwise(policy, written):
        click.echo(
            f"warning: nearly all released values of {name} are its otherwise "
            f"({policy.columns[name].otherwise}). Are its values spelled in the policy as in the data?",
            err=True,
        )


def _mostly_otherwise(policy: DeclaredRelease, written: DeclaredPublished) -> list[str]:
    """Return the columns that hardly hold anything else, by the released files, which anybody has."""
    from anon_pipeline.declared.declared_report import cells_of  # noqa: PLC0415
    from anon_pipeline.declared.domain_codes import NEARLY_ALL, share_of_otherwise  # noqa: PLC0415
    from anon_pipeline.publish.file_formats import from_files  # noqa: PLC0415

    tables = [from_files([path.read_bytes()], policy.publish.format) for path in written.paths]
    return [
        name
        for name, column in policy.columns.items()
        if share_of_otherwise(column, cells_of(tables, name)) >= NEARLY_ALL
    ]


def _losses(policy: DeclaredRelease, written: DeclaredPublished) -> list[str]:
    from anon_pipeline.declared.parts import parts_of  # noqa: PLC0415

    return parts_of(policy.kind).losses(policy, written.manifest["records"])


def _cost(policy: DeclaredRelease, locations: Locations) -> str | None:
    """Say what the release has cost; a ledger that cannot be read now is no reason to fail."""
    from anon_pipeline.base.errors import AnonPipelineError  # noqa: PLC0415
    from anon_pipeline.declared.cost import declared_cost  # noqa: PLC0415

    with suppress(AnonPipelineError):
        return declared_cost(policy, locations)
    return None


def _document(policy: DeclaredRelease, locations: Locations, written: DeclaredPublished) -> dict[str, Any]:
    """Return what `run` says of a release that is published, as JSON types."""
    return {
        "published": True,
        "release": policy.name,
        "partition": None,
        "data": str(written.paths[0]),
        "files": [str(path) for path in written.paths],
        "manifest": str(written.manifest_path),
        "report": str(written.report_path),
        "verdicts": written.report.to_json()["verdicts"],
        "records": written.manifest["records"],
        "left": _losses(policy, written),
        "ledger": _cost(policy, locations),
        "advice": [],
    }


def _refused_document(policy: DeclaredRelease, error: str) -> dict[str, Any]:
    return {
        "published": False,
        "release": policy.name,
        "partition": None,
        "verdicts": [],
        "advice": [],
        "error": error,
    }


def is_declared_release(release: Path) -> bool:
    """Tell whether a folder or a manifest is of a release with declared columns."""
    return _manifest_kind(release) is not None


def _manifest_kind(release: Path) -> ReleaseKind | None:
    from anon_pipeline.declared.declared_manifest import read_declared_manifest  # noqa: PLC0415
    from anon_pipeline.publish.manifest.manifest import MANIFEST  # noqa: PLC0415

    read = read_declared_manifest(release / MANIFEST if release.is_dir() else release)
    return None if read is None else read[1]


def verify_declared_release(
    release: Path,
    policy_file: Path | None,
    key: Ed25519PublicKey | None,
    options: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    """Check a release against its manifest, and print what was found.

    Args:
        options: of the command `verify`.
    """
    from anon_pipeline.base.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.declared.declared_manifest import UNVERIFIED  # noqa: PLC0415
    from anon_pipeline.declared.declared_verify import verify_declared  # noqa: PLC0415
    from anon_pipeline.gate import Status  # noqa: PLC0415
    from anon_pipeline.policy.load_declared import load_declared  # noqa: PLC0415

    kind = _manifest_kind(release)
    policy = None if policy_file is None or kind is None else load_declared(policy_file, kind, retired=True)
    with private_stage("verify"):
        report = verify_declared(release, policy=policy, key=key)
    warnings: list[Warned] = []
    if policy_file is not None:
        locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
        warnings += filter(None, [find_withdrawal(release, locations)])
    refused = report.with_status(Status.REFUSED)
    unverified = UNVERIFIED if key is None and not refused else ()
    if as_json:
        echo_json(
            {
                "verified": not refused,
                "in_part": False,
                "verdicts": report.to_json()["verdicts"],
                "unverified": [{"path": path, "how": "not verifiable", "why": _WHY} for path in unverified],
                "warnings": warning_documents(warnings),
            }
        )
    else:
        print_warnings_about(warnings)
        print_report(report, f"{release.resolve().name}, checked", at_hand=True)
        unmeasured = ", ".join(verdict.limit for verdict in report.with_status(Status.UNMEASURED))
        if unmeasured:
            click.echo(f"Not verified: {unmeasured}.")
        if unverified:
            click.echo(f"Only a signature vouches for {', '.join(unverified)}: {_WHY}.")
        if not refused:
            click.echo("Verified. Nothing contradicts the manifest.")
    if refused:
        click.echo(f"refused by {', '.join(verdict.limit for verdict in refused)}", err=True)
        sys.exit(1)


def check_declared_policy(
    file: Path, kind: ReleaseKind, locations: Locations
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Check the policy of a release with declared columns.

    Returns:
        What it accepts beyond what is usual, and what its releases are expected to lose: the latter only if
        the policy states the number of records.
    Raises:
        PolicyError, InputError, PublishError: it is refused.
        GateRefused: it would be refused whatever is drawn, for the number of records that it states.
    """
    from anon_pipeline.declared.parts import parts_of  # noqa: PLC0415
    from anon_pipeline.policy.epsilon_dp import LARGE_EPSILON  # noqa: PLC0415
    from anon_pipeline.policy.load_declared import load_declared  # noqa: PLC0415
    from anon_pipeline.policy.open_questions import refuse_open_questions  # noqa: PLC0415

    policy = load_declared(file, kind)
    refuse_open_questions(policy.open_questions)
    locations.confine(policy)
    locations.release(policy)
    losses = list[str]()
    if policy.records is not None:
        parts_of(kind).refuses(policy, policy.records)
        losses = parts_of(kind).losses(policy, policy.records)
    epsilon = getattr(policy, "epsilon", 0.0)
    if epsilon > LARGE_EPSILON:
        said = (
            f"ε = {epsilon:g}: an attacker can multiply the odds of a guess by {math.exp(epsilon):.3g} "
            f"(usual: at most {LARGE_EPSILON})."
        )
        return (("epsilon", said),), tuple(losses)
    return (), tuple(losses)


_WHY = "needs --public-key"
