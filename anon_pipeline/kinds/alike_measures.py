"""Measures that any release has: what is lost of columns and pairs, and what attackers learn of records.

An attacker has a release of one half of the records. What he learns more of this half than of the other one,
he learns from these records being in the data (`synthetic.attackers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.values import to_texts
from anon_pipeline.synthetic.attackers import Learned, learned_from_halves
from anon_pipeline.utility.components import component_shift
from anon_pipeline.utility.features import plain_features
from anon_pipeline.utility.inference import compare_inference
from anon_pipeline.utility.models import MOST_RECORDS, propensity_of
from anon_pipeline.utility.probabilistic import probabilistic_loss

Integers = NDArray[np.int64]

_BINS = 10
_CATEGORIES = 50
_SEED = 0  # of the records that are sampled: the same tables give the same numbers


@dataclass(frozen=True, slots=True)
class Lost:
    """What a release loses: 0 for nothing.

    columns: share of the released records that would have to change a value for a column to be distributed as
        in the data; the mean over columns.
    pairs: the same of two columns together; the mean over pairs. None with one column.
    correlations: mean absolute change of Pearson's r of two columns of numbers. None without a pair of them.
    propensity: how well a regression tells released records from those of the data, 0 to 1: pMSE divided by
        its largest value, c(1 − c) for a share c of released records.
    components: mean change of what each principal component of the numbers explains, a share.
    regressions: mean change of the coefficients of each number on all others, in standard deviations.
    surprising: probability that a sample of the data would change its statistics by less, the mean over
        kinds of statistics. None, as the two before, without two columns of numbers that vary in
        the data.
    """

    columns: float
    pairs: float | None
    correlations: float | None
    propensity: float | None = None
    components: float | None = None
    regressions: float | None = None
    surprising: float | None = None


def plain_columns(
    data: pd.DataFrame, released: pd.DataFrame, names: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return data and release with these columns alone: numbers where both have numbers, else texts.

    Args:
        data: (n, columns); ``released``: (r, columns).
    """
    first, second = dict[str, pd.Series](), dict[str, pd.Series]()
    for name in names:
        both = [as_numbers(table[name]) for table in (data, released)]
        if any(one is None for one in both):
            both = [to_texts(table[name]).fillna("") for table in (data, released)]
        first[name], second[name] = (one.reset_index(drop=True) for one in both if one is not None)
    return pd.DataFrame(first), pd.DataFrame(second)


def as_numbers(column: pd.Series) -> pd.Series | None:
    """Return a column as finite numbers; None if a cell is none, as days and booleans are."""
    if pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_bool_dtype(column):
        return None
    read = pd.to_numeric(column, errors="coerce").astype(np.float64)
    unread = (read.isna() & column.notna()) | np.isinf(read)
    return None if unread.any() else read


def measure_lost(data: pd.DataFrame, released: pd.DataFrame) -> Lost:
    """Compare a release with the data.

    Args:
        data: (n, columns); ``released``: (r, columns), see `plain_columns`.
    """
    names = list(data.columns)
    binned = {name: _bins(data[name], released[name]) for name in names}
    apart = [_apart(*binned[name]) for name in names]
    pairs = [_pair_apart(binned[one], binned[other]) for one, other in combinations(names, 2)]
    numbers = [name for name in names if data[name].dtype == np.float64]
    return Lost(
        fmean(apart),
        fmean(pairs) if pairs else None,
        _moved_correlations(data[numbers], released[numbers]),
        _tell_apart(data, released),
        *_changed_statistics(data[numbers].to_numpy(), released[numbers].to_numpy()),
    )


def _tell_apart(data: pd.DataFrame, released: pd.DataFrame) -> float | None:
    """Return how well a regression tells both apart, as a share of perfectly."""
    random = np.random.default_rng(_SEED)
    data, released = (_sample(one, random) for one in (data, released))
    found = propensity_of(*plain_features(data, released))
    share = len(released) / max(1, len(data) + len(released))
    return None if found is None else found / (share * (1 - share))


