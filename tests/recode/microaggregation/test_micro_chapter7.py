"""Chapter 7 on data of the book's shape: 1,080 records, two quasi-identifiers, a confidential number.

The book's Census file is not public here: two numbers with correlation 0.6, and a third that correlates with
their sum by about 0.5 (moderately, MCD) or 0.9 (highly, HCD). All values differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anon_pipeline.classes import equivalence_classes
from anon_pipeline.recode import Constraints, Recoding, SensitiveLimit, Task, recode
from anon_pipeline.recode.microaggregation.classes import clusters_of
from anon_pipeline.recode.microaggregation.closefirst import emd_bounds, tclose_size
from anon_pipeline.recode.microaggregation.space import make_space
from anon_pipeline.recode.table import distinct_tuples
from anon_pipeline.risk.closeness import closeness

N = 1080
STRICT = 0.13
"""Up to this t the book's finding holds on these data. Beyond it does not, see docs/microaggregation.md."""
T_CLOSE = ("merge", "kanon_first", "tclose_first")


def distinct_codes(values: np.ndarray) -> np.ndarray:
    codes = np.argsort(np.argsort(values))
    assert len(set(values.tolist())) == len(values)
    return codes.astype(np.int64)


def census(micro: Any, *, weight: float, k: int, t: float, recoder: str) -> Task:
    rng = np.random.default_rng(7)
    a, b, noise = rng.normal(size=(3, N))
    columns = np.round(np.exp(np.stack([a, 0.6 * a + 0.8 * b]) / 2) * 30_000, 4)
    secret = weight * (a + 0.6 * a + 0.8 * b) / np.sqrt(3.2) + np.sqrt(1 - weight**2) * noise
    found = [micro.numbers(np.sort(column).tolist()) for column in columns]
    codes = np.stack([distinct_codes(column) for column in columns], axis=1)
    limit = SensitiveLimit("tax", distinct_codes(secret), np.ones(N, np.int64), "ordered", None, t)
    return Task(codes, tuple(found), Constraints(k, 0, (limit,)), recoder)


def distances(task: Task, recoding: Recoding) -> np.ndarray:
    limit, labels = task.constraints.sensitive[0], equivalence_classes(recoding.codes).labels
    return closeness(limit.codes, labels, whole=limit.whole, m=labels.max() + 1, distance="ordered")


@pytest.mark.parametrize("weight", [0.52, 0.92])
@pytest.mark.parametrize("t", [0.01, 0.05, 0.09, 0.13, 0.17, 0.21, 0.25])
def test_every_cluster_is_t_close_and_tclose_first_best_where_t_is_strict(
    micro: Any, weight: float, t: float
) -> None:
    tasks = {name: census(micro, weight=weight, k=2, t=t, recoder=name) for name in T_CLOSE}
    found = {name: recode(task) for name, task in tasks.items()}
    for name, recoding in found.items():
        assert distances(tasks[name], recoding).max() <= t + 1e-12
    sizes = {name: N / len(equivalence_classes(one.codes).sizes) for name, one in found.items()}
    errors = {name: one.sse or 0.0 for name, one in found.items()}
    strict = t <= STRICT
    assert (min(sizes, key=sizes.__getitem__) == "tclose_first") >= strict
    assert (min(errors, key=errors.__getitem__) == "tclose_first") >= strict
    assert sizes["tclose_first"] < 1.1 * tclose_size(N, k=2, t=t) + 1


@pytest.mark.parametrize("size", [2, 3, 5, 8, 12, 30, 90])
def test_distances_lie_between_the_bounds_where_the_size_divides(micro: Any, size: int) -> None:
    assert N % size == 0
    least, most = emd_bounds(N, size)
    task = census(micro, weight=0.9, k=size, t=1.0, recoder="tclose_first")
    space = make_space(task, distinct_tuples(task.codes, task.hierarchies))
    labels = clusters_of(task, space)
    assert set(np.bincount(labels).tolist()) == {size}
    limit = task.constraints.sensitive[0]
    found = closeness(
        limit.codes[space.order], labels, whole=limit.whole, m=labels.max() + 1, distance="ordered"
    )
    assert found.min() >= least - 1e-12
    assert found.max() <= most + 1e-12


def test_the_golden_sizes_and_bounds(golden: Any) -> None:
    for case in golden["t_close_cluster_size"]:
        assert tclose_size(case["n"], k=case["k"], t=case["t"]) == case["size"]
    for case in golden["emd_lower_bound"]:
        assert emd_bounds(case["n"], case["k"])[0] == pytest.approx(case["bound"], rel=1e-12)
