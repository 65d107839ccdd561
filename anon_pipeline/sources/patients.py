"""The embedded data source: synthetic patients, seeded, for demos and tests.

Height and weight follow published tables, with the fits and gaps stated in `reference`. Everything else (age
structure, sex by age, marital status, diagnoses, blood pressure, charges) has a plausible shape chosen by us
and no source: do not do epidemiology with it. The seed makes the data repeatable; it has nothing to do with
the privacy of a release.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.sources.people import (
    MAX_PEOPLE,
    RACES,
    addresses,
    draw,
    emails,
    first_and_last,
    phones,
    ssns,
    text,
)
from anon_pipeline.sources.reference import SEXES, heights, weights

__all__ = ["DIAGNOSES", "MARITAL_STATUSES", "REFERENCE_DATE", "heights", "patients", "weights"]

REFERENCE_DATE: Final = np.datetime64("2025-12-31", "s")
"""The day on which the patients are 18 to 95: age = 2025 - year of birth."""

# Five-year bands from 20; the first is 18-19, the last 90-95. Weights in millions of people.
_AGE_FROM: Final = np.array([18, *range(20, 95, 5), 96])
_AGE_WEIGHT: Final = np.array(
    [8.6, 21.6, 23.0, 22.7, 21.8, 20.3, 20.2, 20.6, 21.8, 20.6, 17.5, 14.2, 9.7, 6.3, 4.0, 2.1]
)
_FEMALE: Final = np.array([49, 49, 49, 49.5, 50, 50, 50.5, 51, 51.5, 52, 53, 54, 55, 58, 62, 68]) / 100

MARITAL_STATUSES: Final = ("Never married", "Married", "Separated", "Divorced", "Widowed")
_MARITAL_FROM: Final = np.array([25, 35, 45, 55, 65, 75, 85])
# Age bands from 18 to 85 and over; women, then men. Percent, in the order of the statuses.
_WOMEN: Final = (
    *((91, 8, 0.5, 0.4, 0.1), (50, 44, 2, 3.8, 0.2), (24, 61, 3, 11, 1), (16, 61, 3, 17.5, 2.5)),
    *((12, 60, 2, 19, 7), (7, 56, 1.5, 18, 17.5), (4.5, 40, 1, 12.5, 42), (4, 17, 0.5, 6.5, 72)),
)
_MEN: Final = (
    *((95, 4.5, 0.2, 0.25, 0.05), (59, 37, 1.4, 2.5, 0.1), (30, 59, 2, 8.6, 0.4), (20, 62, 2.3, 14.7, 1)),
    *((15, 64, 2, 16.5, 2.5), (9, 70, 1.5, 14, 5.5), (5, 70, 1, 9.5, 14.5), (4, 54, 0.7, 5.3, 36)),
)
_MARITAL: Final = np.array([*_WOMEN, *_MEN])


class _Diagnosis(NamedTuple):
    """Weights at 18-34, 35-49, 50-64, 65 and over; of women, of men, at a BMI from 30; median USD."""

    chapter: str
    name: str
    by_age: tuple[float, float, float, float]
    female: float
    male: float
    obese: float
    charge: int


_DIAGNOSES: Final = (
    _Diagnosis("A00-B99 Infectious", "Influenza-like viral infection", (7, 5, 4, 3), 1, 1, 1, 900),
    _Diagnosis("A00-B99 Infectious", "Sepsis", (0.4, 0.8, 2, 5), 1, 1.1, 1.2, 21_000),
    _Diagnosis("C00-D49 Neoplasms", "Breast cancer", (0.2, 1.5, 3, 3.5), 1, 0.01, 1.1, 18_000),
    _Diagnosis("C00-D49 Neoplasms", "Prostate cancer", (0, 0.2, 2.5, 5), 0, 1, 1, 14_000),
    _Diagnosis("C00-D49 Neoplasms", "Colorectal cancer", (0.1, 0.6, 1.6, 2.6), 1, 1.2, 1.1, 22_000),
    _Diagnosis("C00-D49 Neoplasms", "Lung cancer", (0.02, 0.3, 1.6, 3), 1, 1.2, 0.9, 24_000),
    _Diagnosis("E00-E89 Endocrine", "Type 2 diabetes", (1, 4, 8, 9), 1, 1.1, 2.6, 4_200),
    _Diagnosis("E00-E89 Endocrine", "Hypothyroidism", (1, 2, 3, 3.5), 1, 0.25, 1.1, 1_100),
    _Diagnosis("E00-E89 Endocrine", "Hyperlipidemia", (0.8, 4, 8, 8), 1, 1.1, 1.4, 1_000),
    _Diagnosis("F01-F99 Mental", "Major depression", (8, 7, 5, 2.5), 1, 0.6, 1.2, 3_800),
    _Diagnosis("F01-F99 Mental", "Anxiety disorder", (9, 6, 4, 2), 1, 0.6, 1, 1_900),
    _Diagnosis("F01-F99 Mental", "Alcohol use disorder", (3, 3.5, 2.5, 1), 0.5, 1, 0.8, 6_500),
    _Diagnosis("G00-G99 Nervous", "Migraine", (5, 5, 2.5, 1), 1, 0.4, 1, 1_500),
    _Diagnosis("G00-G99 Nervous", "Alzheimer disease", (0, 0, 0.3, 5), 1, 0.8, 0.8, 12_500),
    _Diagnosis("I00-I99 Circulatory", "Essential hypertension", (1.5, 7, 14, 16), 1, 1.1, 1.7, 1_600),
    _Diagnosis("I00-I99 Circulatory", "Ischemic heart disease", (0.1, 1.2, 5, 9), 0.6, 1, 1.3, 26_000),
    _Diagnosis("I00-I99 Circulatory", "Heart failure", (0.1, 0.6, 2, 7), 0.9, 1, 1.4, 19_000),
    _Diagnosis("I00-I99 Circulatory", "Stroke", (0.1, 0.6, 1.8, 4.5), 1, 1, 1.1, 23_000),
    _Diagnosis("J00-J99 Respiratory", "Asthma", (5, 4, 3, 2), 1, 0.7, 1.3, 2_100),
    _Diagnosis("J00-J99 Respiratory", "Chronic obstructive lung disease", (0.1, 1, 4, 6), 1, 1, 1, 9_500),
    _Diagnosis("J00-J99 Respiratory", "Pneumonia", (1.5, 2, 2.5, 5), 1, 1, 1, 11_500),
    _Diagnosis("K00-K95 Digestive", "Appendicitis", (3, 1.5, 0.8, 0.4), 0.8, 1, 1, 17_500),
    _Diagnosis("K00-K95 Digestive", "Reflux disease", (3, 4, 5, 5), 1, 0.9, 1.4, 1_800),
    _Diagnosis("K00-K95 Digestive", "Gallstones", (1.5, 2.5, 2.5, 2.5), 1, 0.5, 1.6, 15_500),
    _Diagnosis("M00-M99 Musculoskeletal", "Low back pain", (6, 8, 7, 5), 1, 1, 1.2, 2_300),
    _Diagnosis("M00-M99 Musculoskeletal", "Knee osteoarthritis", (0.2, 1.5, 6, 9), 1, 0.7, 2, 16_000),
    _Diagnosis("N00-N99 Genitourinary", "Urinary tract infection", (5, 3, 3, 5), 1, 0.2, 1, 1_300),
    _Diagnosis("N00-N99 Genitourinary", "Chronic kidney disease", (0.2, 0.8, 2.5, 6.5), 1, 1, 1.3, 10_500),
    _Diagnosis("N00-N99 Genitourinary", "Prostatic hyperplasia", (0, 0.4, 4, 9), 0, 1, 1, 3_600),
    _Diagnosis("O00-O9A Pregnancy", "Delivery", (16, 3, 0, 0), 1, 0, 0.9, 13_500),
    _Diagnosis("O00-O9A Pregnancy", "Pre-eclampsia", (1.2, 0.4, 0, 0), 1, 0, 2, 18_500),
    _Diagnosis("S00-T88 Injury", "Forearm fracture", (4, 2, 2, 2), 0.8, 1, 0.9, 5_200),
    _Diagnosis("S00-T88 Injury", "Hip fracture", (0.1, 0.2, 0.6, 4), 1.6, 1, 0.6, 32_000),
    _Diagnosis("S00-T88 Injury", "Concussion", (4, 1.5, 1, 1), 0.7, 1, 1, 3_400),
)

DIAGNOSES: Final[dict[str, list[str]]] = {
    chapter: [row.name for row in _DIAGNOSES if row.chapter == chapter]
    for chapter in dict.fromkeys(row.chapter for row in _DIAGNOSES)
}
"""Chapter (codes and name like ICD-10's) to its diagnoses: the two lower levels of a taxonomy tree."""

_HYPERTENSION: Final = [row.name for row in _DIAGNOSES].index("Essential hypertension")
_MISSING: Final = {"marital_status": 0.02, "race": 0.01, "weight_kg": 0.005}


def patients(records: int = 20_000, *, seed: int = 0) -> pd.DataFrame:
    """Generate synthetic patients; the same seed gives the same table.

    Args:
        records: how many, 1 to 10,000,000.
        seed: 0 or more.
    Returns:
        A row per patient, in random order. Text: name, ssn (distinct), email, phone, sex, zip (5 digits),
        race, marital_status, diagnosis. Numbers: height_cm and weight_kg (0.1 grid), systolic and diastolic
        (mmHg, whole), charges (USD, whole). birth_date: 18 to 95 years before `REFERENCE_DATE`.
        Missing: about 2 % of marital_status, 1 % of race, 0.5 % of weight_kg, nothing else.
    Raises:
        InputError: a number of records or a seed outside its range.
    Source:
        Height and weight: see `reference`. All else is made up.
    """
    _check(records, seed)
    rng = np.random.default_rng(seed)
    age, female = _ages(records, rng)
    body = _bodies(age, female, rng)
    frame = pd.DataFrame({**_identities(age, female, rng), **body, **_medicine(age, female, body, rng)})
    weight = np.where(rng.random(records) < _MISSING["weight_kg"], np.nan, body["weight_kg"])
    return frame.assign(weight_kg=weight)


def _check(records: int, seed: int) -> None:
    """Raise with every argument that is out of range."""
    problems = []
    if not 1 <= records <= MAX_PEOPLE:
        problems.append(
            f"`records` must be 1 to {MAX_PEOPLE:,}, got {records}. Ask for at least one patient."
        )
    if seed < 0:
        problems.append(f"`seed` must be 0 or more, got {seed}. Take any whole number from 0.")
    if problems:
        raise InputError(problems)


def _ages(records: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Draw (n,) ages in years and (n,) whether female."""
    band = draw(_AGE_WEIGHT[None, :], np.zeros(records, dtype=np.int64), rng)
    age = rng.integers(_AGE_FROM[band], _AGE_FROM[band + 1])
    return age, rng.random(records) < _FEMALE[band]


def _identities(
    age: NDArray[np.int64], female: NDArray[np.bool_], rng: np.random.Generator
) -> dict[str, Any]:
    """Draw who the patients are, in the order of the columns."""
    first, last = first_and_last(female, rng)
    region, place, race = addresses(len(age), rng)
    marital = draw(_MARITAL, np.searchsorted(_MARITAL_FROM, age, side="right") + 8 * ~female, rng)
    return {
        "name": first + " " + last,
        "ssn": ssns(len(age), rng),
        "email": emails(first, last, rng),
        "phone": phones(region, rng),
        "birth_date": _birth_dates(age, rng),
        "sex": text(SEXES, np.where(female, 0, 1)),
        "zip": place,
        "race": text(RACES, _lose(race, _MISSING["race"], rng)),
        "marital_status": text(MARITAL_STATUSES, _lose(marital, _MISSING["marital_status"], rng)),
    }


def _birth_dates(age: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.datetime64]:
    """Draw (n,) days of birth, uniform over the year that gives the age on the reference date."""
    year = REFERENCE_DATE.astype("datetime64[Y]") - age
    start, end = year.astype("datetime64[D]"), (year + 1).astype("datetime64[D]")
    days: NDArray[np.datetime64] = (start + rng.integers(0, (end - start).astype(np.int64))).astype(
        "datetime64[s]"
    )
    return days


def _lose(codes: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the codes with about that share of them -1, missing."""
    return np.where(rng.random(len(codes)) < share, -1, codes)


def _bodies(age: NDArray[np.int64], female: NDArray[np.bool_], rng: np.random.Generator) -> dict[str, Any]:
    """Draw heights (cm) and weights (kg) that belong together."""
    sex = np.where(female, SEXES[0], SEXES[1])
    tall = heights(age, sex, rng=rng)
    return {"height_cm": tall, "weight_kg": weights(age, sex, rng=rng, height_cm=tall)}


def _medicine(
    age: NDArray[np.int64], female: NDArray[np.bool_], body: dict[str, Any], rng: np.random.Generator
) -> dict[str, Any]:
    """Draw blood pressure (mmHg), diagnosis and charges (USD)."""
    bmi = body["weight_kg"] / (body["height_cm"] / 100) ** 2
    diagnosis = _diagnose(age, female, bmi, rng)
    upper = np.where(female, 108 + 0.45 * (age - 20), 115 + 0.28 * (age - 20)) + 0.5 * (bmi - 28)
    upper = upper + 9 * (diagnosis == _HYPERTENSION)
    systolic = np.clip(np.rint(upper + rng.normal(0, 11, len(age))), 80, 230)
    resting = 50 + 0.17 * systolic + 0.15 * (np.minimum(age, 55) - 20) - 0.25 * np.maximum(age - 55, 0)
    diastolic = np.rint(resting + 0.15 * (bmi - 28) + rng.normal(0, 7, len(age)))
    median = np.array([row.charge for row in _DIAGNOSES], dtype=np.float64)[diagnosis]
    charges = np.rint(median * np.exp(0.008 * (age - 50) + rng.normal(0, 0.5, len(age))))
    return {
        "systolic": systolic.astype(np.int64),
        "diastolic": np.clip(diastolic, 40, systolic - 15).astype(np.int64),
        "diagnosis": text([row.name for row in _DIAGNOSES], diagnosis),
        "charges": charges.astype(np.int64),
    }


def _diagnose(
    age: NDArray[np.int64], female: NDArray[np.bool_], bmi: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw (n,) positions in `_DIAGNOSES`, by sex, age band and obesity."""
    chances = np.array(
        [
            [
                row.by_age[band] * (row.female if woman else row.male) * (row.obese if obese else 1)
                for row in _DIAGNOSES
            ]
            for woman in (False, True)
            for band in range(4)
            for obese in (False, True)
        ]
    )
    band = np.searchsorted([35, 50, 65], age, side="right")
    return draw(chances, 8 * female + 2 * band + (bmi >= 30), rng)
