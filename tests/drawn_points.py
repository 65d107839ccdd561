"""Which of many points a run of the tests tries: others in each run, by a seed that is printed.

A test that fails shows the seed; ANON_PIPELINE_TEST_SEED set to it tries the same points again.
Belongs here: drawing. Does not belong here: noise (`repeatable_noise`), examples (`example_counts`).
"""

from __future__ import annotations

import os
import random
import secrets
import sys

from tests.repeatable_noise import SEED

__all__ = ["drawing", "drawn_below"]


def drawing() -> random.Random:
    """Return what draws by the seed of the environment, or by a new one; print the seed."""
    seed = os.environ.get(SEED) or secrets.token_hex(4)
    sys.stdout.write(f"points are drawn by {SEED}={seed}\n")
    sys.stdout.flush()  # a fork writes again what is not
    return random.Random(seed)


def drawn_below(count: int) -> int:
    """Draw a number from 0 to count - 1."""
    return drawing().randrange(count)
