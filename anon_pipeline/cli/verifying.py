"""Commands about releases that were made: `verify`, `keygen`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.declared_releases import is_declared_release, verify_declared_release
from anon_pipeline.cli.options import (
    PATH,
    jobs_option,
    json_option,
    locations_of,
    policy_option,
    project_options,
    release_argument,
)
from anon_pipeline.cli.shared import echo_json, print_report, print_table, printable
from anon_pipeline.cli.verifying_several import as_document, deeper_folders_in_words, verify_several
from anon_pipeline.cli.withdrawals import print_warnings_about

if TYPE_CHECKING:
    from anon_pipeline.gate import GateReport
    from anon_pipeline.policy import Policy
    from anon_pipeline.publish.verify.unverifiable_leaves import Unverified


@click.command()
@release_argument
@policy_option("The policy that made it.")
@click.option(
    "--public-key",
    type=PATH,
    help="Key that must have signed it; a missing or wrong signature is then refused.",
)
@jobs_option("Of several: how many are verified at a time, each by a process of its own.")
@json_option
@project_options
def verify(
    release: Path, policy_file: Path | None, public_key: Path | None, *, as_json: bool, **options: Any
) -> None:
    """Check a release against its manifest.

    RELEASE is its folder or its manifest, or a folder with the folders of several releases, such as
    partitions: each is checked, and with --policy also whether there is one of each key that it lists. If
    `collect` has written a collection.json there, all must be as it says.

    Recomputes the digests of files, content, policy and hierarchies, and judges the file by the policy's
    limits. Without --policy it uses the public policy, which is published with the release. Lists the
    leaves of the manifest that nothing verifies without --policy, --public-key or the originals; they do not
    count as refused. Warns of releases that reveal too much.
    """
    from anon_pipeline.base.errors import InputError, private_stage  # noqa: PLC0415
    from anon_pipeline.gate import Status  # noqa: PLC0415
    from anon_pipeline.publish.collection.collection_check import is_collected  # noqa: PLC0415
    from anon_pipeline.publish.manifest.signatures import read_public_key  # noqa: PLC0415
    from anon_pipeline.publish.verify.together import holds_several  # noqa: PLC0415
    from anon_pipeline.publish.verify.verify import Against, verify_in_detail  # noqa: PLC0415

    key = None if public_key is None else read_public_key(public_key)
    several = holds_several(release) or is_collected(release)
    if options["jobs"] > 1 and not several:
        raise InputError("--jobs must be given for a folder of several releases only")
    if is_declared_release(release):
        verify_declared_release(release, policy_file, key, options, as_json=as_json)
        return
    against = Against(key=key)
    if policy_file is not None:
        policy = _policy(policy_file, release)
        locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
        locations.confine(policy)
        against = Against(policy, locations.hierarchies, key, locations.sources, locations.ledger)
    if several:
        verify_several(release, against, jobs=options["jobs"], as_json=as_json)
        return
    _refuse_outer_folder(release)
    with private_stage("verify"):
        found = verify_in_detail(release, against)
    report = found.report
    if as_json:
        echo_json(as_document(found))
    else:
        print_report(report, f"{printable(release.resolve().name)}, checked", at_hand=True)
        if found.in_part:
            click.echo(_IN_PART)
        _print_unverified(found.unverified, _recorded_limits(release))
        unmeasured = ", ".join(verdict.limit for verdict in report.with_status(Status.UNMEASURED))
        if unmeasured:
            click.echo(f"Not verified: {unmeasured}.")
        print_warnings_about(found.warnings)
        if not report.with_status(Status.REFUSED):
            click.echo(_describe_result(len(found.unverified), report))
    refused = [verdict.limit for verdict in report.with_status(Status.REFUSED)]
    if refused:
        click.echo(_describe_refusal(refused), err=True)
        sys.exit(1)


def _refuse_outer_folder(folder: Path) -> None:
    """Refuse a folder whose releases are further below it, and name those that can be given."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.publish.manifest.manifest import MANIFEST  # noqa: PLC0415

    if folder.is_dir() and not (folder / MANIFEST).exists():
        inner = deeper_folders_in_words(folder, "or")
        if inner is not None:
            raise InputError(f"the folder has no release, folders in it have several. Give {inner}")


def _policy(file: Path, release: Path) -> Policy:
    """Read the policy of a release; one that needs a plugin that is not here is refused for that reason.

    Args:
        release: its folder or its manifest, or the folder of several.
    """
    from anon_pipeline.base.errors import InputError, PolicyError  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.publish.manifest.extensions import absent  # noqa: PLC0415
    from anon_pipeline.publish.release_files import manifest_of, manifests_in  # noqa: PLC0415

    try:
        return load_policy(file, retired=True)
    except PolicyError as error:
        missing = list[str]()
        with suppress(InputError):  # no release, which is said once the policy is one
            for manifest in manifests_in(release) if release.is_dir() else [release]:
                missing += [line for line in absent(manifest_of(manifest)) if line not in missing]
        if not missing:
            raise
        problems = [*missing, *error.problems]
    raise PolicyError(problems)


