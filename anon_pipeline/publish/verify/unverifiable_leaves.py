"""The manifest entries that `verify` cannot check, each with its path and the reason.

A leaf is *compared* where it was computed anew from file or policy, and checked *together* where it must only
add up with others: changing one shows, changing several that balance does not. Every other leaf is listed as
not verifiable. So a leaf that somebody adds to manifests is listed until it is said here how it is compared.

Decision: docs/adr/0035-manifest-version-2.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from anon_pipeline.gate import GateReport
from anon_pipeline.limits.table import names_where
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.public import PublicPolicy
from anon_pipeline.publish.verify.balance import TOGETHER
from anon_pipeline.publish.verify.public_verdicts import known_levels

Steps = tuple[str, ...]

_ALWAYS = names_where(lambda limit: limit.always)
_BARE = names_where(lambda limit: not limit.published.valued)
_ADVISABLE = names_where(lambda limit: limit.advisable)
_MISSING = names_where(lambda limit: limit.published.missing)
_UNTOLD = names_where(lambda limit: not limit.recomputable)

_BY_FILE: tuple[Steps, ...] = (
    ("manifest_version",),
    ("files", "*", "*"),
    ("files", "*", "types", "*"),
    ("data_digest",),
    ("gate", "passed"),
    ("gate", "data_digest"),
    ("gate", "verdicts", "*", "reason"),
    ("policy", "*"),
    ("report", "*"),
    ("facts", "suppressed", "released"),
    ("facts", "*", "seeded"),
)
_BY_POLICY: tuple[Steps, ...] = (
    ("release",),
    ("policy_digest",),
    ("gate", "policy_digest"),
    ("gate", "verdicts", "*", "limit"),
    ("gate", "verdicts", "*", "bound"),
    ("gate", "verdicts", "*", "sense"),
    ("epsilon",),
    ("allowed",),
    ("allowed", "*", "*"),
    ("acknowledged",),
    ("acknowledged", "*", "*"),
    ("acknowledged", "*", "columns", "*"),
    ("plugins", "*", "kinds"),
    ("plugins", "*", "kinds", "*"),
    ("facts", "*", "made_by"),
    ("facts", "suppressed", "classes"),
    ("facts", "k_anonymized", "levels"),
    ("facts", "k_anonymized", "equal_distance"),
    ("facts", "k_anonymized", "equal_distance", "*"),
)
_LEVELS: Steps = ("facts", "k_anonymized", "levels")
_ALONE: tuple[Steps, ...] = (
    ("release",),
    ("policy_digest",),
    ("gate", "policy_digest"),
    ("facts", "*", "made_by"),
)
_WHY = {
    "made_at": "any time is possible",
    "partition": "any partition of the schedule is possible",
    "packages.*": "what was installed is not known here",
    "plugins.*": "what was loaded is not known here",
    "facts.perturbed.release_id": "the ledger knows it",
    "signature.*": "needs --public-key",
    "gate.population_digest": "needs the population table",
    "hierarchies.*": "needs the hierarchy tables",
    "facts.k_anonymized.hierarchies.*": "needs the hierarchy tables",
    "guarantee.*": "another state of anon-pipeline has worded it",
    "files.*.types.*": "a CSV does not say its columns' types",
    "gate.verdicts.*": "needs the originals",
    "facts.*": "needs the originals",
}


@dataclass(frozen=True, slots=True)
class Unverified:
    """One leaf that nothing vouches for.

    path: keys and places that lead to it, joined by points.
    how: ``not verifiable``; or ``together``: it adds up with others, and nothing else speaks for it.
    why: what it would take.
    """

    path: str
    how: Literal["not verifiable", "together"]
    why: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a manifest was held against.

    policy: that made it; None: not given.
    anew: the gate's report on the file alone.
    decided: facts that the policy alone decides, by the rules of the manifest's version.
    tables: whether hierarchy tables could be read.
    worded: whether words and facts are those of the manifest's version.
    typed: whether the types of the file's columns were compared.
    """

    policy: Policy | None = None
    anew: GateReport | None = None
    decided: tuple[Steps, ...] = ()
    tables: bool = False
    worded: bool = True
    typed: bool = True


def list_unverified(document: Mapping[str, Any], asked: Asked) -> list[Unverified]:
    """List the leaves that a verified manifest could have otherwise, unnoticed.

    Args:
        document: a manifest that nothing speaks against, without its signature being checked.
    Returns:
        In the manifest's order.
    """
    compared = {*_compared_leaves(document, asked)}
    with_gaps = [pattern for pattern in compared if "*" in pattern]
    verdicts = enumerate(document["gate"]["verdicts"])
    shares = [f"gate.verdicts.{i}.value" for i, verdict in verdicts if verdict["limit"] in _MISSING]
    found = []
    for steps in _leaves(document):
        path = ".".join(steps)
        alone = any(_is(steps, pattern) for pattern in _alone(asked.policy))
        if not alone and (steps in compared or any(_is(steps, pattern) for pattern in with_gaps)):
            continue
        if alone:
            found.append(Unverified(path, "not verifiable", "needs --policy"))
        elif _adds_up(path, asked) or (asked.worded and path in shares):
            found.append(Unverified(path, "together", "only its sum with others is compared"))
        else:
            found.append(Unverified(path, "not verifiable", _why(path, asked)))
    return found


