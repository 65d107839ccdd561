"""Whether the facts of a release add up, among themselves and with the table that was released.

Every record of the input is either released or suppressed for one reason, so the counts must balance. What
the table shows (its records, classes, the smallest class, levels of generalization) is counted anew.
Manifests of version 1 have every count of the stages; later ones only the input and released records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from anon_pipeline.base.packed_tables import Table
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.evidence.evidence import value_classes
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts.records import Facts

TOGETHER = (
    "facts.raw.records",
    "facts.raw.incomplete_records",
    "facts.k_anonymized.suppressed_incomplete",
    "facts.k_anonymized.suppressed_by_recoding",
    "facts.shuffled.records",
    "facts.suppressed.suppressed_unconfident",
    "facts.suppressed.suppressed_small_classes",
    "facts.suppressed.suppressed_by_limit.*",
    "facts.suppressed.suppressed_in_all",
    "facts.deidentified.excess_records",
    "facts.perturbed.composition.values_reused",
    "facts.perturbed.composition.values_drawn",
)
"""Facts that must add up: changing one shows, changing several that balance does not."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a released table shows of its own making.

    records: r. classes: m, by released values. smallest: records of the smallest one.
    """

    records: int
    classes: int
    smallest: int


def count_seen(frame: Table, policy: Policy) -> Seen:
    """Count what a released table, (r, columns), shows."""
    classes = value_classes(frame, list(policy.generalized))
    return Seen(len(frame), len(classes.sizes), int(np.min(classes.sizes)))


def broken_told(facts: Facts, policy: Policy | None) -> list[str]:
    """List which public facts do not add up, or are none that the policy leads to.

    Args:
        facts: of all stages, whose fields are there and of their types.
        policy: None: not given.
    """
    raw, recoded, last = facts["raw"], facts["k_anonymized"], facts["suppressed"]
    wrong = []
    excess = facts["deidentified"]["excess_records"]
    if raw["records"] - excess - last["released"] != last["suppressed_in_all"]:
        wrong.append("suppressed records must add up")
    wrong += _people(facts)
    if not last["classes"] <= last["released"]:
        wrong.append("the released classes must have no more records than there are")
    wrong += _origins(facts)
    if policy is None:
        return wrong
    people = last["released_people"]
    rules = _recoded_rules(recoded, policy) | {
        "excess records need rows_per_person, which bounds what is left": (
            excess == 0
            if policy.rows_per_person is None or people is None
            else last["released"] <= people * policy.rows
        )
    }
    return [*wrong, *(rule for rule, kept in rules.items() if not kept)]


def broken_told_seen(facts: Facts, seen: Seen) -> list[str]:
    """List where public facts contradict the table."""
    last = facts["suppressed"]
    counted = {"records": (last["released"], seen.records), "classes": (last["classes"], seen.classes)}
    return [
        f"the released {name} are others than the file's"
        for name, (told, found) in counted.items()
        if told != found
    ]


def _origins(facts: Facts) -> list[str]:
    """List the facts that contradict one policy and the system's entropy in all stages."""
    wrong = []
    if len({values["made_by"] for values in facts.values()}) != 1:
        wrong.append("all stages must be made by one policy")
    if any(facts[stage]["seeded"] is not False for stage in ("perturbed", "shuffled")):
        wrong.append("made with a seed: whoever knows it can undo the noise")
    return wrong


def _recoded_rules(recoded: Mapping[str, Any], policy: Policy) -> dict[str, bool]:
    """Return how the policy requires levels and distances to be reported."""
    releases = recoder_of(policy.anonymize.recoder).family.releases
    named = list(policy.generalized) if releases == "levels" else None
    return {
        "levels must be of the generalize columns, after a full-domain recoder": _names(recoded["levels"])
        == named,
        "equal_distance must be the columns without a hierarchy": list(recoded["equal_distance"])
        == list(policy.equal_distance),
    }


def broken_told_1(facts: Facts, policy: Policy | None) -> list[str]:
    """List which facts of version 1 do not add up, or are none of the policy; see `broken_told`."""
    policy_facts = [] if policy is None else broken_policy_facts(facts, policy)
    return [*broken_balance(facts), *policy_facts]


def broken_balance(facts: Facts) -> list[str]:
    """List which counts of version 1 do not add up, of facts whose fields are there and of their types."""
    raw, recoded, last = facts["raw"], facts["k_anonymized"], facts["suppressed"]
    gone = recoded["suppressed_incomplete"] + recoded["suppressed_by_recoding"]
    later = _later(last)
    balances = {
        "incomplete records": (raw["incomplete_records"], recoded["suppressed_incomplete"]),
        "records after recoding": (raw["records"] - gone, facts["shuffled"]["records"]),
        "released records": (facts["shuffled"]["records"] - later, last["released"]),
        "suppressed records": (raw["records"] - last["released"], last["suppressed_in_all"]),
    }
    wrong = [f"{name} must add up" for name, (one, other) in balances.items() if one != other]
    return [*wrong, *_origins(facts), *_classes(recoded, last, facts["shuffled"]["records"]), *_noise(facts)]


