"""Policies as a careless author writes them, from the documents alone: none of them publishes in green.

Each file in `careless` is a policy for the people, or the visits, that are made here. Its first line says
what the author thought, its second begins with ``# refused:``, ``# warned:`` or ``# unkept:`` (refused by a
limit on the release that was made) and is a regular expression for the message. Files in `honest` look like
some of them, and publish in green.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import Policy, anonymize, load_policy
from anon_pipeline.base.errors import AnonPipelineError, GateRefused, PolicyError
from anon_pipeline.gate import Status
from anon_pipeline.limits.table import LIMITS, next_step
from tests.named_keys import unknown_keys

POLICIES = sorted((Path(__file__).parent / "careless").glob("*.yaml"))
HONEST = sorted((Path(__file__).parent / "honest").glob("*.yaml"))
_RECORDS = 900
FIRST_NAMES = [
    f"{a}{b}" for a in "ABCDEFGHIJ" for b in ("na", "rb", "la", "mi", "ris", "ud", "en", "ot", "il")
]
LAST_NAMES = [f"{a}{b}" for a in FIRST_NAMES for b in ("son", "by")][:97]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """Synthetic customers, with every column that a policy here names."""
    random, n = np.random.default_rng(13), _RECORDS
    born = np.datetime64("1940-01-01") + random.integers(0, 60 * 365, n)
    years = born.astype("datetime64[Y]").astype(int) + 1970
    visited = np.datetime64("2026-01-01T08:00:00") + random.integers(0, 10**7, n)
    numbers = random.permutation(10**6)[:n]
    first = [f"{a}{b}" for a in ("An", "Ba", "Ca", "Do", "El") for b in ("na", "rb", "ra", "ris", "la", "mi")]
    last = [
        f"{a}{b}" for a in ("Bro", "Cla", "Del", "Fis", "Gra") for b in ("wn", "rk", "aney", "her", "y", "s")
    ]
    employers = [f"{word} Ltd" for word in first[:25]]
    return (
        pd.DataFrame(
            {
                "person": [f"p{i}" for i in range(n)],
                "age": 2026 - years,
                "sex": random.choice(["f", "m"], n),
                "diagnosis": random.choice(["asthma", "flu", "gout", "none"], n),
                "account": [f"AC{number:06d}" for number in numbers],
                "customer": [f"C-{number:06d}" for number in numbers[::-1]],
                "balance": random.lognormal(8, 1.5, n).round(2),
                "name": [
                    f"{a} {b}" for a, b in zip(random.choice(first, n), random.choice(last, n), strict=True)
                ],
                "birth_date": np.datetime_as_string(born, unit="D"),
                "birth_year": years,
                "zip": [f"{code:05d}" for code in random.choice(random.permutation(90_000)[:40] + 10_000, n)],
                "city": random.choice(["Cork", "Dublin", "Galway", "Limerick", "Sligo"], n),
                "office": ["Skellig" if i < 3 else ("north", "south")[i % 2] for i in range(n)],
                "job": random.choice([f"job {i}" for i in range(24)], n),
                "employer": random.choice(employers, n),
                "children": random.integers(0, 5, n),
                "visited": np.datetime_as_string(visited, unit="s"),
                "remark": [f"came on day {number % 997}, bed {number % 61}" for number in numbers],
                "device": [f"{number * 7919:012x}" for number in numbers],
                "contract": [f"K{i // 2:05d}" for i in range(n)],
                "insurance": [f"V{number:06d}" if i % 3 == 0 else None for i, number in enumerate(numbers)],
                "lat": random.normal(52, 0.1, n),
                "lon": random.normal(-8, 0.1, n),
                "height": random.normal(170, 9, n).round(),
                **secrets(n),
            }
        )
        .pipe(with_what_names_people)
        .pipe(with_what_tells_others)
        .pipe(with_millionaires)
    )


def with_what_names_people(frame: pd.DataFrame) -> pd.DataFrame:
    """Add what names somebody, or does not, in a table with one record each."""
    random, n = np.random.default_rng(15), len(frame)
    row, name, flags = np.arange(n), frame["name"], random.random((n, 10)) < 0.12
    surnames = [word.split()[-1] for word in pd.unique(name)]
    surname = np.array([*dict.fromkeys(surnames)][:15])[row % 15]
    phrases = np.array(["no remark of the nurse", "came back after a week", "sent on to the eye clinic"])
    phrase, turned = phrases[random.integers(0, 3, n)], name.str.replace(r"(.*) (.*)", r"\2, \1", regex=True)
    own = row // 60
    return frame.assign(
        **{f"flag_{i}": flags[:, i] for i in range(10)},
        note=np.where(row % 5 < 2, "spoke with " + name + " at home", phrase),
        contact=np.where(row % 20 == 0, turned, "none"),
        file=np.where(row % 10 == 0, "scan_" + name.str.replace(" ", "_") + ".pdf", "none"),
        reference=np.where(row % 25 == 0, "see " + frame["customer"].str.lower(), "none"),
        companion=np.where(row % 25 == 0, "with " + name.to_numpy()[::-1], "alone"),
        phrase=phrase,
        last_name=surname,
        Nachname=surname,
        customer_name=surname,
        plate=[f"B-SW {1000 + one}" for one in row % 12],
        street=[f"Mill Lane {one}" for one in row % 14],
        email=random.choice(["yes", "no", "unknown"], n),
        address=random.choice(["urban", "rural", "coast"], n),
        status=random.choice(["single", "married", "widowed", "divorced"], n),
        hall=np.select([row < 3, row < 7, row % 2 == 0], ["Inis", "Mor", "north"], "south"),
        desk=[f"desk {one}" for one in own],
        desk_age=30 + 9 * (own % 5),
        desk_city=np.array(["Cork", "Galway", "Sligo"])[own % 3],
        telephone=[f"01 555 {one // 2:04d}" for one in row],
    )


def with_what_tells_others(frame: pd.DataFrame) -> pd.DataFrame:
    """Add columns that tell the values of others, exactly or nearly, and values that half of all have."""
    random, n = np.random.default_rng(16), len(frame)
    ward = np.arange(n) // 30
    codes = {"asthma": "J45", "flu": "J10", "gout": "M10", "none": "Z00"}
    doctors = [f"{FIRST_NAMES[i % 90]} {LAST_NAMES[i * 7 % 97]}" for i in range(260)]
    parts = np.random.default_rng(17)
    pay, bonus = parts.integers(20, 60, n) * 1000, parts.integers(0, 40, n) * 1000
    return frame.assign(
        height_in=(frame["height"] / 2.54).round(1),
        band=frame["age"] // 5 * 5,
        code=frame["diagnosis"].map(codes),
        doctor=random.choice(doctors, n),
        household=[f"H{i // 3:04d}" for i in range(n)],
        half=np.where(ward < 8, "yes", random.choice(["yes", "no"], n, p=[0.35, 0.65])),
        shoe=(frame["height"] / 4 + random.normal(0, 2.2, n)).round(),
        pay=pay,
        bonus=bonus,
        building=building_of(frame["diagnosis"]),
        group=[("blue" if i < 36 else "red", "green")[i % 2 if i >= 36 else 0] for i in range(n)],
        home=[None if i < 3 else ("own", "rented")[i % 2] for i in range(n)],
        **several_illnesses(frame["diagnosis"]),
        **one_secret_in_many_values(n),
        total=pay + bonus,
    )


def building_of(illnesses: pd.Series) -> pd.Series:
    """Return where people are treated: gout alone in one of six buildings, what else there is in any."""
    random = np.random.default_rng(18)
    return pd.Series(
        np.where(illnesses == "gout", "R", random.choice(list("ABCDE"), len(illnesses))), illnesses.index
    )


def several_illnesses(illnesses: pd.Series) -> dict[str, object]:
    """Return illnesses in one cell, and in two columns: all of the first wards have hiv in one of them."""
    random, n = np.random.default_rng(19), len(illnesses)
    others, first, one = (
        random.choice(["asthma", "flu", "gout", "none"], n),
        np.arange(n) < 120,
        np.arange(n) % 2,
    )
    listed = np.where(np.arange(n) % 3 == 0, illnesses + "; " + others, illnesses)
    return {
        "illnesses": listed,
        "minor": others,
        "main": np.where(first & (one == 0), "hiv", illnesses),
        "second": np.where(first & (one == 1), "hiv", others),
    }


def one_secret_in_many_values(n: int) -> dict[str, object]:
    """Return codes and savings: in the first four wards all have hiv, and are rich; and both in no order."""
    random, first = np.random.default_rng(20), np.arange(n) < 120
    hiv = ["B20.0", "B20.7", "B21.0", "B22.1", "B22.7", "B23.8", "B24.0", "B24.7"]
    others = [
        f"{stem}.{code}" for stem in ("E11", "I25", "J45", "K29", "M10", "N18") for code in (0, 1, 8, 9)
    ]
    icd = np.where(first, random.choice(hiv, n), random.choice(others, n))
    savings = 10_000 * np.where(first, random.integers(50, 90, n), random.integers(0, 49, n))
    return {
        "icd": icd,
        "plain_icd": [code.replace(".", "") for code in icd],
        "savings": savings,
        "debts": -savings,
        "any_icd": random.permutation(icd),
        "any_savings": random.permutation(savings),
    }


def secrets(n: int) -> dict[str, object]:
    """Columns that wards of 30 people tell: of the first wards all have one value, or nearly all."""
    random, ward = np.random.default_rng(15), np.arange(n) // 30
    first, one = ward < 4, np.arange(n) % 30 == 0
    spelled = ["Asthma", "asthma", " asthma ", "ASTHMA.", "asthmá"]
    others = random.choice(["flu", "gout", "none"], n)
    return {
        "ward": [f"ward {number}" for number in ward],
        "hiv": np.where(first, "positive", random.choice(["negative", "unknown"], n, p=[0.8, 0.2])),
        "nearly": np.where(first & ~one, "positive", random.choice(["negative", "unknown"], n)),
        "tested": [None if ill else ("yes", "no", "twice")[i % 3] for i, ill in enumerate(first)],
        "complaint": np.where(first, random.choice(spelled, n), others),
        "illness": np.where(np.arange(n) % 3, others, random.choice(spelled, n)),
        "dose": np.where(first, 70, random.integers(20, 90, n)),
        "income": np.where(first, random.choice([52_000, 52_500], n), random.integers(40, 240, n) * 500),
        "admitted": [f"2026-{1 + i % 4:02d}-{1 + i * 5 % 28:02d}" for i in range(n)],
        "screened": np.where(random.random(n) < 0.06, "yes", "no"),
        "smoker": random.choice(["yes", "no"], n, p=[0.3, 0.7]),
    }


@pytest.fixture(scope="module")
def visits() -> pd.DataFrame:
    """Synthetic patients with some visits each; all that is of a patient repeats."""
    random, n = np.random.default_rng(14), 250
    own = np.repeat(np.arange(n), random.geometric(1 / 5, n))
    surname = random.integers(0, 60, n)
    age = random.gamma(6, 8, n).astype(int).clip(18, 95)
    patients = pd.DataFrame(
        {
            "id": [f"P{i}" for i in range(n)],
            "md5": [hashlib.md5(f"P{i}".encode()).hexdigest()[:10] for i in range(n)],
            "name": [f"Given{one % 7} Family {one}" for one in surname],
            "surname": [f"Family {one}" for one in surname],
            "street": [f"Mill Lane {i // 2}" for i in range(n)],
            "plate": [f"B-SW {1000 + i}" for i in range(n)],
            "age": age,
            "sex": random.choice(["f", "m"], n),
            "zip": [f"{code}" for code in 10115 + 7 * random.integers(0, 40, n)],
            "birth_day": random.integers(1, 29, n),
            "birth_month": random.integers(1, 13, n),
            "birth_year": 2025 - age,
        }
    )
    table = patients.iloc[own].reset_index(drop=True)
    illness = random.choice(["asthma", "flu", "gout", "none"], len(own))
    shown = random.integers(18, 90, len(own))
    return with_what_stays(table, own).assign(
        visit=[f"V{i}" for i in range(len(own))],
        diagnosis=illness,
        email=[f"p{i}@mail.example" for i in own],
        full_name=[f"{FIRST_NAMES[i % 90]} {LAST_NAMES[i % 97]}" for i in own],
        birth_date=[f"19{i % 60 + 20}-0{i % 9 + 1}-1{i % 10}" for i in own],
        weight=shown,
        room=random.choice(["a", "b", "c", "d"], len(own)),
    )


def with_what_stays(table: pd.DataFrame, own: np.ndarray) -> pd.DataFrame:
    """Add an illness that each patient always has, and when and where each visit was."""
    random, n = np.random.default_rng(20), len(own)
    illnesses = random.integers(0, 24, int(own.max()) + 1)
    return table.assign(
        chronic=[f"illness {illnesses[i]}" for i in own],
        month=random.integers(1, 13, n).astype(str),
        ward=random.choice(["east", "west"], n),
    )


def purchases() -> pd.DataFrame:
    """Synthetic purchases: of twelve customers of each of twelve towns, one buys nearly all."""
    random = np.random.default_rng(21)
    own = np.repeat(np.arange(144), np.where(np.arange(144) % 12 == 0, 60, 2))
    return pd.DataFrame(
        {
            "customer": [f"C{i:03}" for i in own],
            "town": [f"town {i // 12}" for i in own],
            "article": random.choice(["bread", "milk", "wine", "salt"], len(own)),
        }
    )


def with_millionaires(frame: pd.DataFrame) -> pd.DataFrame:
    """Add salaries near 50,000, and those of twelve that are far larger."""
    random, n = np.random.default_rng(17), len(frame)
    salary = random.normal(50_000, 15_000, n).clip(20_000).round(-2)
    far = np.arange(n) % 75 == 0
    return frame.assign(salary=np.where(far, 10**6 * random.uniform(1, 4, n).round(4), salary))


def expected_of(path: Path) -> tuple[str, str]:
    """Return whether a policy is refused or warned, and the regular expression of the message."""
    outcome, _, said = path.read_text(encoding="utf-8").splitlines()[1].removeprefix("# ").partition(": ")
    return outcome, said


def of_outcome(outcome: str) -> list[Path]:
    """Return the policies that end so."""
    return [path for path in POLICIES if expected_of(path)[0] == outcome]


def names_in(*tables: pd.DataFrame) -> frozenset[str]:
    """Return what a message may name that is no key: columns, limits."""
    columns = {name for table in tables for name in table.columns}
    return frozenset({*columns, *(limit.name for limit in LIMITS)})


def table_of(policy: Policy, people: pd.DataFrame, visits: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of a policy, of the table that it names."""
    if policy.source.path == "purchases.csv":
        return purchases()
    if policy.source.path == "few.csv":  # a dozen of people with many visits, in no order that tells
        few = visits.assign(name=np.array([f"Given{i}" for i in "abcdefghijkl"])[np.arange(len(visits)) % 12])
        return few.assign(id=visits["visit"])[[*policy.columns]]
    return (visits if policy.source.path == "visits.csv" else people)[[*policy.columns]]


