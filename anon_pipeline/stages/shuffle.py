"""The order in which records are released: it carries nothing of the input's."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.compilation import kernel
from anon_pipeline.perturb.entropy import Entropy, integers_below


def permutation(n: int, *, entropy: Entropy) -> NDArray[np.int64]:
    """Draw a permutation of 0 … n−1, all n! equally likely.

    Returns:
        (n,); ``frame.take(permutation)`` is the shuffled frame.
    Source:
        Fisher and Yates, in Durstenfeld's form (1964): the element of place i, from the last down, changes
        places with a uniform one of 0 … i. [methods 6].
    """
    partners = integers_below(np.arange(1, n + 1, dtype=np.int64), entropy=entropy)
    order: NDArray[np.int64] = exchange_places(partners)
    return order


@kernel
def exchange_places(partners):  # type: ignore[no-untyped-def]
    """Exchange each place of 0 … n−1, from the last down, with its partner."""
    order = np.arange(len(partners))
    for place in range(len(partners) - 1, 0, -1):
        partner = partners[place]
        order[place], order[partner] = order[partner], order[place]
    return order
