"""What is left of the data in a release, in words: of what the released file, its manifest and policy say.

Shared by whoever shows a release to people. Nothing here is computed from the originals: of the noise that
is its mechanism and ε, and a scale only where that follows from public bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from anon_pipeline.base.errors import AnonPipelineError
from anon_pipeline.base.packed_tables import Table, counted_cells
from anon_pipeline.base.shares import percent
from anon_pipeline.catalog.class_limits import CLASS_LIMITS
from anon_pipeline.catalog.entries import Mechanism
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.catalog.recoders import recoder_of
from anon_pipeline.encode.categories import category_noises
from anon_pipeline.encode.grids import epsilon_shares, noises
from anon_pipeline.evidence.usefulness import hidden_share
from anon_pipeline.limits.table import unlimited_secrets
from anon_pipeline.perturb.category_law import keep_probabilities, percent_down
from anon_pipeline.perturb.mechanisms import Noise, scales, sensitivities
from anon_pipeline.policy.columns import Perturb, PerturbCategories
from anon_pipeline.policy.hierarchies import hierarchy_kind
from anon_pipeline.policy.model import Policy
from anon_pipeline.report.exposure import NEARLY_HIDDEN
from anon_pipeline.stages.facts.records import Facts

_HIDDEN = "hidden"
_SOME = f"; may be {_HIDDEN} in some records"
_UNCHANGED = "as it was"
_ONE_VALUE = "not generalized, but one value is left in all records"
_BY_CLASS = {
    "mixed levels": "on one level of its hierarchy or on several, rare values on higher ones",
    "ranges": "as ranges of the values in its class",
    "means": "as one value for the whole class, from the middle of it",
}


def describe_rest(policy: Policy, facts: Facts, frame: Table, *, hierarchies: Path) -> list[str]:
    """Say what is left of the data, a line each: the share of records, the columns, what says nothing.

    Args:
        facts: as the manifest has them.
        frame: (r, columns) the released table.
        hierarchies: folder of the hierarchy tables.
    """
    lines = [share_in_words(facts, len(frame), rows=policy.rows)]
    silent = silent_columns(policy, frame)
    for name, words in columns_in_words(policy, facts, hierarchies=hierarchies):
        said = words if name not in silent else words.replace(_UNCHANGED, _ONE_VALUE, 1)
        lines.append(f"{name}: {_with_hidden(said, hidden_share(*counted_cells(frame, name)))}")
    lines += _released_directly(policy)
    if silent:
        lines.append(f"says nothing, one value in every record: {', '.join(silent)}")
    return lines


def _released_directly(policy: Policy) -> Iterator[str]:
    """Yield released identifiers, columns that are coarser, and all others in one line."""
    for name, column in policy.identifiers.items():
        if IDENTIFIER_ACTIONS[column.action].released:
            yield f"{name}: {IDENTIFIER_ACTIONS[column.action].left}"
    names = [*policy.sensitive, *policy.insensitive]
    yield from (f"{name}: {policy.coarsened[name].words}" for name in names if name in policy.coarsened)
    for name in unlimited_secrets(policy):
        yield f"{name}: the policy limits nothing that a class reveals of it ({', '.join(CLASS_LIMITS)})"
    unchanged = [name for name in names if name not in policy.coarsened]
    if unchanged:
        yield f"{_UNCHANGED}: {', '.join(unchanged)}"


def _with_hidden(words: str, hidden: float) -> str:
    """Say what is left of a column, with the share of the records in which it is hidden, if in some.

    >>> _with_hidden("the year, level 1 of 3; may be hidden in some records", 0.25)
    'the year, level 1 of 3 (hidden in 25 % of the records)'
    >>> _with_hidden("the year, level 1 of 3; may be hidden in some records", 0.993)
    'hidden in 99.3 % of the records, else the year, level 1 of 3: next to nothing is left'
    >>> _with_hidden("as it was; may be hidden in some records", 1.0)
    'hidden in all records (by its level: as it was)'
    """
    if hidden == 0:
        return words
    said, share = words.removesuffix(_SOME), f"{_HIDDEN} in {percent(hidden)} of the records"
    if hidden == 1:
        by_level = said.replace(_ONE_VALUE, _UNCHANGED)
        return words if said == words else f"{_HIDDEN} in all records (by its level: {by_level})"
    if hidden <= NEARLY_HIDDEN:
        return f"{said} ({share})"
    return f"{share}, else {said}: next to nothing is left"


def share_in_words(facts: Facts, released: int, *, rows: int = 1) -> str:
    """Say how many of the records are released, and how many are not because of ``rows_per_person``.

    >>> share_in_words({"raw": {"records": 200}}, 150)
    '150 of 200 records (75 %)'
    >>> share_in_words({"raw": {"records": 200}, "deidentified": {"excess_records": 40}}, 150, rows=3)
    '150 of 200 records (75 %); 40 were left out because they are beyond 3 per person (rows_per_person)'
    """
    records = int(facts["raw"]["records"])
    said = f"{released:,} of {records:,} records ({percent(released / max(records, 1))})"
    beyond = int(facts.get("deidentified", {}).get("excess_records", 0))
    if not beyond:
        return said
    return f"{said}; {beyond:,} were left out because they are beyond {rows} per person (rows_per_person)"


def columns_in_words(policy: Policy, facts: Facts, *, hierarchies: Path) -> Iterator[tuple[str, str]]:
    """Yield the generalized columns and those with noise, each with what is left of it."""
    recoded = facts["k_anonymized"]
    for name in policy.generalized:
        yield name, recoding_in_words(policy, name, recoded, hierarchies=hierarchies)
    yield from noise_in_words(policy)


def recoding_in_words(policy: Policy, name: str, recoded: Mapping[str, Any], *, hierarchies: Path) -> str:
    """Say what is left of a generalized column.

    Args:
        recoded: facts of the recoding.
    Returns:
        Such as "in bands of 8, level 3 of 5", "as it was", "hidden (level 2 of 2: everything is hidden)".
    """
    levels = recoded["levels"]
    if levels is None:
        return _BY_CLASS.get(recoder_of(policy.anonymize.recoder).family.releases, "generalized by class")
    words = level_in_words(policy, name, int(levels[name]), hierarchies=hierarchies)
    some = policy.anonymize.suppress == "cells" and not words.startswith(_HIDDEN)
    return f"{words}{_SOME}" if some else words


def level_in_words(policy: Policy, name: str, level: int, *, hierarchies: Path) -> str:
    """Say what a level of a generalized column's hierarchy shows, and how many levels there are."""
    if level == 0:
        return _UNCHANGED
    spec = policy.generalized[name].hierarchy
    kind = hierarchy_kind(spec)
    try:
        top = import_entry(kind.recognizes)(name, spec, hierarchies).height - 1
    except AnonPipelineError:  # a table that is no longer there: only its levels' number is unknown
        return f"{kind.words(spec, level)}, level {level}"
    if level >= top:
        return f"{_HIDDEN} (level {level} of {top}: everything is hidden)"
    return f"{kind.words(spec, level)}, level {level} of {top}"


