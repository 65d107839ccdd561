"""Attackers who know the method: against a slow twin, by hand, and against what a method makes possible."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from anon_pipeline.risk import informed_linking as module
from anon_pipeline.risk.informed_linking import LEAST, informed_linking
from anon_pipeline.risk.linking import linking_risk
from tests.example_counts import examples_of

Reals = NDArray[np.float64]


def people(many: int, columns: int, *, seed: int = 0, alike: float = 0.5) -> Reals:
    """Return correlated whole numbers, (n, p)."""
    covariance = np.full((columns, columns), alike) + (1 - alike) * np.eye(columns)
    random = np.random.default_rng(seed)
    return np.round(1000 + 200 * random.multivariate_normal(np.zeros(columns), covariance, many))


def swap_near(values: Reals, window: int, *, seed: int = 1) -> Reals:
    """Swap each column's values with others at most so many ranks away."""
    random, found = np.random.default_rng(seed), values.copy()
    for j in range(values.shape[1]):
        order = np.argsort(values[:, j], kind="stable")
        free, line = np.ones(len(order), np.bool_), np.arange(len(order))
        for place in range(len(order)):
            later = place + 1 + np.flatnonzero(free[place + 1 : place + 1 + window])
            if free[place] and len(later):
                other = int(random.choice(later))
                free[[place, other]] = False
                line[[place, other]] = other, place
        found[order, j] = values[order[line], j]
    return found


def slow_informed(
    released: Reals, own: list[int], originals: Reals, labels: list[int], whose: list[int]
) -> float:
    """Do as `informed_linking`, one pair after the other."""
    kept = [k for k, label in enumerate(labels) if label >= 0]
    laws = [_slow_law(released[:, j], own, originals[:, j], kept) for j in range(released.shape[1])]
    attackers = [lambda i, k: sum(law(i, k) for law in laws)]
    attackers.append(_slow_regression(released, own, originals, kept))
    logs = [np.sign(values) * np.log1p(np.abs(values)) for values in (released, originals)]
    attackers.append(_slow_regression(logs[0], own, logs[1], kept))
    shares = []
    for score in attackers:
        missed: dict[int, float] = {}
        for i, mine in enumerate(own):
            rivals = [k for k in kept if labels[k] == labels[mine]]
            scores = {k: score(i, k) for k in rivals}
            best = max(scores.values())
            guessed = [k for k in rivals if math.isclose(scores[k], best, rel_tol=1e-7, abs_tol=1e-7)]
            right = sum(whose[k] == whose[mine] for k in guessed) / len(guessed)
            missed[whose[mine]] = missed.get(whose[mine], 1.0) * (1 - right)
        shares.append(1 - sum(missed.values()) / len(missed))
    return max(shares)


def _slow_regression(released: Reals, own: list[int], originals: Reals, kept: list[int]):  # type: ignore[no-untyped-def]
    known = np.column_stack([np.ones(len(own)), originals[own]])
    line = np.linalg.pinv(known) @ released
    residuals = released - known @ line
    spread = np.atleast_2d(np.cov(residuals.T))
    different = np.unique(np.column_stack([np.zeros(len(kept)), originals[kept]]), axis=0)
    inverse = np.linalg.inv(spread + np.diag(np.maximum(1e-6 * different[:, 1:].var(axis=0), 1e-300)))
    hats = np.diag(known @ np.linalg.pinv(known))

    def fit(i: int, k: int) -> float:
        apart = released[i] - np.concatenate([[1], originals[k]]) @ line
        if k == own[i]:
            apart = apart / (1 - min(hats[i], 0.5))
        return -float(apart @ inverse @ apart)

    return fit


