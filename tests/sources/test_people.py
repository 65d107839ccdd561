"""Who the synthetic patients are: names, numbers and regions, drawn as stated."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from anon_pipeline.sources.people import FEMALE_NAMES, LAST_NAMES, MALE_NAMES, REGIONS, draw, ssns
from tests.sources.tables import ages


class TestIdentities:
    def test_ssn_has_the_pattern_is_distinct_and_never_issued(self, frame: pd.DataFrame) -> None:
        assert frame["ssn"].str.fullmatch(r"9\d\d-[0-4]\d-\d{4}").all()
        assert frame["ssn"].is_unique
        assert frame["ssn"].str[:3].nunique() == 100

    def test_ssns_stay_distinct_where_collisions_are_certain(self) -> None:
        drawn = pd.Series(ssns(300_000, np.random.default_rng(1)))
        assert len(drawn) == 300_000
        assert drawn.is_unique

    def test_phone_is_fictional_and_fits_the_region(self, frame: pd.DataFrame) -> None:
        assert frame["phone"].str.fullmatch(r"\(\d{3}\) 555-01\d\d").all()
        area = {region.prefix: region.area_code for region in REGIONS}
        assert (frame["zip"].str[:3].map(area) == frame["phone"].str[1:4]).all()

    def test_email_is_built_from_the_name_at_a_reserved_domain(self, frame: pd.DataFrame) -> None:
        assert frame["email"].str.fullmatch(r"[a-z]+\.[a-z]+[1-9]\d?@example\.(org|com)").all()
        local = frame["email"].str.replace(r"\d+@.*", "", regex=True)
        assert (local == frame["name"].str.lower().str.replace(" ", ".")).all()

    def test_names_fit_the_sex(self, frame: pd.DataFrame) -> None:
        first, last = frame["name"].str.split(" ", expand=True).T.to_numpy()
        women = (frame["sex"] == "Female").to_numpy()
        assert set(first[women]) == set(FEMALE_NAMES)
        assert set(first[~women]) == set(MALE_NAMES)
        assert set(last) == set(LAST_NAMES)
        assert [len(set(n)) for n in (FEMALE_NAMES, MALE_NAMES, LAST_NAMES)] == [60, 60, 60]

    def test_zip_is_text_of_five_digits_and_keeps_its_leading_zero(self, frame: pd.DataFrame) -> None:
        assert frame["zip"].str.fullmatch(r"\d{5}").all()
        assert set(frame["zip"].str[:3]) == {region.prefix for region in REGIONS}
        assert frame["zip"].str.startswith("0").mean() == pytest.approx(0.094, abs=0.01)

    def test_race_depends_on_the_region(self, large: pd.DataFrame) -> None:
        shares = pd.crosstab(large["zip"].str[:3], large["race"], normalize="index")
        for region in REGIONS:
            n = (large["zip"].str[:3] == region.prefix).sum()
            expected = np.array(region.races) / sum(region.races)
            got = shares.loc[
                region.prefix, ["White", "Black", "Hispanic", "Asian", "American Indian", "Other"]
            ]
            assert np.all(np.abs(got - expected) <= 5 * np.sqrt(expected * (1 - expected) / n) + 1e-3)
        assert shares["Asian"].idxmax() == "968"
        assert shares["Hispanic"].idxmax() == "331"
        assert shares["Black"].idxmax() == "303"

    def test_the_order_of_the_records_says_nothing(self, frame: pd.DataFrame) -> None:
        for values in (ages(frame), frame["height_cm"], frame["charges"], frame["zip"], frame["ssn"]):
            rank = values.rank().to_numpy()
            assert abs(np.corrcoef(np.arange(len(frame)), rank)[0, 1]) < 4 / math.sqrt(len(frame))


class TestDraw:
    @given(
        st.lists(
            st.lists(st.floats(0, 10), min_size=3, max_size=3).filter(lambda r: sum(r) > 1e-3), min_size=1
        ),
        st.integers(0, 2**32 - 1),
    )
    def test_agrees_with_a_slow_twin(self, table: list[list[float]], seed: int) -> None:
        rows = np.random.default_rng(seed).integers(0, len(table), 50)
        drawn = draw(np.array(table), rows, np.random.default_rng(seed))
        chance = np.random.default_rng(seed).random(50)
        for code, row, share in zip(drawn, rows, chance, strict=True):
            below = sum(table[row][:code]) / sum(table[row])
            assert below - 1e-7 <= share <= below + table[row][code] / sum(table[row]) + 1e-7
            assert table[row][code] > 0

    def test_frequencies(self) -> None:
        table = np.array([[1.0, 2.0, 1.0], [0.0, 3.0, 1.0]])
        rows = np.repeat([0, 1], 40_000)
        drawn = draw(table, rows, np.random.default_rng(6))
        first = np.bincount(drawn[:40_000], minlength=3)
        second = np.bincount(drawn[40_000:], minlength=3)
        assert stats.chisquare(first, [10_000, 20_000, 10_000]).pvalue > 1e-3
        assert second[0] == 0
        assert stats.chisquare(second[1:], [30_000, 10_000]).pvalue > 1e-3

    @pytest.mark.parametrize(("chance", "expected"), [(0.0, 1), (1 - 2**-53, 2)])
    def test_the_ends_of_the_unit_interval_hit_no_category_of_weight_0(
        self, chance: float, expected: int
    ) -> None:
        class Stub:
            def random(self, n: int) -> np.ndarray:
                return np.full(n, chance)

        table = np.array([[0.0, 0.1, 0.2, 0.0]] * 40)
        assert draw(table, np.arange(40), Stub()).tolist() == [expected] * 40  # type: ignore[arg-type]
