"""By which rules a manifest is verified: those of the version that it says it is of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.gate import Verdict, limits_of
from anon_pipeline.limits.contradiction import published_contradiction
from anon_pipeline.limits.limit import Limit
from anon_pipeline.limits.table import names_where
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.publish.manifest.shape import broken_shape
from anon_pipeline.publish.verify.balance import Seen, broken_told, broken_told_seen
from anon_pipeline.stages.facts.check import checked_facts, decided_facts
from anon_pipeline.stages.facts.fields import PUBLIC_FIELDS
from anon_pipeline.stages.facts.origin import broken_origin
from anon_pipeline.stages.facts.records import Facts


@dataclass(frozen=True, slots=True)
class Rules:
    """What one version of manifests says, and how.

    version: number of it.
    shape: lists the places that lack, are unknown, or hold another kind of value.
    digest: that the version gives to a policy.
    guarantee: its words for what a policy promises.
    limits: that it judges by a policy, in their order.
    facts: lists what no stage writes so, of facts whose shape is right.
    origin: lists what speaks against the facts being made by a policy and its hierarchy tables.
    decided: yields the facts that a policy alone decides.
    always: the limits that it judges of every release, which come first.
    told: lists the facts that do not add up, or that no policy leads to; the policy may be missing.
    seen: lists where facts contradict the table.
    verdict: says what contradicts a verdict that a manifest records.
    names_tables: whether a manifest has digests of private tables: hierarchies, population.
    asked: whether a broken rule of the contract is also one of this version's, for a released table.
    worded: whether a manifest's words and facts are this version's own; an unpublished state of version
    1
        may have had others.
    """

    version: int
    shape: Callable[[Mapping[str, Any]], list[str]]
    digest: Callable[[Policy], str]
    guarantee: Callable[[Policy], list[str]]
    limits: Callable[[Policy], list[str]]
    facts: Callable[[Policy, Facts], list[str]]
    origin: Callable[[Policy, Facts, Path], list[str]]
    decided: Callable[[Policy], Iterable[tuple[str, ...]]]
    always: tuple[str, ...]
    told: Callable[[Facts, Policy | None], list[str]]
    seen: Callable[[Facts, Seen], list[str]]
    verdict: Callable[[Limit, Verdict], str | None]
    names_tables: bool
    asked: Callable[[Table, str], bool] = field(default=lambda frame, line: True, repr=False)
    worded: Callable[[Mapping[str, Any]], bool] = lambda document: True


def _unwritten(policy: Policy, facts: Facts) -> list[str]:
    """List the fields that no stage writes so: forged facts may hold any text."""
    try:
        checked_facts(policy, facts, PUBLIC_FIELDS)
    except InputError as error:
        return list(error.problems)
    return []


RULES_2 = Rules(
    version=2,
    shape=broken_shape,
    digest=lambda policy: policy.digest,
    guarantee=guarantee,
    limits=limits_of,
    facts=_unwritten,
    origin=lambda policy, facts, folder: broken_origin(policy, facts, hierarchies=None),
    decided=decided_facts,
    always=names_where(lambda limit: limit.always),
    told=broken_told,
    seen=broken_told_seen,
    verdict=published_contradiction,
    names_tables=False,
)
