"""What attackers assume: nearer originals are likelier; and nothing is ever drawn by it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anon_pipeline.perturb import mechanisms
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.perturb.mechanisms import Noise

NOISE = Noise("rank_swapping", Fraction(0), amount=Fraction(1, 10))


def test_nearer_originals_are_likelier_by_the_diameter_of_the_class() -> None:
    odds = mechanisms.log_odds(NOISE, [0, 5, -10, 20], [10, 10, 10, 10])
    assert odds.tolist() == [0.0, -0.5, -1.0, -2.0]
    assert mechanisms.scales(NOISE, [0, 7]).tolist() == [0.0, 7.0]


def test_it_draws_nothing() -> None:
    with pytest.raises(ValueError, match="draws nothing for a single value"):
        mechanisms.draw(NOISE, np.ones(3, np.int64), entropy=seeded_entropy(0))
