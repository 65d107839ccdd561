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
    WHOLE,
    C,
    L,
    Rules,
    T,
)
from anon_pipeline.recode.task import Constraints, Diversity, SensitiveLimit
from anon_pipeline.risk.l_diversity import ENTROPY_TOLERANCE, distinct_l, entropy_l, recursive_ratio
from anon_pipeline.risk.t_closeness import t_closeness

_Rows = Mapping[int, Sequence[Any] | NDArray[Any]]
_DISTANCES = {"ordered": ORDERED, "equal": EQUAL, "hierarchical": HIERARCHICAL}
_KINDS = {"distinct": DISTINCT, "entropy": ENTROPY, "recursive": RECURSIVE}


def _distances(limit: SensitiveLimit, labels: NDArray[np.int64], m: int) -> NDArray[np.float64]:
    """Measure how far each class is from the whole table, (m,)."""
    return t_closeness(
        limit.codes[labels >= 0],
        labels[labels >= 0],
        whole=limit.whole,
        m=m,
        distance=limit.distance,
        lookups=limit.lookups,
    )


def _diversities(
    limit: SensitiveLimit, wanted: Diversity, labels: NDArray[np.int64], m: int
) -> NDArray[np.float64]:
    """Measure how diverse each class is, (m,): l, or the ratio that c bounds."""
    codes, labels = limit.codes[labels >= 0], labels[labels >= 0]
    if wanted.kind == "recursive":
        return recursive_ratio(codes, labels, l=int(wanted.l), m=m)
    if wanted.kind == "distinct":
        return distinct_l(codes, labels, m=m).astype(np.float64)
    return entropy_l(codes, labels, m=m)


def _uniform(wanted: Diversity, found: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which classes are not l-diverse, (m,)."""
    if wanted.kind == "recursive":
        return found >= (wanted.c or 0.0)
    return found < wanted.l - (ENTROPY_TOLERANCE if wanted.kind == "entropy" else 0.0)


def breaches(constraints: Constraints, labels: NDArray[np.int64]) -> dict[str, NDArray[np.bool_]]:
    """Tell for each constraint which classes break it.

    Args:
        labels: (n,) class of each record, 0 … m−1 without gaps; −1 for a suppressed record.
    Returns:
        ``k``, ``t_closeness.<column>``, ``l_diversity.<column>`` → (m,); measured as the gate does.
    """
    sizes = np.bincount(labels[labels >= 0])
    m = len(sizes)
    found = {"k": sizes < constraints.k}
    for limit in constraints.sensitive if m else ():
        if limit.t is not None:
            found[f"{T_CLOSENESS.name}.{limit.column}"] = _distances(limit, labels, m) > limit.t + CLOSE
        if limit.diversity is not None:
            diversities = _diversities(limit, limit.diversity, labels, m)
            if limit.people:
                found["k"] |= _uniform(limit.diversity, diversities)
                continue
            found[f"{L_DIVERSITY.name}.{limit.column}"] = _uniform(limit.diversity, diversities)
    return found


def broken_classes(constraints: Constraints, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which classes break any constraint, (m,); see `breaches`."""
    return np.logical_or.reduce(list(breaches(constraints, labels).values()))


def infeasible_error(constraints: Constraints, labels: NDArray[np.int64], *, advice: str) -> InfeasibleError:
    """Say that no recoding was found, by the constraint that stood most in the way.

    Args:
        labels: (n,) classes of the best partition that was found, nothing suppressed.
        advice: what to relax, a sentence.
    """
    sizes = np.bincount(labels[labels >= 0])
    against = breaches(constraints, labels)
    records = {name: int(sizes[classes].sum()) for name, classes in against.items()}
    worst = max(records, key=records.__getitem__)
    return InfeasibleError(
        f"No recoding keeps {_in_words(constraints)}: {worst} fails for more records than the "
        f"{max(0, constraints.max_suppressed):,} that may be suppressed. {advice}",
        exact=f"{worst} fails for {records[worst]:,} of {len(labels):,} "
        f"records{_worst(constraints, worst, labels)}.",
        k=constraints.k,
        reached_k=_reached(_counted(constraints, labels), constraints.max_suppressed),
        suppressed=float(sizes[np.logical_or.reduce(list(against.values()))].sum() / max(1, len(labels))),
    )


def _worst(constraints: Constraints, name: str, labels: NDArray[np.int64]) -> str:
    """Say what the worst class of k records reached of a constraint on sensitive values; nothing of k.

    A smaller class is left out: what is measured on one person would tell how rare that person's value is.
    """
    kind, _, column = name.partition(".")
    large = np.bincount(labels[labels >= 0]) >= constraints.k
    m = len(large)
    for limit in constraints.sensitive if large.any() else ():
        if limit.column != column or kind == "k":
            continue
        if kind == T_CLOSENESS.name:
            return f" (its worst class is at {float(_distances(limit, labels, m)[large].max()):.4g})"
        if limit.diversity is not None:
            found = _diversities(limit, limit.diversity, labels, m)[large]
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


def _counted(constraints: Constraints, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the records of each class, or its people where these are limited, (m,)."""
    sizes = np.bincount(labels[labels >= 0])
    for limit in constraints.sensitive if len(sizes) else ():
        if limit.people:
            return distinct_l(limit.codes[labels >= 0], labels[labels >= 0], m=len(sizes))
    return sizes


def _reached(sizes: Sequence[int] | NDArray[np.int64], max_suppressed: int) -> int:
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


def rules_of(constraints: Constraints) -> Rules:
    """Lay constraints out for the kernels, `class_rules.Rules`.

    The values of a class that the kernels take are those of ``constraints.sensitive``, in that order.
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