def _slow_law(seen: Reals, own: list[int], known: Reals, kept: list[int]):  # type: ignore[no-untyped-def]
    def rank(value: float) -> int:
        return sum(int(known[k] < value) + int(known[k] <= value) for k in kept)

    ranks, shown = {k: rank(known[k]) for k in kept}, [rank(value) for value in seen]
    moves = [abs(shown[i] - ranks[mine]) for i, mine in enumerate(own)]
    many = min(max(len(moves) // 25, 2), 48)
    ends = sorted({sorted(moves)[math.ceil((len(moves) - 1) * b / many)] for b in range(1, many + 1)})

    def bin_of(distance: int) -> int:
        return next((b for b, end in enumerate(ends) if distance <= end), len(ends))

    pairs = [bin_of(abs(one - ranks[mine])) for one in shown for mine in own]
    chances = [max(pairs.count(b), 1) / len(pairs) for b in range(len(ends) + 1)]

    def law(i: int, k: int) -> float:
        moved = bin_of(abs(shown[i] - ranks[k]))
        like = sum(bin_of(one) == moved for other, one in enumerate(moves) if other != i)
        return math.log((like + 0.5) / (len(moves) + 0.5 * len(chances))) - math.log(chances[moved])

    return law


@settings(max_examples=examples_of(15))
@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 4), st.booleans(), st.sampled_from([3, 40]))
def test_it_is_its_slow_twin(seed: int, columns: int, classes: int, of_people: bool, step: int) -> None:
    random = np.random.default_rng(seed)
    many = 80
    originals = np.round(people(many, columns, seed=seed) / step)
    labels = random.integers(-1, classes, many)
    own = random.permutation(np.flatnonzero(labels >= 0))[: max(LEAST, many // 2)]
    if len(own) < LEAST:
        own = np.flatnonzero(labels >= 0)
    released = swap_near(originals, 8, seed=seed)[own] + random.integers(-1, 2, (len(own), columns))
    whose = random.integers(0, 30, many) if of_people else np.arange(many)
    found = informed_linking(released, own, originals, labels=labels, people=whose if of_people else None)
    if len(own) < LEAST:
        assert found == 0
    else:
        slow = slow_informed(released, own.tolist(), originals, labels.tolist(), whose.tolist())
        assert found == pytest.approx(slow, abs=1e-6)


def test_who_knows_the_window_of_swapped_ranks_links_twice_as_many() -> None:
    """Ranks of three columns are moved by up to a tenth: the nearest original is often too far away."""
    originals = people(1_000, 3)
    released, own, labels = swap_near(originals, 100), np.arange(1_000), np.zeros(1_000, np.int64)
    nearest = linking_risk(released, own, originals, labels=labels).risk
    assert informed_linking(released, own, originals, labels=labels) > 1.5 * nearest > 0.05


def test_who_knows_correlated_noise_links_more() -> None:
    """Noise that goes along with both columns hides a record only among those that differ likewise."""
    originals, random = people(1_000, 4, alike=0.8), np.random.default_rng(3)
    noise = random.multivariate_normal(np.zeros(4), 0.03 * np.cov(originals.T), 1_000)
    released, own, labels = originals + noise, np.arange(1_000), np.zeros(1_000, np.int64)
    nearest = linking_risk(released, own, originals, labels=labels).risk
    assert informed_linking(released, own, originals, labels=labels) > 1.3 * nearest > 0.1


@pytest.mark.parametrize("size", [5, 50, 1_000])
def test_a_random_order_tells_nobody_anything(size: int) -> None:
    """One of each class is linked, whichever is guessed: 1/size of the records, within three deviations."""
    originals = people(1_000, 3)
    labels = np.arange(1_000) // size
    shares = []
    for seed in range(10):
        random, released = np.random.default_rng(seed), originals.copy()
        for column in released.T:
            for label in range(1_000 // size):
                column[labels == label] = random.permutation(column[labels == label])
        shares.append(informed_linking(released, np.arange(1_000), originals, labels=labels))
    expected = 1 / size
    assert np.mean(shares) < expected + 4 * math.sqrt(expected / 10_000) + 0.002


def test_what_does_not_move_is_linked_but_for_equal_originals() -> None:
    originals = np.repeat(np.arange(100.0), 2)[:, None] * [[1, 1]]
    own, labels = np.arange(200), np.zeros(200, np.int64)
    assert informed_linking(originals, own, originals, labels=labels) == pytest.approx(0.5)
    everybody = np.arange(200) // 2
    assert informed_linking(originals, own, originals, labels=labels, people=everybody) == pytest.approx(1)


def test_of_few_records_or_no_column_nothing_is_learned() -> None:
    originals = people(LEAST - 1, 2)
    labels = np.zeros(LEAST - 1, np.int64)
    assert informed_linking(originals, np.arange(LEAST - 1), originals, labels=labels) == 0
    none, labels = np.empty((100, 0)), np.zeros(100, np.int64)
    assert informed_linking(none, np.arange(100), none, labels=labels) == 0


def test_a_part_says_what_all_say(monkeypatch: pytest.MonkeyPatch) -> None:
    originals = people(4_000, 3)
    released, labels = swap_near(originals, 60), np.arange(4_000) % 2
    arguments = (released, np.arange(4_000), originals)
    whole = informed_linking(*arguments, labels=labels)
    monkeypatch.setattr(module, "_PAIRS", 1_000)
    parts = []
    for seed in range(40):
        monkeypatch.setattr(module, "_SEED", seed)
        parts.append(informed_linking(*arguments, labels=labels))
    error = np.std(parts, ddof=1) / math.sqrt(len(parts))
    assert 0 < error < 0.02 and 0.05 < whole < 0.95
    assert abs(np.mean(parts) - whole) < 4 * error + 0.003  # the better of two is picked each time


@pytest.mark.parametrize("pairs", [2**24, 1_000])
def test_the_order_of_rows_and_columns_plays_no_part(monkeypatch: pytest.MonkeyPatch, pairs: int) -> None:
    monkeypatch.setattr(module, "_PAIRS", pairs)
    originals, labels = people(500, 3), np.arange(500) % 7
    released, own = swap_near(originals, 30), np.arange(500)
    whose = np.arange(500) // 2
    random = np.random.default_rng(0)
    first, turned = random.permutation(500), random.permutation(500)
    back = np.argsort(first)
    for columns in ([0, 1, 2], [2, 0, 1]) if pairs > 1_000 else ([0, 1, 2],):
        for theirs in (None, whose):
            found = informed_linking(released, own, originals, labels=labels, people=theirs)
            again = informed_linking(
                released[turned][:, columns],
                back[turned],
                originals[first][:, columns],
                labels=labels[first],
                people=None if theirs is None else theirs[first],
            )
            assert again == pytest.approx(found, abs=1e-9)


def test_columns_that_do_not_vary_do_no_harm() -> None:
    originals = people(200, 2)
    originals[:, 1] = 7
    released = swap_near(originals, 20)
    own, labels = np.arange(200), np.zeros(200, np.int64)
    found = informed_linking(released, own, originals, labels=labels)
    alone = informed_linking(released[:, :1], own, originals[:, :1], labels=labels)
    assert 0 < alone <= found < 0.2
