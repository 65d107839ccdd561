"""Noisy means: sensitivities of the book by brute force, its direction of losses, and exact limits."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.epsilon_dp.methods import noisy_table
from anon_pipeline.epsilon_dp.noisy_means import (
    column_shares,
    group_sums,
    noisy_group_means,
    noisy_ranked_column,
    ranked_records,
    refuse_unfit_noise,
)
from anon_pipeline.epsilon_dp.record_groups import group_sizes, record_groups
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.keys import fresh_key
from tests.epsilon_dp.neighbours import KEY, all_records, combinations_of, dp_policy

Integers = NDArray[np.int64]
NUMBERS = {name: {"bounds": [0, 100], "otherwise": 0} for name in "abcd"}


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 2), (6, 2), (6, 3)])
def test_one_mean_moves_by_the_range_over_k_and_all_by_their_number_times_it(n: int, k: int) -> None:
    """[DB 9.1, 10.1]: Δ/k of one mean; of all sums together n/k · Δ, so n/k · Δ/k of means of k records."""
    columns = {name: {"bounds": [0, 2], "otherwise": 0} for name in "ab"}
    policy, many, sums = dp_policy(columns=columns, group_means={"k": k}), n // k, {}
    for table in combinations_of(all_records(policy), n):
        codes = np.array(table)
        groups = record_groups(policy, codes, k=k, corners=False)
        sums[table] = np.stack([group_sums(column, groups, many) for column in codes.T])
    most, together = np.zeros((2, many), np.int64), 0
    for rest in combinations_of(all_records(policy), n - 1):
        tables = [sums[tuple(sorted((*rest, last)))] for last in all_records(policy)]
        for one, other in combinations(tables, 2):
            moved = np.abs(one - other)
            most, together = np.maximum(most, moved), max(together, int(moved.sum(axis=1).max()))
    assert (most / group_sizes(n, k)).max() == 2 / k
    assert together == many * 2


def test_sorted_columns_pass_values_on_in_one_direction() -> None:
    """[DB 10.2]: the sums of all groups of a sorted column move by the range together, whatever n/k is."""
    most = 0
    for n, k in ((5, 2), (6, 2), (7, 3)):
        groups, many = np.repeat(np.arange(n // k), group_sizes(n, k)), n // k
        tables = [
            np.array(values) for values in product(range(3), repeat=n) if list(values) == sorted(values)
        ]
        sums = {tuple(table): group_sums(table, groups, many) for table in tables}
        for table in tables:
            for place, value in product(range(n), range(3)):
                other = table.copy()
                other[place] = value
                moved = np.abs(sums[tuple(table)] - sums[tuple(np.sort(other))]).sum()
                most = max(most, int(moved))
                assert moved <= 2
    assert most == 2


def error_of(changes: dict[str, Any], codes: Integers, times: int = 4) -> float:
    """Return the sum of squared errors by column of the sorted columns, as individual ranking has it."""
    policy, entropy = dp_policy(columns=NUMBERS, **changes), seeded_entropy(0)
    found = [
        (
            (
                np.sort(noisy_table(policy, codes, fresh_key(entropy)).to_numpy(), axis=0)
                - np.sort(codes, axis=0)
            )
            ** 2
        ).sum()
        for _ in range(times)
    ]
    return float(np.mean(found))


def normal_codes() -> Integers:
    """Return 1,000 records of four columns of numbers."""
    drawn = np.random.default_rng(0).normal(50, 15, (1_000, 4)).round()
    return np.clip(drawn, 0, 100).astype(np.int64)


def test_losses_go_in_the_direction_of_the_books_figures() -> None:
    """[DB 10.4]: groups in sorted columns lose less than groups of records; a larger ε loses less."""
    codes = normal_codes()
    by_column = {k: error_of({"column_means": {"k": k}}, codes) for k in (2, 20, 200)}
    by_record = {k: error_of({"group_means": {"k": k}}, codes) for k in (2, 20, 200)}
    assert all(by_column[k] < by_record[k] for k in by_column)
    for how in ("column_means", "group_means"):
        losses = [error_of({how: {"k": 20}, "epsilon": epsilon}, codes) for epsilon in (0.1, 1, 10)]
        assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize(("epsilon", "best_k"), [(1, 200), (10, 20)])
def test_larger_groups_lose_less_until_means_lose_more_than_noise(epsilon: float, best_k: int) -> None:
    """[DB 10.3]: noise falls fast with k, and what means lose grows slowly: a larger ε has a smaller best k.

    The loss falls up to the best k, and grows after it.
    """
    codes, sizes = normal_codes(), (2, 5, 20, 50, 200)
    losses = [error_of({"column_means": {"k": k}, "epsilon": epsilon}, codes) for k in sizes]
    turn = sizes.index(best_k)
    assert (np.diff(losses[: turn + 1]) < 0).all() and (np.diff(losses[turn:]) > 0).all()


def test_means_without_noise_are_those_of_the_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "anon_pipeline.epsilon_dp.noisy_means.discrete_laplace",
        lambda diameters, epsilon, entropy: np.zeros(len(diameters), np.int64),
    )
    policy = dp_policy(columns=NUMBERS, group_means={"k": 3})
    codes = np.random.default_rng(0).integers(0, 101, (11, 4))
    found = noisy_group_means(policy, codes, Fraction(1), KEY, k=3, corners=True)
    groups = record_groups(policy, codes, k=3, corners=True)
    for group in range(3):
        assert (found[group] == np.floor(codes[groups == group].mean(axis=0) + 0.5)).all()
    ranked = noisy_ranked_column(policy, codes[:, 0], Fraction(1), KEY, place=0, k=3)
    assert ranked[0] == np.floor(np.sort(codes[:, 0])[:3].mean() + 0.5)


def test_columns_are_shuffled_apart() -> None:
    policy = dp_policy(columns=NUMBERS, column_means={"k": 2})
    known = [np.arange(50) for _ in range(4)]
    made = ranked_records(policy, known, 100, RandomNumbers(0))
    assert all((np.sort(column) == np.repeat(np.arange(50), 2)).all() for column in made.T)
    assert abs(np.corrcoef(made.T) - np.eye(4)).max() < 0.4


def test_shares_of_epsilon_add_up_by_weight() -> None:
    columns = {"a": NUMBERS["a"], "b": {**NUMBERS["b"], "weight": 3}}
    policy = dp_policy(columns=columns, group_means={"k": 2})
    assert column_shares(policy, Fraction(1)) == (Fraction(1, 4), Fraction(3, 4))


@pytest.mark.parametrize(
    ("column", "records", "said"),
    [
        ({"bounds": [0, 2**40], "otherwise": 0}, 2**14, "cannot be drawn exactly"),
        ({"values": [str(at) for at in range(90_000)], "otherwise": "0"}, 1_000, "at most 10,000,000 values"),
        ({"bounds": [0, 2**40], "otherwise": 0}, 2**21, "exact"),
    ],
)
def test_noise_that_could_not_be_exact_is_refused(column: dict[str, Any], records: int, said: str) -> None:
    policy = dp_policy(columns={"a": column}, group_means={"k": 2})
    with pytest.raises(InputError, match=said):
        refuse_unfit_noise(policy, records, Fraction(1))
    refuse_unfit_noise(policy, 100, Fraction(1))


@pytest.mark.parametrize("method", ["group_means", "column_means"])
def test_groups_are_not_larger_than_the_table(method: str) -> None:
    policy = dp_policy(columns=NUMBERS, **{method: {"k": 100}})
    refuse_unfit_noise(policy, 100, Fraction(1))
    with pytest.raises(InputError, match=rf"{method}\.k: must be at most the number of records, 99, got 100"):
        refuse_unfit_noise(policy, 99, Fraction(1))
