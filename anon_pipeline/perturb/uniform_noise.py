"""Uniform noise under a sensitivity, which promises nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anon_pipeline.perturb import samplers, uniform_law
from anon_pipeline.perturb.discrete_laplace import refuse_inexact
from anon_pipeline.perturb.law import Drawn, Law


def _parameters(drawn: Drawn, sensitivity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the half width."""
    refuse_inexact(sensitivity, drawn.epsilon)
    return uniform_law.half_width(sensitivity, drawn.epsilon)


def _scale(drawn: Drawn, sensitivity: ArrayLike) -> NDArray[np.float64]:
    """Return the half width."""
    exact = np.asarray(sensitivity, np.int64)
    return _parameters(drawn, exact.reshape(-1)).reshape(exact.shape) / 1


LAW = Law(
    closed=uniform_law,
    parameters=_parameters,
    draw=lambda drawn, wanted, entropy: samplers.uniform(wanted, entropy=entropy),
    scale=_scale,
    shape=lambda drawn, sensitivity: (_scale(drawn, sensitivity),),
)
