"""Discrete Laplace noise under a sensitivity, the mechanism that is used where a policy names none."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anon_pipeline.perturb import discrete_laplace_law
from anon_pipeline.perturb.discrete_laplace import discrete_laplace, refuse_inexact
from anon_pipeline.perturb.law import Drawn, Law


def _parameters(drawn: Drawn, sensitivity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sensitivity itself: with ε it is the scale."""
    refuse_inexact(sensitivity, drawn.epsilon)
    return sensitivity


def _scale(drawn: Drawn, sensitivity: ArrayLike) -> NDArray[np.float64]:
    """Return sensitivity/ε."""
    return np.asarray(sensitivity, np.int64) / float(drawn.epsilon)


LAW = Law(
    closed=discrete_laplace_law,
    parameters=_parameters,
    draw=lambda drawn, wanted, entropy: discrete_laplace(wanted, drawn.epsilon, entropy=entropy),
    scale=_scale,
    shape=lambda drawn, sensitivity: (_scale(drawn, sensitivity),),
    radius=lambda scale, confidence: scale * -np.log1p(-confidence),
    log_odds=discrete_laplace_law.log_odds,
)