def _people(facts: Facts) -> Iterator[str]:
    """Yield what is wrong with the counts of people, where they are counted."""
    people, excess = facts["deidentified"]["people"], facts["deidentified"]["excess_records"]
    last, records = facts["suppressed"], facts["raw"]["records"] - excess
    released, gaps = last["released_people"], last["people_with_gaps"]
    if people is None or released is None or gaps is None:
        if (people, released, gaps, excess) != (None, None, None, 0):
            yield "people must be counted in all stages, or in none"
        return
    if not people <= records or released > min(people, last["released"]):
        yield "people must be no more than their records"
    lost, missing = people - released, last["suppressed_in_all"]
    if not lost <= gaps <= min(people, missing) or (gaps == 0) != (missing == 0):
        yield "the number of people with suppressed records does not fit the other counts"


def _later(last: Mapping[str, Any]) -> int:
    """Count the records that were suppressed after the recoding."""
    limits = sum(last["suppressed_by_limit"].values())
    return int(last["suppressed_unconfident"] + last["suppressed_small_classes"] + limits)


def _classes(recoded: Mapping[str, Any], last: Mapping[str, Any], records: int) -> Iterator[str]:
    """Yield what is wrong with the counts of classes: suppression makes them fewer, never more."""
    if not recoded["k"] <= recoded["smallest_class"]:
        yield "the smallest class of the recoding must have k records"
    if recoded["smallest_class"] * recoded["classes"] > records or (recoded["classes"] == 0) != (
        records == 0
    ):
        yield "the classes of the recoding must have no more records than there are"
    if last["classes"] > recoded["classes"]:
        yield "the released classes must be of the recoding's"


def _noise(facts: Facts) -> Iterator[str]:
    """Yield what is wrong with counts of the noise."""
    noise, classes = facts["perturbed"], facts["k_anonymized"]["classes"]
    columns = noise["columns"]
    counts = [
        column["classes_without_noise"] for column in columns.values() if "classes_without_noise" in column
    ]
    if any(count > classes for count in counts):
        yield "classes without noise must be of the recoding's"
    told = noise["composition"]
    if told is not None and {"values_reused", "values_drawn"} <= told.keys():
        values = facts["shuffled"]["records"] * len(columns)
        if told["values_reused"] + told["values_drawn"] != values:
            yield "values that were drawn and re-used must add up"


def broken_seen(facts: Facts, seen: Seen) -> list[str]:
    """List where facts of version 1 whose fields are there and of their types contradict the table."""
    recoded, last = facts["k_anonymized"], facts["suppressed"]
    wrong = []
    if last["released"] != seen.records:
        wrong.append("the number of released records differs from the file's")
    if last["classes"] != seen.classes:
        wrong.append("the number of released classes differs from the file's")
    if not _later(last):  # then the recoding's classes are the file's
        if recoded["classes"] != seen.classes:
            wrong.append("the number of classes of the recoding differs from the file's")
        fewer = facts["deidentified"].get("people") is not None and recoded["smallest_class"] < seen.smallest
        if recoded["smallest_class"] != seen.smallest and not fewer:  # the table does not show its people
            wrong.append("the smallest class of the recoding differs from the file's")
    return wrong


def broken_policy_facts(facts: Facts, policy: Policy) -> list[str]:
    """List where facts of version 1 are none that the policy leads to: what its rules leave open.

    Args:
        facts: of all stages, whose fields are there and of their types.
    """
    recoded, last = facts["k_anonymized"], facts["suppressed"]
    gone = recoded["suppressed_incomplete"] + recoded["suppressed_by_recoding"]
    means = recoder_of(policy.anonymize.recoder).family.releases == "means"
    limits = [f"{kind}.{name}" for kind, columns in policy.class_limits.items() for name in columns]
    rules = _recoded_rules(recoded, policy) | {
        "suppressed records must keep anonymize.suppression_limit": gone
        <= policy.suppressible(facts["raw"]["records"]),
        "sse must be given after microaggregation, and only then": (recoded["sse"] is not None) == means,
        "suppressed cells need anonymize.suppress: cells": policy.anonymize.suppress == "cells"
        or recoded["suppressed_cells"] == 0,
        "suppressed_by_limit must name the gate's limits on classes": list(last["suppressed_by_limit"])
        == limits,
        "suppressed_unconfident needs suppress.confidence": policy.suppress.confidence is not None
        or last["suppressed_unconfident"] == 0,
    }
    return [*(rule for rule, kept in rules.items() if not kept), *_scales(facts, policy)]


def _names(levels: Mapping[str, int] | None) -> list[str] | None:
    return None if levels is None else list(levels)


def _scales(facts: Facts, policy: Policy) -> Iterator[str]:
    """Yield what is wrong with the scales: they are given if and only if ten classes have noise."""
    for name, column in policy.perturbed.items():
        told = facts["perturbed"]["columns"][name]
        if "mean_scale" not in told:
            continue
        carrying = facts["k_anonymized"]["classes"] - told["classes_without_noise"]
        if (told["mean_scale"] is not None) != (carrying >= 10):
            yield f"{name}: its mean scale must be given where ten classes have noise, and only there"
        if told["mean_scale"] is None and told["expected_relative_error"] is not None:
            yield f"{name}: its expected error must not be given without its mean scale"
        if column.sensitivity == "declared" and told["classes_without_noise"]:
            yield f"{name}: noise of a declared sensitivity must be in every class"