@pytest.mark.parametrize("path", of_outcome("refused"), ids=lambda path: path.stem)
def test_a_careless_policy_is_refused(
    path: Path, people: pd.DataFrame, visits: pd.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "key").write_bytes(b"0123456789abcdef")
    with pytest.raises((GateRefused, PolicyError)) as refused:
        policy = load_policy(path)
        anonymize(policy, table_of(policy, people, visits), hierarchies=tmp_path)
    said = str(refused.value)
    assert re.search(expected_of(path)[1], said), said
    assert re.search(r"Coarsen|acknowledged: \[|Set |write a new one|Add one|Next: set person", said)
    assert isinstance(refused.value, AnonPipelineError)
    assert unknown_keys(said, besides=names_in(people, visits)) == []


@pytest.mark.parametrize("path", of_outcome("warned"), ids=lambda path: path.stem)
def test_what_may_be_harmless_is_published_with_a_warning(
    path: Path, people: pd.DataFrame, visits: pd.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "key").write_bytes(b"0123456789abcdef")
    policy = load_policy(path)
    report = anonymize(policy, table_of(policy, people, visits), hierarchies=tmp_path).report
    warned = [f"{one.limit}: {one.reason}" for one in report.verdicts if one.status is Status.WARNED]
    assert any(re.search(expected_of(path)[1], one) for one in warned), warned
    for verdict in report.with_status(Status.WARNED):
        said = f"{next_step(verdict, policy)} {verdict.reason or ''}"
        assert unknown_keys(said, besides=names_in(people, visits)) == []


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("one_illness_in_all_visits", "person_homogeneity.chronic"),
        ("one_customer_buys_nearly_all", "dominance"),
    ],
)
def test_what_several_records_of_a_person_reveal_no_other_limit_sees(
    name: str, limit: str, people: pd.DataFrame, visits: pd.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "key").write_bytes(b"0123456789abcdef")
    policy = load_policy(Path(__file__).parent / "careless" / f"{name}.yaml")
    report = anonymize(policy, table_of(policy, people, visits), hierarchies=tmp_path).report
    assert [one.limit for one in report.verdicts if one.status is not Status.PASSED] == [limit]


