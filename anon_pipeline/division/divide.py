"""Divide a table: count, choose the levels for all of it, and write each class whole into one partition."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.blocks import slices_of
from anon_pipeline.base.classes import group_columns
from anon_pipeline.base.errors import InputError, PolicyError, private_stage
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.catalog.recoders import names_where, recoder_of
from anon_pipeline.division.assignment import assign_classes, shuffle
from anon_pipeline.division.closeness import closeness_within
from anon_pipeline.division.deciding_columns import Deciding, read_deciding
from anon_pipeline.division.divided_policy import divided_document, divided_text
from anon_pipeline.division.part_files import write_parts
from anon_pipeline.division.record_counter import RecordCounter, generalize_codes
from anon_pipeline.draft.private_files import write_private
from anon_pipeline.policy.load import read_document
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.recode import choose_elsewhere
from anon_pipeline.recode.choice import Choice
from anon_pipeline.recode.task import Task
from anon_pipeline.sources.change_guard import refuse_changes
from anon_pipeline.sources.parquet_rows import read_rows
from anon_pipeline.sources.paths import local_path
from anon_pipeline.stages.recoder_task import question

RECORDS: Final = 1_000_000
"""Records of a partition, about, if nobody says how many partitions there shall be."""
_MOST_PARTS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Division:
    """What a table was divided into.

    keys: of the partitions.
    levels: of each generalize column, chosen for the whole table.
    closeness: t of sensitive columns within a partition, where it is smaller than the policy's.
    apart: sensitive columns whose t is kept within each partition, and perhaps not towards the whole table.
    files: folder of the partitions' files; ``policy``: the file of their policy.
    """

    keys: tuple[str, ...]
    levels: dict[str, int]
    closeness: dict[str, float]
    apart: tuple[str, ...]
    files: Path
    policy: Path


def divide(
    policy_file: Path,
    policy: Policy,
    locations: Locations,
    *,
    parts: int | None = None,
    to: Path | None = None,
    observe: Observer = ignore,
) -> Division:
    """Divide the table of a policy into partitions of whole classes, and write the policy of their releases.

    Args:
        policy_file: of the policy; that of the partitions is written next to it.
        parts: partitions; None: about one for each million records.
        to: folder of the partitions' files, below that of the sources; None: ``partitions/<id>`` there.
        observe: called with each step, and now and then with how far a search is.
    Raises:
        PolicyError: a policy whose releases cannot be divided; every reason.
        InputError: the source does not fit the policy, or too many partitions.
        InfeasibleError: no recoding keeps the limits.
    """
    document = read_document(policy_file)
    _refuse_undividable(policy, locations, to)
    path = local_path(str(policy.source.place), "source.path", locations.sources, None)
    division = secrets.token_hex(4)
    folder = locations.sources / "partitions" / division if to is None else to.absolute()
    with refuse_changes(path), private_stage("divide"):
        observe(Step("counting"))
        deciding = read_deciding(policy, path, hierarchies=locations.hierarchies)
        many = parts or max(2, -(-deciding.records // RECORDS))
        _refuse_many(many, deciding.records, policy)
        observe(Step("choosing levels"))
        task, choice = _choose(policy, deciding, observe)
        levels = dict(zip(policy.generalized, choice.levels or (), strict=True))
        owners = _owners(policy, task, choice, deciding, many)
        closeness, apart = _closeness(deciding, owners, many)
        del deciding, task, choice
        return_freed_memory(len(owners))
        keys = tuple(f"{division}.{part:0{len(str(many))}}" for part in range(1, many + 1))
        made = divided_document(
            document,
            path=f"{folder.relative_to(locations.sources).as_posix()}/{{partition}}.parquet",
            levels=levels,
            keys=keys,
            closeness=closeness,
        )
        observe(Step("writing partitions"))
        paths = [folder / f"{key}.parquet" for key in keys]
        write_parts(read_rows(path, policy.source.limits), owners, paths, folder=folder)
    target = policy_file.with_name(f"{policy_file.stem}-{division}.yaml")
    text = divided_text(made, name=policy_file.name, closer=bool(closeness))
    write_private(target, text.encode())
    return Division(keys, levels, closeness, apart, folder, target)


def _refuse_undividable(policy: Policy, locations: Locations, to: Path | None) -> None:
    """Refuse what partitions of classes do not keep, or are not needed for."""
    source, recoder, problems = policy.source, recoder_of(policy.anonymize.recoder), list[str]()
    if source.watched is None or source.format != "parquet" or source.named_partitions():
        problems.append("source: must be a path of Parquet without {partition} to be divided")
    if recoder.family.releases != "levels":
        fits = ", ".join(names_where(lambda one: one.family.releases == "levels"))
        problems.append(
            f"anonymize.recoder: must choose levels for the whole table ({fits}), got {recoder.name}"
        )
    for key in ("person", "record_key"):
        if getattr(policy, key) is not None:
            problems.append(
                f"{key}: must be left out to be divided: records of a person are in several classes"
            )
    if not policy.generalized:
        problems.append("columns: at least one must have the role generalize to be divided")
    if to is not None and not to.absolute().is_relative_to(locations.sources):
        problems.append("--to must be a folder below that of the sources")
    if problems:
        raise PolicyError(problems)


def _refuse_many(parts: int, records: int, policy: Policy) -> None:
    """Refuse so many partitions that they cannot have k records each, or files cannot be open together."""
    most = min(_MOST_PARTS, records // policy.anonymize.k)
    if not 2 <= parts <= most:
        raise InputError(f"--into must be from 2 to {most:,} for this table, got {parts:,}")


def _choose(policy: Policy, deciding: Deciding, observe: Observer) -> tuple[Task, Choice]:
    """Choose the levels by the policy's recoder, for all records that are not gone."""
    complete = deciding.complete()
    task = question(
        policy,
        deciding.hierarchies,
        deciding.limits,
        subjects=deciding.records,
        gone=int(deciding.gone.sum()),
        observe=observe,
    )
    counter = RecordCounter(task, complete.codes, complete.limited, complete.target)
    return task, choose_elsewhere(task, counter, most=counter.most)


