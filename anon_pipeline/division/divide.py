"""Divide a table: count, choose the classes for all of it, and write each whole into one partition."""

from __future__ import annotations

import posixpath
import secrets
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from anon_pipeline.base.errors import InputError, private_stage
from anon_pipeline.base.freed_memory import return_freed_memory
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.division.class_rows import class_column, with_classes
from anon_pipeline.division.deciding_columns import read_deciding
from anon_pipeline.division.divided_policy import divided_document, write_policy
from anon_pipeline.division.leftovers import is_free, remove_leftovers
from anon_pipeline.division.part_files import hold_part_folder, removed_unless_done, write_parts
from anon_pipeline.division.plan import Plan, plan_division
from anon_pipeline.division.source_reading import Places, Reading, Source, read_twice
from anon_pipeline.division.undividable import refuse_undividable
from anon_pipeline.policy.files import Limits
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.open_questions import refuse_open_questions
from anon_pipeline.policy.policy_file import read_document
from anon_pipeline.policy.rendering import by_environment, render_attributes
from anon_pipeline.policy.sections import Schedule
from anon_pipeline.publish.accounting.booking import booking
from anon_pipeline.report.words import level_in_words
from anon_pipeline.sources.paths import local_path
from anon_pipeline.vault.keys import keys_from

if TYPE_CHECKING:
    import pyarrow as pa

RECORDS: Final = 1_000_000
"""Records of a partition, about, if nobody says how many partitions there shall be."""
_MOST_PARTS: Final = 1_000
_LARGER: Final = 4  # times the bytes of a text file that its records may take as Parquet, unpacked
_FOLDER: Final = "partitions"  # of all divisions' files, in that of the sources


@dataclass(frozen=True, slots=True)
class Division:
    """What a table was divided into.

    keys: of the partitions.
    records: of the table, in all partitions together.
    levels: of each generalize column, chosen for the whole table; ``words``: what they show. None if the
        classes are ranges; ``classes`` is then the column of the files that names them.
    closeness: t of sensitive columns within a partition, where it is smaller than the policy's.
    apart: sensitive columns whose t is kept within each partition, and perhaps not towards the whole table.
    files: folder of the partitions' files; ``encrypted``: with the vault's key.
    policy: the file of their policy; ``releases``: folder of their releases.
    """

    keys: tuple[str, ...]
    records: int
    levels: dict[str, int]
    words: dict[str, str]
    classes: str | None
    closeness: dict[str, float]
    apart: tuple[str, ...]
    files: Path
    encrypted: bool
    policy: Path
    releases: Path


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
        PolicyError: a policy whose releases cannot be divided, every reason; or questions stand in its file:
            the policy that is written would lose them.
        InputError: the source does not fit the policy, or too many partitions.
        GateRefused: the budget would refuse the partitions' releases.
        InfeasibleError: no recoding keeps the limits.
    """
    document = _fill_templates(read_document(policy_file))
    refuse_open_questions(policy.open_questions)
    refuse_undividable(policy)
    division = f"d{secrets.token_hex(4)}"  # with a letter first, it is never a date
    places = _places(policy_file, policy, locations, division, to)
    if remove_leftovers([*(locations.sources / _FOLDER).glob("d*"), places.folder]):
        observe(Step("removed the files of a divide that was killed"))
    if places.folder.exists() and not is_free(places.folder):
        raise InputError("the folder of partitions (--to) must be a new or an empty folder")
    _refuse_unbookable(policy, locations, f"{division}.1")
    _refuse_unnamed(policy, locations, f"{division}.1")
    written = list[Path]()
    key = keys_from().current
    with removed_unless_done(written, places.folder), ExitStack() as held:
        reading = Reading(policy, locations.sources, places, key, observe)
        with read_twice(reading, held) as readable, private_stage("divide"):
            plan, many = _plan(policy, readable, locations.hierarchies, parts, observe)
            keys = tuple(f"{division}.{part:0{len(str(many))}}" for part in range(1, many + 1))
            made = _document_of(document, policy, plan, keys, places, encrypted=key is not None)
            observe(Step("writing partitions"))
            files = [places.folder / f"{one}.parquet" for one in keys]
            if not readable.copied:
                held.enter_context(hold_part_folder(places.folder, places.policy))
            write_parts(_rows(policy, readable, plan), plan.owners, files, made=written, key=key)
        words = _words(policy, plan, locations)
        written.append(places.policy)
        closer = bool(plan.closeness or plan.judged)
        write_policy(places.policy, made, name=policy_file.name, closer=closer)
    return Division(
        keys,
        len(plan.owners),
        plan.levels,
        words,
        None if plan.classes is None else class_column(policy),
        plan.closeness | plan.judged,
        plan.apart,
        files=places.folder,
        encrypted=key is not None,
        policy=places.policy,
        releases=locations.releases / made["attributes"]["publish"]["to"],
    )


def _rows(policy: Policy, readable: Source, plan: Plan) -> Iterable[pa.Table]:
    """Return the records as the partitions have them: with their classes if cuts have made these."""
    rows = readable.rows()
    return rows if plan.classes is None else with_classes(rows, class_column(policy), plan.classes)


def _words(policy: Policy, plan: Plan, locations: Locations) -> dict[str, str]:
    """Say what the level of each column shows; nothing where classes are made by cuts."""
    levels = plan.levels.items()
    return {
        name: level_in_words(policy, name, one, hierarchies=locations.hierarchies) for name, one in levels
    }


def _plan(
    policy: Policy, readable: Source, hierarchies: Path, parts: int | None, observe: Observer
) -> tuple[Plan, int]:
    """Count, choose the levels and assign the classes; return the plan and how many partitions there are."""
    observe(Step("counting"))
    deciding = read_deciding(policy, readable.path, hierarchies=hierarchies, limits=readable.limits)
    many = parts or max(2, -(-deciding.records // RECORDS))
    _refuse_many(many, deciding.records, policy)
    observe(Step("choosing classes"))
    plan = plan_division(policy, deciding, many, observe=observe)
    del deciding
    return_freed_memory(len(plan.owners))
    return plan, many


def _fill_templates(document: Any) -> dict[str, Any]:
    """Return a policy's document with its templates filled in, as a release reads it."""
    return {**document, "attributes": render_attributes(document["attributes"], by_environment())}


