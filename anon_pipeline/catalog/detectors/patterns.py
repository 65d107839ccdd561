"""Identifiers that nobody declared: a column is judged by its matches with the detectors.

Where one match is enough (an e-mail address in one text of many), one match is a finding. Other forms are
those of many numbers: of eleven random ten-digit codes one passes the check of NHS numbers. Columns are
found by their match rate: more different values are valid than twice the chance explains (binomial test).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from anon_pipeline.catalog.detectors import DETECTORS, Detector, Form
from anon_pipeline.catalog.detectors.spellings import Cells, Spellings, is_short, read_cells

LEVEL = 1e-6
"""A column is found if chance explains so many valid values with at most this probability."""
EXCUSED = 20
"""From so many candidates on, a form of which one is enough may be there by chance, too, with `LEVEL`."""
MOST_JUDGED = 2_000
"""Different values of a column that its match rate is taken of; the same ones each time."""
_DENSE = 20  # numbers that are on average nearer to each other than this are counted on, not given out
_FEW = 0.05  # of fewer candidates: by chance, if fewer are valid than enough, and no more than this explains


def matches(column: pd.Series, allow: Collection[str] = ()) -> dict[str, int]:
    """Count the records of a column that hold an identifier, per detector that finds the column.

    Args:
        column: (n,) texts, numbers, categories; booleans, dates and missing values hold none.
        allow: names of detectors that are not asked.
    Returns:
        Records per name of a detector that has found something.
    """
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return {}
    cells = read_cells(column)
    if not len(cells.whole):
        return {}
    looked, found = _look(cells), {}
    if not looked.promising and not looked.shaped:
        return {}
    for detector in DETECTORS:
        if detector.name not in allow and (records := _count_found(detector, looked)):
            found[detector.name] = records
    return found


def _count_found(detector: Detector, looked: _Looked) -> int:
    """Return how many records hold an identifier of one kind, 0 where the column is not found."""
    hit: set[int] = set()
    for form in detector.forms:
        if not form.alone:
            hit |= _columnwise(form, looked)
        elif looked.promising:
            hit |= _inside(form, looked.cells)
    return int(looked.cells.records[sorted(hit)].sum()) if hit else 0


def _inside(form: Form, cells: Cells) -> set[int]:
    """Search texts for a form of which one match is enough; places of the texts that have one."""
    candidates, hit = set[int](), set[int]()
    for place in _promising_places(form, cells):
        texts = [match.group() for match in form.shape.finditer(cells.whole[place])]
        candidates |= {place} if any(map(form.is_candidate, texts)) else set()
        if any(map(form.fits, texts)):
            hit.add(place)
    if hit and form.unlike is not None and form.unlike(cells.whole, numbers=False):
        hit = {place for place in hit if not form.shape.fullmatch(cells.whole[place])}
    if not hit or not form.chance:
        return hit
    if form.others is None:
        return hit if _more_than_chance(len(hit), len(candidates), form) else set()
    layout = {place for place, text in enumerate(cells.whole) if form.others.fullmatch(text)}
    judged = hit & layout
    return hit if _more_than_chance(len(judged), len(layout), form) else hit - judged


def _more_than_chance(valid: int, candidates: int, form: Form) -> bool:
    """Tell whether chance does not explain that so many of the candidates of a form are valid."""
    if valid >= form.enough * candidates:
        return True
    if candidates >= EXCUSED:
        return _significant(valid, candidates, form)
    return _chance(valid, candidates, form.chance) <= _FEW


def _chance(valid: int, candidates: int, share: float) -> float:
    """Return the probability that at least so many of the candidates are valid by chance; 1 if none is."""
    if not valid:
        return 1.0
    from scipy.special import bdtrc  # noqa: PLC0415 - slow to import: only where some are

    return float(bdtrc(valid - 1, candidates, share))


def _promising_places(form: Form, cells: Cells) -> Iterator[int]:
    """Yield the places of texts that may hold a form, by a fast look at all of them; of a few, all."""
    if cells.texts is not None and is_short(len(cells.whole)):
        yield from range(len(cells.whole))
    elif cells.texts is not None:
        found = pc.match_substring_regex(cells.texts, form.needs).to_numpy(zero_copy_only=False)
        yield from map(int, np.flatnonzero(found))


def _columnwise(form: Form, looked: _Looked) -> set[int]:
    """Judge a column by the share of its values that are valid; places of these if it is found."""
    cells, chosen = looked.cells, looked.chosen
    enough = form.tolerated ** len(chosen) <= LEVEL
    read = (
        {place: spellings.texts_of_form(form) for place, spellings in looked.shaped.items()} if enough else {}
    )
    candidates = [place for place, texts in read.items() if texts]
    if not candidates or form.tolerated ** len(candidates) > LEVEL:
        return set()  # even if all of them were valid
    valid = [place for place in candidates if any(map(form.fits, read[place]))]
    if not _significant(len(valid), len(candidates), form):
        return set()
    if form.share and (len(valid) < form.share * _digits(chosen) or _is_dense(read, len(cells.whole))):
        return set()
    if form.unlike is not None and form.unlike(_bare(chosen), numbers=cells.texts is None):
        return set()
    if len(chosen) == len(cells.whole):
        return set(valid)
    every = ((place, Spellings.of(cell).texts_of_form(form)) for place, cell in enumerate(cells.whole))
    return {place for place, texts in every if any(map(form.fits, texts))}


def _digits(chosen: _Chosen) -> int:
    """Count the values that are numbers; other texts in the column do not excuse them."""
    return sum(any(map(str.isdecimal, spellings.bare)) for spellings in chosen.values())


def _bare(chosen: _Chosen) -> list[str]:
    """Return the cells' first spelling without separators."""
    return [spellings.bare[0] for spellings in chosen.values() if spellings.bare]


