"""How many examples Hypothesis tries: a part of those that a test names, or all.

Examples repeat, so each run of CI tries the same ones. A part of them keeps CI below half an hour.
`ANON_PIPELINE_TEST_EXAMPLES=100` tries all of them, as before a version is published; with
`ANON_PIPELINE_TEST_SEED` they are others.
"""

from __future__ import annotations

import os
from typing import Final

EXAMPLES: Final = "ANON_PIPELINE_TEST_EXAMPLES"
"""Environment: per cent of the examples."""
USUAL: Final = 40  # per cent
_LEAST: Final = 12  # examples of each test, if it names as many


def examples_of(most: int) -> int:
    """Return how many examples to try of a test that names so many."""
    share = int(os.environ.get(EXAMPLES, USUAL))
    return max(most * share // 100, min(most, _LEAST))
