"""Entering releases that are out and that a ledger has never seen, as far as manifests and memory tell.

Belongs here: what is entered of them. Does not belong here: noticing that they are missing (`remembering`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from anon_pipeline.compose.memory import Memory
from anon_pipeline.errors import InputError
from anon_pipeline.ledger import Asked, Ledger, exact_text
from anon_pipeline.ledger.recovery import adopt
from anon_pipeline.locations import plain_partition
from anon_pipeline.measure.fact_rules import is_digest, is_release_id
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.remembering import ids_in, manifests_of, perturbed_in

__all__ = ["Adopted", "Opened", "adopted"]


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


def adopted(booked: Opened, policy: Policy, memory: Memory | None) -> list[Adopted]:
    """Enter as published what the ledger lacks, at the whole ε: what it really spent cannot be known.

    The same release is entered once, however often this is done.

    Args:
        booked: the ledger and the release.
        policy: of the release.
        memory: of it, if there is one.
    Raises:
        InputError: a manifest names a digest, an id or a partition that is none.
    """
    entered = list[Adopted]()
    found = [*_shown(booked, policy), *_remembered(booked.asked, memory)]
    for release_id, asked, digest in found:
        if adopt(booked.ledger, release_id, asked, digest):
            entered.append(Adopted(release_id, asked.epsilon))
    return entered


def _shown(booked: Opened, policy: Policy) -> Iterator[tuple[str, Asked, str]]:
    """Yield what the manifests at the destinations show: id, what it asks, digest."""
    for document in manifests_of(booked.root, policy.name):
        partition, digest, made_by = _named(document, policy.name)
        epsilon = max(Fraction(booked.asked.epsilon), _promised(document))
        composed = perturbed_in(document).get("composition") is not None
        asked = replace(
            booked.asked,
            partition=partition,
            policy_digest=made_by,
            epsilon=exact_text(epsilon),
            partition_kind=_kind(booked.asked, partition),
            memory=booked.asked.memory if composed else None,
        )
        for release_id in ids_in([document]) or [_id_of(digest, partition)]:
            yield release_id, asked, digest


def _named(document: Mapping[str, Any], release: str) -> tuple[str | None, str, str]:
    """Return the partition, the table's and the policy's digest that a manifest names.

    Raises:
        InputError: one of them, or the release id, is none.
    """
    partition = document.get("partition")
    digest, made_by = str(document.get("data_digest")), str(document.get("policy_digest"))
    plain = partition is None or isinstance(partition, str)
    if (
        not plain
        or not all(map(is_digest, (digest, made_by)))
        or not all(map(is_release_id, ids_in([document])))
    ):
        raise InputError(
            f"the manifests of {release} must name digests, a partition and an id, one does not. "
            f"Look at it with anon-pipeline verify; move it away to go on without it."
        )
    return None if partition is None else plain_partition(partition), digest, made_by


def _remembered(asked: Asked, memory: Memory | None) -> Iterator[tuple[str, Asked, str]]:
    """Yield what the memory knows: id, what it asks, digest."""
    for past in () if memory is None else memory.releases:
        kind = _kind(asked, past.partition)
        entry = replace(asked, partition=past.partition, partition_kind=kind)
        yield past.release_id or _id_of(past.digest, past.partition), entry, past.digest


def _kind(asked: Asked, partition: str | None) -> str | None:
    """Return the policy's kind of partitions where it can be that of a release, else none or unknown."""
    if partition is None:
        return "none"
    return None if asked.partition_kind == "none" else asked.partition_kind


def _promised(document: Mapping[str, Any]) -> Fraction:
    """Return the ε that a manifest states, 0 if it states none."""
    said = document.get("epsilon")
    good = isinstance(said, (int, float)) and not isinstance(said, bool) and 0 < said < float("inf")
    return exact_fraction(float(said)) if good and said is not None else Fraction(0)


def _id_of(digest: str, partition: str | None) -> str:
    """Return the id of a release that was made without a ledger: the same one each time."""
    return hashlib.sha256(f"adopted {digest} {partition or ''}".encode()).hexdigest()[:32]
