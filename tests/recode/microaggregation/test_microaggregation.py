"""Microaggregation from records to a recoding: every limit or InfeasibleError, whatever the row order."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.recode import Constraints, Diversity, Task, recode
from anon_pipeline.recode.constraints import broken_classes
from tests.example_counts import examples_of
from tests.recode.asking import Secret, again, ask, held, limit_of

MICROAGGREGATION = tuple(n for n, r in RECODERS.items() if r.family.name == "microaggregation")


@pytest.mark.parametrize("recoder", MICROAGGREGATION)
@settings(deadline=None, max_examples=examples_of(120))
@given(data=st.data())
def test_every_output_keeps_all_limits_or_there_is_none(
    data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace, recoder: str
) -> None:
    task = data.draw(micro.tasks(drawn.tables, recoder))
    try:
        found = recode(task)
    except InfeasibleError:
        return
    classes = equivalence_classes(found.codes)
    assert not broken_classes(task.constraints, held(task, classes.labels)).any()
    assert classes.k >= task.constraints.k
    assert found.suppressed == int((found.codes < 0).any(axis=1).sum()) <= task.constraints.max_suppressed
    assert found.suppressed < len(task.by_record.codes)
    assert ((found.codes < 0).all(axis=1) == (found.codes < 0).any(axis=1)).all()
    assert 0 <= found.loss <= 1
    assert found.sse is not None
    assert 0 <= found.sse <= 1
    for values in found.values:
        assert len({None if value is None else str(value) for value in values}) == len(values)


@pytest.mark.parametrize("recoder", MICROAGGREGATION)
@settings(deadline=None, max_examples=examples_of(60))
@given(data=st.data())
def test_another_row_order_releases_the_same(
    data: st.DataObject, drawn: SimpleNamespace, micro: SimpleNamespace, brute: SimpleNamespace, recoder: str
) -> None:
    task = data.draw(micro.tasks(drawn.tables, recoder))
    order = np.array(data.draw(st.permutations(range(len(task.by_record.codes)))))
    other = again(task, order)

    def released(asked: Task) -> Any:
        try:
            found = recode(asked)
        except InfeasibleError as error:
            return str(error)
        secret = zip(*(x.tolist() for x in asked.by_record.sensitive), strict=True)
        rows = zip(asked.by_record.codes.tolist(), brute.released(found), strict=True)
        seen = [(tuple(row), out) for row, out in rows]
        pairs = list(zip(seen, secret, strict=True)) if asked.constraints.sensitive else seen
        return Counter(pairs), found.loss, found.sse, found.suppressed

    assert released(task) == released(other)


def pay(codes: list[int], **limits: Any) -> Secret:
    return limit_of("pay", np.array(codes), np.bincount(codes), **limits)


def ages(micro: SimpleNamespace) -> tuple[np.ndarray, Any]:
    return np.array([[0], [1], [2], [3], [4], [5]]), micro.numbers([20, 21, 22, 60, 61, 63])


def test_classes_beyond_a_limit_are_suppressed_if_they_may_be(
    micro: SimpleNamespace, brute: SimpleNamespace
) -> None:
    codes, hierarchy = ages(micro)
    limit = pay([0, 0, 0, 0, 1, 2], diversity=Diversity("distinct", 2))
    task = ask(codes, (hierarchy,), Constraints(3, 3, (limit,)), "mdav")
    found = recode(task)
    assert brute.released(found) == [None] * 3 + [("61.3",)] * 3
    assert found.suppressed == 3
    assert found.loss == pytest.approx((3 + 3 * 3 / 43) / 6)
    assert found.sse == pytest.approx(np.var([60, 61, 63]) / 43**2, abs=1e-7)
    with pytest.raises(InfeasibleError, match="take the recoder merge") as caught:
        recode(replace(task, constraints=replace(task.constraints, max_suppressed=2)))
    assert "l_diversity.pay fails for 3 of 6 records" in caught.value.exact
    merged = recode(replace(task, recoder="merge", constraints=replace(task.constraints, max_suppressed=0)))
    assert brute.released(merged) == [("41.2",)] * 6


def test_everything_suppressed_is_infeasible_even_if_it_may_be(micro: SimpleNamespace) -> None:
    codes, hierarchy = ages(micro)
    limit = pay([0, 0, 0, 1, 1, 1], diversity=Diversity("distinct", 2))
    with pytest.raises(InfeasibleError):
        recode(ask(codes, (hierarchy,), Constraints(3, 6, (limit,)), "mdav"))


def test_clusters_that_release_the_same_are_one_class(micro: SimpleNamespace) -> None:
    """Seven equal records make three clusters and one class."""
    task = ask(np.zeros((7, 1), np.int64), (micro.numbers([5]),), Constraints(2, 0), "mdav")
    found = recode(task)
    assert equivalence_classes(found.codes).sizes.tolist() == [7]
    assert (found.loss, found.sse) == (0, 0)


@pytest.mark.parametrize(
    ("recoder", "message"),
    [("univariate", "one numeric column alone, got 0 numeric and 2 others"), ("tclose_first", "got 0")],
)
def test_columns_that_do_not_fit_are_refused(recoder: str, message: str, from_rows: Any) -> None:
    hierarchy = from_rows("x", [("a", "*"), ("b", "*")])
    with pytest.raises(ValueError, match=message):
        recode(ask(np.zeros((4, 2), np.int64), (hierarchy,) * 2, Constraints(2, 0), recoder))


@pytest.mark.parametrize("recoder", [*MICROAGGREGATION, "mondrian_relaxed"])
def test_the_target_decides_which_of_equal_records_goes_where(recoder: str, micro: SimpleNamespace) -> None:
    rng = np.random.default_rng(7)
    ages, target = rng.integers(0, 3, (40, 1)), rng.integers(0, 2, 40)
    limits = (pay(rng.integers(0, 3, 40).tolist(), distance="ordered", t=0.9),)
    losses = set()
    for _ in range(6):
        order = rng.permutation(40)
        own = replace(limits[0], codes=limits[0].codes[order])
        task = ask(
            ages[order],
            (micro.numbers([20, 30, 40]),),
            Constraints(5, 40, (own,)),
            recoder,
            "classification",
            target=target[order],
        )
        losses.add(recode(task).loss)
    assert len(losses) == 1


def test_records_gone_before_count_as_lost(micro: SimpleNamespace) -> None:
    codes, hierarchy = ages(micro)
    task = ask(codes, (hierarchy,), Constraints(6, 0), "mdav")
    assert recode(task).loss == 1
    same = ask(np.zeros((6, 1), np.int64), (hierarchy,), Constraints(6, 0), "mdav", gone=2)
    assert recode(same).loss == pytest.approx(2 / 8)


@pytest.mark.parametrize("recoder", MICROAGGREGATION)
def test_kernels_are_compiled_once(recoder: str, micro: SimpleNamespace, from_rows: Any) -> None:
    """A second signature would cost a compilation in the middle of a run."""
    from anon_pipeline.recode.microaggregation import (
        centroids,
        clusters,
        kanon_first,
        mdav,
        merge,
        slices,
        univariate,
    )

    modules = (centroids, slices, clusters, mdav, merge, kanon_first, univariate)
    kernels = {
        (module.__name__, name): kernel
        for module in modules
        for name, kernel in vars(module).items()
        if hasattr(kernel, "nopython_signatures")
    }
    number, text = micro.numbers([1, 2, 4, 7]), from_rows("x", [(x, "*") for x in "abcd"])
    limits = pay([0, 1, 2, 3] * 5, distance="ordered", t=0.05)
    columns = [(number,)] if recoder == "univariate" else [(number,), (text,), (number, text), (text, text)]
    counts = []
    for step in (1, 3, 3):
        for hierarchies in columns:
            codes = (np.arange(20 * len(hierarchies)) * step % 4).reshape(20, -1)
            task = ask(codes, hierarchies, Constraints(3, 20, (limits,)), recoder)
            with contextlib.suppress(InfeasibleError):
                recode(task)
        counts.append({name: len(kernel.nopython_signatures) for name, kernel in kernels.items()})
    assert counts[1] == counts[0] == counts[2]
