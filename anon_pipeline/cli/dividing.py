"""The command that divides a table into partitions of whole classes: `divide`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from anon_pipeline.cli.divided_releases import Releases, collect_division, release_partitions
from anon_pipeline.cli.interrupts import left_by_termination
from anon_pipeline.cli.options import (
    MISTAKES_TO,
    command_to_collect,
    command_to_run,
    jobs_option,
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
@click.option(
    "--release",
    is_flag=True,
    help="Then make all releases and collect them. If all are published, the partitions' files are removed.",
)
@jobs_option("With --release: how many releases are made, and then verified, at a time.")
@json_option
@source_options
@click.pass_context
def divide(
    ctx: click.Context, /, policy_file: Path, *, parts: int | None, to: Path | None, **options: Any
) -> None:
    """Divide the table of POLICY into partitions that can be released one by one.

    For a table that is too large for one release, or takes too long. The levels (with mondrian: the classes)
    are chosen for the whole table, and all records of a class go into one partition. So the partitions
    together have the same classes as one release of the whole table would have. A policy with `person` or
    `record_key` is refused: people have records in several classes, so make one release of such a table.

    Writes a Parquet file for each partition (personal data, 0600; encrypted if the vault has a key) and, next
    to POLICY, the policy of their releases. Without --release, publishes nothing and spends no ε.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.division.divide import divide as divided  # noqa: PLC0415
    from anon_pipeline.limits.releases import endless_schedule  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415

    if options["jobs"] > 1 and not options["release"]:
        raise InputError("--jobs must be given with --release only")
    if options["release"] and ctx.meta.get(MISTAKES_TO) is not None:
        raise InputError(
            "--mistakes-to must be given without --release: divide finds mistakes before it writes anything"
        )
    policy = load_policy(policy_file)
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    locations.confine(policy)
    with left_by_termination(), Progress() as progress:
        found = divided(policy_file, policy, locations, parts=parts, to=to, observe=progress)
    if not options["as_json"]:
        _print(found, policy_file.with_name(found.policy.name), options)
    endless = endless_schedule(policy)
    if endless is not None:
        click.echo(f"noise       {endless}. Set a budget", err=True)
    if not (options["as_json"] and options["release"]):
        click.echo(PRIVATE, err=True)
    if options["release"]:
        ctx.exit(_release(found, policy_file, options))
    elif options["as_json"]:
        echo_json(_document(found, policy_file))
    else:
        _print_next(found, policy_file, options)


def _release(found: Division, policy_file: Path, options: Mapping[str, Any]) -> int:
    """Make all releases, collect them, and remove the files of the partitions; return the exit code.

    Unless all are collected, the files are kept, and what to do next is printed, also after an interrupt.
    """
    from anon_pipeline.base.freed_memory import return_freed_memory  # noqa: PLC0415

    return_freed_memory(found.records)  # the releases need it, in other processes
    as_json, divided_file = options["as_json"], policy_file.with_name(found.policy.name)
    say = partial(click.echo, err=as_json)
    made, collected, removed = Releases(found.keys), False, False
    with left_by_termination():
        try:
            made = release_partitions(divided_file, found.keys, options, say)
            collected = made.complete and collect_division(found, divided_file, options)
            removed = collected and _remove(found)
        finally:
            if not collected:
                click.echo(_KEPT, err=True)
                _print_next(found, policy_file, options, missing=True, err=True)
            elif not removed:
                click.echo("All is published. Delete what is left of the partitions' files.", err=True)
    if as_json:
        folder = str(_relative_path(found.releases)) if collected else None
        released = {"releases": made.in_order(), "collected": folder, "removed": removed}
        echo_json(_document(found, policy_file) | released)
    elif removed:
        click.echo("removed     the partitions' files")
    return made.code or int(not collected) or 2 * int(not removed)


def _remove(found: Division) -> bool:
    """Remove the files of the partitions; tell whether that is done. A folder of the user's (--to) stays."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.division.part_files import remove_part_files  # noqa: PLC0415

    try:
        remove_part_files(found.files, found.keys)
    except InputError as error:
        click.echo(f"error: {error}", err=True)
        return False
    return True


def _print(found: Division, policy_file: Path, options: Mapping[str, Any]) -> None:
    """Say what was chosen and written; no count of the data.

    Args:
        policy_file: of the partitions.
    """
    for name, shown in found.words.items():
        click.echo(f"level       {name}: {shown}")
    if found.classes is not None:
        click.echo(f"classes     cut for the whole table, named by {found.classes} in the partitions' files")
    for name, t in found.closeness.items():
        click.echo(f"closeness   {name}: t = {t:g} in each partition; so the policy's t holds for the whole")
    for name in found.apart:
        click.echo(f"closeness   {name}: t holds in each partition, and perhaps not for the whole table")
    click.echo(f"partitions  {len(found.keys)}, {found.keys[0]} to {found.keys[-1]}")
    files = _relative_path(found.files)
    how = "encrypted with the vault's key" if found.encrypted else "not encrypted"
    until = "They are removed when all releases are published." if options["release"] else _DELETE
    click.echo(f"files       {files}: personal data, {how}. {until}")
    click.echo(f"policy      {printable(str(policy_file))}")


_DELETE: Final = "Delete them when the releases are out."
_KEPT: Final = (
    "The partitions' files are kept: delete them when all is collected. To go on after a refusal, change the "
    "limits in the policy of the partitions (rehearse POLICY --partition KEY tries them, and costs no ε). "
    "If some partitions were published before you changed the policy, leave --policy out of the second "
    "command."
)


def _print_next(
    found: Division,
    policy_file: Path,
    options: Mapping[str, Any],
    *,
    missing: bool = False,
    err: bool = False,
) -> None:
    """Say what to do next.

    Args:
        missing: whether some releases were made already.
        err: whether this goes to standard error.
    """
    policy, span = policy_file.with_name(found.policy.name), f"{found.keys[0]}...{found.keys[-1]}"
    jobs = str(max(options["jobs"], 2))
    more = ["--partitions", span, *(["--missing"] if missing else []), "--jobs", jobs]
    click.echo(f"Next: {command_to_run(policy, options, *more)}", err=err)
    click.echo(f"Then: {command_to_collect(_relative_path(found.releases), policy, options)}", err=err)


def _document(found: Division, policy_file: Path) -> dict[str, Any]:
    """Return what was chosen and written, as JSON has it."""
    return {
        "levels": found.levels,
        "classes": found.classes,
        "closeness": found.closeness,
        "apart": list(found.apart),
        "partitions": list(found.keys),
        "files": str(_relative_path(found.files)),
        "encrypted": found.encrypted,
        "policy": str(policy_file.with_name(found.policy.name)),
    }


def _relative_path(folder: Path) -> Path:
    """Return a folder as it is shown: relative to the current one where it is below."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder
