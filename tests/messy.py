"""Eleven messy tables of different kinds, seeded, each with what its columns are.

Nobody is meant: names come from `sources.people`, numbers are drawn at random. `roles` says which proposals
are right: ``I`` left out, ``Q`` generalized or with noise, ``S`` sensitive; several letters where
several are.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from anon_pipeline.sources.people import FEMALE_NAMES, LAST_NAMES, MALE_NAMES

Random = np.random.Generator


@dataclass(frozen=True)
class Messy:
    """A file, and what its columns are."""

    name: str
    suffix: str
    data: bytes
    roles: Mapping[str, str]

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.name}{self.suffix}"
        path.write_bytes(self.data)
        return path


def _csv(frame: pd.DataFrame, sep: str = ",", encoding: str = "utf-8") -> bytes:
    return frame.to_csv(index=False, sep=sep).encode(encoding)


def _names(n: int, rng: Random) -> tuple[np.ndarray, np.ndarray]:
    return rng.choice([*FEMALE_NAMES, *MALE_NAMES], n), rng.choice(LAST_NAMES, n)


def _dates(n: int, rng: Random, start: str, end: str) -> pd.Series:
    first, last = pd.Timestamp(start), pd.Timestamp(end)
    return pd.Series(first + pd.to_timedelta(rng.integers(0, (last - first).days, n), unit="D"))


def _gaps(values: object, rng: Random, text: str, share: float = 0.01) -> np.ndarray:
    own = np.asarray(values, dtype=object).copy()
    own[rng.random(len(own)) < share] = text
    return own


def _swiss(numbers: np.ndarray) -> list[str]:
    return [f"{number:,.2f}".replace(",", "'") for number in numbers]


def _words(n: int, rng: Random, pool: str) -> list[str]:
    words = pool.split()
    return [" ".join(rng.choice(words, rng.integers(5, 14))) for _ in range(n)]


def bank(rng: Random, n: int = 1_500) -> Messy:
    """Semicolons, cp1252, German names of columns, dates 31.12.1980, amounts 1'234.50."""
    from stdnum import iban

    first, last = _names(n, rng)
    places = [("8001", "Zürich"), ("3011", "Bern"), ("1201", "Genève"), ("4051", "Basel"), ("6900", "Lugano")]
    chosen = rng.integers(0, len(places), n)
    accounts = [f"00762{number:012d}" for number in rng.integers(0, 10**12, n)]
    frame = pd.DataFrame(
        {
            "Kunden-Nr": rng.permutation(np.arange(100_000, 100_000 + n)),
            "Vorname": first,
            "Nachname": last,
            "IBAN": [f"CH{iban.calc_check_digits('CH00' + bban)}{bban}" for bban in accounts],
            "Geburtsdatum": _gaps(
                _dates(n, rng, "1935-01-01", "2005-01-01").dt.strftime("%d.%m.%Y"), rng, "-"
            ),
            "Geschlecht": rng.choice(["m", "w", "M", "W "], n, p=[0.4, 0.4, 0.1, 0.1]),
            "PLZ": [places[i][0] for i in chosen],
            "Ort": [places[i][1] for i in chosen],
            "Zivilstand": rng.choice(
                ["ledig", "verheiratet", "geschieden", "verwitwet"], n, p=[0.4, 0.4, 0.15, 0.05]
            ),
            "Saldo": _gaps(_swiss(rng.lognormal(9, 1.2, n)), rng, "-", 0.005),
            "Kreditlimite": _swiss(rng.choice([0, 1000, 2000, 5000, 10000], n).astype(float)),
            "Bemerkung": _gaps(
                _words(n, rng, "Kunde ruft an wegen Karte Konto neu Adresse Zahlung offen"), rng, "", 0.7
            ),
        }
    )
    roles = dict(
        zip(map(str, frame), ["I", "I", "I", "I", "Q", "Q", "Q", "Q", "Q", "S", "S", "I"], strict=True)
    )
    return Messy("bank", ".csv", _csv(frame, ";", "cp1252"), roles)


def hospital(rng: Random, n: int = 1_500) -> Messy:
    """A byte order mark, dates 12/31/1980, times, codes of ICD, notes, ZIP codes with zeros."""
    first, last = _names(n, rng)
    dx = ["I10", "E11.9", "E11.5", "J45.1", "J45.9", "M54.5", "F32.1", "N39.0", "K21.9", "I25.1"]
    admitted = _dates(n, rng, "2023-01-01", "2024-12-31")
    frame = pd.DataFrame(
        {
            "MRN": [f"M{number:08d}" for number in rng.permutation(10**6)[:n]],
            "Patient Name": [f"{b}, {a}" for a, b in zip(first, last, strict=True)],
            "SSN": [
                f"9{rng.integers(10, 99)}-{rng.integers(10, 49)}-{rng.integers(1000, 9999)}" for _ in range(n)
            ],
            "DOB": _dates(n, rng, "1930-01-01", "2015-01-01").dt.strftime("%m/%d/%Y"),
            "Sex": rng.choice(["F", "M"], n),
            "ZIP": [
                f"{number:05d}" for number in rng.choice([2139, 2138, 2140, 94110, 94112, 60601, 60605], n)
            ],
            "Admitted": admitted.dt.strftime("%Y-%m-%d %H:%M:%S"),
            "Length of Stay": rng.poisson(4, n),
            "Diagnosis": rng.choice(dx, n),
            "Height (cm)": _gaps(rng.normal(170, 10, n).round(1), rng, "N/A", 0.005),
            "Systolic": rng.normal(125, 15, n).round(),
            "Attending Physician": rng.choice([f"Dr. {name}" for name in LAST_NAMES[:12]], n),
            "Notes": _words(
                n, rng, "patient reports pain since days no fever took drug called family at home stable"
            ),
        }
    )
    roles = dict(
        zip(map(str, frame), ["I", "I", "I", "Q", "Q", "Q", "Q", "S", "S", "Q", "S", "I", "I"], strict=True)
    )
    return Messy("hospital", ".csv", b"\xef\xbb\xbf" + _csv(frame), roles)


def school(rng: Random, n: int = 900) -> Messy:
    """Tabs, mixed cases, marks with a decimal comma."""
    first, last = _names(n, rng)
    frame = pd.DataFrame(
        {
            "student_id": [f"S-{number}" for number in rng.permutation(9000)[:n]],
            "first_name": first,
            "surname": last,
            "birth_date": _dates(n, rng, "2006-01-01", "2013-12-31").dt.strftime("%Y-%m-%d"),
            "gender": rng.choice(["female", "Female", "male", "Male", "FEMALE"], n),
            "class": rng.choice(["5a", "5b", "6a", "6b", "7a", "7b", "8a", "8b"], n),
            "teacher": rng.choice([f"{name}" for name in LAST_NAMES[:9]], n),
            "mother_tongue": rng.choice(
                ["German", "French", "Turkish", "Albanian", "Other"], n, p=[0.6, 0.2, 0.1, 0.05, 0.05]
            ),
            "math_mark": [f"{mark:.1f}".replace(".", ",") for mark in rng.choice(np.arange(2, 6.5, 0.5), n)],
            "reading_mark": [
                f"{mark:.1f}".replace(".", ",") for mark in rng.choice(np.arange(2, 6.5, 0.5), n)
            ],
            "absences": rng.poisson(3, n),
            "parent_email": [
                f"{a}.{b}{i}@example.org".lower() for i, (a, b) in enumerate(zip(first, last, strict=True))
            ],
            "remarks": _gaps(
                _words(n, rng, "talks much helps others late again good work needs support in class"),
                rng,
                "",
                0.6,
            ),
        }
    )
    roles = dict(
        zip(map(str, frame), ["I", "I", "I", "Q", "Q", "Q", "I", "Q", "S", "S", "S", "I", "I"], strict=True)
    )
    return Messy("school", ".tsv", _csv(frame, "\t"), roles)


def survey(rng: Random, n: int = 1_200) -> Messy:
    """Twenty items on one scale, an open question, an age class."""
    scale = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]
    frame = pd.DataFrame(
        {
            "respondent_id": np.arange(1, n + 1),
            "age_group": rng.choice(["18-24", "25-34", "35-44", "45-54", "55-64", "65+"], n),
            "gender": rng.choice(
                ["woman", "man", "other", "prefer not to say"], n, p=[0.5, 0.45, 0.03, 0.02]
            ),
            "region": rng.choice(["North", "South", "East", "West"], n),
            "education": rng.choice(["primary", "secondary", "bachelor", "master", "doctorate"], n),
        }
        | {f"q{i}": rng.choice(scale, n, p=rng.dirichlet(np.full(5, 4))) for i in range(1, 21)}
        | {
            "comments": _gaps(
                _words(n, rng, "I think the service is good but slow and staff was kind thanks"), rng, "", 0.5
            ),
            "submitted": _dates(n, rng, "2024-03-01", "2024-04-15").dt.strftime("%d/%m/%Y %H:%M"),
        }
    )
    items = {f"q{i}": "S" for i in range(1, 21)}
    others = dict(
        zip(
            [name for name in map(str, frame) if name not in items],
            ["I", "Q", "Q", "Q", "Q", "I", "Q"],
            strict=True,
        )
    )
    return Messy("survey", ".csv", _csv(frame), others | items)


def web_logs(rng: Random, n: int = 2_000) -> Messy:
    """Pipes, addresses of machines and pages, a time with its zone, ``-`` for what is missing."""
    agents = [f"Mozilla/5.0 (X{i}; rv:{60 + i}.0) Gecko/20100101 Firefox/{60 + i}.0" for i in range(25)]
    frame = pd.DataFrame(
        {
            "client_ip": [f"203.0.113.{i}" for i in rng.integers(1, 250, n)],
            "timestamp": (
                pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 86_400 * 30, n), unit="s")
            ).strftime("%d/%b/%Y:%H:%M:%S +0200"),
            "method": rng.choice(["GET", "POST"], n, p=[0.9, 0.1]),
            "url": [f"/user/{i}/page?id={j}" for i, j in rng.integers(0, 3000, (n, 2))],
            "status": rng.choice([200, 301, 404, 500], n, p=[0.85, 0.05, 0.08, 0.02]),
            "bytes": _gaps(rng.lognormal(8, 1, n).astype(int), rng, "-"),
            "user_agent": rng.choice(agents, n),
            "country": rng.choice(["CH", "DE", "FR", "IT", "US"], n, p=[0.5, 0.2, 0.15, 0.1, 0.05]),
            "device": rng.choice(["desktop", "mobile", "tablet"], n),
            "session_id": [f"{value:032x}" for value in rng.integers(0, 2**62, n)],
        }
    )
    roles = dict(zip(map(str, frame), ["I", "IQ", "QS", "I", "QS", "QS", "I", "Q", "Q", "I"], strict=True))
    return Messy("web_logs", ".log", _csv(frame, "|"), roles)


def staff(rng: Random, n: int = 1_000) -> Messy:
    """Dates 12 Jan 2015, salaries $85,000, percents, job titles with common words."""
    first, last = _names(n, rng)
    titles = [
        f"{rank} {job}"
        for rank in ("Junior", "Senior", "Lead")
        for job in ("Engineer", "Analyst", "Designer")
    ]
    frame = pd.DataFrame(
        {
            "Employee No.": rng.permutation(np.arange(5_000, 5_000 + n)),
            "Full Name": [f"{a} {b}" for a, b in zip(first, last, strict=True)],
            "Work Email": [
                f"{a}.{b}{i}@example.com".lower() for i, (a, b) in enumerate(zip(first, last, strict=True))
            ],
            "Phone": [f"+41 44 555 {i:02d} {j:02d}" for i, j in rng.integers(0, 99, (n, 2))],
            "Department": rng.choice(
                ["IT", "Sales", "Finance", "HR", "Legal"], n, p=[0.4, 0.3, 0.15, 0.1, 0.05]
            ),
            "Job Title": rng.choice(titles, n),
            "Hire Date": _dates(n, rng, "2000-01-01", "2024-06-01").dt.strftime("%d %b %Y"),
            "Annual Salary": [f"${number:,.0f}" for number in rng.normal(85_000, 20_000, n).clip(40_000)],
            "Bonus": [f"{number}%" for number in rng.choice([0, 5, 10, 15, 20], n)],
            "Performance Rating": rng.choice([1, 2, 3, 4, 5], n, p=[0.05, 0.1, 0.5, 0.25, 0.1]),
            "Sick Days": _gaps(rng.poisson(4, n), rng, "n/a", 0.005),
            "Gender": rng.choice(["F", "M"], n),
            "Manager": rng.choice([f"{name}" for name in LAST_NAMES[:15]], n),
        }
    )
    roles = dict(
        zip(map(str, frame), ["I", "I", "I", "I", "Q", "Q", "Q", "S", "S", "S", "S", "Q", "I"], strict=True)
    )
    return Messy("staff", ".csv", _csv(frame), roles)


