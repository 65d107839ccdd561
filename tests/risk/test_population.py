from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.risk.population import PopulationRisk, population_risk
from anon_pipeline.risk.sizes import size_risk


def test_a_census_is_the_prosecutors_case():
    sizes = np.array([2, 6, 8])
    risk = size_risk(sizes)
    assert population_risk(sizes, sizes) == PopulationRisk(risk.prosecutor, risk.marketer)


def test_a_larger_population_hides_more():
    sizes, order = np.array([2, 3, 5]), [2, 0, 1]
    found = population_risk(sizes, np.array([4, 30, 10]))
    assert found == PopulationRisk(0.25, pytest.approx((2 / 4 + 3 / 30 + 5 / 10) / 10))
    assert population_risk(sizes[order], np.array([4, 30, 10])[order]) == found


def test_a_population_without_the_sample_is_refused():
    with pytest.raises(InputError, match="got 1 of 2 classes"):
        population_risk(np.array([2, 3]), np.array([2, 2]))
    for sizes, population in (([], []), ([0], [1]), ([1], [1, 2])):
        with pytest.raises(ValueError, match="sizes must hold"):
            population_risk(np.array(sizes, int), np.array(population, int))
