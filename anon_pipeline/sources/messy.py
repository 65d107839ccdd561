"""A messy table to practice on: customers of a bank, as such files are sent around; seeded, nobody is meant.

Semicolons, the encoding cp1252, days written dd/mm/yyyy, amounts as CHF 64'650, blanks around values, mixed
cases, several texts for what is missing, 200 job titles, a note in free text.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.sources.people import emails, first_and_last, text

__all__ = ["customers"]

_Random = np.random.Generator
_MISSING: Final = ("", "-", "n/a")
_RANKS: Final = ("Junior", "Assistant", "Deputy", "", "Senior", "Lead", "Head", "Chief", "Trainee", "Former")
_JOBS: Final = (
    *("accountant", "analyst", "architect", "baker", "carpenter", "clerk", "consultant", "cook", "designer"),
    *(
        "driver",
        "electrician",
        "engineer",
        "gardener",
        "lawyer",
        "librarian",
        "nurse",
        "painter",
        "physician",
        "teacher",
        "technician",
    ),
)
_TOWNS: Final = (
    *(("8001", "Zürich"), ("8400", "Winterthur"), ("3011", "Bern"), ("3600", "Thun"), ("1201", "Genève")),
    *(
        ("1003", "Lausanne"),
        ("4051", "Basel"),
        ("6003", "Luzern"),
        ("9000", "St. Gallen"),
        ("6900", "Lugano"),
    ),
)
_TOWN_SHARES: Final = (22, 7, 14, 4, 15, 11, 12, 6, 5, 4)
_STATUSES: Final = ("single", "married", "divorced", "widowed")
_WHO: Final = ("customer", "spouse", "customer's son", "employer", "neighbor", "branch")
_WHAT: Final = (
    *("called about the new card", "asked for another limit", "moved house", "lost a job, payments are late"),
    *("travels a lot, call in the evening", "asked twice about a mortgage", "wants letters elsewhere"),
)


def customers(records: int = 10_000, seed: int = 20_261_123) -> bytes:
    """Return a CSV of so many customers, always the same for a seed."""
    rng = np.random.default_rng(seed)
    return _table(records, rng).to_csv(index=False, sep=";").encode("cp1252")


def _table(n: int, rng: _Random) -> pd.DataFrame:
    female = rng.random(n) < 0.5
    first, last = first_and_last(female, rng)
    age = np.clip(rng.gamma(6, 8, n) + 16, 18, 97)
    town = rng.choice(len(_TOWNS), n, p=np.array(_TOWN_SHARES) / 100)
    columns: dict[str, Any] = {
        "Customer No": rng.permutation(np.arange(400_000, 400_000 + n)),
        "First Name": first,
        "Last Name": last,
        "E-Mail": emails(first, last, rng),
        "Birth Date": _gaps(_birthdays(age, rng), rng, 0.002),
        "Sex": _vary_case(np.where(female, "female", "male"), rng),
        "Postcode": text([code for code, _ in _TOWNS], town),
        "Town": _vary_case(np.array([name for _, name in _TOWNS])[town], rng),
        "Marital Status": _vary_case(np.array(_STATUSES)[_status(age, rng)], rng),
        "Job Title": _gaps(_vary_case(_titles(n, rng), rng), rng, 0.01),
        "Income": _gaps(_francs(rng.lognormal(11.1, 0.45, n) * (0.7 + age / 150)), rng, 0.004),
        "Balance": _gaps(_francs(rng.lognormal(9.2, 1.3, n)), rng, 0.004),
        "Minutes Online": (rng.gamma(4, 30, n) * (1.4 - age / 120)).round(1),
        "Note": _notes(n, rng),
    }
    return pd.DataFrame(columns)


def _birthdays(age: NDArray[np.float64], rng: _Random) -> NDArray[np.object_]:
    days = pd.Timestamp("2025-12-31") - pd.to_timedelta(age * 365.25 + rng.random(len(age)), unit="D")
    return np.asarray(pd.Series(days).dt.strftime("%d/%m/%Y"), dtype=object)


def _titles(n: int, rng: _Random) -> NDArray[np.str_]:
    titles = [f"{rank} {job}".strip() for rank in _RANKS for job in _JOBS]
    weights = 1 / (np.arange(len(titles)) % len(_JOBS) + 4.0)
    return rng.choice(np.array(titles), n, p=weights / weights.sum())


def _status(age: NDArray[np.float64], rng: _Random) -> NDArray[np.int64]:
    """Draw a marital status that fits the age."""
    steps = np.array([np.full(len(age), 0.15), (age - 20) / 60, (age - 30) / 250, (age - 45) / 200])
    weights = np.clip(steps, 0.01, None) / np.clip(steps, 0.01, None).sum(axis=0)
    places: NDArray[np.int64] = (
        (rng.random(len(age)) > weights.cumsum(axis=0)).sum(axis=0).clip(max=len(_STATUSES) - 1)
    )
    return places


def _notes(n: int, rng: _Random) -> NDArray[np.object_]:
    """Write a note in free text about three customers in ten."""
    days = rng.integers(1, 29, n)
    parts = zip(rng.choice(_WHO, n), rng.choice(_WHAT, n), days, rng.random(n), strict=True)
    return np.array(
        [f"{who} {what}, see letter of day {day}" if u < 0.3 else "" for who, what, day, u in parts]
    )


def _francs(amounts: NDArray[np.float64]) -> NDArray[np.object_]:
    return np.array([f"CHF {amount:,.0f}".replace(",", "'") for amount in amounts.round(-1)], dtype=object)


def _vary_case(values: NDArray[np.str_], rng: _Random) -> NDArray[np.object_]:
    """Write one value in ten in capitals, one in twenty with blanks around it."""
    shouted = np.where(rng.random(len(values)) < 0.1, np.char.upper(values), values)
    padded = np.char.add(np.char.add(" ", shouted), "  ")
    return np.where(rng.random(len(values)) < 0.05, padded, shouted).astype(object)


def _gaps(values: NDArray[np.object_], rng: _Random, share: float) -> NDArray[np.object_]:
    """Replace a share of the values by texts for what is missing."""
    return np.where(rng.random(len(values)) < share, rng.choice(_MISSING, len(values)), values).astype(object)
