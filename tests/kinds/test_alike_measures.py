"""Measures of any release: worked tables, the extremes, and attackers that learn all or nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.kinds.alike_measures import measure_learned, measure_lost, plain_columns
from anon_pipeline.utility.models import MOST_RECORDS
from tests.kinds.conftest import people


def columns(**named: object) -> pd.DataFrame:
    return pd.DataFrame(named)


def test_nothing_is_lost_by_the_data_itself() -> None:
    data = people()[["age", "sex", "ward"]]
    lost = measure_lost(*plain_columns(data, data.sample(frac=1, random_state=0), list(data.columns)))
    assert lost.columns == 0 and lost.pairs == 0 and lost.correlations is None


def test_a_worked_table() -> None:
    data = columns(a=["x", "x", "y", "y"], b=["p", "q", "p", "q"])
    released = columns(a=["x", "x", "x", "y"], b=["p", "p", "q", "q"])
    lost = measure_lost(*plain_columns(data, released, ["a", "b"]))
    assert lost.columns == pytest.approx((1 / 4 + 0) / 2)
    assert lost.pairs == pytest.approx(1 / 4)  # xp one too many, yp one too few


def test_columns_that_are_shuffled_apart_lose_pairs_alone() -> None:
    data = people(3_000)[["age", "ward"]]
    apart = columns(age=data["age"].sample(frac=1, random_state=1).to_numpy(), ward=data["ward"].to_numpy())
    lost = measure_lost(*plain_columns(data, apart, ["age", "ward"]))
    assert lost.columns == 0 and lost.pairs is not None and lost.pairs > 0.4


def test_correlations_of_numbers() -> None:
    grid = np.arange(100.0)
    data, released = columns(a=grid, b=grid), columns(a=grid, b=-grid)
    assert measure_lost(*plain_columns(data, released, ["a", "b"])).correlations == pytest.approx(2)
    assert measure_lost(
        *plain_columns(data, columns(a=grid, b=1.0), ["a", "b"])
    ).correlations == pytest.approx(1)


def test_numbers_are_numbers_where_both_have_them() -> None:
    data = columns(a=["1", "2.0", None], b=[1, 2, 3], c=["x", None, "1"])
    released = columns(a=[1.0, 2.0], b=["1", "[2, 3]"], c=["x", "y"])
    first, second = plain_columns(data, released, ["a", "b", "c"])
    assert first["a"].tolist()[:2] == [1.0, 2.0] and np.isnan(first["a"].iloc[2])
    assert first["b"].tolist() == ["1", "2", "3"] and second["b"].tolist() == ["1", "[2, 3]"]
    assert first["c"].tolist() == ["x", "", "1"]
    measure_lost(first, second)  # also with missing values


def test_missing_numbers_are_values_of_their_own() -> None:
    data = columns(a=[1.0, 2.0, np.nan, np.nan], b=["x"] * 4)
    released = columns(a=[1.0, 2.0, 1.0, 2.0], b=["x"] * 4)
    assert measure_lost(*plain_columns(data, released, ["a", "b"])).columns == pytest.approx(1 / 4)


def with_pay(many: int, *, seed: int) -> pd.DataFrame:
    pay = np.random.default_rng(seed).integers(0, 10**6, many)
    return people(many, seed=seed)[["age", "sex", "ward"]].assign(pay=pay)


def test_who_copies_records_gives_all_away_and_who_makes_up_gives_nothing() -> None:
    data, other = with_pay(4_000, seed=3), with_pay(2_000, seed=9)
    seen, names = np.arange(4_000) % 2 == 0, list(data.columns)
    first, copied = plain_columns(data, data[seen], names)
    learned = measure_learned(first, seen, copied, ["pay"])
    assert learned.copied > 0.99 and learned.membership > 0.95 and learned.gains["pay"] > 0.1
    first, made_up = plain_columns(data, other, names)
    learned = measure_learned(first, seen, made_up, ["pay"])
    assert abs(learned.copied) < 0.01 and abs(learned.membership - 0.5) < 0.03
    assert abs(learned.gains["pay"]) < 0.03


@pytest.mark.parametrize("columns_of_numbers", [1, 2])
def test_what_is_independent_of_the_records_does_not_tell_which_were_there(columns_of_numbers: int) -> None:
    random = np.random.default_rng(5)

    def drawn(many: int) -> pd.DataFrame:
        numbers = {f"n{place}": random.random(many) for place in range(columns_of_numbers)}
        return pd.DataFrame({**numbers, "b": random.integers(0, 2, many).astype(str)})

    data, released = plain_columns(drawn(6_000), drawn(3_000), [*drawn(1).columns])
    learned = measure_learned(data, np.arange(6_000) % 2 == 0, released, ["b"])
    assert abs(learned.membership - 0.5) < 0.03 and abs(learned.gains["b"]) < 0.05


def test_days_booleans_and_infinite_texts_are_no_numbers() -> None:
    table = columns(
        day=pd.to_datetime(["2026-01-01", None]), yes=[True, False], text=["inf", "3"], long=["1" * 400, "2"]
    )
    first, _ = plain_columns(table, table, list(table.columns))
    assert first["day"].tolist() == ["2026-01-01", ""] and first["text"].tolist() == ["inf", "3"]
    assert {str(one) for one in first.dtypes} <= {"object", "str", "string"}


def numbers(many: int = 2_000, *, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    height = rng.normal(170, 10, many)
    return columns(
        height=height, weight=0.9 * height - 80 + rng.normal(0, 8, many), age=rng.uniform(0, 90, many)
    )


def test_the_data_itself_cannot_be_told_apart_and_keeps_all_statistics() -> None:
    data = numbers().assign(sex=["f", "m"] * 1_000)
    lost = measure_lost(*plain_columns(data, data.sample(frac=1, random_state=0), list(data.columns)))
    for found in (lost.propensity, lost.components, lost.regressions, lost.surprising):
        assert found == pytest.approx(0, abs=1e-6)


def test_other_records_of_the_same_people_differ_by_chance_alone() -> None:
    lost = measure_lost(numbers(seed=1), numbers(seed=2))
    assert lost.propensity is not None and lost.propensity < 0.01
    assert lost.components is not None and lost.components < 0.01
    assert lost.regressions is not None and lost.regressions < 0.05
    assert lost.surprising is not None and 0.2 < lost.surprising < 0.9


def test_what_is_moved_far_away_is_told_apart_whatever_the_number_of_copies() -> None:
    data = numbers()
    for many in (1, 5):
        moved = pd.concat([data + 60] * many, ignore_index=True)
        lost = measure_lost(data, moved)
        assert lost.propensity is not None and lost.propensity > 0.95
        assert lost.regressions == pytest.approx(0, abs=1e-6)  # only the constant has changed
        assert lost.components == pytest.approx(0, abs=1e-6)


def test_columns_that_are_shuffled_apart_lose_regressions_and_components() -> None:
    data = numbers()
    apart = columns(
        **{name: data[name].sample(frac=1, random_state=5).to_numpy() for name in ("height", "age")}
    )
    lost = measure_lost(data, apart.assign(weight=data["weight"])[[*data.columns]])
    assert lost.propensity is not None and lost.propensity < 0.01  # each column by itself is as it was
    # r of height and weight was 0.75: eigenvalues 1.75, 1 and 0.25 of 3 become 1, 1, 1
    assert lost.components == pytest.approx((0.75 + 0 + 0.75) / 3 / 3, abs=0.02)
    assert lost.regressions is not None and lost.regressions > 0.2
    assert lost.surprising is not None and lost.surprising > 0.1


def test_a_period_of_the_rows_of_a_large_table_decides_nothing() -> None:
    """Every second row of these tables is of one half of the values: whoever took these saw nothing else."""
    many = 3 * MOST_RECORDS // 2
    data = columns(a=np.arange(many) % 2.0, b=np.ones(many))
    mixed = data.sample(frac=1, random_state=0).reset_index(drop=True)
    same = measure_lost(data, mixed).propensity
    assert same is not None and same < 0.001
    changed = data.assign(a=np.where(data["a"] == 0, 0.0, 5.0))  # of each other row, every value
    apart = measure_lost(data, changed).propensity
    shuffled = measure_lost(mixed, changed.sample(frac=1, random_state=1)).propensity
    assert apart is not None and shuffled is not None
    assert apart > 0.05 and apart == pytest.approx(shuffled, rel=0.05)
    assert apart == measure_lost(data, changed).propensity


def test_texts_are_told_apart_by_their_shares() -> None:
    data, released = columns(a=["x"] * 50 + ["y"] * 50), columns(a=["x"] * 90 + ["z"] * 10)
    some = measure_lost(data, released).propensity
    none = measure_lost(data, columns(a=["z"] * 100)).propensity
    assert some is not None and none is not None and 0.1 < some < 0.5 < none
    assert measure_lost(data, released).components is None


def test_a_column_without_numbers_hides_nothing_of_the_others(recwarn: pytest.WarningsRecorder) -> None:
    data = numbers()
    apart = data.assign(age=data["age"].sample(frac=1, random_state=2).to_numpy())
    alone = measure_lost(data, apart)
    both = [one.assign(none=np.nan, same=3.0) for one in (data, apart)]
    beside = measure_lost(*both)
    for name in ("components", "regressions", "surprising"):
        assert getattr(beside, name) == getattr(alone, name)
    assert not recwarn.list
    assert measure_lost(*(one[["age", "none"]] for one in both)).surprising is None


def test_the_order_of_the_records_decides_nothing() -> None:
    rng = np.random.default_rng(4)
    data = columns(a=[f"text {i % 120}" for i in range(240)], b=rng.choice(["x", "y"], 240))
    released = data.sample(frac=0.5, random_state=1)
    shuffled = [data.sample(frac=1, random_state=seed).reset_index(drop=True) for seed in range(4)]
    found = [measure_lost(one, released) for one in shuffled]
    assert len({(one.columns, one.pairs) for one in found}) == 1