def census(rng: Random, n: int = 2_000) -> Messy:
    """A blank behind each comma, ``?`` for what is missing."""
    frame = pd.DataFrame(
        {
            "age": rng.integers(17, 91, n),
            "workclass": _gaps(
                rng.choice(["Private", "Self-emp", "Federal-gov", "State-gov"], n), rng, "?", 0.05
            ),
            "education": rng.choice(
                ["HS-grad", "Some-college", "Bachelors", "Masters", "11th", "Doctorate"], n
            ),
            "marital-status": rng.choice(["Married", "Never-married", "Divorced", "Widowed"], n),
            "occupation": _gaps(
                rng.choice(
                    ["Sales", "Tech-support", "Craft-repair", "Exec", "Farming", "Transport", "Armed"], n
                ),
                rng,
                "?",
                0.05,
            ),
            "race": rng.choice(["White", "Black", "Asian", "Other"], n, p=[0.8, 0.1, 0.06, 0.04]),
            "sex": rng.choice(["Male", "Female"], n),
            "hours-per-week": rng.normal(40, 10, n).clip(1, 99).astype(int),
            "native-country": rng.choice(
                ["United-States", "Mexico", "Canada", "India", "Cuba"], n, p=[0.9, 0.04, 0.02, 0.02, 0.02]
            ),
            "fnlwgt": rng.integers(12_000, 900_000, n),
            "income": rng.choice(["<=50K", ">50K"], n, p=[0.75, 0.25]),
        }
    )
    text = _csv(frame).decode().replace(",", ", ")
    roles = dict(zip(map(str, frame), ["Q", "Q", "Q", "Q", "Q", "Q", "Q", "Q", "Q", "I", "S"], strict=True))
    return Messy("census", ".data", text.encode(), roles)


def claims(rng: Random, n: int = 1_500) -> Messy:
    """Semicolons, dates 31/12/2023, amounts 1.234,56 €, descriptions."""
    first, last = _names(n, rng)
    amounts = [f"{number:,.2f} €".translate(str.maketrans(",.", ".,")) for number in rng.lognormal(7, 1, n)]
    frame = pd.DataFrame(
        {
            "claim_id": [f"CL{number}" for number in rng.permutation(10**6)[:n]],
            "policy_number": [f"P-{number:06d}" for number in rng.integers(0, 10**5, n)],
            "policyholder": [f"{a} {b}" for a, b in zip(first, last, strict=True)],
            "date_of_claim": _dates(n, rng, "2021-01-01", "2023-12-31").dt.strftime("%d/%m/%Y"),
            "age": rng.integers(18, 95, n),
            "postcode": rng.choice(["10115", "10117", "20095", "20097", "50667", "80331", "80333"], n),
            "vehicle_make": rng.choice(["VW", "Opel", "BMW", "Audi", "Ford", "Fiat", "Tesla", "Seat"], n),
            "license_plate": [f"B-XY {i}" for i in rng.integers(100, 9999, n)],
            "claim_amount": amounts,
            "injury": rng.choice(["none", "minor", "severe"], n, p=[0.7, 0.25, 0.05]),
            "fraud_flag": rng.choice([0, 1], n, p=[0.93, 0.07]),
            "description": _words(
                n, rng, "driver hit car at the crossing rear damage police came nobody hurt rain"
            ),
        }
    )
    roles = dict(
        zip(map(str, frame), ["I", "I", "I", "Q", "Q", "Q", "Q", "I", "S", "S", "S", "I"], strict=True)
    )
    return Messy("claims", ".csv", _csv(frame, ";"), roles)


def wide(rng: Random, n: int = 500) -> Messy:
    """Eighty columns, most of them numbers that no name explains."""
    columns: dict[str, object] = {
        "id": [f"{value:08x}" for value in rng.permutation(10**7)[:n]],
        "age": rng.integers(18, 90, n),
        "sex": rng.choice(["f", "m"], n),
        "zip": [f"{number:05d}" for number in rng.choice([2139, 2138, 94110, 60601], n)],
        "outcome": rng.choice(["well", "ill", "dead"], n, p=[0.6, 0.3, 0.1]),
        "lab_result": rng.normal(5, 1, n).round(2),
    }
    columns |= {f"f{i:02d}": rng.normal(0, 1 + i, n).round(3) for i in range(1, 45)}
    columns |= {f"flag_{i}": rng.choice(["Y", "N"], n) for i in range(1, 16)}
    columns |= {f"count_{i}": rng.poisson(i, n) for i in range(1, 16)}
    roles = dict(zip(list(columns)[:6], ["I", "Q", "Q", "Q", "S", "S"], strict=True))
    frame = pd.DataFrame(columns)
    return Messy("wide", ".csv", _csv(frame), {name: roles.get(name, "IQS") for name in map(str, frame)})


