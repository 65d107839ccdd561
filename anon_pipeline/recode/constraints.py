"""What every class of a recoding must keep: k, t-closeness, l-diversity, within a suppression limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.class_limits import L_DIVERSITY, T_CLOSENESS
from anon_pipeline.recode.class_rules import (
    AREA,
    BELOW,
    CLOSE,
    DISTANCE,
    DISTINCT,
    ENTROPY,
    EQUAL,
    HEIGHT,
    HIERARCHICAL,
    KIND,
    MASS,
    NODE,
    NONE,
    OCCURRING,
    ORDERED,
    RANK,
    RECURSIVE,
    START,
    TOTAL,
    TREE,
    UNIT,
    WHOLE,
    C,
    L,
    Rules,
    T,
)
from anon_pipeline.recode.contents import ClassContents
from anon_pipeline.recode.task import Constraints, Diversity, SensitiveLimit
from anon_pipeline.risk.capacity import refuse_areas, share_unit
from anon_pipeline.risk.histograms import ClassHistograms
from anon_pipeline.risk.l_diversity import (
    ENTROPY_TOLERANCE,
    distinct_l_of,
    entropy_l_of,
    recursive_ratio_of,
)
from anon_pipeline.risk.t_closeness import t_closeness_of

_Rows = Mapping[int, Sequence[Any] | NDArray[Any]]
_DISTANCES = {"ordered": ORDERED, "equal": EQUAL, "hierarchical": HIERARCHICAL}
_KINDS = {"distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}


def _distances(limit: SensitiveLimit, found: ClassHistograms) -> NDArray[np.float64]:
    """Measure how far each class is from the whole table, (m,)."""
    return t_closeness_of(found, whole=limit.whole, distance=limit.distance, lookups=limit.lookups)


def _diversities(wanted: Diversity, found: ClassHistograms) -> NDArray[np.float64]:
    """Measure how diverse each class is, (m,): l, or the ratio that c bounds."""
    if wanted.kind == "recursive":
        return recursive_ratio_of(found, l=int(wanted.l))
    if wanted.kind == "distinct":
        return distinct_l_of(found).astype(np.float64)
    return entropy_l_of(found)


def _uniform(wanted: Diversity, found: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which classes are not l-diverse, (m,)."""
    if wanted.kind == "recursive":
        return found >= (wanted.c or 0.0)
    return found < wanted.l - (ENTROPY_TOLERANCE if wanted.kind == "entropy" else 0.0)


def breaches(constraints: Constraints, classes: ClassContents) -> dict[str, NDArray[np.bool_]]:
    """Tell for each constraint which classes break it.

    Args:
        classes: m of them, with the values of the limited columns in the order of the limits.
    Returns:
        ``k``, ``t_closeness.<column>``, ``l_diversity.<column>`` → (m,); measured as the gate does.
    """
    found = {"k": classes.sizes < constraints.k}
    if not len(classes.sizes):
        return found
    for limit, own in zip(constraints.sensitive, classes.limited, strict=True):
        if limit.t is not None:
            found[f"{T_CLOSENESS.name}.{limit.column}"] = _distances(limit, own) > limit.t + CLOSE
        if limit.diversity is not None:
            uniform = _uniform(limit.diversity, _diversities(limit.diversity, own))
            if limit.people:
                found["k"] |= uniform
                continue
            found[f"{L_DIVERSITY.name}.{limit.column}"] = uniform
    return found


def broken_classes(constraints: Constraints, classes: ClassContents) -> NDArray[np.bool_]:
    """Tell which classes break any constraint, (m,); see `breaches`."""
    broken: NDArray[np.bool_] = np.logical_or.reduce(list(breaches(constraints, classes).values()))
    return broken


def infeasible_error(constraints: Constraints, classes: ClassContents, *, advice: str) -> InfeasibleError:
    """Say that no recoding was found, by the constraint that stood most in the way.

    Args:
        classes: of the best partition that was found, nothing suppressed.
        advice: what to relax, a sentence.
    """
    sizes = classes.sizes
    against = breaches(constraints, classes)
    records = {name: int(sizes[broken].sum()) for name, broken in against.items()}
    worst = max(records, key=records.__getitem__)
    return InfeasibleError(
        f"No recoding keeps {_in_words(constraints)}: {worst} fails for more records than the "
        f"{max(0, constraints.max_suppressed):,} that may be suppressed. {advice}",
        exact=f"{worst} fails for {records[worst]:,} of {classes.records:,} "
        f"records{_worst(constraints, worst, classes)}.",
        k=constraints.k,
        reached_k=_reachable_size(_count(constraints, classes), constraints.max_suppressed),
        suppressed=float(sizes[np.logical_or.reduce(list(against.values()))].sum() / max(1, classes.records)),
    )


def _worst(constraints: Constraints, name: str, classes: ClassContents) -> str:
    """Say what the worst class of k records reached of a constraint on sensitive values; nothing of k.

    A smaller class is left out: a measurement on one person would reveal how rare that person's value is.
    """
    kind, _, column = name.partition(".")
    large = classes.sizes >= constraints.k
    if kind == "k" or not large.any():
        return ""
    for limit, own in zip(constraints.sensitive, classes.limited, strict=True):
        if limit.column != column:
            continue
        if kind == T_CLOSENESS.name:
            return f" (its worst class is at {float(_distances(limit, own)[large].max()):.4g})"
        if limit.diversity is not None:
            found = _diversities(limit.diversity, own)[large]
            if limit.diversity.kind == "recursive":
                return f" (its worst class has the ratio {float(found.max()):.4g})"
            return f" (its worst class has l = {float(found.min()):.4g})"
    return ""


