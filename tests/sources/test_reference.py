"""The model that is fitted to the reference tables: its shares and percentiles."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from anon_pipeline.sources.reference import (
    HEIGHTS_CM,
    WEIGHTS_KG,
)
from tests.sources.published_measures import HEIGHT_UNDER, WEIGHT_PERCENTILES_LB
from tests.sources.tables import STRATA, ages

KG_PER_LB = 0.45359237


def probit_fit(shares: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Mean and deviation of the normal whose distribution function goes nearest through the points."""
    z = stats.norm.ppf(shares)
    deviation, mean = np.polyfit(z, values, 1, w=stats.norm.pdf(z) / np.sqrt(shares * (1 - shares)))
    return mean, deviation


class TestFit:
    """The rounded parameters against the published tables, without sampling."""

    @pytest.mark.parametrize(("sex", "decade"), [s for s in STRATA if s[1] < 6])
    def test_heights(self, sex: str, decade: int) -> None:
        mean, deviation = HEIGHTS_CM[sex][decade]
        shares = np.array(HEIGHT_UNDER[sex][decade])
        cm = 2.54 * (np.arange(61, 69) if sex == "Female" else np.arange(66, 74))
        assert np.abs(stats.norm.cdf((cm - mean) / deviation) - shares).max() < 0.04
        # The fit used the outer columns too, which the module does not keep.
        again = probit_fit(shares, cm)
        assert again[0] == pytest.approx(mean, abs=0.15)
        assert again[1] == pytest.approx(deviation, abs=0.45)

    @pytest.mark.parametrize(("sex", "decade"), [s for s in STRATA if s[1] < 6])
    def test_weights(self, sex: str, decade: int) -> None:
        median, spread = WEIGHTS_KG[sex][decade]
        points = np.array([0.05, 0.10, 0.15, 0.25, 0.50, 0.75, 0.85, 0.90, 0.95])
        published = np.array(WEIGHT_PERCENTILES_LB[sex][decade]) * KG_PER_LB
        off = np.abs(median * np.exp(spread * stats.norm.ppf(points)) / published - 1).max()
        assert off < (0.09 if (sex, decade) == ("Female", 0) else 0.04)
        again = probit_fit(points, np.log(published))
        assert math.exp(again[0]) == pytest.approx(median, abs=0.06)
        assert again[1] == pytest.approx(spread, abs=0.0055)

    def test_mean_height_of_men_of_20_and_over_is_the_published_one(self, large: pd.DataFrame) -> None:
        men = large.loc[(large["sex"] == "Male") & (ages(large) >= 20), "height_cm"]
        assert men.mean() == pytest.approx(175.9, abs=0.3)
