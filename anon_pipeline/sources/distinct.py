"""Two partitions with one file are one release of the same people, made twice."""

from __future__ import annotations

import filecmp
import glob
import re
from pathlib import Path

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.releases import group_of
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.sources.change_guard import files_in

_PARTITION = "{partition}"


def refuse_same_file(policy: Policy, *, folder: Path, partition: str | None) -> None:
    """Refuse a partition whose file is that of another one, where partitions must have records of their own.

    They must where the budget is per record, and where the policy lists them, in each group. Refused is a
    link, or a copy with the same bytes. The same people in other bytes are not noticed.

    Args:
        folder: what ``source.path`` is relative to.
    Raises:
        InputError: naming both partitions.
    """
    named, keys = policy.source.watched, () if policy.schedule is None else policy.schedule.keys
    counted = policy.budget is not None and policy.budget.per == "record"
    if not (counted or keys) or named is None or partition is None:
        return
    if _PARTITION not in named:
        others = [(key, str(folder / named)) for key in keys if key != partition]
    else:
        others = _others(str(folder / named), partition)
    mine = folder / named.replace(_PARTITION, plain_partition(partition))
    for other, path in others:
        if not _may_be_released(policy, other, partition):
            continue
        try:
            same = mine.samefile(path) or _equal(mine, Path(path))
        except (OSError, InputError):  # one that cannot be read cannot be released either
            continue
        if same:
            which = "budget.per: record" if counted else "schedule.partitions: listed"
            instead = "use per: dataset" if counted else "let their keys be of different groups (group.name)"
            raise InputError(
                f"{which} needs a file of its own for each partition, got one for {partition} and {other}. "
                f"The same people would be released in both: give each its records, or {instead}."
            )


def _may_be_released(policy: Policy, other: str, partition: str) -> bool:
    """Tell whether a file is of a partition whose budget is counted for itself.

    Where the policy lists the partitions, those are the others of the group: of other groups the ledger
    counts what they have spent.
    """
    keys = () if policy.schedule is None else policy.schedule.keys
    return not keys or (other in keys and group_of(other) == group_of(partition))


def _equal(one: Path, other: Path) -> bool:
    """Tell whether two files have the same bytes, or two folders the same files."""
    if not (one.is_dir() and other.is_dir()):
        return filecmp.cmp(one, other, shallow=False)
    mine, theirs = files_in(one), files_in(other)
    return mine.keys() == theirs.keys() and all(
        filecmp.cmp(mine[name], theirs[name], shallow=False) for name in mine
    )


def _others(path: str, partition: str) -> list[tuple[str, str]]:
    """Return the other partitions that have a file, and their files."""
    first, *rest = (re.escape(part) for part in path.split(_PARTITION))
    pattern = re.compile(first + "([A-Za-z0-9_:.-]+)" + r"\1".join(rest) if rest else first)
    names = sorted(glob.glob(_as_glob(path)))  # noqa: PTH207 - the path may be absolute
    found = [(pattern.fullmatch(name), name) for name in names]
    return [(match[1], name) for match, name in found if match is not None and match[1] != partition]


def _as_glob(path: str) -> str:
    return "*".join(glob.escape(part) for part in path.split(_PARTITION))
