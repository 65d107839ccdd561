from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.risk.linking import LinkingRisk, expected_column_linking, linking_risk, linking_table


def twin(released, own, originals, labels):
    """From the definition, exact: who is linked, and the sum of 1/ties."""
    linked, success = 0, Fraction(0)
    for y, index in zip(released.tolist(), own.tolist(), strict=True):
        members = np.flatnonzero(labels == labels[index])
        rows = originals[members].tolist()
        spans = [int(max(column) - min(column)) for column in zip(*rows, strict=True)]
        distances = [
            sum(
                (Fraction(int(a - b), span) ** 2 for a, b, span in zip(y, row, spans, strict=True) if span), 0
            )
            for row in rows
        ]
        mine = distances[members.tolist().index(index)]
        if mine == min(distances):
            linked += 1
            success += Fraction(1, distances.count(mine))
    return linked, success


@st.composite
def releases(draw, columns=(1, 3), high=6):
    p, n = draw(st.integers(*columns)), draw(st.integers(1, 16))
    cell = st.integers(0, high)
    originals = np.array(draw(st.lists(st.tuples(*[cell] * p), min_size=n, max_size=n))).reshape(n, p)
    labels = np.array(draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n)))
    labels[0] = 0
    own = np.array(draw(st.permutations(np.flatnonzero(labels >= 0).tolist())))
    own = own[: draw(st.integers(1, len(own)))]
    noise = draw(st.lists(st.tuples(*[st.integers(-4, 4)] * p), min_size=len(own), max_size=len(own)))
    released = originals[own] + np.array(noise).reshape(len(own), p)
    return released.astype(np.float64), own, originals.astype(np.float64), labels


@given(releases())
def test_equals_the_definition(release):
    released, own, originals, labels = release
    found = linking_risk(released, own, originals, labels=labels)
    linked, success = twin(*release)
    assert (found.linked, found.released) == (linked, len(own))
    assert found.risk == linked / len(own)
    assert found.attacker_success == pytest.approx(float(success / len(own)), abs=1e-12)


@given(releases(columns=(2, 2), high=1000))
def test_ties_in_the_plane_survive_rounding(release):
    linked, _ = twin(*release)
    released, own, originals, labels = release
    assert linking_risk(released, own, originals, labels=labels).linked == linked


@given(releases(), st.randoms(use_true_random=False))
def test_the_order_of_originals_and_released_records_does_not_matter(release, random):
    released, own, originals, labels = release
    there, here = list(range(len(labels))), list(range(len(own)))
    random.shuffle(there)
    random.shuffle(here)
    place = np.argsort(there)  # where each original went
    moved = linking_risk(released[here], place[own][here], originals[there], labels=labels[there])
    assert moved == linking_risk(released, own, originals, labels=labels)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_equals_the_definition_for_larger_classes(p):
    rng = np.random.default_rng(p)
    n = 300
    originals = np.floor(rng.normal(50, [8, 3, 1][:p], (n, p)))
    labels = rng.choice([-1, 0, 0, 0, 1], n)
    own = rng.permutation(np.flatnonzero(labels >= 0))[:120]
    released = originals[own] + rng.integers(-3, 4, (len(own), p))
    found = linking_risk(released, own, originals, labels=labels)
    linked, success = twin(released, own, originals, labels)
    assert 10 < linked < 110
    assert found.linked == linked
    assert found.attacker_success == pytest.approx(float(success / len(own)), abs=1e-12)


def test_own_is_an_index_of_the_originals_and_not_a_position_of_the_release():
    originals = np.array([[0.0], [10.0], [20.0]])
    found = linking_risk(np.array([[19.0], [1.0]]), np.array([2, 0]), originals, labels=np.zeros(3, int))
    assert found == LinkingRisk(2, 2, 1.0, 1.0)


def test_a_tie_is_linked_and_worth_its_share():
    originals = np.array([[0.0], [10.0], [10.0]])
    found = linking_risk(np.array([[5.0]]), np.array([0]), originals, labels=np.zeros(3, int))
    assert found.risk == 1.0
    assert found.attacker_success == pytest.approx(1 / 3)


