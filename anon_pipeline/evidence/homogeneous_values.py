"""What classes tell of the values of a column, exactly or nearly, and spellings of one word in it."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.order import different_values
from anon_pipeline.base.values import to_texts
from anon_pipeline.base.word_forms import plain_word
from anon_pipeline.evidence.evidence import Evidence, Originals, value_classes
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.attributes import count_open_classes
from anon_pipeline.risk.certainty import Ranked, likelier_share, telling_classes
from anon_pipeline.risk.people import count_people

MOST = 0.9
"""Share of a class with one value from which on a guess is nearly certain."""

GAIN = 2
"""How many times as frequent as in all classes it must be there: a value of nearly all tells nothing.

Of a value that half have or more, the odds decide: `risk.certainty.likelier_share`.
"""

_WHOLE = 2.0**53  # whole floats below it are those numbers

NEAR = 0.05
"""How far apart numbers are nearly equal: as a share of the distance between the table's quartiles."""


def rank_values(series: pd.Series) -> Ranked:
    """Rank the values of a column; a missing one is a value, and spellings of one word are one.

    Args:
        series: (n,) values. Numbers are nearly the same up to `NEAR`; texts and days if they are equal.
    """
    if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
        numbers = series.to_numpy(np.float64, na_value=np.nan)
        values, ranks = _different_numbers(numbers)
        present = numbers[~np.isnan(numbers)]
        low, high = np.quantile(present, (0.25, 0.75)) if len(present) else (0.0, 0.0)
        reach = np.searchsorted(values, values + NEAR * (high - low), side="right")
        return Ranked(ranks.astype(np.int64), reach.astype(np.int64))
    codes, texts = pd.factorize(to_texts(series), use_na_sentinel=True)
    words = pd.factorize(np.array([plain_word(text) for text in texts], dtype=object))[0]
    missing = int(words.max(initial=-1)) + 1
    ranks = np.append(words, missing)[codes].astype(np.int64)
    return Ranked(ranks, np.arange(1, missing + 2))


def _different_numbers(numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the different numbers, ascending, and the rank of each; missing ones are one, the last."""
    there = ~np.isnan(numbers)
    if not (np.abs(numbers[there]) < _WHOLE).all() or not (numbers[there] == np.floor(numbers[there])).all():
        values, own = np.unique(numbers, return_inverse=True)
        return values, own.astype(np.int64)
    whole, found = different_values(numbers[there].astype(np.int64))
    if there.all():
        return whole.astype(np.float64), found
    ranks = np.full(len(numbers), len(whole), np.int64)
    ranks[there] = found
    return np.append(whole, np.nan), ranks


def near_homogeneity(evidence: Evidence, name: str) -> float:
    """Return the share of the released records in classes that nearly tell a column's released value.

    Of the people in such classes, of all in all classes, where these are counted.

    Args:
        name: of a released column.
    """
    found = rank_values(evidence.released[name])
    return _share(found, evidence.classes.labels, evidence.people, MOST)


def hidden_homogeneity(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the share of the records in classes whose originals nearly have one value behind the noise.

    All records in classes count, whichever were released: it does not depend on the noise that was drawn. Of
    a column with numbers all values of a class must be nearly equal, for the noise is scaled to their range.

    Args:
        evidence: with originals.
        name: of a perturb column.
    Raises:
        InputError: a file alone.
    """
    behind = require_originals(evidence)
    inside = behind.labels >= 0
    if not inside.any():
        return 0.0
    labels = different_values(behind.labels[inside])[1]
    found = rank_values(behind.frame[name][inside])
    return _share(found, labels, _people(behind, inside), 1.0 if name in policy.perturbed else MOST)


def told_by_others(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the share of the records in groups of the other quasi-identifiers that nearly tell this one.

    0 if it is the only one.

    Args:
        evidence: with originals; all records in classes count, with their generalized values.
        name: of a generalize column.
    Raises:
        InputError: a file alone.
    """
    behind, others = require_originals(evidence), [other for other in policy.generalized if other != name]
    inside = behind.labels >= 0
    if not inside.any() or not others:
        return 0.0
    groups = value_classes(behind.frame[inside], others)
    return _share(rank_values(behind.frame[name][inside]), groups.labels, _people(behind, inside), MOST)


def _people(behind: Originals, inside: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    return None if behind.people is None else behind.people[inside]


def _share(
    found: Ranked, labels: NDArray[np.integer], people: NDArray[np.integer] | None, most: float
) -> float:
    m = int(labels.max()) + 1
    telling = telling_classes(found, labels, m=m, share=most, gain=GAIN, people=people)
    sizes = np.bincount(labels, minlength=m) if people is None else count_people(labels, people, m=m)
    common = likelier_share(found, labels, m=m, share=most, people=people)
    return min(count_open_classes(telling, sizes).share + common, 1.0)


def spellings(evidence: Evidence, name: str) -> int:
    """Count the different texts of a released column that are spellings of the word that another one is."""
    if pd.api.types.is_numeric_dtype(evidence.released[name]):
        return 0
    texts = to_texts(evidence.released[name]).dropna().unique()
    _, counts = np.unique([plain_word(text) for text in texts], return_counts=True)
    return int(counts[counts > 1].sum())
