"""What classes reveal about the values of a column, exactly or nearly, and spellings of one word in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from anon_pipeline.base.order import different_values
from anon_pipeline.base.packed_tables import Table, column_type
from anon_pipeline.base.rows import keep_rows
from anon_pipeline.base.values import arrow_codes, column_codes
from anon_pipeline.base.word_forms import plain_word
from anon_pipeline.evidence.coarse_values import code_groups, end_marks
from anon_pipeline.evidence.evidence import Evidence, Originals, value_classes
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.policy.model import Policy
from anon_pipeline.risk.attributes import count_open_classes
from anon_pipeline.risk.certainty import Ranked, likelier_share, telling_classes
from anon_pipeline.risk.people import count_people
from anon_pipeline.risk.surplus import marked_surplus, surplus_share

MOST = 0.9
"""Share of a class with one value from which on a guess is nearly certain."""

GAIN = 2
"""Least ratio of a value's share in the class to its share in the table: a common value reveals nothing.

Of a value that half have or more, the odds decide: `risk.certainty.likelier_share`.
"""

_WHOLE = 2.0**53  # whole floats below it are those numbers

_QUANTITY = re.compile(r"\s*(?P<number>[+-]?(?:0|[1-9]\d{0,14})(?:\.\d+)?)\s?(?P<unit>[^\d\s]{0,8})\s*")
_FEWEST_QUANTITIES = 20  # different texts

NEAR = 0.05
"""How far apart numbers are nearly equal: as a share of the distance between the table's quartiles."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadColumn:
    """A column as limits on classes read it.

    ranked: what is equal, and nearly equal.
    numbers: (n,) NaN for a missing one; None of words.
    codes: (n,) into ``texts``, the different texts of a column of words; −1 for a missing one.
    """

    ranked: Ranked
    numbers: NDArray[np.float64] | None = field(default=None, repr=False)
    codes: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    texts: Sequence[str] = field(default=(), repr=False)


def rank_values(series: pd.Series) -> Ranked:
    """Rank the values of a column; a missing one is a value, and spellings of one word are one.

    Args:
        series: (n,) values. Numbers are nearly the same up to `NEAR`, also those that are written as texts;
            other texts and days if they are equal.
    """
    return read_column(series).ranked


def read_column(series: pd.Series) -> ReadColumn:
    """Read a column as numbers or as words, see `rank_values`."""
    if pd.api.types.is_numeric_dtype(series) and not pd.api.types.is_bool_dtype(series):
        numbers = series.to_numpy(np.float64, na_value=np.nan)
        return ReadColumn(_rank_numbers(numbers), numbers)
    return _read_words(*arrow_codes(series))


def _read_table_column(table: Table, name: str) -> ReadColumn:
    """Read a column of a table as `read_column` does; texts of a packed one are read once each."""
    kind = column_type(table, name)
    if pd.api.types.is_numeric_dtype(kind):
        return read_column(table[name])
    return _read_words(*column_codes(table, name))


def _read_words(numbered: NDArray[np.int64], arrow: pa.LargeStringArray) -> ReadColumn:
    """Read texts as words, or as numbers if all are.

    Args:
        numbered: (n,) place in ``arrow`` of each text.
        arrow: (m,) different texts; a missing one is one of them.
    """
    written = pd.Series(arrow.to_numpy(zero_copy_only=False), dtype=object)
    there = written.notna().to_numpy()
    codes, texts = np.where(there, np.cumsum(there) - 1, -1)[numbered], written[there].tolist()
    quantities = _quantities(texts)
    if quantities is not None:
        numbers = np.append(quantities, np.nan)[codes]
        return ReadColumn(_rank_numbers(numbers), numbers)
    words = pd.factorize(np.array([plain_word(text) for text in texts], dtype=object))[0]
    missing = int(words.max(initial=-1)) + 1
    ranks = np.append(words, missing)[codes].astype(np.int64)
    return ReadColumn(Ranked(ranks, np.arange(1, missing + 2)), None, codes, texts)


def _rank_numbers(numbers: NDArray[np.float64]) -> Ranked:
    values, ranks = _different_numbers(numbers)
    present = numbers[~np.isnan(numbers)]
    low, high = np.quantile(present, (0.25, 0.75)) if len(present) else (0.0, 0.0)
    reach = np.searchsorted(values, values + NEAR * (high - low), side="right")
    return Ranked(ranks.astype(np.int64), reach.astype(np.int64))


def _quantities(texts: Iterable[str]) -> NDArray[np.float64] | None:
    """Return the numbers that texts are, all with one unit behind them; None where they are words or codes.

    Few different ones may be codes, and so are those that begin with a zero.
    """
    numbers: list[float] = []
    units: set[str] = set()
    for text in texts:
        found = _QUANTITY.fullmatch(text)
        if found is None or len(units) > 1:
            return None
        numbers.append(float(found["number"]))
        units.add(found["unit"])
    return np.array(numbers) if len(numbers) >= _FEWEST_QUANTITIES and len(units) == 1 else None


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
    """Return the share of the released records in classes where a column has nearly one value.

    Of the people in such classes, of all in all classes, where these are counted. Codes of one stem or block
    are one value, too, and so are the largest numbers of the table, and the smallest ones; beyond chance,
    see `coarse_homogeneity`.

    Args:
        name: of a released column.
    """
    column, labels = _read_table_column(evidence.released, name), evidence.classes.labels
    exact = _share(column.ranked, labels, evidence.people, MOST)
    return max(exact, coarse_homogeneity(column, labels, evidence.people))


def coarse_homogeneity(
    column: ReadColumn, labels: NDArray[np.integer], people: NDArray[np.integer] | None
) -> float:
    """Return the share of the records in classes with different values that are one secret, beyond chance.

    Of numbers that are nearly all among the largest or among the smallest of the table, of codes that nearly
    all have one stem, or are of one block of stems.

    Args:
        labels: (r,) class of each record, 0 … m−1.
        people: (r,) whose record it is; None where records are counted.
    Source:
        [methods 8.4].
    """
    if column.numbers is not None:
        marks = end_marks(column.ranked.ranks, missing=bool(np.isnan(column.numbers).any()))
        return marked_surplus(marks, labels, most=MOST, gain=GAIN, people=people)
    groupings = code_groups(column.codes, column.texts)
    whole = np.zeros(len(labels), np.int64)
    shares = [surplus_share(each, labels, whole, most=MOST, gain=GAIN, people=people) for each in groupings]
    return max(shares, default=0.0)


def hidden_homogeneity(evidence: Evidence, policy: Policy, name: str) -> float:
    """Return the share of the records in classes whose originals have nearly one value, in spite of noise.

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
    """Return the share of the records whose other quasi-identifiers nearly determine this one.

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
    groups = value_classes(keep_rows(behind.frame[others], inside), others)
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
    if pd.api.types.is_numeric_dtype(column_type(evidence.released, name)):
        return 0
    texts = column_codes(evidence.released, name)[1].drop_null().to_pylist()
    _, counts = np.unique([plain_word(text) for text in texts], return_counts=True)
    return int(counts[counts > 1].sum())