def test_originals_of_suppressed_records_still_confuse_the_attacker():
    originals = np.array([[0.0], [4.0]])
    found = linking_risk(np.array([[3.0]]), np.array([0]), originals, labels=np.zeros(2, int))
    assert found.linked == 0


def test_originals_of_other_classes_do_not():
    originals = np.array([[0.0], [4.0]])
    found = linking_risk(np.array([[3.0]]), np.array([0]), originals, labels=np.array([0, 1]))
    assert found.linked == 1


def test_a_column_without_diameter_counts_nothing():
    originals = np.array([[7.0, 0.0], [7.0, 10.0]])
    released = np.array([[90.0, 1.0], [-90.0, 9.0]])
    found = linking_risk(released, np.arange(2), originals, labels=np.zeros(2, int))
    assert found.linked == 2


def test_columns_are_measured_in_class_diameters():
    originals = np.array([[0.0, 0.0], [1000.0, 1.0]])
    # 400 of 1000 off in one column, 0.9 of 1 in the other: the second original is nearer
    found = linking_risk(np.array([[400.0, 0.9]]), np.array([0]), originals, labels=np.zeros(2, int))
    assert found.linked == 0


@pytest.mark.parametrize("diameter", range(9, 60))
def test_a_tie_in_the_plane_is_a_tie_whatever_rounding_says(diameter):
    # the legs 3 and 4 are as far as the leg 5; the corners give the class its diameters
    originals = np.array([[3.0, 4.0], [5.0, 0.0], [-4.0, -4.0], [diameter - 4.0, diameter - 4.0]])
    found = linking_risk(np.zeros((2, 2)), np.arange(2), originals, labels=np.zeros(4, int))
    assert (found.linked, found.attacker_success) == (2, 0.5)


def test_without_a_column_the_risk_is_the_prosecutors():
    labels = np.array([0, 0, 0, 1, 1, -1])
    found = linking_risk(np.empty((5, 0)), np.arange(5), np.empty((6, 0)), labels=labels)
    assert found == LinkingRisk(linked=5, released=5, risk=0.4, attacker_success=0.4)


@pytest.mark.parametrize("p", [1, 2])
def test_a_large_class_of_equal_values(p):
    n = 100_000  # quadratic work or 32-bit squares would show
    originals = np.full((n, p), 3.0)
    found = linking_risk(originals, np.arange(n), originals, labels=np.zeros(n, np.int32))
    assert (found.linked, found.risk) == (n, 1.0)
    assert found.attacker_success == pytest.approx(1 / n)


def test_a_large_class_with_a_constant_column_and_no_noise():
    n = 60_000
    originals = np.stack((np.full(n, 3.0), np.arange(n, dtype=np.float64)), axis=1)
    found = linking_risk(originals, np.arange(n), originals, labels=np.zeros(n, int))
    assert (found.linked, found.attacker_success) == (n, 1.0)


def test_nothing_released_is_refused():
    with pytest.raises(ValueError, match="must hold a record"):
        linking_risk(np.empty((0, 1)), np.empty(0, int), np.zeros((2, 1)), labels=np.zeros(2, int))


def test_a_released_record_of_no_class_is_refused():
    with pytest.raises(ValueError, match="must be in a class"):
        linking_risk(np.zeros((1, 1)), np.array([1]), np.zeros((2, 1)), labels=np.array([0, -1]))


def expected_twin(values, scales, bounds, reach=400):
    """Enumerate the noise: Σ over outputs of their probability where the own value is nearest."""
    total, count = 0.0, 0
    for members, b in zip(values, scales, strict=True):
        q = math.exp(-1 / b) if b else 0.0
        for x in members:
            for z in range(-reach, reach + 1):
                y = x + z if bounds is None else min(max(x + z, bounds[0]), bounds[1])
                chance = (1 - q) / (1 + q) * q ** abs(z)
                total += chance * (abs(y - x) == min(abs(y - other) for other in members))
            count += 1
    return total / count