def _sample(table: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """Return at most `MOST_RECORDS`, each equally likely: every n-th would follow a period of the rows."""
    if len(table) <= MOST_RECORDS:
        return table
    return table.iloc[np.sort(random.choice(len(table), MOST_RECORDS, replace=False))]


def _changed_statistics(
    data: NDArray[np.float64], released: NDArray[np.float64]
) -> tuple[float | None, float | None, float | None]:
    """Return what principal components, regressions and probabilistic loss say of columns of numbers.

    A column that does not vary in the data, or of which the release has no number, is left out: it says
    nothing of the others.
    """
    used = [
        place
        for place in range(data.shape[1])
        if len(np.unique(data[:, place][~np.isnan(data[:, place])])) > 1
        and not np.isnan(released[:, place]).all()
    ]
    if len(used) < 2:
        return None, None, None
    data, released = data[:, used], released[:, used]
    components = component_shift(data, released)
    return (
        None if components is None else components.explained,
        compare_inference(data, released).shift,
        probabilistic_loss(data, released).overall,
    )


def _pair_apart(one: tuple[Integers, Integers], other: tuple[Integers, Integers]) -> float:
    """Return the total variation distance of two columns together, each of the data and of the release."""
    size = 1 + max(int(codes.max(initial=0)) for codes in other)
    data, released = (first * size + second for first, second in zip(one, other, strict=True))
    return _apart(data, released)


def _bins(data: pd.Series, released: pd.Series) -> tuple[Integers, Integers]:
    """Return the bin of each cell of both: tenths of the data's numbers, or its most frequent texts."""
    if data.dtype == np.float64:
        known = data.dropna()
        inner = np.linspace(0, 1, _BINS + 1)[1:-1]
        edges = np.unique(np.quantile(known, inner)) if len(known) else np.empty(0)
        both = [
            np.where(column.isna(), -1, np.searchsorted(edges, column, "left")) for column in (data, released)
        ]
    else:
        texts, counts = np.unique(data.to_numpy(object), return_counts=True)
        frequent = pd.Index(texts[np.argsort(-counts, kind="stable")[: _CATEGORIES - 1]])
        both = [frequent.get_indexer(pd.Index(column)) for column in (data, released)]
    first, second = (codes.astype(np.int64) + 1 for codes in both)
    return first, second


def _apart(data: Integers, released: Integers) -> float:
    """Return the total variation distance of two distributions."""
    size = max(int(data.max(initial=0)), int(released.max(initial=0))) + 1
    shares = [np.bincount(codes, minlength=size) / max(1, len(codes)) for codes in (data, released)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def _moved_correlations(data: pd.DataFrame, released: pd.DataFrame) -> float | None:
    if data.shape[1] < 2:
        return None
    upper = np.triu_indices(data.shape[1], 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        before, after = (np.nan_to_num(table.corr().to_numpy())[upper] for table in (data, released))
    return float(np.abs(before - after).mean())


def measure_learned(
    data: pd.DataFrame, seen: NDArray[np.bool_], released: pd.DataFrame, secrets: Sequence[str]
) -> Learned:
    """Let attackers attack the records that a release was made of, and the others.

    Args:
        data: (n, columns), see `plain_columns`; ``seen``: (n,) those that the release was made of.
        released: (r, columns).
        secrets: columns that an attacker who knows all others wants to learn.
    """
    names = list(data.columns)
    codes = np.stack([_codes(data[name], released[name]) for name in names], axis=1)
    halves = [np.flatnonzero(seen), np.flatnonzero(~seen)]
    numeric = np.array([data[name].dtype == np.float64 for name in names])
    places = {name: names.index(name) for name in secrets}
    return learned_from_halves(codes[: len(data)], halves, codes[len(data) :], numeric, places)


def _codes(data: pd.Series, released: pd.Series) -> Integers:
    """Return a code for each value of both, in their order; a missing number comes first."""
    both = pd.concat([data, released], ignore_index=True)
    filled = both.fillna(-np.inf) if both.dtype == np.float64 else both
    return np.unique(filled.to_numpy(), return_inverse=True)[1].astype(np.int64)
