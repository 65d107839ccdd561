"""The gate judges the very bytes that would be written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anon_pipeline.base.digest import digest_frame
from anon_pipeline.base.errors import ANOTHER_DRAW, GateRefused, PublishError
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.packed_tables import Table, with_column_of
from anon_pipeline.catalog.releases import RELEASE_FORMATS
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.gate import GateReport, evaluate
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.file_formats import column_types, file_types, read_back, to_files
from anon_pipeline.publish.parts import expected_records
from anon_pipeline.publish.writer import DataFile, data_file
from anon_pipeline.sources.population import Population
from anon_pipeline.stages.history.in_ledger import NOTHING_IN_LEDGER, InLedger
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.lineage import Descent, Where
from anon_pipeline.stages.private import Staged


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A release as the bytes that would be written, with the gate's report on them.

    frame: (r, columns) the table read back from the files.
    files: the data files, in the order of the records; at least one.
    report: verdicts on ``frame``.
    """

    frame: Table = field(repr=False)
    files: tuple[DataFile, ...] = field(repr=False)
    report: GateReport


def judge(  # noqa: PLR0913 - what is judged, by what, and where it belongs
    released: Staged,
    originals: Table,
    policy: Policy,
    *,
    hierarchies: Path,
    memory: Memory | None = None,
    population: Population | None = None,
    where: Where | None = None,
    in_ledger: InLedger = NOTHING_IN_LEDGER,
) -> Judged:
    """Turn a table into bytes, read them back, and let the gate judge what was read.

    Args:
        released: the suppressed table, with private columns, and the facts of every stage.
        originals: (n, columns) the table of `k_anonymized`.
        memory: what was published before; None without ``record_key``.
        population: needed with ``gate.attacks.population``.
        where: the tables must belong; None: in memory, a release of one piece.
        in_ledger: what the ledger has of other releases.
    Raises:
        PublishError: the bytes do not read back as the table that was written.
    """
    table = released.frame[policy.released]
    file_format, formulas = policy.publish.format, policy.publish.formulas
    records_per_file = policy.publish.records_per_file
    written = to_files(table, file_format, records_per_file=records_per_file, formulas=formulas)
    back = read_back(written, file_format, like=table, formulas=formulas)
    if digest_frame(back) != digest_frame(table):
        raise PublishError(f"the {file_format} data does not read back as it was written")
    return_freed_memory(len(back))  # what writing and reading needed is gone
    with_ids = with_column_of(back, released.frame, RECORD)
    report = evaluate(
        with_ids,
        policy,
        released.facts,
        originals=originals,
        hierarchies=hierarchies,
        memory=memory,
        population=population,
        descent=Descent(released.frame, released.lineage, where or Where(None, policy.name)),
        in_ledger=in_ledger,
    )
    return_freed_memory(len(back))  # what the limits shared is gone
    types = file_types(written[0], file_format) if RELEASE_FORMATS[file_format].typed else column_types(back)
    records = expected_records(len(back), records_per_file)
    files = (
        data_file(policy.name, file_format, data, many, types)
        for data, many in zip(written, records, strict=True)
    )
    return Judged(back, tuple(files), report)


def refuse_unless_passed(
    report: GateReport,
    *,
    drawn: bool = False,
    kept: str | None = None,
    advises: Callable[[], Sequence[str]] = tuple,
) -> None:
    """Raise unless every limit was measured and kept.

    Args:
        drawn: whether noise was drawn and paid for, which another policy would be once more.
        kept: where the curator finds what was measured; None: nowhere but in the error's ``report``.
        advises: computes what to change in the policy, if somebody asks.
    Raises:
        GateRefused: naming each limit that was not, with its bound, and not by how much.
    """
    if report.passed:
        return
    lines = [v.as_text() for v in report.unkept]
    if kept is not None:
        lines.append(f"({kept})")
    if drawn:
        lines.append(f"({ANOTHER_DRAW})")
    said = "\n".join(["The gate refused the release:", *lines])
    raise GateRefused(said, report, kept=kept, advises=advises)
