"""Staircase noise under a sensitivity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.perturb import staircase_law
from anon_pipeline.perturb.discrete_laplace import refuse_inexact
from anon_pipeline.perturb.law import Drawn, Law
from anon_pipeline.perturb.samplers import staircase


def _parameters(drawn: Drawn, sensitivity: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sensitivity itself."""
    refuse_inexact(sensitivity, drawn.epsilon)
    return sensitivity


LAW = Law(
    closed=staircase_law,
    parameters=_parameters,
    draw=lambda drawn, wanted, entropy: staircase(wanted, drawn.epsilon, entropy=entropy),
    scale=lambda drawn, sensitivity: np.asarray(sensitivity, np.int64) / float(drawn.epsilon),
    shape=lambda drawn, sensitivity: (sensitivity, float(drawn.epsilon)),
)
