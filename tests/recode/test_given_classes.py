"""Classes that are given: those of Mondrian give its recoding, and what breaks a limit is suppressed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.recode import Constraints, Diversity, recode
from tests.example_counts import examples_of
from tests.recode.asking import ask, limit_of
from tests.recode.mondrian.test_tries import line

LOSSES = ["precision", "granularity", "entropy", "discernibility", "average_class_size", "classification"]


@settings(deadline=None, max_examples=examples_of(200))
@given(data=st.data())
def test_the_classes_of_mondrian_are_its_recoding(
    data: st.DataObject, drawn: SimpleNamespace, brute: SimpleNamespace
) -> None:
    task = data.draw(drawn.tasks("mondrian", data.draw(st.sampled_from(LOSSES))))
    try:
        want = recode(task)
    except InfeasibleError:
        return
    labels = equivalence_classes(want.codes).labels
    told = replace(task, recoder="given", by_record=replace(task.by_record, given=labels))
    found = recode(told)
    assert brute.released(found) == brute.released(want)
    assert found.loss == pytest.approx(want.loss, abs=1e-12)
    assert (found.suppressed, found.levels) == (0, None)


def test_a_class_that_breaks_a_limit_is_suppressed_within_the_limit() -> None:
    """Six records in three classes: one has one record, one has one illness."""
    codes = np.array([[0], [1], [3], [4], [4], [9]])
    illness = np.array([0, 1, 0, 0, 1, 0])
    limit = limit_of("s", illness, np.bincount(illness), diversity=Diversity("distinct", 2))
    labels = np.array([0, 0, 1, 1, 0, 2])

    def asked(most: int) -> Any:
        return recode(ask(codes, [line(10)], Constraints(2, most, (limit,)), "given", given=labels))

    found = asked(3)
    shown = [None if code < 0 else found.values[0][code] for code in found.codes[:, 0]]
    assert shown[2:4] == [None, None] and shown[5] is None and found.suppressed == 3
    assert len({*shown[:2], shown[4]}) == 1 and str(shown[0]).startswith("[")
    with pytest.raises(InfeasibleError, match="Make the classes larger, lower k or l"):
        asked(2)


def test_without_classes_there_is_no_recoding() -> None:
    task = ask(np.zeros((4, 1), np.int64), [line(3)], Constraints(2, 0), "given")
    with pytest.raises(ValueError, match="classes of the records"):
        recode(replace(task, by_record=replace(task.by_record, given=None)))