def _alone(policy: Policy | None) -> tuple[Steps, ...]:
    """Return the leaves that only the whole policy is held against; the release, any policy names."""
    if policy is None:
        return _ALONE
    return tuple(one for one in _ALONE if one != ("release",)) if isinstance(policy, PublicPolicy) else ()


def _leaves(value: Any, at: Steps = ()) -> Iterator[Steps]:
    """Yield the keys to each leaf; an empty mapping or list is one."""
    if isinstance(value, (dict, list)) and value:
        for step, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(below, (*at, str(step)))
    else:
        yield at


def _is(steps: Steps, pattern: Steps) -> bool:
    return len(steps) == len(pattern) and all(
        part in ("*", step) for step, part in zip(steps, pattern, strict=True)
    )


def _adds_up(path: str, asked: Asked) -> bool:
    """Tell whether a leaf is compared with other leaves only."""
    return asked.worded and any(fnmatchcase(path, pattern) for pattern in TOGETHER)


def _compared_leaves(document: Mapping[str, Any], asked: Asked) -> Iterator[Steps]:
    """Yield the patterns of the leaves that were compared with file or policy."""
    yield from (pattern for pattern in _BY_FILE if asked.typed or pattern != ("files", "*", "types", "*"))
    yield from _verdicts(document, asked.anew)
    if asked.policy is None:
        return
    public = isinstance(asked.policy, PublicPolicy)
    yield from (one for one in _BY_POLICY if not (public and one[0] == "plugins"))
    yield from _levels(document, asked.policy)
    for place, plugin in enumerate(document.get("plugins", [])):
        if plugin["kinds"]:  # else it is not compared with what is loaded here
            yield from (("plugins", str(place), key) for key in ("name", "version"))
    schedule = asked.policy.schedule
    everywhere = asked.policy.source.kind.generated or public
    if not everywhere and (schedule is None or schedule.partitions is None):
        yield ("partition",)
    if asked.tables:
        yield from (("hierarchies",), ("hierarchies", "*"))
        yield from (("facts", "k_anonymized", "hierarchies"), ("facts", "k_anonymized", "hierarchies", "*"))
    if asked.anew is not None and asked.anew.population_digest is not None:
        yield ("gate", "population_digest")
    if asked.worded:
        yield ("guarantee", "*")
        yield from (("facts", *steps) for steps in asked.decided)
        yield from _of_the_table(document["facts"], asked.policy)


def _levels(document: Mapping[str, Any], policy: Policy) -> Iterator[Steps]:
    """Yield the levels that the file shows: a column whose cells are all at the top may be blanked or on top.

    Only version 1 states how many cells were blanked. None is shown for a hierarchy that is not public.
    """
    told = document["facts"]["k_anonymized"]["levels"] or {}
    if document["manifest_version"] == 1 or policy.anonymize.suppress != "cells":
        yield from ((*_LEVELS, name) for name in known_levels(told, policy))


def _verdicts(document: Mapping[str, Any], anew: GateReport | None) -> Iterator[Steps]:
    """Yield the values of limits that were measured anew, or that need none."""
    measured = {v.limit for v in (() if anew is None else anew.verdicts) if v.value is not None}
    for place, verdict in enumerate(document["gate"]["verdicts"]):
        here = ("gate", "verdicts", str(place))
        if verdict["limit"] in measured or verdict["limit"].partition(".")[0] not in _ADVISABLE:
            yield (*here, "status")
        if verdict["limit"] in measured:
            yield (*here, "value")
        if document["manifest_version"] != 1 and verdict["limit"].partition(".")[0] in _UNTOLD:
            yield (*here, "value")  # there must be none
        if verdict["limit"] in _BARE:
            yield from ((*here, name) for name in ("value", "bound", "sense"))
        if _ALWAYS[place : place + 1] == (verdict["limit"],):
            yield (*here, "limit")


def _of_the_table(facts: Mapping[str, Any], policy: Policy) -> Iterator[Steps]:
    """Yield the facts on the recoding that the table shows, if nothing was suppressed after it."""
    recoded, last = facts["k_anonymized"], facts["suppressed"]
    if facts["perturbed"]["composition"] is None:
        yield ("facts", "perturbed", "composition")
    if policy.person is None:
        yield from (("facts", *steps) for steps in _OF_PEOPLE)
    elif policy.rows_per_person is None:
        yield ("facts", "deidentified", "excess_records")
    if "sse" not in recoded:
        return  # only version 1 has the following
    if facts["shuffled"]["records"] == last["released"]:
        yield ("facts", "k_anonymized", "classes")
        if policy.person is None:
            yield ("facts", "k_anonymized", "smallest_class")
    if policy.anonymize.suppress != "cells":
        yield ("facts", "k_anonymized", "suppressed_cells")
    if recoded["sse"] is None:
        yield ("facts", "k_anonymized", "sse")
    if not last["suppressed_by_limit"]:
        yield ("facts", "suppressed", "suppressed_by_limit")


_OF_PEOPLE: tuple[Steps, ...] = (
    ("deidentified", "people"),
    ("deidentified", "excess_records"),
    ("suppressed", "released_people"),
    ("suppressed", "people_with_gaps"),
)
"""Counts of people, and of what they have too much: none without ``person``."""


def _why(path: str, asked: Asked) -> str:
    if asked.policy is None and not path.startswith(("made_at", "packages.", "signature.")):
        return "needs --policy"
    return next((why for pattern, why in _WHY.items() if fnmatchcase(path, pattern)), "nothing shows it")
