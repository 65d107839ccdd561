"""`verify` of a folder of releases, such as the partitions of one policy; and its JSON documents."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.base.observer import Observer, Step
from anon_pipeline.cli.declared_releases import is_declared_release
from anon_pipeline.cli.shared import Progress, echo_json, print_table, printable
from anon_pipeline.cli.withdrawals import warning_documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anon_pipeline.publish.verify.together import Together, Verifications
    from anon_pipeline.publish.verify.verify import Against, Verification

_MOST_NAMED = 3  # folders
_LISTED = 20  # releases with a row of their own, although nothing was refused


def verify_several(folder: Path, against: Against, *, jobs: int, as_json: bool) -> None:
    """Check each release in a folder, all of them together and their collection; print what was found.

    Args:
        jobs: releases that are verified at a time.
    """
    from anon_pipeline.base.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.publish.collection.collection_check import verify_collection  # noqa: PLC0415

    with Progress() as progress, private_stage("verify"):
        observe = steps_of(progress)
        found = verify_collection(folder, against, verify=verify_one, observe=observe, jobs=jobs)
    if as_json:
        echo_json(_several_document(found))
    else:
        _print(found, folder)
    left = deeper_folders_in_words(folder, "and")
    if left is not None:
        click.echo(f"Not verified: releases in folders further below. Give also {left}", err=True)
    if found.refused:
        click.echo(f"refused: {', '.join(map(printable, found.refused))}", err=True)
        sys.exit(1)
    if not as_json:
        click.echo(_conclusion(found))


def deeper_folders_in_words(folder: Path, word: str) -> str | None:
    """Name folders of several releases below a folder, which have to be given themselves; None: no such.

    Args:
        word: between them.
    """
    from anon_pipeline.publish.verify.together import deeper_folders  # noqa: PLC0415

    inner = deeper_folders(folder)
    named = f" {word} ".join(printable(str(one)) for one in inner[:_MOST_NAMED])
    return (named + (f" {word} {len(inner) - _MOST_NAMED} more" if len(inner) > _MOST_NAMED else "")) or None


def steps_of(progress: Progress) -> Observer:
    """Return an observer that shows names of folders as a terminal can have them."""
    return lambda event: progress(Step(printable(event.name)) if isinstance(event, Step) else event)


def verify_one(manifest: Path, against: Against) -> Verification:
    """Verify a release of any kind; one with declared columns by its public policy."""
    from anon_pipeline.declared.declared_verify import verify_declared  # noqa: PLC0415
    from anon_pipeline.publish.verify.verify import Verification, verify_in_detail  # noqa: PLC0415

    if not is_declared_release(manifest):
        return verify_in_detail(manifest, against)
    return Verification(verify_declared(manifest, policy=None, key=against.key), (), ())


def as_document(found: Verification) -> dict[str, Any]:
    """Return what was found of a release, as JSON has it."""
    from anon_pipeline.gate import Status  # noqa: PLC0415

    return {
        "verified": not found.report.with_status(Status.REFUSED),
        "in_part": found.in_part,
        "verdicts": found.report.to_json()["verdicts"],
        "unverified": [asdict(leaf) for leaf in found.unverified],
        "warnings": warning_documents(found.warnings),
    }


def _several_document(found: Verifications) -> dict[str, Any]:
    """Return what was found of several releases: the keys of a single one, and what each and all have."""
    from anon_pipeline.gate import GateReport  # noqa: PLC0415

    own = GateReport(found.own, "", "").to_json()["verdicts"]
    return {
        "verified": not found.refused,
        "in_part": any(one.in_part for one in found.each.values()),
        "verdicts": own,
        "unverified": [],
        "warnings": [],
        "releases": [{"release": name, **as_document(one)} for name, one in found.each.items()],
        "together": None if found.together is None else asdict(found.together),
    }


def _conclusion(found: Verifications) -> str:
    """Say in the last line that nothing was refused."""
    if len(found.each) == 1:
        return "Verified. Nothing contradicts the manifest of 1 release."
    return f"Verified. Nothing contradicts the manifests of {len(found.each):,} releases."


def _print(found: Verifications, folder: Path) -> None:
    rows = list(_rows(found))
    if rows:
        print_table(("release", "verdict"), rows, title=f"{printable(folder.resolve().name)}, checked")
    if len(rows) < len(found.each):
        click.echo(f"{len(found.each) - len(rows)} releases: nothing contradicts their manifests.")
    click.echo(f"partitions  {found.partitions.status}: {found.partitions.reason or 'one of each key'}")
    if found.collection is not None:
        why = found.collection.reason or "the releases, the sums and the report are those that it names"
        click.echo(f"collection  {found.collection.status}: {printable(why)}")
    if found.together is not None:
        for line in describe_sums(found.together):
            click.echo(line)
    if any(one.in_part for one in found.each.values()):
        click.echo(IN_PART)
    print_warnings_of_each(found)
    if any(one.unverified for one in found.each.values()):
        click.echo(
            "Some entries of the manifests cannot be checked here: verify one release alone to see which."
        )


def print_warnings_of_each(found: Verifications) -> None:
    """Print what releases reveal too much."""
    for name, one in found.each.items():
        for warning in one.warnings:
            click.echo(f"warning: {printable(name)}: {warning.text}. See {warning.section}", err=True)


def _rows(found: Verifications) -> Iterator[tuple[str, str]]:
    """Yield a row for each release, of many only for those with something that was refused."""
    from anon_pipeline.gate import Status  # noqa: PLC0415

    for name, one in found.each.items():
        refused = one.report.with_status(Status.REFUSED)
        if refused or len(found.each) <= _LISTED:
            said = printable("; ".join(f"{verdict.limit}: {verdict.reason}" for verdict in refused))
            yield printable(name), f"refused by {said}" if refused else "nothing contradicts its manifest"


IN_PART = (
    "Checked against the public parts of policies, which are stored with the releases; private parts were "
    "not compared."
)


def describe_sums(together: Together) -> Iterator[str]:
    """Say what the releases hold together."""
    lost = together.records - together.released
    share = lost / max(together.records, 1)
    yield (
        f"together    {together.released:,} records released of {together.records:,} "
        f"({lost:,} left out: {share:.2%})"
    )
    if together.policies > 1:
        yield f"            made by {together.policies} different policies"
    if together.classes is not None:
        yield (
            f"            {together.classes:,} classes, the smallest with {together.smallest:,} records; "
            f"{together.shared:,} of them in several releases"
        )
