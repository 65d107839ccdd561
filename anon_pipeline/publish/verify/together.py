"""Several releases verified together, such as the partitions of a divided table.

Each is verified by itself. What is said of all of them is computed from the manifests and the released
tables, which are read one at a time: whoever has the folder can do it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.observer import Observer, Step, ignore
from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.base.rows import take_rows
from anon_pipeline.base.size_bounds import MANIFEST_BYTES, read_small
from anon_pipeline.base.spelling import is_plain
from anon_pipeline.base.worker_processes import map_in_processes
from anon_pipeline.evidence.evidence import value_classes
from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.collection.part import Part, part_of
from anon_pipeline.publish.manifest.manifest import MANIFEST
from anon_pipeline.publish.verify.verify import Against, Verification, verify_in_detail
from anon_pipeline.publish.verify.verify_files import unmeasured_verdict, verdict_on, verdict_on_list
from anon_pipeline.publish.verify.verify_policy import POLICY_DIGEST

Classes = tuple[pd.DataFrame, NDArray[np.int64]]
PARTITIONS: Final = "partitions"
_NAMED: Final = 5  # of the keys that are named in a verdict


@dataclass(frozen=True, slots=True)
class Together:
    """What several releases hold together.

    policies: different policies that made them, by their digests.
    records: of their inputs. released: records of the released tables.
    classes: different classes, over all releases; None: not known, see `verify_together`.
    smallest: records of the smallest class, over all releases.
    shared: classes with records in more than one release.
    """

    policies: int
    records: int
    released: int
    classes: int | None = None
    smallest: int | None = None
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class Verifications:
    """What was found of several releases.

    each: by the name of a release's folder.
    partitions: whether they are the partitions that the policy lists.
    together: None: see `verify_together`.
    digests: SHA-256 of each manifest that was verified; None: it cannot be read.
    parts: what the manifests say; none of those that are no manifests.
    collection: whether they are those of the folder's collection, see `collection_check`.
    """

    each: Mapping[str, Verification]
    partitions: Verdict
    together: Together | None
    digests: Mapping[str, str | None] = field(default_factory=dict)
    parts: Mapping[str, Part] = field(default_factory=dict)
    collection: Verdict | None = None

    @property
    def own(self) -> tuple[Verdict, ...]:
        """The verdicts on all of them together."""
        return (self.partitions, *(() if self.collection is None else (self.collection,)))

    @property
    def refused_releases(self) -> list[str]:
        """The names of the folders whose releases were refused."""
        return [name for name, one in self.each.items() if one.report.with_status(Status.REFUSED)]

    @property
    def refused(self) -> list[str]:
        """What was refused: names of folders, ``partitions``, ``collection``."""
        own = [verdict.limit for verdict in self.own if verdict.status is Status.REFUSED]
        return [*self.refused_releases, *own]


def holds_several(folder: Path) -> bool:
    """Tell whether a folder is of no release, and has folders of releases in it."""
    return folder.is_dir() and not (folder / MANIFEST).exists() and any(folder.glob(f"*/{MANIFEST}"))


def deeper_folders(folder: Path) -> list[Path]:
    """Return the folders of several releases below a folder, such as those of partitions or divisions."""
    found = (path.parent.parent for depth in ("*/*", "*/*/*") for path in folder.glob(f"{depth}/{MANIFEST}"))
    return sorted({*found})


def verify_together(
    folder: Path,
    against: Against,
    *,
    verify: Callable[[Path, Against], Verification] = verify_in_detail,
    observe: Observer = ignore,
    jobs: int = 1,
) -> Verifications:
    """Verify each release in the folders of a folder, and whether they are all that the policy lists.

    Counts are added up if all are of one release, and none is refused but for being made by another policy
    than the one given. Classes are counted over all of them unless there is no policy for one, or the
    generalize columns of one are others.

    Args:
        folder: of folders of releases.
        against: policy and key of all of them, where there are any.
        verify: verifies one of them, by its manifest; may know other kinds of releases.
        observe: called with the name of each folder.
        jobs: releases that are verified at a time; several by processes of their own, see `map_in_processes`.
    """
    each, digests = dict[str, Verification](), dict[str, str | None]()
    parts, counted, strange = dict[str, Part](), list[Classes | None](), False
    manifests = sorted(folder.glob(f"*/{MANIFEST}"))
    verified = map_in_processes(_Verifying.of(against, verify), manifests, jobs=jobs, stage="verify")
    for manifest in manifests:
        name = manifest.parent.name
        observe(Step(name))
        found, data, classes = next(verified)
        digests[name] = None if data is None else hashlib.sha256(data).hexdigest()
        part = part_of(data)
        if part is not None:
            parts[name] = part
        counted.append(classes)
        refused = {verdict.limit for verdict in found.report.with_status(Status.REFUSED)}
        strange |= bool(refused - {POLICY_DIGEST})
        each[name] = found
    listed = [part for part in parts.values() if part.kind is None]
    strange |= any(part.records is None for part in listed)
    strange |= len(listed) < len(each) or len({part.release for part in listed}) != 1
    verdict = _judge_partitions(listed, against.policy)
    strange |= _are_copies(listed)
    sums = None if strange else _together(listed, counted)
    return Verifications(each, verdict, sums, digests, parts)


@dataclass(frozen=True, slots=True)
class _Verifying:
    """Verifies releases, one at a time, in any process; a key object cannot be sent there.

    against: without its key; ``key``: its bytes.
    """

    against: Against
    key: bytes | None = field(repr=False)
    verify: Callable[[Path, Against], Verification]

    @classmethod
    def of(cls, against: Against, verify: Callable[[Path, Against], Verification]) -> _Verifying:
        """Take the key apart."""
        key = None if against.key is None else against.key.public_bytes_raw()
        return cls(replace(against, key=None), key, verify)

    def __call__(self, manifest: Path) -> tuple[Verification, bytes | None, Classes | None]:
        """Return what was found of a release, without its table, its manifest, and its classes."""
        key = None if self.key is None else Ed25519PublicKey.from_public_bytes(self.key)
        found, data = _verify_unchanged(manifest, replace(self.against, key=key), self.verify)
        return found.without_table(), data, _count_classes(found)


def _verify_unchanged(
    manifest: Path, against: Against, verify: Callable[[Path, Against], Verification]
) -> tuple[Verification, bytes | None]:
    """Verify a release; return what was found, and the manifest that was read."""
    before = _manifest_bytes(manifest)
    try:
        found = verify(manifest, against)
    except InputError as error:
        return _refuse("manifest", str(error)), before
    if _manifest_bytes(manifest) != before:
        return _refuse("manifest", "it was replaced while it was verified"), before
    return found, before


def _manifest_bytes(manifest: Path) -> bytes | None:
    """Return a manifest's bytes; None: it cannot be read, or is too large."""
    try:
        return read_small(manifest, MANIFEST_BYTES)
    except OSError:
        return None


