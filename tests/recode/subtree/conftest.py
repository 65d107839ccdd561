"""Brute force over every state: its classes, what they suppress, and what is lost, record by record."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from anon_pipeline.recode.constraints import broken_classes
from anon_pipeline.recode.subtree.search import Search, fronts_of, prepare_search
from anon_pipeline.recode.task import Task
from tests.recode.asking import counts_of, held


def _bits(count: int) -> int:
    return round(math.log2(count) * 2**30)


def _cells(task: Task, search: Search, values: np.ndarray, kept: np.ndarray) -> Fraction:
    """What the cells lose, each column divided by its largest loss; entropy as a whole."""
    lost, most = Fraction(0), Fraction(0)
    weights = [Fraction(str(weight)) for weight in task.weights] or [Fraction(1)] * len(search.trees)
    n = len(values)
    for column, (tree, hierarchy, weight) in enumerate(
        zip(search.trees, task.hierarchies, weights, strict=True)
    ):
        leaves, own = task.by_record.codes[:, column].tolist(), values[:, column].tolist()
        times = Counter(leaves)
        cost, full = Fraction(0), Fraction(0)
        for leaf, value, stays in zip(leaves, own, kept.tolist(), strict=True):
            below = range(tree.first[value], tree.last[value])
            if task.loss == "precision":
                here, worst = int(tree.levels[value]), hierarchy.height - 1
            elif task.loss == "granularity":
                here, worst = len(below) - 1, hierarchy.leaves - 1
            else:
                here = _bits(sum(times[other] for other in below)) - _bits(times[leaf])
                worst = _bits(n) - _bits(times[leaf])
            cost += here if stays else worst
            full += worst
        if task.loss == "entropy":
            lost, most = lost + weight * cost, most + weight * full
        else:
            lost, most = lost + (weight * cost / full if full else 0), most + weight
    return (lost / (most or 1) * n + task.gone) / (n + task.gone)


def _loss(task: Task, search: Search, values: np.ndarray, labels: np.ndarray, kept: np.ndarray) -> Fraction:
    every = len(labels) + task.gone
    gone, sizes = int((~kept).sum()) + task.gone, Counter(labels[kept].tolist())
    if task.loss == "discernibility":
        return Fraction(sum(size * size for size in sizes.values()) + every * gone, every**2)
    if task.loss == "average_class_size":
        return Fraction(every, len(sizes) + (gone > 0)) / every
    if task.loss == "classification":
        pairs = Counter(zip(labels[kept].tolist(), task.by_record.target[kept].tolist(), strict=True))
        best = {group: max(c for (g, _), c in pairs.items() if g == group) for group in sizes}
        return Fraction(sum(sizes.values()) - sum(best.values()) + gone, every)
    return _cells(task, search, values, kept)


def brute_state(task: Task, search: Search, state: np.ndarray) -> SimpleNamespace:
    fronts = [front for front, _ in fronts_of(search, state)]
    columns = [front[leaves] for front, leaves in zip(fronts, task.by_record.codes.T, strict=True)]
    values = np.stack(columns, axis=1)
    labels = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    kept = ~broken_classes(task.constraints, held(task, labels))[labels]
    suppressed = int((~kept).sum())
    limit = min(task.constraints.max_suppressed, len(labels) - 1)
    return SimpleNamespace(
        state=state,
        labels=labels,
        kept=kept,
        suppressed=suppressed,
        excess=max(0, suppressed - limit),
        loss=_loss(task, search, values, labels, kept),
    )


def every_state(search: Search) -> Iterator[np.ndarray]:
    for bits in itertools.product([False, True], repeat=search.size):
        yield np.array(bits, np.bool_)


def search_of(task: Task) -> Search:
    return prepare_search(task, counts_of(task))


@pytest.fixture(scope="session")
def fronts() -> SimpleNamespace:
    """Brute force over states."""
    return SimpleNamespace(brute=brute_state, every=every_state, search=search_of)
