"""Discrete Gaussian noise under a sensitivity, calibrated to ε and δ."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anon_pipeline.perturb import discrete_gaussian_law, samplers
from anon_pipeline.perturb.discrete_laplace import refuse_inexact
from anon_pipeline.perturb.law import Drawn, Law


def _parameters(drawn: Drawn, sensitivity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return σ in sixteenths of a grid unit."""
    refuse_inexact(sensitivity, drawn.epsilon)
    if drawn.delta is None:
        raise ValueError("delta must be given for discrete Gaussian noise.")
    most = samplers.LARGEST_SIGMA
    found = discrete_gaussian_law.calibrate_sigmas(
        sensitivity, float(drawn.epsilon), float(drawn.delta), most=most
    )
    samplers.refuse_wide(found)
    return found


def _scale(drawn: Drawn, sensitivity: ArrayLike) -> NDArray[np.float64]:
    """Return σ."""
    exact = np.asarray(sensitivity, np.int64)
    return _parameters(drawn, exact.reshape(-1)).reshape(exact.shape) / discrete_gaussian_law.STEPS


LAW = Law(
    closed=discrete_gaussian_law,
    parameters=_parameters,
    draw=lambda drawn, wanted, entropy: samplers.discrete_gaussian(wanted, entropy=entropy),
    scale=_scale,
    shape=lambda drawn, sensitivity: (_scale(drawn, sensitivity),),
)