def typed(rng: Random, n: int = 3_000) -> Messy:
    """A Parquet file with types."""
    frame = pd.DataFrame(
        {
            "person_key": rng.permutation(np.arange(10**9, 10**9 + n)),
            "birth_date": pd.to_datetime(_dates(n, rng, "1935-01-01", "2006-01-01")),
            "sex": rng.choice(["f", "m"], n),
            "county": rng.choice([f"County {i}" for i in range(40)], n, p=rng.dirichlet(np.full(40, 3))),
            "occupation": rng.choice(["teacher", "nurse", "clerk", "driver", "cook", "farmer"], n),
            "weight_kg": rng.normal(75, 14, n).round(1),
            "income": rng.lognormal(10.5, 0.6, n).round(),
            "disability": rng.choice([True, False], n, p=[0.1, 0.9]),
        }
    )
    out = io.BytesIO()
    frame.to_parquet(out)
    return Messy(
        "typed",
        ".parquet",
        out.getvalue(),
        dict(zip(map(str, frame), ["I", "Q", "Q", "Q", "Q", "Q", "S", "S"], strict=True)),
    )


def register(rng: Random, n: int = 3_000) -> Messy:
    """Semicolons, mixed cases, blanks, three texts for missing, CHF 64'650; 2,000,000 rows in a benchmark."""
    first, last = _names(n, rng)
    places = [
        f"{name}{ending}" for name in ("Ober", "Unter", "Neu", "Alt") for ending in ("dorf", "wil", "ikon")
    ]
    jobs = [f"{rank} {job}" for rank in ("Junior", "Senior") for job in ("Clerk", "Nurse", "Cook", "Driver")]
    upper = rng.random(n) < 0.1
    income = rng.lognormal(11, 0.5, n).round(-1)
    pool = np.array(
        ["moved", "here", "last", "year", "asked", "for", "papers", "again", "paid", "at", "desk"]
    )
    said = rng.integers(0, len(pool), (n, 7))
    frame = pd.DataFrame(
        {
            "Register No": rng.permutation(np.arange(10**7, 10**7 + n)),
            "Name": [f"{b}, {a}" for a, b in zip(first, last, strict=True)],
            "Born": _gaps(_dates(n, rng, "1930-01-01", "2006-01-01").dt.strftime("%d/%m/%Y"), rng, "n/a"),
            "Sex": rng.choice(["F", "M", "f", " m"], n, p=[0.4, 0.4, 0.1, 0.1]),
            "Municipality": np.where(upper, np.char.upper(found := rng.choice(places, n)), found),
            "Civil Status": _gaps(rng.choice(["single", "married", "divorced", "widowed"], n), rng, "-"),
            "Occupation": _gaps(rng.choice(jobs, n), rng, "?"),
            "Taxable Income": [f"CHF {number:,.0f}".replace(",", "'") for number in income],
            "Remark": [" ".join(words) for words in pool[said].tolist()],
        }
    )
    roles = dict(zip(map(str, frame), ["I", "I", "Q", "Q", "Q", "Q", "Q", "S", "I"], strict=True))
    return Messy("register", ".csv", _csv(frame, ";"), roles)


TABLES: tuple[Callable[[Random], Messy], ...] = (
    *(bank, hospital, school, survey, web_logs, staff, census, claims, wide, typed, register),
)
SEED = 20_261_123


def contacts(rng: Random, n: int = 400) -> Messy:
    """Nothing but who people are, and what they wrote: of this there is no release."""
    first, last = _names(n, rng)
    frame = pd.DataFrame(
        {
            "First Name": first,
            "Last Name": last,
            "E-Mail": [
                f"{a}.{b}{i}@example.org".lower() for i, (a, b) in enumerate(zip(first, last, strict=True))
            ],
            "Phone": [f"+41 44 555 {i:02d} {j:02d}" for i, j in rng.integers(0, 99, (n, 2))],
            "Message": _words(n, rng, "please call me back about the offer of last week thank you very much"),
        }
    )
    return Messy("contacts", ".csv", _csv(frame), dict.fromkeys(map(str, frame), "I"))


def household(rng: Random, n: int = 4) -> Messy:
    """So few people that no choice of k keeps them apart from each other."""
    frame = pd.DataFrame(
        {
            "age": rng.integers(1, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "diagnosis": rng.choice(["flu", "cold", "asthma"], n),
        }
    )
    return Messy("household", ".csv", _csv(frame), dict(zip(map(str, frame), ["Q", "Q", "S"], strict=True)))


def messy(make: Callable[[Random], Messy], seed: int = SEED) -> Messy:
    """Make a table, always the same."""
    return make(np.random.default_rng(seed))


def wrong(roles: Mapping[str, str], proposed: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the columns whose proposed role is none of the right ones: right, proposed."""
    own = {name.strip(): role for name, role in proposed.items()}
    letters = {"identifier": "I", "generalize": "Q", "perturb": "Q", "sensitive": "S", "insensitive": "-"}
    return {name: (right, own[name]) for name, right in roles.items() if letters[own[name]] not in right}
