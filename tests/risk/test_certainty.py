"""Classes that nearly tell a value, against a plain loop over classes and windows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.risk.certainty import COMMON, ODDS, Ranked, likelier_share, telling_classes
from tests.example_counts import examples_of

_ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 6)), min_size=1, max_size=40)
_SHARES = st.sampled_from([0.5, 0.75, 0.9, 1.0])


def compact(labels: Sequence[int]) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1]


def slow(
    values: Sequence[int], labels: Sequence[int], people: Sequence[int], share: float, gain: int, near: int
) -> list[bool]:
    """Tell it for each class by looking at each value of it, counting whoever has it or a near one."""
    found = []
    everybody = len(set(people))
    for label in sorted(set(labels)):
        inside = [i for i in range(len(values)) if labels[i] == label]
        size = len({people[i] for i in inside})
        telling = False
        for start in {values[i] for i in inside}:
            window = range(start, start + near + 1)
            own = len({people[i] for i in inside if values[i] in window})
            whole = len({people[i] for i in range(len(values)) if values[i] in window})
            telling |= own >= share * size - 1e-9 and own * everybody > gain * whole * size
        found.append(telling)
    return found


@settings(max_examples=examples_of(200))
@given(_ROWS, _SHARES, st.integers(1, 3), st.integers(0, 2))
def test_records_are_counted_as_a_plain_loop_does(
    rows: list[tuple[int, int, int]], share: float, gain: int, near: int
) -> None:
    labels, values = [row[0] for row in rows], [row[1] for row in rows]
    column = Ranked(np.array(values), np.minimum(np.arange(6) + 1 + near, 6))
    classes = compact(labels)
    found = telling_classes(column, classes, m=int(classes.max()) + 1, share=share, gain=gain)
    assert found.tolist() == slow(values, labels, range(len(rows)), share, gain, near)


@settings(max_examples=examples_of(200))
@given(_ROWS, _SHARES, st.integers(1, 3), st.integers(0, 2))
def test_people_are_counted_as_a_plain_loop_does(
    rows: list[tuple[int, int, int]], share: float, gain: int, near: int
) -> None:
    labels, values, people = ([row[i] for row in rows] for i in range(3))
    column, classes = Ranked(np.array(values), np.minimum(np.arange(6) + 1 + near, 6)), compact(labels)
    found = telling_classes(
        column, classes, m=int(classes.max()) + 1, share=share, gain=gain, people=np.array(people)
    )
    assert found.tolist() == slow(values, labels, people, share, gain, 0)


@pytest.mark.parametrize(("alike", "told"), [(4, True), (5, False)])
def test_a_value_of_half_of_all_tells_nothing(alike: int, told: bool) -> None:
    """Of ten records, four in one class with one value that nobody else has; or with a fifth elsewhere."""
    values = np.array([0] * alike + [1] * (10 - alike))
    labels = np.array([0] * 4 + [1] * 6)
    column = Ranked(values, np.array([1, 2]))
    assert telling_classes(column, labels, m=2, share=1.0, gain=2)[0] == told


def test_labels_with_gaps_are_refused() -> None:
    with pytest.raises(ValueError, match="Number them without gaps"):
        telling_classes(Ranked(np.array([0]), np.array([1])), np.array([1]), m=2, share=0.9, gain=2)


def slow_likelier(values: Sequence[int], labels: Sequence[int], share: float) -> float:
    """Do it by plain loops, with chances added up term by term."""
    total, beyond, variance = len(values), 0.0, 0.0
    for value in set(values):
        count = list(values).count(value)
        p = count / total
        if not 0.5 * total <= count <= COMMON * total:
            continue
        sure_at_all, expected, spread, sure = False, 0.0, 0.0, 0
        for label in set(labels):
            inside = [one for one, of in zip(values, labels, strict=True) if of == label]
            n = len(inside)

            def certain(x: int, n: int = n, p: float = p) -> bool:
                return x >= share * n - 1e-9 and (x + 0.5) / (n - x + 0.5) >= ODDS * p / (1 - p) - 1e-9

            chance = sum(math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1) if certain(x))
            is_sure = certain(inside.count(value))
            sure_at_all |= is_sure
            sure += n * is_sure
            expected += n * chance
            spread += n * n * chance * (1 - chance)
        if sure_at_all:
            beyond, variance = beyond + sure - expected, variance + spread
    return beyond / total if beyond > 3 * math.sqrt(variance) else 0.0


@settings(max_examples=examples_of(200))
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=60), _SHARES)
def test_common_values_are_counted_as_a_plain_loop_does(rows: list[tuple[int, int]], share: float) -> None:
    labels, values = compact([row[0] for row in rows]), [row[1] for row in rows]
    column = Ranked(np.array(values), np.arange(1, 4))
    found = likelier_share(column, labels, m=int(labels.max()) + 1, share=share)
    assert found == pytest.approx(slow_likelier(values, labels.tolist(), share), abs=1e-9)


@pytest.mark.parametrize(("base", "size"), [(0.5, 5), (0.6, 10), (0.55, 8), (0.65, 20)])
def test_small_classes_in_which_all_have_a_common_value_by_chance_are_none(base: float, size: int) -> None:
    """Of 400 tables fewer than one in fifty: one would be beyond three standard deviations in 700."""
    random, said = np.random.default_rng(0), 0
    labels = np.repeat(np.arange(60), size)
    for _ in range(400):
        values = (random.random(len(labels)) < base).astype(np.int64)
        said += likelier_share(Ranked(values, np.array([1, 2])), labels, m=60, share=0.9) > 0
    assert said < 8


def test_a_value_of_half_that_all_of_a_quarter_of_the_classes_have_is_told() -> None:
    random = np.random.default_rng(1)
    labels = np.repeat(np.arange(30), 30)
    values = np.where(labels < 8, 1, random.random(900) < 0.35).astype(np.int64)
    column = Ranked(values, np.array([1, 2]))
    assert likelier_share(column, labels, m=30, share=0.9) == pytest.approx(8 / 30, abs=0.01)
    people = np.arange(900)
    assert likelier_share(column, labels, m=30, share=0.9, people=people) == pytest.approx(8 / 30, abs=0.01)
    assert not telling_classes(column, labels, m=30, share=0.9, gain=2).any()
