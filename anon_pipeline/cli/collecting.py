"""The command that makes one document and one report about several releases: `collect`."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from anon_pipeline.cli.options import (
    PATH,
    command_to_run,
    jobs_option,
    json_option,
    open_policy,
    policy_option,
    project_options,
)
from anon_pipeline.cli.shared import Progress, echo_json, print_table, printable
from anon_pipeline.cli.targets import refuse_targets
from anon_pipeline.cli.verifying_several import describe_sums, print_warnings_of_each, steps_of, verify_one
from anon_pipeline.cli.withdrawals import warning_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from anon_pipeline.publish.collection.collection_writer import Collected
    from anon_pipeline.publish.verify.verify import Against

_LISTED = 20  # refusals with a row of their own


@click.command()
@click.argument("folder", type=PATH)
@policy_option("The policy of the releases: all partitions that it lists must be there. Its key signs.")
@jobs_option("How many releases are verified at a time, each by a process of its own.")
@json_option
@project_options
def collect(folder: Path, policy_file: Path | None, **options: Any) -> None:
    """Write one document and one report about all releases in a folder, such as partitions.

    FOLDER has the folders of the releases, such as releases/patients_divided/d41f0c9a2.

    Verifies each release and all of them together. If nothing is refused, it writes report.html, and then
    collection.json, which names each release by the digest of its manifest. With --policy, a partition that
    the policy lists and that has no release is refused, too, and both are signed if the policy signs.
    """
    made = collect_folder(folder, policy_file, options)
    if options["as_json"]:
        echo_json(_document(made, folder))
    print_collected(made, folder, as_json=options["as_json"])
    if made.document is None:
        if policy_file is not None:
            _print_next(made, policy_file, options)
        sys.exit(1)
    if policy_file is None:
        click.echo(
            "Without --policy no list of keys was compared, and the collection is not signed.", err=True
        )
    else:
        _remind_of_files(policy_file, options)


def _remind_of_files(policy_file: Path, options: Mapping[str, Any]) -> None:
    """Say that the files of partitions that `divide` has written are still there."""
    policy, locations = open_policy(
        policy_file, options["project"], outside=options["allow_outside"], retired=True
    )
    keys = () if policy.schedule is None else policy.schedule.keys
    place = policy.source.place
    if not keys or not all(map(_DIVIDED.fullmatch, keys)) or not isinstance(place, str):
        return
    files = [locations.sources / place.replace("{partition}", key) for key in keys]
    if any(path.exists() for path in files):
        click.echo(
            f"{printable(str(Path(place).parent))} still has files of partitions, a copy of the personal "
            "data. All is published: delete them.",
            err=True,
        )


_DIVIDED: Final = re.compile(r"d[0-9a-f]{8}\.\d+")  # keys as `divide` makes them


def _print_next(made: Collected, policy_file: Path, options: Mapping[str, Any]) -> None:
    """Print the command that makes the releases that are not there, if the policy lists such partitions."""
    policy, _ = open_policy(policy_file, options["project"], outside=options["allow_outside"], retired=True)
    there = {str(part.partition) for part in made.found.parts.values()}
    keys = () if policy.schedule is None else policy.schedule.keys
    if any(key not in there for key in keys):
        words = ("--partitions", f"{keys[0]}...{keys[-1]}", "--missing")
        click.echo(f"Next: {command_to_run(policy_file, options, *words)}", err=True)


def collect_folder(folder: Path, policy_file: Path | None, options: Mapping[str, Any]) -> Collected:
    """Collect the releases in a folder; see `collect`.

    Args:
        options: of the command: ``jobs``, ``project``, ``allow_outside``.
    Raises:
        InputError: see `collect_releases`; the key cannot be used; or what is written would replace what the
            policy reads.
    """
    from anon_pipeline.base.errors import private_stage  # noqa: PLC0415
    from anon_pipeline.publish.collection.collection_writer import collect_releases  # noqa: PLC0415

    against, key = _policy_of(policy_file, folder, options["project"], outside=options["allow_outside"])
    with Progress() as progress, private_stage("collect"):
        observe, jobs = steps_of(progress), options["jobs"]
        return collect_releases(folder, against, key=key, verify=verify_one, observe=observe, jobs=jobs)


def print_collected(made: Collected, folder: Path, *, as_json: bool = False) -> None:
    """Print what was written, or why nothing was.

    Args:
        as_json: whether a document says so already: then only warnings and refusals are printed.
    """
    from anon_pipeline.publish.collection.collection_document import COLLECTION, PAGE  # noqa: PLC0415

    if made.document is None and not as_json:
        print_table(("release", "refused by"), _refusals(made), title="Refused: nothing was written")
    elif not as_json:
        click.echo(f"collection  {printable(str(folder / COLLECTION))}")
        click.echo(f"report      {printable(str(folder / PAGE))}")
        for line in _lines(made):
            click.echo(line)
    print_warnings_of_each(made.found)
    if made.document is None:
        click.echo(f"refused: {', '.join(map(printable, made.found.refused))}", err=True)


def _policy_of(
    policy_file: Path | None, folder: Path, project: Path | None, *, outside: bool
) -> tuple[Against, Ed25519PrivateKey | None]:
    """Return what the releases are verified against, and the key that the policy signs with.

    Raises:
        InputError: the key cannot be used; or what is written would replace what the policy reads.
    """
    from anon_pipeline.publish.collection.collection_document import COLLECTION, PAGE  # noqa: PLC0415
    from anon_pipeline.publish.manifest.signatures import signing_key  # noqa: PLC0415
    from anon_pipeline.publish.verify.verify import Against  # noqa: PLC0415

    if policy_file is None:
        return Against(), None
    policy, locations = open_policy(policy_file, project, outside=outside, retired=True)
    if folder.is_dir():
        written = (folder / COLLECTION, folder / PAGE)
        refuse_targets(policy, policy_file, locations, *written, partition=None)
    key = signing_key(policy.publish.sign, folder=locations.sources)
    found = Against(policy, locations.hierarchies, sources=locations.sources, ledger=locations.ledger)
    return found, key


def _refusals(made: Collected) -> Iterator[tuple[str, str]]:
    """Yield what was refused, and why: the first ones, and how many more."""
    from anon_pipeline.gate import Status  # noqa: PLC0415

    found, refused = made.found, made.found.refused
    own = {verdict.limit: str(verdict.reason) for verdict in found.own}
    for name in refused[:_LISTED]:
        wrong = found.each[name].report.with_status(Status.REFUSED) if name in found.each else ()
        why = "; ".join(f"{verdict.limit}: {verdict.reason}" for verdict in wrong) or own.get(name, "")
        yield printable(name), printable(why)
    if len(refused) > _LISTED:
        yield f"{len(refused) - _LISTED} more", "anon-pipeline verify FOLDER shows all"


def _lines(made: Collected) -> Iterator[str]:
    found = made.found
    yield f"releases    {len(found.each):,}"
    yield f"partitions  {found.partitions.status}: {found.partitions.reason or 'one of each key'}"
    if found.together is not None:
        yield from describe_sums(found.together)
    if made.document is not None and "signature" in made.document:
        yield f"signed by   {made.document['signature']['key_id']}"


def _document(made: Collected, folder: Path) -> dict[str, Any]:
    """Return what came of it, as JSON types."""
    from anon_pipeline.gate import GateReport  # noqa: PLC0415
    from anon_pipeline.publish.collection.collection_document import COLLECTION, PAGE  # noqa: PLC0415

    found, written = made.found, made.document
    return {
        "collected": written is not None,
        "collection": None if written is None else str(folder / COLLECTION),
        "report": None if written is None else str(folder / PAGE),
        "releases": len(found.each),
        "refused": [{"release": name, "why": why} for name, why in _refusals(made)],
        "verdicts": GateReport(found.own, "", "").to_json()["verdicts"],
        "signed": written is not None and "signature" in written,
        "together": None if found.together is None else asdict(found.together),
        "warnings": [
            {"release": name, **warning}
            for name, one in found.each.items()
            for warning in warning_documents(one.warnings)
        ],
    }
