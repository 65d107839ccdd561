"""ε-DP by enumeration: of all neighbouring tables over small domains, and of whole releases by simulation."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.epsilon_dp.methods import method_of, noisy_table
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.keys import fresh_key
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from tests.epsilon_dp.neighbours import KEY, Recorded, all_records, dp_policy, log_ratio, neighbours

TWO_NUMBERS = {
    "age": {"bounds": [0, 2], "otherwise": 0},
    "pay": {"bounds": [0, 2], "otherwise": 0, "weight": 3},
}
TABLES = {"tables": [["age"], ["age", "city"], ["city"]]}
FOUR_CITIES = {"city": {"values": ["a", "b", "c", "d"], "otherwise": "a"}}
CASES: list[tuple[dict[str, Any], int]] = [
    ({"histograms": {}}, 3),
    ({"histograms": TABLES, "epsilon": 0.7}, 3),
    ({"group_means": {"k": 2}}, 4),
    ({"group_means": {"k": 2, "orders": "corners"}}, 5),
    ({"group_means": {"k": 2}, "columns": TWO_NUMBERS}, 4),
    ({"group_means": {"k": 2, "orders": "corners"}, "columns": TWO_NUMBERS, "epsilon": 0.3}, 4),
    ({"group_means": {"k": 2}, "columns": FOUR_CITIES, "epsilon": 3}, 8),  # one record changes three groups
    ({"column_means": {"k": 2}}, 5),
    ({"column_means": {"k": 2}, "columns": TWO_NUMBERS}, 5),
    ({"column_means": {"k": 9}}, 3),
]


@pytest.mark.parametrize(("changes", "records"), CASES)
def test_no_two_neighbours_are_told_apart_by_more_than_epsilon(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], records: int
) -> None:
    policy, recorded, worst = dp_policy(**changes), Recorded(monkeypatch), 0.0
    laws: dict[bytes, Any] = {}
    for pair in neighbours(policy, records):
        for codes in pair:
            if codes.tobytes() not in laws:
                laws[codes.tobytes()] = recorded.laws(policy, codes)
        worst = max(worst, log_ratio(*(laws[codes.tobytes()] for codes in pair)))
    assert worst <= policy.epsilon * (1 + 1e-12)
    if policy.group_means is None:
        assert worst > 0.99 * policy.epsilon  # and none of it is left unused


def test_the_order_of_the_records_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded, random = Recorded(monkeypatch), np.random.default_rng(0)
    for changes, records in CASES:
        policy = dp_policy(**changes)
        codes = random.integers(0, 2, (records, len(policy.columns)))
        turned = codes[random.permutation(records)]
        assert log_ratio(recorded.laws(policy, codes), recorded.laws(policy, turned)) == 0


@pytest.mark.parametrize("changes", [case[0] for case in CASES[:1] + CASES[2:3] + CASES[7:8]])
def test_whole_releases_of_neighbours_are_nearly_as_probable(changes: dict[str, Any]) -> None:
    """Simulated with the exact samplers: a sampler or a step after it that tells more would show."""
    policy, entropy, times = dp_policy(**changes), seeded_entropy(1), 1_200
    tables = [np.array([(2, 1)] * 4), np.array([(2, 1)] * 3 + [(0, 0)])]
    counts = [
        Counter(
            tuple(sorted(map(tuple, noisy_table(policy, codes, fresh_key(entropy)).astype(str).to_numpy())))
            for _ in range(times)
        )
        for codes in tables
    ]
    assert min(len(count) for count in counts) > 1
    for result in {*counts[0], *counts[1]}:
        high, low = sorted((counts[0][result], counts[1][result]), reverse=True)
        slack = 5 * math.sqrt(high) + 5 * math.exp(policy.epsilon) * math.sqrt(low + 1)
        assert high <= math.exp(policy.epsilon) * low + slack


def right_guesses(policy: EpsilonDpPolicy, times: int) -> float:
    """Return how often the last record is guessed right from a release, by one who knows all others.

    He learns from half of the releases which value makes each result most often, and guesses of the other
    half, so that no luck of his counts.
    """
    entropy, domain = seeded_entropy(2), all_records(policy)

    def law_of(last: tuple[int, ...]) -> Counter[Any]:
        codes = np.array([domain[0], domain[-1], last])
        frames = (noisy_table(policy, codes, fresh_key(entropy)) for _ in range(times))
        return Counter(tuple(sorted(zip(*(frame[name] for name in frame), strict=True))) for frame in frames)

    learned, released = ([law_of(last) for last in domain] for _ in range(2))
    guesses = {
        result: max(range(len(domain)), key=lambda last: learned[last][result])
        for result in set().union(*released)
    }
    return sum(released[last][result] for result, last in guesses.items()) / times / len(domain)


TWO_AGES = {"age": {"bounds": [0, 1], "otherwise": 0}}
TWO_CITIES = {"city": {"values": ["Cork", "Dublin"], "otherwise": "Cork"}}
POLICIES: list[dict[str, Any]] = [{"histograms": {}}, {"group_means": {"k": 2}}, {"column_means": {"k": 2}}]


@pytest.mark.parametrize("columns", [TWO_AGES, TWO_CITIES])
@pytest.mark.parametrize("method", POLICIES)
def test_an_attacker_who_knows_all_others_does_no_better_than_epsilon(
    method: dict[str, Any], columns: dict[str, Any]
) -> None:
    policy, times = dp_policy(**method, columns=columns), 400
    right, bound = right_guesses(policy, times), 1 / (1 + math.exp(-policy.epsilon))
    error = math.sqrt(bound * (1 - bound) / (2 * times))
    assert 0.5 + 3 * error < right < bound + 3 * error
    if columns is TWO_AGES and "histograms" not in method:
        assert right > bound - 3 * error  # he gets all that ε allows


SAME = {"bounds": [0, 10_000], "otherwise": 0}
TWO_EQUAL = {"one": SAME, "other": SAME}
EQUAL_CITIES = {name: {"values": ["a", "b", "c"], "otherwise": "a"} for name in ("one", "other")}


@pytest.mark.parametrize("columns", [TWO_EQUAL, EQUAL_CITIES])
@pytest.mark.parametrize("method", [{"group_means": {"k": 4}}, {"column_means": {"k": 4}}])
def test_equal_columns_have_noise_of_their_own(columns: dict[str, Any], method: dict[str, Any]) -> None:
    """If columns shared their random numbers, the difference of two columns would be free of noise."""
    policy = dp_policy(columns=columns, epsilon=0.5, **method)
    codes = np.full((200, 2), 5_000) if columns is TWO_EQUAL else np.tile([[0, 0], [1, 1]], (100, 1))
    noisy = method_of(policy).noise(policy, codes, Fraction(1, 2), KEY)
    one, other = noisy if len(noisy) == 2 else noisy[0].T
    assert (one != other).mean() > 0.3


def test_groups_are_not_released_one_after_the_other() -> None:
    policy = dp_policy(columns={"one": SAME}, group_means={"k": 20})
    released = noisy_table(policy, np.full((400, 1), 5_000), KEY)["one"]
    assert (released == released.shift()).mean() < 0.5


def test_equal_keys_make_equal_tables_and_others_do_not() -> None:
    for changes, _ in CASES:
        policy = dp_policy(**changes)
        codes = np.random.default_rng(0).integers(0, 2, (60, len(policy.columns)))
        one, same = (noisy_table(policy, codes, KEY) for _ in range(2))
        other = noisy_table(policy, codes, fresh_key(seeded_entropy(0)))
        pd.testing.assert_frame_equal(one, same)
        assert not one.equals(other)
        assert len(one) == 60 and list(one.columns) == list(policy.columns)
