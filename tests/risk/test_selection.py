"""Whom a confidence interval keeps, by the law: against plain sums over all outputs."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from anon_pipeline.perturb.mechanisms import Noise, cdf, pmf, radius
from anon_pipeline.risk.selection import kept_spread
from anon_pipeline.risk.survival import Outputs

X = np.array([0, 1, 1, 4, 20, 7, 7, 9, 30])
LABELS = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
NOISE = Noise("discrete_laplace", Fraction(3))
SENSITIVITY = np.array([20, 23])


@pytest.mark.parametrize("bounds", [None, (0, 25)])
@pytest.mark.parametrize("k", [2, 4])
def test_chances_and_moments_are_those_of_all_outputs(bounds: tuple[int, int] | None, k: int) -> None:
    reach = radius(NOISE, SENSITIVITY, 0.9)
    law = Outputs(partial(cdf, NOISE), SENSITIVITY, None, bounds)
    chances, spread = kept_spread(X, LABELS, law, radius=reach, k=k)
    z, slow, moments = np.arange(-600, 601), [], np.zeros(3)
    for x, label in zip(X, LABELS, strict=True):
        y = x + z if bounds is None else np.clip(x + z, *bounds)
        near = (np.abs(y[:, None] - X[label == LABELS]) <= np.floor(reach[label])).sum(axis=1)
        stays = pmf(NOISE, z, int(SENSITIVITY[label])) * ((near == 0) | (near >= k))
        slow.append(stays.sum())
        moments += [stays.sum(), stays @ y, stays @ np.square(y)]
    assert chances.tolist() == pytest.approx(slow, abs=1e-6)
    assert chances.min() < 0.9
    found = [spread.kept @ spread.values**power for power in range(3)]
    assert found[:2] == pytest.approx(moments[:2].tolist(), rel=3e-3)
    assert found[2] == pytest.approx(moments[2], rel=0.01)
    assert spread.all.sum() == pytest.approx(len(X), abs=1e-5)
