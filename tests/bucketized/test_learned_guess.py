"""An attacker who learns across buckets: by chance where nothing is tied, and against a slow twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from anon_pipeline.bucketized.buckets import buckets_of
from anon_pipeline.bucketized.learned_guess import right_guesses
from anon_pipeline.declared.random_numbers import RandomNumbers


def guessed(codes: np.ndarray, l: int) -> float:  # noqa: E741 - the name of the measure
    buckets = buckets_of(codes[:, -1], l=l, k=l, random=RandomNumbers(0))
    return right_guesses(codes[:, :-1], codes[:, -1], buckets)


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
    assert abs(right_guesses(codes[:, :2], codes[:, 2], buckets) - right / 60) < 1e-9
