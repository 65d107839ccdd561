"""Two generated voter lists with the shapes of the paper's, which were samples of public lists.

Belongs here: the tables and what makes them up. Does not belong here: policies (`datasets`). Columns and
numbers of records are those of [KE Table III]; ZIP prefixes exist. Everything else is made up by us and has
no source: how many voters a ZIP code has, their ages and races. Heights and weights follow
`anon_pipeline.sources.reference`. Nobody is meant.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.sources.patients import heights, weights
from anon_pipeline.sources.people import draw, emails, first_and_last, text

FLORIDA: Final = 134_791
MICHIGAN: Final = 72_825
RACES: Final = ("White", "Hispanic", "Black", "Unknown", "Asian", "Other", "American Indian")

_YEAR: Final = 2017
_AGE_FROM: Final = np.array([18, 25, 35, 45, 55, 65, 75, 85, 101])
_AGE_SHARE: Final = np.array([9, 15, 15, 17, 18, 14, 8, 4.0])
_FEMALE: Final = np.array([51, 51, 52, 52, 53, 53, 56, 63]) / 100
_RACE_SHARE: Final = np.array([63, 16, 13.5, 2.7, 2.0, 2.5, 0.3])
_RACE_SPREAD: Final = 12.0  # of the regions' races around the state's: larger is more alike
_FLORIDA_REGIONS: Final = (
    *("320", "321", "322", "323", "324", "325", "326", "327", "328", "329", "330", "331", "332", "333"),
    *("334", "335", "336", "337", "338", "339", "341", "342", "344", "346", "347", "349"),
)
_MICHIGAN_REGIONS: Final = tuple(str(prefix) for prefix in range(480, 500))
_FLORIDA_ZIPS, _MICHIGAN_ZIPS = 38, 45  # in each region
_STREETS: Final = ("Oak St", "Maple Ave", "Lake Dr", "Main St", "Park Rd", "Pine Ct", "Cedar Ln", "Elm St")


def florida(records: int = FLORIDA, *, seed: int = 0) -> pd.DataFrame:
    """Generate a list with the columns of Florida's.

    Args:
        records: how many.
        seed: of everything.
    Returns:
        (records, 10): name, surname, address, email, phone; zip (text), gender, year_of_birth, race; height
        (cm, 0.1).
    Source:
        [KE Table III].
    """
    rng = np.random.default_rng([seed, 12])
    region, zips = _homes(records, _FLORIDA_REGIONS, _FLORIDA_ZIPS, rng)
    age, gender, names = _people(records, rng)
    races = rng.dirichlet(_RACE_SPREAD * _RACE_SHARE / _RACE_SHARE.sum(), len(_FLORIDA_REGIONS))
    frame = {
        **names,
        "email": emails(names["name"], names["surname"], rng),
        "phone": "(850) 555-01" + text([f"{i:02d}" for i in range(100)], rng.integers(0, 100, records)),
        "zip": zips,
        "gender": gender,
        "year_of_birth": _YEAR - age,
        "race": text(RACES, draw(races, region, rng)),
        "height": heights(age, gender, rng=rng),
    }
    return pd.DataFrame(frame)


def michigan(records: int = MICHIGAN, *, seed: int = 0) -> pd.DataFrame:
    """Generate a list with the columns of Michigan's.

    Args:
        records: how many.
        seed: of everything.
    Returns:
        (records, 7): name, surname, address; zip (text), gender, year_of_birth; weight (kg, 0.1).
    Source:
        [KE Table III].
    """
    rng = np.random.default_rng([seed, 26])
    _, zips = _homes(records, _MICHIGAN_REGIONS, _MICHIGAN_ZIPS, rng)
    age, gender, names = _people(records, rng)
    body = {"weight": weights(age, gender, rng=rng)}
    return pd.DataFrame({**names, "zip": zips, "gender": gender, "year_of_birth": _YEAR - age, **body})


def _homes(
    records: int, regions: tuple[str, ...], zips: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Any]:
    """Draw the region of each voter, and the ZIP code: a region's first ones have the most voters."""
    people = rng.gamma(2.0, size=(1, len(regions)))
    region = draw(people, np.zeros(records, dtype=np.int64), rng)
    sizes = np.tile(1 / (np.arange(zips) + 6.0), (len(regions), 1))
    codes = [f"{prefix}{number + 1:02d}" for prefix in regions for number in range(zips)]
    return region, text(codes, region * zips + draw(sizes, region, rng))


def _people(records: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], Any, dict[str, Any]]:
    """Draw ages, genders that fit them, and direct identifiers."""
    band = draw(_AGE_SHARE[None, :], np.zeros(records, dtype=np.int64), rng)
    age = rng.integers(_AGE_FROM[band], _AGE_FROM[band + 1])
    female = rng.random(records) < _FEMALE[band]
    first, last = first_and_last(female, rng)
    houses = [f"{number} {street}" for number in range(1, 400) for street in _STREETS]
    address = text(houses, rng.integers(0, len(houses), records))
    gender = np.where(female, "Female", "Male")
    return age, gender, {"name": first, "surname": last, "address": address}
