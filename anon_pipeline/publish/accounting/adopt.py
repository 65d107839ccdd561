"""Recording published releases that a ledger lacks, from manifests and memory.

Nothing but the policy says whose data a release was made of: where it was made by another one, or that is not
known, the dataset must be confirmed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger import Asked, Ledger, exact_text
from anon_pipeline.ledger.recovery import adopt, datasets_of
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.locations import plain_partition
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.version_1 import digest_1
from anon_pipeline.publish.accounting.memory_check import manifests_of, noise_in, release_ids_in
from anon_pipeline.stages.facts.fact_rules import is_digest, is_release_id
from anon_pipeline.stages.history.memory import Memory


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A ledger, and the release that is looked for.

    asked: without a partition, with the policy's whole ε.
    root: folder of the release, which those of its partitions are below.
    """

    ledger: Ledger
    asked: Asked
    root: Path


@dataclass(frozen=True, slots=True)
class Adopted:
    """A release that was entered: its id in the ledger, and the ε that it counts with."""

    release_id: str
    epsilon: str


@dataclass(frozen=True, slots=True)
class _Found:
    """A release that is out, as it would be entered.

    ours: whether it was made by the policy as it is now, and so of its dataset.
    told: whether a manifest or the memory states its ε; if not, it is the current policy's.
    """

    release_id: str
    asked: Asked
    digest: str
    ours: bool
    told: bool = True

    def with_at_least(self, epsilon: Fraction) -> _Found:
        """Return it with the larger of its ε and another stated one."""
        more = exact_text(max(Fraction(self.asked.epsilon), epsilon))
        return replace(self, asked=replace(self.asked, epsilon=more), told=True)


def adopt_releases(
    booked: Opened,
    policy: Policy | DeclaredRelease,
    memory: Memory | None,
    *,
    dataset: str | None = None,
    epsilon: Fraction | None = None,
) -> list[Adopted]:
    """Enter as published what the ledger lacks, at the whole ε: what it really spent cannot be known.

    The whole ε is the largest of those that its manifest, the memory and the policy of now state.

    The same release is entered once, however often this is done.

    Args:
        booked: the ledger and the release.
        policy: of the release.
        memory: of it, if there is one.
        dataset: the policy's, said once more by somebody who knows that these releases are of it.
        epsilon: the largest that any of the releases without a stated ε can have spent (memories before
            version 4).
    Raises:
        InputError: a manifest names a digest, an id or a partition that is none; or, unless ``dataset`` says
            so, releases may be of another dataset; or their ε is not known, and ``epsilon`` does not say it.
            Nothing is entered then.
    """
    found = _together((*_find_published(booked, policy), *_find_remembered(booked.asked, memory)))
    known = datasets_of(booked.ledger, found)
    if dataset is None:
        _refuse_if_of_another(booked.asked, found.values(), known)
    elif dataset != booked.asked.dataset:
        raise InputError(
            f"--dataset must be the policy's dataset {booked.asked.dataset}, got {dataset}. Adopt releases "
            f"by the policy that they were made by."
        )
    entered = list[Adopted]()
    for one in _with_epsilon([one for one in found.values() if one.release_id not in known], epsilon):
        if adopt(booked.ledger, one.release_id, one.asked, one.digest):
            entered.append(Adopted(one.release_id, one.asked.epsilon))
    return entered


def _together(every: Iterable[_Found]) -> dict[str, _Found]:
    """Return each release once, by its id, with its largest stated ε."""
    found = dict[str, _Found]()
    for one in every:
        before = found.setdefault(one.release_id, one)
        if one.told:
            found[one.release_id] = before.with_at_least(Fraction(one.asked.epsilon))
    return found


def _with_epsilon(missing: list[_Found], epsilon: Fraction | None) -> list[_Found]:
    """Return the releases that the ledger lacks, each with an ε that is not less than what it spent.

    Args:
        epsilon: for those without a stated ε; None if not given.
    """
    untold = sum(not one.told for one in missing)
    if untold and epsilon is None:
        raise InputError(
            f"the ε of each release that is entered must be known, got {untold} of {len(missing)} releases "
            f"whose ε is not: only a memory of before version 0.2 names them, and it does not hold the ε. "
            f"Nothing was entered. Add --epsilon E, the largest ε that any of them can have spent: see the "
            f"policies and manifests of that time."
        )
    return [one if one.told or epsilon is None else one.with_at_least(epsilon) for one in missing]


