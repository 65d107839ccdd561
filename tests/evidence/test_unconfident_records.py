"""Records that noise does not hide, counted by hand and by a plain loop."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.evidence.evidence import Evidence, Originals, value_classes
from anon_pipeline.evidence.unconfident_records import unconfident_records
from anon_pipeline.perturb.mechanisms import Noise
from tests.example_counts import examples_of

EPSILON = Fraction(10)


def evidence(
    values: list[int], labels: list[int], people: list[int] | None = None, own: list[int] | None = None
) -> Evidence:
    rows = np.arange(len(values)) if own is None else np.array(own)
    frame = pd.DataFrame({"class": labels})
    behind = Originals(
        frame,
        np.array(labels),
        rows,
        np.array(values, np.float64)[:, None],
        None if people is None else np.array(people),
    )
    released = frame.iloc[rows].reset_index(drop=True)
    return Evidence(released, value_classes(released, ["class"]), behind, hierarchies=None)  # type: ignore[arg-type]


def alone(found: Evidence, epsilon: Fraction = EPSILON) -> int:
    return unconfident_records(found, (Noise("discrete_laplace", epsilon),), confidence=0.99)


def test_the_far_one_of_a_class_stands_alone_and_the_near_ones_do_not() -> None:
    """With ε = 10 the interval of 99 % is a little under half of the class's diameter on each side."""
    assert alone(evidence([0, 10, 20, 1000], [0] * 4)) == 1
    assert alone(evidence([0, 10, 20, 1000], [0] * 4), Fraction(2)) == 0
    assert alone(evidence([0, 10, 20, 900, 1000], [0] * 5)) == 0
    assert alone(evidence([0, 10, 20, 1000, 5, 5], [0, 0, 0, 0, 1, 1])) == 1  # equal values hide each other


def test_suppressed_originals_hide_as_others_do_and_only_released_records_count() -> None:
    assert alone(evidence([0, 10, 20, 1000], [0] * 4, own=[0, 1, 2])) == 0
    assert alone(evidence([0, 10, 20, 900, 1000], [0] * 5, own=[0, 1, 2, 4])) == 0  # 900 hides it
    assert alone(evidence([0, 10, 20, 1000, 990], [0, 0, 0, 0, -1], own=[0, 1, 2, 3])) == 1  # of no class


def test_own_records_do_not_hide_a_person() -> None:
    assert alone(evidence([0, 10, 20, 990, 1000], [0] * 5, people=[0, 1, 2, 3, 3])) == 1
    assert alone(evidence([0, 10, 20, 990, 1000], [0] * 5, people=[0, 1, 2, 3, 4])) == 0


def test_public_bounds_hide_the_far_one() -> None:
    found = evidence([0, 10, 20, 1000], [0] * 4)
    assert (
        unconfident_records(found, (Noise("discrete_laplace", EPSILON, None, (0, 30)),), confidence=0.99) == 0
    )


def test_a_file_alone_is_not_enough() -> None:
    released = pd.DataFrame({"class": [0, 0]})
    file = Evidence(released, value_classes(released, ["class"]), None, hierarchies=None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="originals"):
        alone(file)


@settings(max_examples=examples_of(60))
@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 1)), min_size=2, max_size=30))
def test_a_plain_loop_finds_the_same(rows: list[tuple[int, int]]) -> None:
    labels = [label for _, label in rows]
    if {*labels} != {0, 1}:
        labels = [0] * len(rows)
    values = [value for value, _ in rows]
    found = 0
    for value, label in zip(values, labels, strict=True):
        members = [other for other, of in zip(values, labels, strict=True) if of == label]
        width = max(members) - min(members)
        # the interval of Laplace noise of scale width/ε: its tail beyond the radius has probability 0.01
        radius = width / float(EPSILON) * math.log(100)
        found += sum(abs(other - value) <= radius for other in members) < 2
    assert alone(evidence(values, labels)) == found
