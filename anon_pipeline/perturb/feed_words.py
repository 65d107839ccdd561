"""Random words for kernels that use as many as they need."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.perturb.keys import Source, by_element

_WORDS = 2**15  # at a time: 256 KiB stay in the cache between the cipher and the kernel


def feed(
    fill: Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], int],
    count: int,
    *,
    first: int,
    entropy: Source,
) -> NDArray[np.int64]:
    """Call a kernel with each element's own words until it has written all elements, (count,).

    An element that ran out of words sees the same ones again, with as many after them: how many words an
    element uses depends on its value, so starting it again on fresh words would make those values rarer that
    use many.

    Args:
        fill: takes what is drawn (count,), words (m, w) and the elements (m,) that they are of; writes what
            it can, moves the elements that ran out of words to the front of that array, and returns how many
            these are.
        first: words that an element gets at first; what is drawn does not depend on it.
    """
    drawn, left = np.zeros(count, np.int64), np.arange(count)
    number, reader = first, by_element(entropy, count).reader()
    while len(left):
        few = max(_WORDS // number, 1)
        pieces = [left[begin : begin + few] for begin in range(0, len(left), few)]
        left = np.concatenate([piece[: fill(drawn, reader.rows(piece, number), piece)] for piece in pieces])
        number *= 2
    return drawn
