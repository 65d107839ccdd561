"""A mechanism of numbers: the sum of two uniform numbers, which promises nothing."""

import numpy as np

from anon_example import triangle_law
from anon_pipeline.perturb import samplers
from anon_pipeline.perturb.discrete_laplace import refuse_inexact
from anon_pipeline.perturb.keys import by_element
from anon_pipeline.perturb.law import Law
from anon_pipeline.perturb.uniform_law import half_width


def _parameters(drawn, sensitivity):
    """Return the half width of each of the two."""
    refuse_inexact(sensitivity, drawn.epsilon)
    return half_width(sensitivity, drawn.epsilon)


def _scale(drawn, sensitivity):
    exact = np.asarray(sensitivity, np.int64)
    return _parameters(drawn, exact.reshape(-1)).reshape(exact.shape) / 1


def _draw(drawn, wanted, entropy):
    words = by_element(entropy, len(wanted))
    first, second = (samplers.uniform(wanted, entropy=words.of_part(part)) for part in (1, 2))
    return first + second


LAW = Law(
    closed=triangle_law,
    parameters=_parameters,
    draw=_draw,
    scale=_scale,
    shape=lambda drawn, sensitivity: (_scale(drawn, sensitivity),),
)