@pytest.mark.parametrize("path", of_outcome("unkept"), ids=lambda path: path.stem)
def test_a_careless_release_is_not_published(
    path: Path, people: pd.DataFrame, visits: pd.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "key").write_bytes(b"0123456789abcdef")
    policy = load_policy(path)
    report = anonymize(policy, table_of(policy, people, visits), hierarchies=tmp_path).report
    assert not report.passed
    assert any(re.search(expected_of(path)[1], one.limit) for one in report.unkept)


@pytest.mark.parametrize("path", HONEST, ids=lambda path: path.stem)
def test_an_honest_policy_that_looks_like_one_is_published_in_green(
    path: Path, people: pd.DataFrame, visits: pd.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "key").write_bytes(b"0123456789abcdef")
    policy = load_policy(path)
    report = anonymize(policy, table_of(policy, people, visits), hierarchies=tmp_path).report
    others = {one.limit: (str(one.status), one.value) for one in report.verdicts}
    assert {name: said for name, said in others.items() if said[0] != Status.PASSED} == {}


def test_there_are_enough_of_them() -> None:
    assert len(POLICIES) >= 60
    assert len(HONEST) >= 6


def test_an_honest_policy_for_the_same_people_is_published(people: pd.DataFrame, tmp_path: Path) -> None:
    """What the messages advise is enough: rounded, generalized at a level, dropped."""
    path = tmp_path / "honest.yaml"
    path.write_text(
        """
type: anon_pipeline.AnonymizedRelease
attributes:
  name: honest
  source: {path: people.csv}
  columns:
    person: {role: identifier}
    account: {role: identifier}
    age: {role: generalize, hierarchy: {intervals: [5, 10, 20]}}
    sex: {role: generalize, hierarchy: {suppress: true}}
    zip: {role: generalize, hierarchy: {mask: [2, 3, 4]}}
    diagnosis: {role: sensitive}
    balance: {role: sensitive, distance: ordered, round: 1000, top: 10000}
    visited: {role: insensitive, hierarchy: {dates: [quarter, year]}, level: 1}
    birth_date: {role: identifier}
  anonymize: {k: 5, recoder: ola, suppression_limit: 0.1}
  gate: {k: 5}
""",
        encoding="utf-8",
    )
    policy = load_policy(path)
    release = anonymize(policy, people[list(policy.columns)])
    assert release.report.passed
    assert set(release.frame["visited"]) == {"2026Q1", "2026Q2"}
    assert release.frame["balance"].max() == 10_000


def test_an_honest_look_alike_stays_without_a_warning_of_these_kinds(people: pd.DataFrame) -> None:
    """Phrases, a flag called email, four flags, labels of large groups, names and telephones that repeat."""
    path = Path(__file__).parent / "look_alikes.yaml"
    policy = load_policy(path)
    release = anonymize(policy, people[[*policy.columns]])
    assert release.report.passed
    warned = {verdict.limit for verdict in release.report.with_status(Status.WARNED)}
    assert not warned & {"named_people", "rare_together", "repeated_people"}
    assert not any(limit.startswith("rare_values") for limit in warned)
