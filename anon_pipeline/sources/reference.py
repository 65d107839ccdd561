"""Body height and weight of US adults: the model that is fitted to the published tables.

Source, weight: Fryar, Gu, Ogden, "Anthropometric reference data for children and adults: United States,
    2007-2010", Vital Health Stat 11(252), 2012, weight in pounds by sex and age. Read from a public
    transcription of its tables (a C# generator of medical records), not from the report; one obvious slip of
    the transcription (women 70-79, 90th percentile, 128.4) is corrected to 218.4 by us.
Source, height: US Census Bureau, Statistical Abstract 2011, table 205, "cumulative percent distribution of
    population by height and sex: 2007 to 2008" (the same survey, NHANES), read from the same transcription.
    The means by decade of 11(252) could not be obtained; its overall mean for men of 20 and over (175.9 cm)
    is met by the fit within 0.3 cm for the age structure of `patients`.
Fitted by us: `HEIGHTS_CM` (normal) and `WEIGHTS_KG` (log-normal), least squares on the probit scale, rounded
    to 0.1 cm, 0.1 kg and 0.01. Fit against table: shares within 0.04, weight percentiles within 4 %, except
    women 20-29, whose upper tail is heavier than log-normal (within 9 %).
Chosen by us, without a source: the rows for 80 and over; 20-29 used for ages 17 to 19; `CORRELATION`, 0.45.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anon_pipeline.base.errors import InputError

SEXES: Final = ("Female", "Male")
YOUNGEST: Final = 17
OLDEST: Final = 120
CORRELATION: Final = 0.45
"""Of height and log weight, within sex and age decade. Chosen, not published."""

# Decades: 20-29, 30-39, 40-49, 50-59, 60-69, 70-79 (published), then 80 and over (chosen).
HEIGHTS_CM: Final[dict[str, tuple[tuple[float, float], ...]]] = {
    "Female": (
        (163.7, 7.2),
        (163.2, 6.9),
        (163.5, 7.0),
        (162.1, 6.6),
        (161.8, 6.3),
        (159.3, 6.6),
        (156.5, 6.6),
    ),
    "Male": (
        (176.3, 7.5),
        (176.3, 7.9),
        (176.8, 7.5),
        (176.5, 7.5),
        (175.1, 7.1),
        (173.1, 7.1),
        (171.0, 6.9),
    ),
}
"""Mean and standard deviation by decade, cm: fitted to the published shares; last row chosen."""

WEIGHTS_KG: Final[dict[str, tuple[tuple[float, float], ...]]] = {
    "Female": (
        (70.8, 0.27),
        (74.3, 0.25),
        (73.8, 0.25),
        (75.0, 0.25),
        (75.5, 0.23),
        (72.6, 0.24),
        (64.0, 0.21),
    ),
    "Male": (
        (81.3, 0.21),
        (88.1, 0.21),
        (89.2, 0.20),
        (89.6, 0.21),
        (88.2, 0.21),
        (85.0, 0.19),
        (78.0, 0.18),
    ),
}
"""Median (kg) and deviation of the logarithm by decade: fitted to the percentiles; last row chosen."""

_DECADES: Final = 7
_HEIGHT: Final = np.array([HEIGHTS_CM[sex] for sex in SEXES]).reshape(-1, 2)
_WEIGHT: Final = np.array([WEIGHTS_KG[sex] for sex in SEXES]).reshape(-1, 2)


def heights(age: ArrayLike, sex: ArrayLike, *, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw body heights: normal, by sex and age decade.

    Args:
        age: (n,) in years, 17 to 120.
        sex: (n,) "Female" or "Male".
    Returns:
        (n,) in cm, on the 0.1 grid.
    Raises:
        InputError: an age outside the range or another sex; counts only.
    Source:
        `HEIGHTS_CM`, fitted by us to the Statistical Abstract 2011, table 205; see the module.
    """
    mean, deviation = _HEIGHT[_strata(age, sex)].T
    return _on_grid(mean + deviation * rng.standard_normal(len(mean)))


def weights(
    age: ArrayLike, sex: ArrayLike, *, rng: np.random.Generator, height_cm: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Draw body weights: log-normal, by sex and age decade.

    Args:
        age: (n,) in years, 17 to 120.
        sex: (n,) "Female" or "Male".
        height_cm: (n,) the same people's heights in cm; then log weight has `CORRELATION` with them within
            sex and decade. Without it the weights do not depend on height.
    Returns:
        (n,) in kg, on the 0.1 grid.
    Raises:
        InputError: an age outside the range, another sex, or another number of heights; counts only.
    Source:
        `WEIGHTS_KG`, fitted by us to Fryar, Gu, Ogden (2012); see the module.
    """
    rows = _strata(age, sex)
    median, spread = _WEIGHT[rows].T
    score = rng.standard_normal(len(rows))
    if height_cm is not None:
        score = CORRELATION * _height_score(height_cm, rows) + np.sqrt(1 - CORRELATION**2) * score
    return _on_grid(median * np.exp(spread * score))


def _height_score(height_cm: ArrayLike, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (n,) heights in standard deviations from the mean of their sex and decade."""
    given = np.asarray(height_cm, dtype=np.float64)
    if given.shape != rows.shape:
        raise InputError(
            f"`height_cm` must hold a height per person, got {given.size} for {len(rows)} people."
        )
    mean, deviation = _HEIGHT[rows].T
    scores: NDArray[np.float64] = (given - mean) / deviation
    return scores


def _strata(age: ArrayLike, sex: ArrayLike) -> NDArray[np.int64]:
    """Return (n,) rows of the fitted tables: sex, then decade."""
    years, sexes = np.asarray(age, dtype=np.float64), np.asarray(sex)
    if years.ndim != 1 or years.shape != sexes.shape:
        raise InputError(
            f"`age` and `sex` must be (n,) of one length, got shapes {years.shape} and {sexes.shape}."
        )
    female, male = sexes == SEXES[0], sexes == SEXES[1]
    _check(
        unknown=int((~(female | male)).sum()), outside=int((~((years >= YOUNGEST) & (years <= OLDEST))).sum())
    )
    decade = np.clip(years // 10 - 2, 0, _DECADES - 1).astype(np.int64)
    rows: NDArray[np.int64] = decade + _DECADES * male
    return rows


def _check(*, unknown: int, outside: int) -> None:
    """Raise with both counts if a sex or an age is not one that the tables know."""
    problems = []
    if unknown:
        problems.append(
            f"`sex` must be Female or Male; {unknown} people have another value. Recode them first."
        )
    if outside:
        problems.append(
            f"`age` must be {YOUNGEST} to {OLDEST} years; {outside} people have another age. The tables are "
            "of adults."
        )
    if problems:
        raise InputError(problems)


def _on_grid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round halves up to the nearest 0.1 ([methods 5]: floor(x/g + 1/2))."""
    return np.floor(values * 10 + 0.5) / 10