def _refuse(limit: str, why: str) -> Verification:
    return Verification(GateReport((verdict_on(limit, why),), "", ""), (), ())


def _count_classes(found: Verification) -> Classes | None:
    """Return the classes of a release: their values, (m, columns), and how many records each has, (m,)."""
    if found.table is None or found.policy is None or not found.policy.generalized:
        return None
    names = sorted(found.policy.generalized)  # another order makes the same classes
    classes = value_classes(found.table, names)
    first = np.unique(classes.labels, return_index=True)[1]
    return unpack_table(take_rows(found.table[names], first)).astype(object), classes.sizes


def _together(parts: Sequence[Part], counted: Sequence[Classes | None]) -> Together:
    """Add up what verified manifests say, and join the classes of their tables."""
    sums = (
        len({part.policy_digest for part in parts}),
        sum(part.records or 0 for part in parts),
        sum(part.released or 0 for part in parts),
    )
    known = [one for one in counted if one is not None]
    if len(known) < len(counted) or len({tuple(values.columns) for values, _ in known}) != 1:
        return Together(*sums)
    rows = pd.concat([values for values, _ in known], ignore_index=True)
    sizes = pd.Series(np.concatenate([sizes for _, sizes in known]))
    of_class = sizes.groupby([rows[name] for name in rows], dropna=False, sort=False)
    records, releases = of_class.sum(), of_class.size()
    return Together(*sums, len(records), int(records.min()), int((releases > 1).sum()))


def _judge_partitions(parts: Sequence[Part], policy: Policy | None) -> Verdict:
    """Judge whether the releases are one of each partition that a policy lists."""
    found = Counter((part.release, str(part.partition or part.release)) for part in parts)
    twice = sorted({key for (_, key), times in found.items() if times > 1})
    if twice:
        return verdict_on_list(PARTITIONS, [f"more than one release of {_name(twice)}"])
    if _are_copies(parts):
        return verdict_on_list(PARTITIONS, ["two releases have the same records"])
    schedule = None if policy is None else policy.schedule
    if schedule is None or not schedule.keys:
        why = "needs --policy" if policy is None else "the policy lists no keys"
        return unmeasured_verdict(PARTITIONS, why)
    keys = {str(part.partition) for part in parts}
    missing = [key for key in schedule.keys if key not in keys]
    strange = sorted(keys - {*schedule.keys})
    problems = [
        f"{len(some)} {what}: {_name(some)}"
        for some, what in ((missing, "without a release"), (strange, "not listed by the policy"))
        if some
    ]
    return verdict_on_list(PARTITIONS, problems)


def _are_copies(parts: Sequence[Part]) -> bool:
    """Tell whether two releases have the same records: noise and order are drawn, so they are copies."""
    return len({part.data_digest for part in parts}) < len(parts)


def _name(keys: Sequence[str]) -> str:
    """Name the first few keys of partitions, which are public."""
    more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
    return ", ".join(key if is_plain(key) else "a key that is no plain name" for key in keys[:_NAMED]) + more
