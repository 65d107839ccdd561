"""Closed forms of Laplace noise against sums over their own mass."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

from anon_pipeline.perturb.discrete_laplace_law import cdf, mean_absolute, pmf, variance

SCALES = [0.05, 0.4, 1.0, 12.5, 300.0]


@pytest.mark.parametrize("scale", SCALES)
def test_mass_sums_to_the_moments(scale):
    z = np.arange(-int(60 * max(scale, 1)), int(60 * max(scale, 1)) + 1)
    mass = pmf(z, scale)
    assert mass.sum() == pytest.approx(1, rel=1e-12)
    assert np.abs(z) @ mass == pytest.approx(float(mean_absolute(scale)), rel=1e-10)
    assert (z.astype(float) ** 2) @ mass == pytest.approx(float(variance(scale)), rel=1e-10)
    assert np.cumsum(mass) == pytest.approx(cdf(z, scale), rel=1e-9, abs=1e-15)


def exact(scale: str, z: int) -> dict[str, Decimal]:
    """The formulas as they are defined, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        q = (-1 / Decimal(scale)).exp()
        tail = q ** (-z if z < 0 else z + 1) / (1 + q)
        return {
            "pmf": (1 - q) / (1 + q) * q ** abs(z),
            "cdf": tail if z < 0 else 1 - tail,
            "mean_absolute": 2 * q / (1 - q * q),
            "variance": 2 * q / (1 - q) ** 2,
        }


@pytest.mark.parametrize("scale", ["0.001", "0.01", "0.3", "1", "77.7", "1e6", "1e9"])
@pytest.mark.parametrize("z", [-1_000_003, -3, -1, 0, 1, 2, 5_000_000])
def test_precision_from_tiny_to_huge_scales(scale, z):
    b, expected = float(scale), exact(scale, z)
    # the exponent z/b is rounded once, so the relative error of its exponential grows with it
    rel = 1e-13 + abs(z) / b * 1e-15
    assert float(pmf(z, b)) == pytest.approx(float(expected["pmf"]), rel=rel, abs=1e-300)
    assert float(cdf(z, b)) == pytest.approx(float(expected["cdf"]), rel=rel, abs=1e-300)
    assert float(mean_absolute(b)) == pytest.approx(float(expected["mean_absolute"]), rel=1e-12, abs=1e-300)
    assert float(variance(b)) == pytest.approx(float(expected["variance"]), rel=1e-12, abs=1e-300)


def test_scale_zero_is_a_point_at_zero():
    assert pmf([-1, 0, 1], 0).tolist() == [0, 1, 0]
    assert cdf([-1, 0, 1], 0).tolist() == [0, 1, 1]
    assert [float(moment(0)) for moment in (mean_absolute, variance)] == [0, 0]


def test_shapes_broadcast():
    scales = np.array([0.0, 1.0, 30.0])
    assert pmf(np.arange(4)[:, None], scales).shape == (4, 3)
    assert cdf(np.arange(4)[:, None], scales)[2].tolist() == [float(cdf(2, b)) for b in scales]


def test_cdf_of_fractions_and_infinities():
    assert float(cdf(1.5, 2.0)) == float(cdf(1, 2.0))
    assert float(cdf(-0.5, 2.0)) == float(cdf(-1, 2.0))
    assert cdf([-np.inf, np.inf], 2.0).tolist() == [0, 1]


def test_discrete_approaches_continuous():
    """E|Z| of the continuous Laplace is its scale."""
    assert float(mean_absolute(1e6)) == pytest.approx(1e6, rel=1e-9)


@pytest.mark.parametrize("law", [mean_absolute, variance])
@pytest.mark.parametrize("scale", [-1.0, float("nan")])
def test_scale_out_of_range(law, scale):
    with pytest.raises(ValueError, match="scale must be >= 0"):
        law([1.0, scale])
