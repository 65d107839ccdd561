"""All releases of a divided table: made, collected, and the files of the partitions removed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.interrupts import left_by_termination
from anon_pipeline.cli.parallel_runs import Ended, run_command, run_each, say_published
from anon_pipeline.cli.run_workers import REFUSED
from anon_pipeline.cli.shared import printable

if TYPE_CHECKING:
    from anon_pipeline.division.divide import Division


@dataclass(slots=True)
class Releases:
    """What came of the releases of some partitions.

    keys: of the partitions, in their order.
    documents: what `run --json` says of each that was published or refused, by its key.
    codes: exit codes of the others, and of the refused ones.
    """

    keys: Sequence[str]
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)

    @property
    def code(self) -> int:
        """Exit code of all together: that of a failure, or the least one of a refusal, or 0."""
        failed = [code for code in self.codes.values() if code not in REFUSED]
        return min(failed or self.codes.values(), default=0)

    @property
    def published(self) -> int:
        """How many are published."""
        return sum(bool(one["published"]) for one in self.documents.values())

    @property
    def complete(self) -> bool:
        """Whether all are published."""
        return self.published == len(self.keys)

    def in_order(self) -> list[dict[str, Any]]:
        """Return what is said of each, in the order of the partitions."""
        return [self.documents[key] for key in self.keys if key in self.documents]


def release_partitions(
    policy_file: Path, keys: Sequence[str], options: Mapping[str, Any], say: Callable[[str], None]
) -> Releases:
    """Make the release of each partition by another process, and say a line when one has ended.

    After a refused partition, or any other failure, no further one begins: the others have the same policy
    and about the same data, and a refused one has spent its ε, too.

    Args:
        policy_file: of the partitions.
        options: of the command: ``jobs``, ``project``, ``allow_outside``.
        say: prints a line.
    """
    made = Releases(keys)
    command = [*run_command("run", policy_file, {**options, "to_dagster": False}), "--json"]
    with left_by_termination():
        for ended in run_each(command, keys, options["jobs"], until_refused=True):
            _take(made, ended)
            say(_line_of(made, ended))
            if ended.code:
                click.echo(ended.err, nl=False, err=True)
    for line in [*_warnings_of(made), *_advice_of(made), *_ledger_of(made)]:
        say(line)
    begun = {*made.documents, *made.codes}
    left = [key for key in keys if key not in begun]
    say(say_published(made.published, len(keys)) + (f"; not begun: {', '.join(left)}" if left else ""))
    return made


def _take(made: Releases, ended: Ended) -> None:
    """Note how a run has ended. A budget that refuses, and levels that do not fit, write no document."""
    if ended.code:
        made.codes[ended.partition] = ended.code
    if ended.out.startswith("{"):
        made.documents[ended.partition] = json.loads(ended.out)


def _line_of(made: Releases, ended: Ended) -> str:
    """Say how a run has ended."""
    said = made.documents.get(ended.partition)
    if not ended.code and said is not None:
        return f"published   {ended.partition}: {said['records']:,} records"
    if ended.code not in REFUSED:
        return f"failed      {ended.partition}: exit code {ended.code}"
    by = [] if said is None else [one["limit"] for one in said["verdicts"] if one["status"] == "refused"]
    return f"refused     {ended.partition}{': ' if by else ''}{', '.join(map(printable, by))}"


def _warnings_of(made: Releases) -> list[str]:
    """Return a line for each limit that warned, with the number of partitions."""
    many = len(made.keys)
    warned = Counter(
        verdict["limit"]
        for said in made.documents.values()
        for verdict in said["verdicts"]
        if verdict["status"] == "warned"
    )
    lines = [
        f"warned      {printable(limit)}: {count} of {many} partitions" for limit, count in warned.items()
    ]
    return [*lines, _WHOLE_TABLE] if lines else []


_WHOLE_TABLE = (
    "            To see whether the whole table warns, too: anon-pipeline rehearse, with its own policy. "
    "What to change: docs/troubleshooting.md"
)


def _ledger_of(made: Releases) -> list[str]:
    """Return what the releases have cost, once for all that say the same; a record is in one partition."""
    said = Counter(one["ledger"] for one in made.documents.values() if one.get("ledger"))
    return [
        f"ledger      in each of {count} partitions (a record is in one of them): {line}"
        for line, count in said.items()
    ]


def _advice_of(made: Releases) -> list[str]:
    """Return a line for each advice on refused partitions, with the number of partitions that it is for."""
    advised = Counter(line for said in made.documents.values() for line in said["advice"])
    return [f"advice      {line} ({count} of {len(made.keys)} partitions)" for line, count in advised.items()]


def collect_division(found: Division, policy_file: Path, options: Mapping[str, Any]) -> bool:
    """Collect the releases of all partitions, and print what was written; tell whether that is done.

    Together they must have the records of the table, and no class twice: else a file was changed after the
    division, and no collection is left.
    """
    from anon_pipeline.base.errors import AnonPipelineError  # noqa: PLC0415
    from anon_pipeline.cli.collecting import collect_folder, print_collected  # noqa: PLC0415
    from anon_pipeline.publish.collection.collection_document import COLLECTION  # noqa: PLC0415

    folder = found.releases
    try:
        collected = collect_folder(folder, policy_file, options)
    except AnonPipelineError as error:
        click.echo(f"error: {error}", err=True)
        return False
    if collected.document is not None:
        together = collected.document["together"] or {}
        if together.get("records") != found.records or together.get("shared"):
            (folder / COLLECTION).unlink()
            click.echo(_CHANGED, err=True)
            return False
    print_collected(collected, folder, as_json=options["as_json"])
    return collected.document is not None


_CHANGED = (
    "error: the partitions together must have the records of the table, and each class in one of them. Their "
    "files were changed after the division: divide again, and withdraw these releases."
)