@given(
    st.lists(st.lists(st.integers(-15, 15), min_size=1, max_size=5), min_size=1, max_size=3),
    st.lists(st.sampled_from([0.0, 0.05, 0.4, 1.0, 2.5, 9.0]), min_size=3, max_size=3),
    st.none() | st.tuples(st.integers(-20, 0), st.integers(0, 20)),
)
def test_the_expected_risk_equals_an_enumeration_of_the_noise(values, scales, bounds):
    scales = scales[: len(values)]
    labels = np.concatenate([np.full(len(members), label) for label, members in enumerate(values)])
    originals = np.concatenate([np.array(members) for members in values])
    found = expected_column_linking(originals, labels, scales=np.array(scales), bounds=bounds)
    assert found == pytest.approx(expected_twin(values, scales, bounds), abs=1e-9)


def test_the_expected_risk_predicts_the_measured_one():
    rng = np.random.default_rng(5)
    n, m, runs = 400, 20, 40
    labels = np.repeat(np.arange(m), n // m)
    originals = np.floor(rng.normal(1700, 70, n) + 0.5).astype(np.int64)
    scales = np.array([np.ptp(originals[labels == label]) for label in range(m)]) / 4.0
    success = -np.expm1(-1 / scales[labels])  # discrete Laplace is the difference of two geometric numbers
    risks = []
    for _ in range(runs):
        released = originals + rng.geometric(success) - rng.geometric(success)
        grid = released.astype(np.float64)[:, None], originals.astype(np.float64)[:, None]
        risks.append(linking_risk(grid[0], np.arange(n), grid[1], labels=labels).risk)
    expected = expected_column_linking(originals, labels, scales=scales)
    error = 4 * math.sqrt(expected * (1 - expected) / (n * runs))
    assert np.mean(risks) == pytest.approx(expected, abs=error)
    assert abs(expected_column_linking(originals, labels, scales=scales * 0.7) - expected) > error
    assert abs(expected_column_linking(originals, labels, scales=scales * 1.3) - expected) > error


def test_the_expected_risk_leaves_suppressed_records_out_and_ignores_order():
    originals, labels = np.array([3, 90, 8, 5, 5]), np.array([0, -1, 0, 1, 1])
    scales = np.array([2.0, 0.0])
    found = expected_column_linking(originals, labels, scales=scales)
    kept = [3, 0, 4, 2]
    assert found == expected_column_linking(originals[kept], labels[kept], scales=scales)


def test_without_noise_the_expected_risk_is_one():
    assert expected_column_linking(np.array([5, 5, 5]), np.zeros(3, int), scales=np.zeros(1)) == 1.0


def test_the_expected_risk_of_far_apart_large_values_is_exact():
    originals = np.array([0, 2**45, 2**45 + 2])
    found = expected_column_linking(originals, np.zeros(3, int), scales=np.array([1.0]))
    tail = math.exp(-2) / (1 + math.exp(-1))  # a noise of 2 or more reaches past the tie
    assert found == pytest.approx((1 + 2 * (1 - tail)) / 3, abs=1e-12)


@pytest.mark.parametrize(("labels", "scales"), [([-1, -1], []), ([0, 1], [1.0]), ([0, 0], [1.0, 1.0])])
def test_scales_must_fit_the_classes(labels, scales):
    with pytest.raises(ValueError, match="must"):
        expected_column_linking(np.array([1, 2]), np.array(labels), scales=np.array(scales))


@pytest.mark.parametrize("p", [0, 1, 2])
def test_a_sorted_table_measures_any_release_of_its_records(p):
    rng = np.random.default_rng(p)
    labels = np.append(np.repeat(np.arange(6), 5), [-1, -1])
    originals = rng.integers(0, 9, (32, p)).astype(float)
    own = rng.permutation(30)
    table = linking_table(own, originals, labels=labels)
    for rows in (np.arange(30), np.array([3, 4, 17, 29]), rng.permutation(30)[:12]):
        released = originals[own[rows]] + rng.integers(-3, 4, (len(rows), p))
        assert table.measure(released, rows) == linking_risk(released, own[rows], originals, labels=labels)
