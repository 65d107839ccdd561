"""Simulating fewer releases of a small table: for tests that compare results which are all simulated alike.

What two ways of measuring must both say is the same however exact it is. Tests of how exact it is do
not use this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

RECORDS = 2**13
"""Records whose noise is drawn to measure a table; the package draws 16 times as many."""


def simulate_fewer(patch: pytest.MonkeyPatch) -> None:
    """Draw as many releases, but each of fewer copies of a small table."""
    patch.setattr("anon_pipeline.evidence.expectation.SIMULATED_RECORDS", RECORDS)
    patch.setattr("anon_pipeline.evidence.known_attack.SIMULATED_RECORDS", RECORDS // 2)