_IN_PART = (
    "It was checked against the public part of its policy, which is stored with it; the private part was not "
    "compared."
)


def _describe_result(unverified: int, report: GateReport) -> str:
    """Say in the last line that nothing was refused, and what was not verified.

    Args:
        unverified: how many leaves of the manifest were not.
        report: verdicts on what was checked.
    """
    from anon_pipeline.gate import Status  # noqa: PLC0415

    unmeasured = report.with_status(Status.UNMEASURED)
    if not unverified and not unmeasured:
        return "Verified. Nothing contradicts the manifest, and each of its entries was checked."
    entries = "1 entry" if unverified == 1 else f"{unverified} entries"
    left = [f"{entries} cannot be checked here, for the reasons above"] if unverified else []
    unseen = [verdict.limit for verdict in unmeasured if (verdict.reason or "").startswith(_NEEDS_ORIGINALS)]
    if unseen:
        left.append(f"these limits were not verified, because this needs the originals: {_name_most(unseen)}")
    elif unmeasured:
        left.append("the limits listed above were not verified")
    return f"Verified. Nothing contradicts the manifest; {', and '.join(left)}."


_NEEDS_ORIGINALS = "needs the originals"


def _name_most(limits: Sequence[str]) -> str:
    """Name the limits that a release is made for, and say how many others there are."""
    from anon_pipeline.catalog.class_limits import CLASS_LIMITS  # noqa: PLC0415
    from anon_pipeline.limits.linking import LINKING_RISK  # noqa: PLC0415
    from anon_pipeline.limits.structure import K  # noqa: PLC0415

    kinds = [limit.removeprefix("gate.").partition(".")[0] for limit in limits]
    named = [name for name in (K.name, *CLASS_LIMITS, LINKING_RISK.name) if name in kinds]
    others = sum(kind not in named for kind in kinds)
    if not others:
        return ", ".join(named)
    return f"{', '.join(named)}, and {others} more" if named else f"{others} of those listed above"


def _describe_refusal(refused: Sequence[str]) -> str:
    """Say in the last line what refuses the release; of a policy that was changed since, what to do."""
    from anon_pipeline.publish.verify.verify_policy import POLICY_DIGEST  # noqa: PLC0415

    if [*refused] == [POLICY_DIGEST]:
        return (
            f"refused: the policy has changed since, or is another release's ({POLICY_DIGEST}). Leave "
            "--policy out, or give the one that made the release."
        )
    return f"refused by {', '.join(refused)}"


_MANY = 40  # leaves for one reason, of which only the number is shown


def _print_unverified(leaves: Iterable[Unverified], recorded: Sequence[str]) -> None:
    """Print the leaves of the manifest that nothing vouches for, by what it would take."""
    by_reason: dict[str, list[str]] = {}
    for leaf in leaves:
        by_reason.setdefault(leaf.why, []).append(_name_verdict(leaf.path, recorded))
    rows = [
        (why, ", ".join(paths) if len(paths) <= _MANY else f"{len(paths)} (--json lists them)")
        for why, paths in by_reason.items()
    ]
    if rows:
        print_table(("because", "leaves"), rows, title="Not verifiable in the manifest")


def _recorded_limits(release: Path) -> list[str]:
    """Return the names of the limits whose verdicts a manifest has, in its order."""
    from anon_pipeline.publish.manifest.manifest import MANIFEST  # noqa: PLC0415
    from anon_pipeline.publish.release_files import manifest_of  # noqa: PLC0415

    document = manifest_of(release / MANIFEST if release.is_dir() else release)
    gate = document.get("gate")
    verdicts = gate.get("verdicts", []) if isinstance(gate, dict) else []
    return [str(one.get("limit")) if isinstance(one, dict) else "" for one in verdicts]


def _name_verdict(path: str, recorded: Sequence[str]) -> str:
    """Name the limit of a verdict in place of its position in the manifest.

    >>> _name_verdict("gate.verdicts.1.status", ["k", "linking_risk"]), _name_verdict("made_at", [])
    ('gate.linking_risk.status', 'made_at')
    """
    place = re.match(r"gate\.verdicts\.(\d+)\.", path)
    if place is None or int(place[1]) >= len(recorded):
        return path
    return f"gate.{recorded[int(place[1])]}.{path[place.end() :]}"


@click.command()
@click.argument("file", type=PATH)
@json_option
def keygen(file: Path, as_json: bool) -> None:
    """Write a new key pair for signing manifests.

    FILE is the private key (readable only by its owner), FILE.pub the public one.
    """
    from anon_pipeline.publish.manifest.signatures import write_keys  # noqa: PLC0415

    public = write_keys(file)
    if as_json:
        echo_json({"private_key": str(file), "public_key": str(public)})
    else:
        click.echo(f"private key  {file}\npublic key   {public}")
