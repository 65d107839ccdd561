"""An attacker who learns across buckets: by chance where nothing is tied, and against a slow twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anon_pipeline.bucketized.buckets import buckets_of
from anon_pipeline.bucketized.learned_guess import right_by, right_guesses
from anon_pipeline.declared.random_numbers import RandomNumbers


def guessed(codes: np.ndarray, l: int) -> float:  # noqa: E741 - the name of the measure
    buckets = buckets_of(codes[:, -1], l=l, k=l, random=RandomNumbers(0))
    return right_guesses(codes[:, :-1], codes[:, -1], buckets, cut=[True, False])


def test_where_nothing_is_tied_he_guesses_by_chance(people: Callable[..., Any]) -> None:
    assert abs(guessed(people(6_000), 3) - 1 / 3) < 0.05


def test_where_ages_tell_the_illness_he_guesses_right(people: Callable[..., Any]) -> None:
    shares = [guessed(people(6_000, tied=tied), 3) for tied in (0.0, 0.3, 0.6, 1.0)]
    assert shares == sorted(shares) and shares[-1] > 0.95


def test_he_is_that_of_a_slow_twin(people: Callable[..., Any]) -> None:
    """One round over two columns, record by record."""
    codes = people(60, tied=0.4)
    codes[:, 0] //= 25
    buckets = buckets_of(codes[:, 2], l=2, k=3, random=RandomNumbers(1))
    chance = [
        {
            int(value): float(np.mean(codes[buckets == bucket, 2] == value))
            for value in codes[buckets == bucket, 2]
        }
        for bucket in buckets
    ]
    prior = [dict(one) for one in chance]
    sizes = [len(np.unique(codes[:, place])) for place in (0, 1)]
    for _ in range(10):
        new = []
        for at in range(60):
            likely = {}
            for value in chance[at]:
                total = sum(one.get(value, 0.0) for one in chance)
                found = prior[at][value]
                for place in (0, 1):
                    same = [
                        one for own, one in zip(codes, chance, strict=True) if own[place] == codes[at, place]
                    ]
                    found *= (sum(one.get(value, 0.0) for one in same) + 1) / (total + sizes[place])
                likely[value] = found
            new.append({value: one / sum(likely.values()) for value, one in likely.items()})
        chance = new
    right = 0.0
    for at in range(60):
        best = max(chance[at].values())
        ties = [value for value, one in chance[at].items() if one >= best * (1 - 1e-9)]
        right += (int(codes[at, 2]) in ties) / len(ties)
    coded = [np.unique(column, return_inverse=True)[1] for column in codes[:, :2].T]
    assert abs(right_by(coded, codes[:, 2], buckets) - right / 60) < 1e-9


def drawn(known: np.ndarray, sensitive: np.ndarray, *, cut: bool) -> float:
    buckets = buckets_of(sensitive, l=5, k=5, random=RandomNumbers(0))
    return right_guesses(known, sensitive, buckets, cut=[cut] * known.shape[1])


def test_many_categories_are_not_put_together_by_their_place_in_the_list() -> None:
    """A job decides the illness; neighbors in the list of 300 jobs have nothing in common."""
    random = np.random.default_rng(0)
    illness_of = random.integers(0, 10, 300)
    jobs = random.integers(0, 300, 20_000)
    illness = np.where(random.random(20_000) < 0.97, illness_of[jobs], random.integers(0, 10, 20_000))
    share = drawn(jobs[:, None], illness, cut=False)
    assert share > 0.65
    assert drawn(jobs[:, None], illness, cut=True) == share  # one attacker looks at them as they are


def test_two_columns_that_decide_only_together_are_learned() -> None:
    random = np.random.default_rng(0)
    both = random.integers(0, 10, (20_000, 2))
    illness = both.sum(axis=1) % 10
    assert drawn(both, illness, cut=False) > 0.85
    assert drawn(both[:, :1], illness, cut=False) < 0.3