def _in_words(constraints: Constraints) -> str:
    """Write all limits, for a message."""
    people = any(limit.people for limit in constraints.sensitive)
    said = [f"k = {constraints.k:,}" + (" people" if people else "")]
    for limit in constraints.sensitive:
        if limit.people:
            continue
        if limit.t is not None:
            said.append(f"t = {limit.t:g} in {limit.column}")
        if limit.diversity is not None:
            said.append(f"{limit.diversity.kind} l = {limit.diversity.l:g} in {limit.column}")
    return ", ".join(said)


def _count(constraints: Constraints, classes: ClassContents) -> NDArray[np.int64]:
    """Count the records of each class, or its people where these are limited, (m,)."""
    if len(classes.sizes):
        for limit, own in zip(constraints.sensitive, classes.limited, strict=True):
            if limit.people:
                return distinct_l_of(own)
    return classes.sizes


def _reachable_size(sizes: Sequence[int] | NDArray[np.int64], max_suppressed: int) -> int:
    """Smallest class that is left when the smallest ones are suppressed as far as the limit allows."""
    left = np.sort(np.asarray(sizes))
    gone = int(np.searchsorted(np.cumsum(left), max_suppressed, side="right"))
    return int(left[gone]) if gone < len(left) else 0


def _flat(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Lay arrays end to end."""
    return np.concatenate([np.zeros(0, np.int64), *arrays]).astype(np.int64)


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Return where each of several arrays begins when they are laid end to end, and where the last ends."""
    return np.cumsum([0, *lengths]).astype(np.int64)


def _masses(limit: SensitiveLimit) -> list[NDArray[np.int64]]:
    """Return for each level of a sensitive column's hierarchy the records below each code, (v,) each."""
    return [
        np.bincount(lookup, weights=limit.whole, minlength=len(limit.whole)).astype(np.int64)
        for lookup in limit.lookups or ()
    ]


def _below(limit: SensitiveLimit) -> NDArray[np.int64]:
    """Return the records of the whole table up to each value that occurs, filled up with the total, (v,)."""
    below = np.full(len(limit.whole), limit.whole.sum(), np.int64)
    occurring = np.cumsum(limit.whole[limit.whole > 0])
    below[: len(occurring)] = occurring
    return below


def _unit(limit: SensitiveLimit) -> int:
    """Return the unit in which shares of one column are compared; see `risk.capacity`."""
    records, ordered = int(limit.whole.sum()), limit.t is not None and limit.distance == "ordered"
    if ordered:
        refuse_areas(records, int(np.count_nonzero(limit.whole)))
    return share_unit(records, height=len(limit.lookups or ()) - 1)


def rules_of(constraints: Constraints) -> Rules:
    """Lay constraints out for the kernels, `class_rules.Rules`.

    The values of a class that the kernels take are those of ``constraints.sensitive``, in that order.

    Raises:
        InputError: an ordered column has more values than can be added up.
    """
    limits = constraints.sensitive
    belows = [_below(limit) for limit in limits]
    levels = [len(limit.lookups or ()) for limit in limits]
    lookups = [np.asarray(lookup, np.int64) for limit in limits for lookup in limit.lookups or ()]
    columns: _Rows = {
        DISTANCE: [NONE if x.t is None else _DISTANCES[x.distance] for x in limits],
        START: _starts([len(x.whole) for x in limits]),
        TOTAL: [x.whole.sum() for x in limits],
        OCCURRING: [np.count_nonzero(x.whole) for x in limits],
        HEIGHT: levels,
        TREE: _starts([h * len(x.whole) for h, x in zip(levels, limits, strict=True)]),
        KIND: [NONE if x.diversity is None else _KINDS[x.diversity.kind] for x in limits],
        UNIT: [_unit(x) for x in limits],
    }
    bounds = {
        T: [1.0 if x.t is None else x.t for x in limits],
        L: [0.0 if x.diversity is None else x.diversity.l for x in limits],
        C: [(x.diversity.c if x.diversity else None) or 0.0 for x in limits],
    }
    values = {
        WHOLE: _flat([x.whole for x in limits]),
        RANK: _flat([np.cumsum(x.whole > 0) - 1 for x in limits]),
        BELOW: _flat(belows),
        AREA: _flat([np.concatenate(([0], np.cumsum(below))) for below in belows]),
    }
    nodes = {NODE: _flat(lookups), MASS: _flat([mass for limit in limits for mass in _masses(limit)])}
    return Rules(
        k=constraints.k,
        columns=_rows(columns, len(limits) + 1, np.int64),
        bounds=_rows(bounds, len(limits), np.float64),
        values=_rows(values, len(values[AREA]), np.int64),
        levels=_rows(nodes, len(nodes[NODE]), np.int64),
    )


def _rows(rows: _Rows, width: int, dtype: type) -> NDArray[Any]:
    """Lay sequences under each other, by their row's number; what is shorter ends with 0."""
    table: NDArray[Any] = np.zeros((len(rows), width), dtype)
    for row, numbers in rows.items():
        table[row, : len(numbers)] = numbers
    return table