def _owners(policy: Policy, task: Task, choice: Choice, deciding: Deciding, parts: int) -> NDArray[np.int16]:
    """Return the partition of each record, (n,).

    Raises:
        InputError: a partition would be beyond the suppression limit, or without any class.
    """
    complete = deciding.complete()
    columns = generalize_codes(task, complete.codes, choice.levels or ())
    first, labels, sizes = group_columns(columns, complete.records)
    leaves = np.stack([own[first] for own in complete.codes], axis=1).astype(np.int64)
    kept = choice.finder.find(leaves) >= 0
    gone = int(deciding.gone.sum())
    assigned, of_gone = assign_classes(sizes, kept, parts, gone=gone)
    _refuse_uneven(policy, sizes, kept, assigned, of_gone)
    owners = np.empty(deciding.records, np.int16)
    owners[~deciding.gone] = assigned.astype(np.int16)[labels]
    owners[deciding.gone] = shuffle(np.repeat(np.arange(parts), of_gone))
    return owners


def _refuse_uneven(
    policy: Policy,
    sizes: NDArray[np.int64],
    kept: NDArray[np.bool_],
    assigned: NDArray[np.int64],
    gone: NDArray[np.int64],
) -> None:
    """Refuse a division whose partitions are not each a table that can be released."""
    released, suppressed = (
        np.bincount(assigned[which], sizes[which], len(gone)).astype(np.int64) for which in (kept, ~kept)
    )
    suppressed += gone
    over = sum(
        int(own) > policy.suppressible(int(own + left))
        for own, left in zip(suppressed, released, strict=True)
    )
    if not released.all():
        raise InputError(
            f"--into must be at most the number of classes that are released, got {len(gone):,}. Take fewer."
        )
    if over:
        raise InputError(
            f"--into {len(gone)}: {over} partitions would be beyond anonymize.suppression_limit, since whole "
            "classes are suppressed. Take fewer partitions, or lower the limit a little for the whole table."
        )


def _closeness(
    deciding: Deciding, owners: NDArray[np.int16], parts: int
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the t that partitions must keep, by column, if it is smaller; and columns without such a t."""
    found, apart = dict[str, float](), list[str]()
    for limit, codes in zip(deciding.limits, deciding.limited, strict=True):
        if limit.t is None:
            continue
        values = len(limit.whole)
        counts = np.zeros(parts * values, np.int64)
        for part in slices_of(len(codes)):
            there = codes[part] >= 0
            place = owners[part][there].astype(np.int64) * values + codes[part][there]
            counts += np.bincount(place, minlength=parts * values)
        within = closeness_within(limit, counts.reshape(parts, values))
        if within is None:
            apart.append(limit.column)
        elif within < limit.t:
            found[limit.column] = within
    return found, tuple(apart)
