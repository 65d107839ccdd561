"""Risk when the release is a sample of a population that an attacker can link to."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError


@dataclass(frozen=True, slots=True)
class PopulationRisk:
    """Risks of an attacker who has the population and does not know who of it was sampled.

    journalist: largest probability 1/F of naming the person of a released record, in (0, 1]; F is the
        population of its class.
    marketer: share of the released records that the attacker names correctly on average, Σ (f/F) / r, in
        (0, 1]; f is the released records of a class.
    """

    journalist: float
    marketer: float


def population_risk(sizes: NDArray[np.integer], population: NDArray[np.integer]) -> PopulationRisk:
    """Compute journalist and marketer risk.

    Args:
        sizes: (m,) released records of each class, each ≥ 1.
        population: (m,) people of the population in each class, those released included.
    Raises:
        ValueError: no class, an empty one, or another number of population classes.
        InputError: classes with fewer people in the population than in the release, with their count.
    Source:
        El Emam (2013), Guide to the De-Identification of Personal Health Information; Dankar and El Emam
        (2010), A method for evaluating marketer re-identification risk.

    >>> population_risk(np.array([2, 6]), np.array([10, 8]))
    PopulationRisk(journalist=0.125, marketer=0.11875)
    """
    if len(sizes) == 0 or int(sizes.min()) < 1 or len(population) != len(sizes):
        raise ValueError("sizes must hold a class of at least one record, population one number for each.")
    lacking = int((population < sizes).sum())
    if lacking:
        raise InputError(
            f"the population must hold everybody who was released, got {lacking} of {len(sizes)} classes "
            "with fewer people than records"
        )
    named = math.fsum((sizes / population).tolist())
    return PopulationRisk(1 / int(population.min()), named / int(sizes.sum()))
