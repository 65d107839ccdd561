"""What attackers learn from synthetic records about records that the model has seen, beyond others.

What can be learned of everybody is no breach: that smokers have cancer. So the records are divided at random.
A model of one half draws copies, and an attacker attacks both halves with them. What he learns more of the
half that the model has seen, he learns from their records being in the data. Attackers are simulated: this is
no upper bound.

Source: [DB 2.7, 3.3]; Stadler et al. (2022), section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from anon_pipeline.declared.random_numbers import RandomNumbers
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic.copies import synthetic_codes
from anon_pipeline.synthetic.nearest_kernel import nearest

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

MOST_TARGETS = 2_000
"""Records of each half that are attacked; more are drawn at random."""
_SEED = 20_161_126  # of the division and of the simulated copies, which are never released
_NEAR = 0.05  # of a column's ranks: a guessed number so near counts as right


@dataclass(frozen=True, slots=True)
class Learned:
    """What attackers learned.

    copied: share of unique records that are in a copy, beyond that of records that the model has not seen.
    membership: probability that a seen record is nearer to the copies than one that was not seen.
    gains: of each sensitive column, the share of right guesses beyond that for records not seen.
    """

    copied: float
    membership: float
    gains: dict[str, float]


class _OfHalf(SyntheticPolicy):
    """The policy of a model of half of the records, which has the categories of the released model."""

    @property
    def rare_below(self) -> int:
        """Records that a category must have: half of those that it must have in the whole table."""
        return -(-self.k // 2)


def learned_by_attackers(policy: SyntheticPolicy, codes: Integers, people: Integers | None = None) -> Learned:
    """Simulate the attackers on the data of a release.

    Args:
        codes: (n, columns) n ≥ 2.
        people: (n,) 0 … m − 1 of each record: all records of a person are in one half; None: each record is
            another person's.
    """
    halves = halves_of(len(codes))
    if people is not None:
        halves = [np.flatnonzero(np.isin(people, half)) for half in halves_of(int(people.max()) + 1)]
    halved = _OfHalf.model_construct(**dict(policy))
    copies = synthetic_codes(halved, codes[halves[0]], len(halves[0]), RandomNumbers(_SEED + 1))
    numeric = np.array([column.values is None for column in policy.columns.values()])
    names = list(policy.columns)
    secrets = {name: names.index(name) for name in policy.sensitive}
    return learned_from_halves(codes, halves, np.concatenate(copies), numeric, secrets)


def halves_of(people: int) -> list[Integers]:
    """Divide people, or records, at random, always in the same way: the places of each half."""
    return np.array_split(RandomNumbers(_SEED).permutation(people), 2)


def learned_from_halves(
    codes: Integers,
    halves: list[Integers],
    released: Integers,
    numeric: NDArray[np.bool_],
    secrets: Mapping[str, int],
) -> Learned:
    """Simulate the attackers on a release of the first half of some records.

    Args:
        codes: (n, p) the records; of numbers in their order.
        halves: places of the records that were seen, and of those that were not.
        released: (r, p) what was released, in the same codes.
        numeric: (p,) columns of numbers.
        secrets: the place of each column that an attacker who knows all others wants to learn.
    """
    random = RandomNumbers(_SEED + 2)
    seen, unseen = (codes[half] for half in halves)
    scaled = _scales_of(codes, numeric)
    targets = [half[random.permutation(len(half))[:MOST_TARGETS]] for half in (seen, unseen)]
    others = scaled(released)
    near = [nearest(scaled(half), others, numeric)[0] for half in targets]
    gains = {
        name: right[0] - right[1]
        for name, place in secrets.items()
        for right in [_right_guesses(targets, released, scaled, numeric, place)]
    }
    return Learned(_copied_beyond(codes, halves, released), _nearer_share(*near), gains)


def _scales_of(codes: Integers, numeric: NDArray[np.bool_]) -> _Scales:
    """Return what makes columns comparable: numbers by their rank among all records, in [0, 1].

    Ranks among those seen alone would set these apart from all others, by half a rank.
    """
    return _Scales(
        [np.sort(column) if number else None for column, number in zip(codes.T, numeric, strict=True)]
    )


@dataclass(frozen=True, slots=True)
class _Scales:
    """How the columns of records are made comparable, see `_scales_of`."""

    sorted_columns: list[Integers | None]

    def __call__(self, codes: Integers) -> Reals:
        """Return records with comparable columns, (r, p)."""
        found = codes.astype(np.float64)
        for place, known in enumerate(self.sorted_columns):
            if known is not None:
                sides = (np.searchsorted(known, codes[:, place], side) for side in ("left", "right"))
                found[:, place] = sum(side / len(known) for side in sides) / 2
        return np.ascontiguousarray(found)


def _nearer_share(seen: Reals, unseen: Reals) -> float:
    """Return the probability that a seen record is nearer than another one, equal distances counted half."""
    ranks = rankdata(np.concatenate([-seen, -unseen]))[: len(seen)]
    above = ranks.sum() - len(seen) * (len(seen) + 1) / 2
    return float(above / (len(seen) * len(unseen)))


def _right_guesses(
    halves: list[Integers], copies: Integers, scaled: _Scales, numeric: NDArray[np.bool_], place: int
) -> list[float]:
    """Return the share of each half whose value the nearest synthetic record has, by all other columns."""
    others, found = scaled(copies), []
    for half in halves:
        own = scaled(half)
        guessed = others[nearest(own, others, numeric, left_out=place)[1], place]
        apart = np.abs(guessed - own[:, place])
        found.append(float((apart <= _NEAR if numeric[place] else apart == 0).mean()))
    return found


def _copied_beyond(codes: Integers, halves: list[Integers], copies: Integers) -> float:
    """Return the share of the first half's unique records that are copied, beyond that of the other."""
    _, own, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    unique = counts[own.reshape(-1)] == 1
    whole = np.concatenate([codes, copies])
    tuples = np.unique(whole, axis=0, return_inverse=True)[1].reshape(-1)
    copied = np.isin(tuples[: len(codes)], tuples[len(codes) :])
    shares = []
    for half in halves:
        those = half[unique[half]]
        shares.append(float(copied[those].mean()) if len(those) else 0.0)
    return shares[0] - shares[1]
