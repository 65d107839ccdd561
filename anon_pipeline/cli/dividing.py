"""The command that divides a table into partitions of whole classes: `divide`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.interrupts import left_by_termination
from anon_pipeline.cli.options import (
    command_to_collect,
    command_to_run,
    json_option,
    locations_of,
    policy_argument,
    source_options,
)
from anon_pipeline.cli.shared import PRIVATE, Progress, echo_json, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anon_pipeline.division.divide import Division


@click.command()
@policy_argument
@click.option(
    "--into",
    "parts",
    type=click.IntRange(min=2),
    metavar="N",
    help="Number of partitions. Default: about one for each million records, and at least two.",
)
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the partitions' files, below that of the sources. Default: partitions/<id> there.",
)
@json_option
@source_options
def divide(policy_file: Path, *, parts: int | None, to: Path | None, **options: Any) -> None:
    """Divide the table of POLICY into partitions that can be released one by one.

    For a table that is too large for one release, or takes too long. The levels are chosen for the whole
    table, and all records of a class go into one partition. So the partitions together have the same classes
    as one release of the whole table would have.

    Writes a Parquet file for each partition (personal data, 0600; encrypted if the vault has a key) and, next
    to POLICY, the policy of their releases. Publishes nothing and spends no ε.
    """
    from anon_pipeline.division.divide import divide as divided  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415

    policy = load_policy(policy_file)
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    locations.confine(policy)
    with left_by_termination(), Progress() as progress:
        found = divided(policy_file, policy, locations, parts=parts, to=to, observe=progress)
    if options["as_json"]:
        echo_json(_document(found, policy_file))
    else:
        _print(found, policy_file, options)
    click.echo(PRIVATE, err=True)


def _print(found: Division, policy_file: Path, options: Mapping[str, Any]) -> None:
    """Say what was chosen and written, and what to do next; no count of the data."""
    first, last = found.keys[0], found.keys[-1]
    for name, shown in found.words.items():
        click.echo(f"level       {name}: {shown}")
    for name, t in found.closeness.items():
        click.echo(f"closeness   {name}: t = {t:g} in each partition; so the policy's t holds for the whole")
    for name in found.apart:
        click.echo(f"closeness   {name}: t holds in each partition, and perhaps not for the whole table")
    if found.elsewhere:
        click.echo(
            "dataset     the ledger has a release of another dataset, of a source with the same columns. If "
            "these are the same people, set dataset to that dataset, and divide again"
        )
    click.echo(f"partitions  {len(found.keys)}, {first} to {last}")
    files = _relative_path(found.files)
    how = "encrypted with the vault's key" if found.encrypted else "not encrypted"
    click.echo(f"files       {files}: personal data, {how}. Delete them when the releases are out.")
    policy = policy_file.with_name(found.policy.name)
    click.echo(f"policy      {printable(str(policy))}")
    click.echo(f"Next: {command_to_run(policy, options, '--partitions', f'{first}...{last}', '--jobs', '2')}")
    click.echo(f"Then: {command_to_collect(_relative_path(found.releases), policy)}")


def _document(found: Division, policy_file: Path) -> dict[str, Any]:
    """Return what was chosen and written, as JSON has it."""
    return {
        "levels": found.levels,
        "closeness": found.closeness,
        "apart": list(found.apart),
        "elsewhere": found.elsewhere,
        "partitions": list(found.keys),
        "files": str(_relative_path(found.files)),
        "encrypted": found.encrypted,
        "policy": str(policy_file.with_name(found.policy.name)),
    }


def _relative_path(folder: Path) -> Path:
    """Return a folder as it is shown: relative to the current one where it is below."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder
