"""Synthetic people in place of a source depend on the seed and the partition alone."""

from __future__ import annotations

import pandas as pd

from anon_pipeline.sources import read_source
from tests.sources.test_sources import policy


def test_the_generator_is_seeded_by_policy_and_partition() -> None:
    source = policy(generate="patients", records=50, seed=3)
    whole = read_source(source)
    assert len(whole) == 50
    pd.testing.assert_frame_equal(read_source(source), whole)
    assert not read_source(policy(generate="patients", records=50, seed=4)).equals(whole)
    first, second = (read_source(source, partition=day) for day in ("2026-01-05", "2026-01-06"))
    assert not first.equals(whole)
    assert not first.equals(second)
    pd.testing.assert_frame_equal(read_source(source, partition="2026-01-05"), first)