_Chosen = dict[int, Spellings]
"""The values that a match rate is taken of, by their places."""


def _choose(cells: Cells) -> _Chosen:
    """Choose all values, or so many at random; always the same."""
    values = len(cells.whole)
    places: Sequence[int] = range(values)
    if values > MOST_JUDGED:
        drawn = np.random.default_rng(values).choice(values, MOST_JUDGED, replace=False)
        places = [int(place) for place in drawn]
    return {place: Spellings.of(cells.whole[place]) for place in places}


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """A column after one look for all forms, which most columns do not hold.

    promising: whether a text may hold a form of which one match is enough.
    chosen: the values that match rates are taken of; ``shaped``: those that have the shape of a form.
    """

    cells: Cells
    promising: bool
    chosen: _Chosen
    shaped: _Chosen


def _look(cells: Cells) -> _Looked:
    chosen, shaped = _choose(cells), _any_shape().fullmatch
    several = {
        place: one for place, one in chosen.items() if any(map(shaped, (*one.exact, *one.bare, *one.loose)))
    }
    promising = cells.texts is not None
    if cells.texts is not None and not is_short(len(cells.whole)):
        promising = bool(pc.any(pc.match_substring_regex(cells.texts, _any_needs())).as_py())
    return _Looked(cells, promising, chosen, several)


@cache
def _any_shape() -> re.Pattern[str]:
    """Return what every value has that is a candidate of a form by match rate."""
    forms = [form for one in DETECTORS for form in one.forms if not form.alone]
    return re.compile(_either(form.shape.pattern for form in forms))


@cache
def _any_needs() -> str:
    """Return what every text has that holds a form of which one match is enough."""
    return _either(form.needs for one in DETECTORS for form in one.forms if form.alone)


def _either(expressions: Iterable[str]) -> str:
    return "|".join(f"(?:{one})" for one in dict.fromkeys(expressions))


def _significant(valid: int, candidates: int, form: Form) -> bool:
    """Tell whether chance explains so many valid candidates with a probability of at most `LEVEL`."""
    return _chance(valid, candidates, form.tolerated) <= LEVEL


def _is_dense(read: dict[int, list[str]], values: int) -> bool:
    """Tell whether the numbers are as dense as a running count."""
    numbers = [int(text) for texts in read.values() for text in texts]
    return max(numbers) - min(numbers) < _DENSE * values
