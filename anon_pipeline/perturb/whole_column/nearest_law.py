"""What attackers assume of a mechanism without a distribution of its own: nearer originals are likelier.

The assumed distribution is discrete Laplace, and its scale the median shift of the column in a release, so
that several columns, and columns with noise, are weighed against each other by how far values are moved. It
ranks guesses, and is used for no promise, no interval and no expected error.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anon_pipeline.perturb import discrete_laplace_law
from anon_pipeline.perturb.keys import Source
from anon_pipeline.perturb.law import Drawn, Law


def _scale(drawn: Drawn, sensitivity: ArrayLike) -> NDArray[np.float64]:
    """Return the sensitivity itself."""
    return np.asarray(sensitivity, np.float64)


def _refuse_draw(drawn: Drawn, wanted: NDArray[np.int64], entropy: Source) -> NoReturn:
    """Refuse to draw for single values."""
    raise ValueError("a mechanism of whole columns draws nothing for a single value; see change_columns.")


LAW = Law(
    closed=discrete_laplace_law,
    parameters=lambda drawn, sensitivity: sensitivity,
    draw=_refuse_draw,
    scale=_scale,
    shape=lambda drawn, sensitivity: (_scale(drawn, sensitivity),),
    log_odds=discrete_laplace_law.log_odds,
)