def _document_of(
    document: Mapping[str, Any],
    policy: Policy,
    plan: Plan,
    keys: tuple[str, ...],
    places: Places,
    *,
    encrypted: bool,
) -> dict[str, Any]:
    """Return the document of the partitions' policy.

    It has a name of its own, so that Dagster can have both, and publishes beside the releases of the whole
    table; its dataset is the same.
    """
    name, division = f"{policy.name}_divided", keys[0].partition(".")[0]
    base = posixpath.normpath(policy.publish.to or f"releases/{policy.name}")
    source: dict[str, Any] = {"path": f"{places.inside}/{{partition}}.parquet", "format": "parquet"}
    if encrypted:
        source["encrypted"] = True
    limits = document["attributes"]["source"].get("limits")
    if limits is not None and (places.source is None or policy.source.format != "parquet"):
        limits = {**limits, **_limits_of_parquet(policy.source.limits)}
    sections = {
        "name": name,
        "dataset": policy.dataset or policy.name,
        "source": source if limits is None else {**source, "limits": limits},
        "publish": {"to": f"{base}_divided/{division}"},
    }
    judged = plan.closeness if policy.anonymize.t_closeness is None else plan.judged
    return divided_document(
        document,
        sections,
        levels=plan.levels,
        classes=None if plan.classes is None else class_column(policy),
        keys=keys,
        closeness={"anonymize": plan.closeness, "gate": judged},
    )


def _limits_of_parquet(limits: Limits) -> dict[str, int]:
    """Return the limits of partitions of a source that was within its own: Parquet has other sizes."""
    most = _LARGER * max(limits.file_bytes, limits.uncompressed_bytes)
    return {"file_bytes": most, "uncompressed_bytes": most}


def _places(
    policy_file: Path, policy: Policy, locations: Locations, division: str, to: Path | None
) -> Places:
    """Return where a division is read and written.

    Raises:
        InputError: the source is not there; or a folder for the partitions that is outside of the sources,
            within the source, or whose name a path of a policy cannot have.
    """
    watched, kind = policy.source.watched, policy.source.kind
    source = None if watched is None else local_path(watched, f"source.{kind.name}", locations.sources, None)
    root = locations.sources.resolve()
    folder = (root / _FOLDER / division if to is None else to).resolve()
    problem = None
    if not folder.is_relative_to(root) or folder == root:
        problem = "be a folder below that of the sources"
    elif source is not None and source.is_dir() and folder.is_relative_to(source.resolve()):
        problem = "not lie within the source, which is read as one table"
    elif folder.is_relative_to(locations.release(policy).resolve()):
        problem = "not lie within a folder of releases"
    elif "{" in str(folder.relative_to(root)):
        problem = "have no { in its name"
    if problem is not None:
        raise InputError(f"the folder of partitions (--to) must {problem}")
    target = policy_file.with_name(f"{policy_file.stem}-{division}.yaml")
    return Places(source, folder, folder.relative_to(root).as_posix(), target)


def _refuse_unbookable(policy: Policy, locations: Locations, key: str) -> None:
    """Refuse a division whose releases the budget would refuse.

    Args:
        key: of one of its partitions.
    Raises:
        GateRefused: beyond the budget, or releases of another kind are out.
    """
    if policy.budget is None:
        return
    listed = Schedule(partitions="listed", keys=(key,))
    budget = policy.budget.model_copy(update={"per": "record"})
    asked = policy.model_copy(update={"schedule": listed, "budget": budget})
    with private_stage("ledger"):
        booking(asked, locations, partition=key).refuse_unbookable(fresh=policy.perturb is not None)


def _refuse_unnamed(policy: Policy, locations: Locations, key: str) -> None:
    """Refuse a policy without a dataset if the ledger has one of a source with the same columns.

    The policy of the partitions names a dataset, so `earlier_release` does not ask that of them.

    Args:
        key: of one of the partitions.
    Raises:
        InputError: it may have the same people.
    """
    if policy.dataset is not None:
        return
    asked = policy.model_copy(update={"schedule": Schedule(partitions="listed", keys=(key,))})
    with private_stage("ledger"):
        known = booking(asked, locations, partition=key).in_ledger(None).same_columns
    if known:
        raise InputError(
            "dataset: must be given to divide this table, since the ledger has a release of another dataset, "
            "whose source has the same columns. If it is about the same people, write the name of that "
            f"dataset; if not, write {policy.name}"
        )


def _refuse_many(parts: int, records: int, policy: Policy) -> None:
    """Refuse so many partitions that they cannot have k records each, or files cannot be open together."""
    most = min(_MOST_PARTS, records // policy.anonymize.k)
    if not 2 <= parts <= most:
        raise InputError(
            f"--into must be from 2 to {most:,} for this table (at most {_MOST_PARTS:,} partitions, k "
            f"records in each), got {parts:,}"
        )