def _refuse_if_of_another(asked: Asked, found: Iterable[_Found], known: Mapping[str, str]) -> None:
    """Refuse releases that may be of another dataset: their ε would be missing from that one's budget.

    Args:
        known: dataset of those that the ledger has.
    """
    problems = list[str]()
    for one in found:
        there = known.get(one.release_id)
        if there is None and not one.ours:
            problems.append(f"{one.release_id} (made by another policy, or known from the memory alone)")
        elif there not in (None, asked.dataset):
            problems.append(f"{one.release_id} (in the ledger, of {there})")
    if problems:
        raise InputError(
            f"the releases of {asked.release} must be of the policy's dataset {asked.dataset} to be entered, "
            f"and {len(problems)} may be of another: {', '.join(problems)}. Their ε would be missing from "
            f"its budget; nothing was entered. Adopt them by the policy that they were made by. If you know "
            f"that what the ledger lacks is of {asked.dataset}, add --dataset {asked.dataset}."
        )


def _find_published(booked: Opened, policy: Policy | DeclaredRelease) -> Iterator[_Found]:
    """Yield what the manifests at the destinations show."""
    digests = {policy.digest, digest_1(policy)} if isinstance(policy, Policy) else {policy.digest}
    for document in manifests_of(booked.root, policy.name):
        partition, digest, made_by = _names_in(document, policy.name)
        epsilon = max(Fraction(booked.asked.epsilon), _promised_epsilon(document))
        composed = noise_in(document).get("composition") is not None
        asked = replace(
            booked.asked,
            partition=partition,
            policy_digest=made_by,
            epsilon=exact_text(epsilon),
            partition_kind=_kind(booked.asked, partition),
            memory=booked.asked.memory if composed else None,
        )
        for release_id in release_ids_in([document]) or [_id_of(digest, partition)]:
            yield _Found(release_id, asked, digest, made_by in digests)


def _names_in(document: Mapping[str, Any], release: str) -> tuple[str | None, str, str]:
    """Return the partition, the table's and the policy's digest that a manifest names."""
    partition = document.get("partition")
    digest, made_by = str(document.get("data_digest")), str(document.get("policy_digest"))
    plain = partition is None or isinstance(partition, str)
    if (
        not plain
        or not all(map(is_digest, (digest, made_by)))
        or not all(map(is_release_id, release_ids_in([document])))
    ):
        raise InputError(
            f"the manifests of {release} must name digests, a partition and an id, one does not. "
            f"Look at it with anon-pipeline verify; move it away to go on without it."
        )
    return None if partition is None else plain_partition(partition), digest, made_by


def _find_remembered(asked: Asked, memory: Memory | None) -> Iterator[_Found]:
    """Yield what the memory knows: the ε of their policies (from version 4 on), not which policies."""
    for past in () if memory is None else memory.releases:
        kind = _kind(asked, past.partition)
        entry = replace(asked, partition=past.partition, partition_kind=kind)
        release_id = past.release_id or _id_of(past.digest, past.partition)
        one = _Found(release_id, entry, past.digest, ours=False, told=False)
        yield one if past.epsilon is None else one.with_at_least(Fraction(past.epsilon))


def _kind(asked: Asked, partition: str | None) -> str | None:
    """Return the policy's kind of partitions where it can be that of a release, else none or unknown."""
    if partition is None:
        return "none"
    return None if asked.partition_kind == "none" else asked.partition_kind


def _promised_epsilon(document: Mapping[str, Any]) -> Fraction:
    """Return the ε that a manifest states, 0 if it states none."""
    said = document.get("epsilon")
    good = isinstance(said, (int, float)) and not isinstance(said, bool) and 0 < said < float("inf")
    return exact_fraction(float(said)) if good and said is not None else Fraction(0)


def _id_of(digest: str, partition: str | None) -> str:
    """Return the id of a release that was made without a ledger: the same one each time."""
    return hashlib.sha256(f"adopted {digest} {partition or ''}".encode()).hexdigest()[:32]
