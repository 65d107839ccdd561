"""Small domains, all tables over them, and what may differ between neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from anon_pipeline.epsilon_dp import histograms, noisy_means
from anon_pipeline.epsilon_dp.methods import method_of
from anon_pipeline.perturb.budget import exact_fraction
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy

Integers = NDArray[np.int64]
KEY = NoiseKey(bytes(range(32)))


def dp_policy(**changes: Any) -> EpsilonDpPolicy:
    """Return a policy of one column of numbers and one of categories."""
    said: dict[str, Any] = {
        "name": "people",
        "source": {"path": "people.csv"},
        "one_record_per_person": True,
        "epsilon": 1,
        "columns": {
            "age": {"bounds": [0, 2], "otherwise": 0},
            "city": {"values": ["Cork", "Dublin"], "otherwise": "Cork"},
        },
        "gate": {"expected_error": 1},
    }
    if not {"histograms", "group_means", "column_means"} & {*changes}:
        said["histograms"] = {}
    return EpsilonDpPolicy.model_validate(said | changes)


def all_records(policy: EpsilonDpPolicy) -> list[tuple[int, ...]]:
    """Return the codes of all records that there can be."""
    return list(product(*(range(column.size) for column in policy.columns.values())))


def neighbours(policy: EpsilonDpPolicy, records: int) -> Iterator[tuple[Integers, Integers]]:
    """Yield all pairs of tables, up to the order of their records, that differ in one record."""
    domain = all_records(policy)
    for rest in combinations_of(domain, records - 1):
        for one, other in product(domain, repeat=2):
            if one < other:
                yield np.array([*rest, one], np.int64), np.array([*rest, other], np.int64)


def combinations_of(domain: list[tuple[int, ...]], many: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield all multisets of so many records."""
    from itertools import combinations_with_replacement

    yield from combinations_with_replacement(domain, many)


class Recorded:
    """What a method asks of its samplers, in order: which exact numbers get noise, of which law.

    The samplers return no noise, so that what the method returns is what it would add noise to; the laws of
    what it draws follow from what was asked.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scales: list[tuple[Integers, Fraction]] = []
        self.choices: list[tuple[Integers, Fraction]] = []
        for module in (histograms, noisy_means):
            monkeypatch.setattr(module, "discrete_laplace", self._laplace)
        monkeypatch.setattr(noisy_means, "choose_values", self._choose)
        self.sums: list[Integers] = []
        exact = noisy_means.means_with_noise
        monkeypatch.setattr(noisy_means, "means_with_noise", self._means(exact))

    def _laplace(self, diameters: Integers, epsilon: Fraction, *, entropy: object) -> Integers:
        self.scales.append((diameters, epsilon))
        return np.zeros(len(diameters), np.int64)

    def _choose(self, counts: Integers, epsilon: Fraction, words: object) -> Integers:
        self.choices.append((counts, epsilon))
        return np.zeros(len(counts), np.int64)

    def _means(self, exact: Callable[..., Integers]) -> Callable[..., Integers]:
        def record(sums: Integers, *others: Any) -> Integers:
            exact(sums, *others)
            return sums

        return record

    def laws(self, policy: EpsilonDpPolicy, codes: Integers) -> tuple[list[Any], list[Any]]:
        """Return all exact numbers with their noise, and all choices, of one table."""
        self.scales.clear()
        self.choices.clear()
        found = method_of(policy).noise(policy, codes, exact_fraction(policy.epsilon), KEY)
        numeric = [
            one
            for part in found
            for one in (
                [part]
                if policy.group_means is None
                else [
                    part[:, place]
                    for place, column in enumerate(policy.columns.values())
                    if column.values is None
                ]
            )
        ]
        sums = [(one.ravel(), *scale) for one, scale in zip(numeric, self.scales, strict=True)]
        return sums, list(self.choices)


def log_ratio(one: tuple[list[Any], list[Any]], other: tuple[list[Any], list[Any]]) -> float:
    """Return the largest log ratio of the laws of everything that is drawn for two tables."""
    found = 0.0
    for (sums, diameters, epsilon), (others, same, equal) in zip(one[0], other[0], strict=True):
        assert (diameters == same).all() and epsilon == equal  # the noise itself must not tell
        found += float((np.abs(sums - others) * float(epsilon) / diameters).sum())
    for (counts, epsilon), (others, equal) in zip(one[1], other[1], strict=True):
        assert epsilon == equal
        for group, changed in zip(counts, others, strict=True):
            laws = [exponential_law(scores, epsilon) for scores in (group, changed)]
            found += float(np.abs(np.log(laws[0]) - np.log(laws[1])).max())
    return found


def exponential_law(scores: Integers, epsilon: Fraction) -> NDArray[np.float64]:
    """Return the law of the exponential mechanism with scores of sensitivity 1, in the book's closed form."""
    weights = np.exp(float(epsilon) * scores / 2)
    found: NDArray[np.float64] = weights / weights.sum()
    return found
