"""Random words for kernels that use as many as they need.

Belongs here: handing words to a kernel until it has written all of its elements. Does not belong here: the
kernels, and where words come from (`entropy`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.perturb.entropy import Entropy

__all__ = ["feed"]

_BLOCK = 2**15  # words asked for at a time: 256 KiB stay in the cache between the cipher and the kernel


def feed(
    fill: Callable[[NDArray[np.int64], int], tuple[int, int]], count: int, *, expected: int, entropy: Entropy
) -> None:
    """Call a kernel with words until it has written all of its elements.

    An element that ran out of words sees the same ones again, with more behind them: how many words an
    element uses depends on its value, so starting it again on fresh words would make those values rarer that
    use many.

    Args:
        fill: takes words and the first element to write, returns the first element that it has not written
            and the first word that this one may use.
        count: elements.
        expected: words that an element uses on average; the first request is made by it.
        entropy: source of the words.
    """
    done, words = 0, np.empty(0, np.int64)
    while done < count:
        fresh = entropy.words(min(_BLOCK, expected * (count - done) + 64)).view(np.int64)
        words = np.concatenate((words, fresh))
        done, used = fill(words, done)
        words = words[used:]