def noise_in_words(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the columns with noise, each with what is public of it.

    A scale is shown if it follows from declared bounds; the scale of a class depends on originals.
    """
    shares = [float(share) for share in epsilon_shares(policy)]
    own = dict(zip(policy.noisy, shares, strict=True))
    for (name, column), noise in zip(policy.perturbed.items(), noises(policy), strict=True):
        mechanism = MECHANISMS[noise.mechanism]
        if mechanism.whole_column is not None:
            yield name, f"{amount_in_words(mechanism, column)}{_beside(policy, name)}; promises nothing"
            continue
        said = f"with noise ({mechanism.words}), " + (
            "which promises nothing" if mechanism.promises == "nothing" else f"ε = {own[name]:g}"
        )
        said += "" if noise.delta is None else f", δ = {float(noise.delta):g}"
        yield name, said + _scale(noise, column.resolution, column.unit)
    drawn = category_noises(policy) if policy.categorical else {}
    for name, categories in policy.categorical.items():
        if name not in drawn:
            words = amount_in_words(MECHANISMS[categories.mechanism], categories)
            yield name, f"{words}{_beside(policy, name)}; promises nothing"
            continue
        released = CATEGORY_MECHANISMS[categories.mechanism].released
        stays = float(keep_probabilities(drawn[name]).min())
        yield (
            name,
            f"{released[:1].lower()}{released[1:]}, ε = {own[name]:g}: each value stays as it is with a "
            f"probability of at least {percent_down(stays)} %",
        )


def amount_in_words(mechanism: Mechanism, column: Perturb | PerturbCategories) -> str:
    """Say by what mechanism a column is changed as a whole, and how much.

    Returns:
        Such as "rounding, to multiples of 5 kg".
    """
    changed = mechanism.whole_column
    if changed is None or not changed.says or column.amount is None:
        return mechanism.words
    own = getattr(column, "unit", None)
    unit = f" {own}" if changed.amount == "step" and own else ""
    said = f"{100 * column.amount:g} %" if changed.amount == "share" else f"{column.amount:g}{unit}"
    return f"{mechanism.words}, {changed.says.format(said)}"


def _beside(policy: Policy, name: str) -> str:
    """Say with which columns the values of a column move together; empty: with none."""
    others = [other for other in policy.joint_columns if other != name]
    return f", together with {', '.join(others)}" if others and name in policy.joint_columns else ""


def _scale(noise: Noise, resolution: float, unit: str | None) -> str:
    """Say the scale of noise by declared bounds; empty for noise by the class."""
    if noise.inputs is None:
        return ", scaled to the class"
    scale = float(scales(noise, sensitivities(noise, np.zeros(1, np.int64)))[0]) * resolution
    return f", scale {scale:.3g}{f' {unit}' if unit else ''}"


def silent_columns(policy: Policy, frame: Table) -> list[str]:
    """Name the released columns that have one value in every record."""
    return [name for name in policy.released if counted_cells(frame, name)[0].nunique(dropna=False) == 1]
