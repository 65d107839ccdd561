"""Chapter 7 on data of the book's shape and kind: 1,080 incomes, see `benchmarks.chapter7`."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.recode import recode
from anon_pipeline.recode.microaggregation.slices import (
    cluster_size,
    form_by_algorithm_6,
    slice_sizes,
    tclose_size,
)
from anon_pipeline.recode.microaggregation.space import Space, make_space
from anon_pipeline.recode.task import Task
from anon_pipeline.risk.t_closeness import t_closeness
from benchmarks import chapter7
from benchmarks.chapter7 import RECODERS, RECORDS, SECRETS, TS, correlation, incomes, measured, task
from tests.example_counts import examples_of
from tests.recode.microaggregation.twins import Clusters, far, near, same, setting

TABLE = incomes()


def emd_bounds(n: int, size: int) -> tuple[float, float]:
    """Return the least and the greatest distance of a cluster with one of each slice: [DB 7.1, 7.2]."""
    return (n + size) * (n - size) / (4 * n * (n - 1) * size), (n - size) / (2 * (n - 1) * size)


@cache
def found(name: str, k: int, t: float, recoder: str) -> chapter7.Measured:
    return measured(task(TABLE, SECRETS[name], k=k, t=t, recoder=recoder))


def spaced(asked: Task) -> Space:
    return make_space(asked, asked.by_record)


def test_the_incomes_depend_on_each_other_as_the_books_do() -> None:
    assert len(TABLE["taxable income"]) == RECORDS
    assert correlation(TABLE, SECRETS["MCD"]) == pytest.approx(0.52, abs=0.02)
    assert correlation(TABLE, SECRETS["HCD"]) == pytest.approx(0.92, abs=0.02)


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("t", TS)
def test_tclose_first_has_the_smallest_clusters_and_the_least_error(name: str, k: int, t: float) -> None:
    of = {recoder: found(name, k, t, recoder) for recoder in RECODERS}
    for one in of.values():
        assert one.distance <= t + 1e-12
        assert one.least >= k
    best = of["tclose_first"]
    assert best.size == min(one.size for one in of.values())
    assert best.error == min(one.error for one in of.values())
    size = tclose_size(RECORDS, k=k, t=t)
    assert best.size < size or (size == k and best.size < 1.05 * k)


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert chapter7.main(["--k", "5", "--t", "0.25"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in lines[-2:]] == ["| MCD", "| HCD"]
    assert [line.split(" | ")[-2] for line in lines[-2:]] == ["5.00", "5.00"]


def test_the_table_says_when_another_is_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chapter7, "RECODERS", ("tclose_first", "merge"))
    assert chapter7.main(["--k", "5", "--t", "0.25"]) == 1


@pytest.mark.parametrize("size", [2, 3, 5, 8, 12, 30, 90])
def test_distances_of_plain_slices_lie_between_the_bounds_where_the_size_divides(size: int) -> None:
    assert RECORDS % size == 0
    least, most = emd_bounds(RECORDS, size)
    table = TABLE | {
        "federal tax": np.random.default_rng(1).permutation(RECORDS) + TABLE["federal tax"] * 2_000
    }
    asked = task(table, "federal tax", k=size, t=1.0, recoder="tclose_first")
    space, limit = spaced(asked), asked.constraints.sensitive[0]
    assert len(limit.whole) == RECORDS
    labels = form_by_algorithm_6(space, limit=0, k=size, t=1.0)
    assert set(np.bincount(labels).tolist()) == {size}
    off = t_closeness(
        asked.by_record.sensitive[0][space.order],
        labels,
        whole=limit.whole,
        m=labels.max() + 1,
        distance="ordered",
    )
    assert off.min() >= least - 1e-12
    assert off.max() <= most + 1e-12


def test_the_golden_sizes_and_bounds(golden: Any) -> None:
    for case in golden["t_close_cluster_size"]:
        assert tclose_size(case["n"], k=case["k"], t=case["t"]) == case["size"]
    for case in golden["emd_lower_bound"]:
        assert emd_bounds(case["n"], case["k"])[0] == pytest.approx(case["bound"], rel=1e-12)


def test_the_row_order_does_not_matter() -> None:
    order = np.random.default_rng(5).permutation(RECORDS)
    mixed = {name: column[order] for name, column in TABLE.items()}
    one, other = (task(x, SECRETS["MCD"], k=3, t=0.2, recoder="tclose_first") for x in (TABLE, mixed))
    first, second = recode(one), recode(other)
    assert first.sse == second.sse
    texts = [np.array([r.values[j][r.codes[:, j]] for j in range(2)]) for r in (first, second)]
    assert (texts[0][:, order] == texts[1]).all()


def slow_tclose(slow: Any, codes: np.ndarray, k: int, t: float) -> Clusters:
    n, found = len(codes), []
    size = cluster_size(n, k=k, t=t)
    order, ends = np.argsort(codes, kind="stable"), np.cumsum(slice_sizes(n, size))
    slices = [order[a:b].tolist() for a, b in zip(np.append(0, ends), ends, strict=False)]
    extra, x = [len(one) - n // size for one in slices], -1
    while any(slices):
        left = sorted(i for one in slices for i in one)
        x = far(slow, left, slow.point(x) if len(found) % 2 else slow.center(left))
        own: list[int] = []
        for i, one in enumerate(slices):
            own += (taken := near(slow, one, slow.point(x), 1))
            one.remove(taken[0])
            if extra[i] and len(own) == i + 1:
                own += (taken := near(slow, one, slow.point(x), 1))
                one.remove(taken[0])
                extra[i] -= 1
        found.append(own)
    return found


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_algorithm_6(data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace) -> None:
    task, space, slow = setting(data, drawn, micro, "tclose_first")
    k, t = task.constraints.k, task.constraints.sensitive[0].t
    assert t is not None
    found = form_by_algorithm_6(space, limit=0, k=k, t=t)
    assert same(found, slow_tclose(slow, space.sensitive[0], k, t))
