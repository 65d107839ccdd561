"""Fig. 1, the curse of dimensionality: what an ε-quasi costs the others when it is a k-quasi as they are.

Belongs here: information loss by column, with and without the attribute. Does not belong here: printing
(`paper_tables`), drawing (`paper_plots`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline import Policy
from anon_pipeline.base.classes import EquivalenceClasses, equivalence_classes
from anon_pipeline.encode.codes import Coded, accept, code_quasi_identifiers, mark_incomplete
from anon_pipeline.hierarchy import Hierarchy
from anon_pipeline.recode import Recoding, recode
from anon_pipeline.stages.recoder_task import recoding_task
from benchmarks.datasets import Dataset


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """Information loss of one recoding.

    columns: in [0, 1], by quasi-identifier.
    suppressed: share of the records.
    nodes: of the lattice.
    classes: of the released records.
    """

    columns: dict[str, float] = field(repr=False)
    suppressed: float
    nodes: int
    classes: int


@dataclass(frozen=True, slots=True)
class Curse:
    """One point of Fig. 1: mean loss of the k-quasi-identifiers, and of the attribute next to them.

    without: of the others, where the attribute gets noise: (k, ε)-anonymity.
    beside: of the others, where it is generalized with them: k-anonymity.
    attribute: its own loss there.
    suppressed_without, suppressed_beside: shares of the records.
    nodes_without, nodes_beside: of the lattices.
    """

    recoder: str
    k: int
    without: float
    beside: float
    attribute: float
    suppressed_without: float
    suppressed_beside: float
    nodes_without: int
    nodes_beside: int


def column_losses(coded: Coded, recoding: Recoding) -> list[float]:
    """Measure each column of a recoding; a suppressed record loses 1.

    Full-domain recodings: categorical precision, l/(h − 1). Local ones: numerical precision of numbers
    (range of the class / range of the table), else l/(h − 1) with l the least level on which the class has
    one value.

    Args:
        coded: (n, q) leaves.
        recoding: of those n records.
    Source:
        [KE III-A]; [methods 9].
    """
    n, classes = len(coded.codes), equivalence_classes(recoding.codes)
    if recoding.levels is not None:
        return [
            ((n - recoding.suppressed) * level / (hierarchy.height - 1) + recoding.suppressed) / n
            for hierarchy, level in zip(coded.hierarchies, recoding.levels, strict=True)
        ]
    return [
        _local(coded.codes[:, j], classes, hierarchy, n=n) for j, hierarchy in enumerate(coded.hierarchies)
    ]


def _local(codes: NDArray[np.int64], classes: EquivalenceClasses, hierarchy: Hierarchy, *, n: int) -> float:
    kept = classes.labels >= 0
    low = np.full(len(classes.sizes), np.iinfo(np.int64).max)
    high = np.full(len(classes.sizes), -1, np.int64)
    np.minimum.at(low, classes.labels[kept], codes[kept])
    np.maximum.at(high, classes.labels[kept], codes[kept])
    if hierarchy.coordinates is not None:
        at = hierarchy.coordinates.astype(np.float64)
        used = at[codes]
        span = float(np.ptp(used))
        lost_ranges = float((at[high] - at[low]) @ classes.sizes) / span if span else 0.0
        return (lost_ranges + n - int(classes.sizes.sum())) / n
    apart = [lookup[low] != lookup[high] for lookup in hierarchy.lookups]
    levels = np.sum(apart, axis=0, dtype=np.int64)  # leaves below a value are neighbors
    lost = int((levels * classes.sizes).sum()) / (hierarchy.height - 1)
    return (lost + n - int(classes.sizes.sum())) / n


def losses(table: pd.DataFrame, policy: Policy) -> Losses:
    """Recode a table and measure each quasi-identifier.

    Args:
        table: (n, columns) personal data without missing values.
        policy: any recoder.
    """
    frame = accept(table, policy)
    coded = code_quasi_identifiers(frame, policy)
    recoding = recode(recoding_task(policy, frame, coded, gone=mark_incomplete(frame, policy)))
    return Losses(
        columns=dict(zip(policy.generalized, column_losses(coded, recoding), strict=True)),
        suppressed=recoding.suppressed / len(frame),
        nodes=int(np.prod([hierarchy.height for hierarchy in coded.hierarchies])),
        classes=len(equivalence_classes(recoding.codes).sizes),
    )


def curse(dataset: Dataset, table: pd.DataFrame, recoder: str, k: int, *, loss: str = "precision") -> Curse:
    """Compute one point of Fig. 1.

    Args:
        dataset: whose policies are used.
        table: of the dataset.
        recoder: ``ola`` or ``mondrian``.
        k: smallest class.
        loss: what a lattice search minimizes, over all that it generalizes.
    """
    without = losses(table, dataset.policy(k, recoder, loss=loss))
    beside = losses(table, dataset.k_policy(k, recoder, loss=loss))
    others = [beside.columns[name] for name in without.columns]
    return Curse(
        recoder=recoder,
        k=k,
        without=float(np.mean(list(without.columns.values()))),
        beside=float(np.mean(others)),
        attribute=beside.columns[dataset.attribute],
        suppressed_without=without.suppressed,
        suppressed_beside=beside.suppressed,
        nodes_without=without.nodes,
        nodes_beside=beside.nodes,
    )


def curses(
    dataset: Dataset,
    table: pd.DataFrame,
    recoders: Sequence[str],
    ks: Iterable[int],
    *,
    loss: str = "precision",
) -> pd.DataFrame:
    """Return a row per `Curse`, for each recoder and k."""
    ks = tuple(ks)
    found = [curse(dataset, table, recoder, k, loss=loss) for recoder in recoders for k in ks]
    return pd.DataFrame([asdict(one) for one in found])
