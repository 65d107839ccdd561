"""A table that keeps what software can check of Safe Harbor, and each careless change that breaks it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from anon_pipeline.evidence.unsafe_columns import unsafe_columns
from anon_pipeline.policy import Policy, policy_from
from tests.conftest import merged

ATTRIBUTES: dict[str, Any] = {
    "name": "harbor",
    "source": {"path": "patients.csv"},
    "columns": {
        "name": {"role": "identifier", "action": "drop"},
        "zip": {"role": "generalize", "hierarchy": {"mask": [2, 5]}},
        "age": {"role": "generalize", "hierarchy": {"intervals": [10], "top": 90}},
        "admission_date": {"role": "generalize", "hierarchy": {"dates": ["year", "decade"]}},
        "illness": {"role": "sensitive"},
        "note": {"role": "insensitive"},
    },
    "anonymize": {"k": 2},
    "gate": {"safe_harbor": True},
}
KEPT: dict[str, list[Any]] = {
    "zip": ["021**", "000**", "94***", "*"],
    "age": ["[20, 30)", "[80, 90)", "≥ 90", "*"],
    "admission_date": ["2019", "2020", "2010s", "*"],
    "illness": ["flu", "gout", "none", None],
    "note": ["a", "b", "a", "b"],
}


def policy_of(changes: dict[str, Any]) -> Policy:
    return policy_from(merged(ATTRIBUTES, changes))


def found(changes: dict[str, Any] | None = None, **cells: list[Any]) -> list[str]:
    return unsafe_columns(pd.DataFrame({**KEPT, **cells}), policy_of(changes or {}))


def column(name: str, role: str = "insensitive", **more: Any) -> dict[str, Any]:
    return {"columns": {name: {"role": role, **more}}}


def test_a_careful_table_keeps_it() -> None:
    assert found() == []


NUMBER = {"resolution": 1}
AS_OF = {"gate": {"safe_harbor_terms": {"as_of": 2026}}}
FOUR = ["a", "b", "c", "d"]
CARELESS: dict[str, tuple[str, dict[str, Any], dict[str, list[Any]]]] = {
    "full ZIP": ("zip", {}, {"zip": ["02139", "94103", "*", "*"]}),
    "ZIP as number": ("zip", {}, {"zip": [2139, 94103, 2139, 94103]}),
    "four digits": ("zip", {}, {"zip": ["0213*", "021**", "*", "*"]}),
    "few people": ("zip", {}, {"zip": ["036**", "021**", "*", "*"]}),
    "few people, zero lost": ("zip", {}, {"zip": [36, 21, 21, 21]}),
    "few people by the policy's list": (
        "zip",
        {"gate": {"safe_harbor_terms": {"small_zips": ["021"]}}},
        {},
    ),
    "ZIP named by the policy": (
        "note",
        {"gate": {"safe_harbor_terms": {"zips": ["note"]}}},
        {"note": ["02139", "02139", "94103", "94103"]},
    ),
    "nine digits elsewhere": ("note", {}, {"note": ["02139-1234", "x", "y", "z"]}),
    "two oldest groups": ("age", {}, {"age": ["[80, 90)", "[90, 100)", "≥ 100", "*"]}),
    "group across 90": ("age", {}, {"age": ["[75, 95)", "[20, 30)", "*", "*"]}),
    "range to 93": ("age", {}, {"age": ["[80, 93]", "[20, 30]", "*", "*"]}),
    "exact age": ("age", {}, {"age": ["91", "30", "*", "*"]}),
    "exactly 90": ("age", {}, {"age": ["90", "30", "*", "*"]}),
    "age without top": ("age", column("age", hierarchy=None), {"age": [90, 30, 40, 50]}),
    "age by months": ("age_months", column("age_months"), {"age_months": [1200, 3, 4, 5]}),
    "age named by the policy": (
        "note",
        {"gate": {"safe_harbor_terms": {"ages": ["note"]}}},
        {"note": [95, 30, 40, 50]},
    ),
    "noisy age": (
        "age",
        column("age", "perturb", hierarchy=None, **NUMBER) | {"perturb": {"epsilon": 1}},
        {"age": [1.0] * 4},
    ),
    "noisy years": (
        "since",
        column("since", "perturb", unit="years", **NUMBER) | {"perturb": {"epsilon": 1}},
        {"since": [1.0] * 4},
    ),
    "day": ("admission_date", {}, {"admission_date": ["2019-03-04", "2020", "*", "*"]}),
    "month": ("admission_date", {}, {"admission_date": ["2019-03", "2020", "*", "*"]}),
    "quarter": ("admission_date", {}, {"admission_date": ["2019Q1", "2020", "*", "*"]}),
    "days since": ("admission_date", {}, {"admission_date": ["17987", "2020", "*", "*"]}),
    "number of a month": ("month", column("month"), {"month": [1, 2, 3, 12]}),
    "day in a text": ("note", {}, {"note": ["seen on 2020-03-04", "a", "b", "c"]}),
    "days in eight digits": ("note", {}, {"note": [20200304, 20200305, 20210101, 20211231]}),
    "datetimes": ("note", {}, {"note": list(pd.to_datetime(["2020-01-01"] * 4))}),
    "date named by the policy": (
        "note",
        {"gate": {"safe_harbor_terms": {"dates": ["note"]}}},
        {"note": ["3", "4", "5", "6"]},
    ),
    "birth date": ("dob", column("dob"), {"dob": ["1980-01-02"] * 4}),
    "birth year without a year to count in": ("birth_year", column("birth_year"), {"birth_year": [1980] * 4}),
    "birth year that tells over 89": (
        "birth_year",
        column("birth_year") | AS_OF,
        {"birth_year": [1936, 1980, 1990, 2000]},
    ),
    "city": ("city", column("city"), {"city": ["Boston", "Boston", "Ohio", "Ohio"]}),
    "county": ("county", column("county", "sensitive"), {"county": FOUR}),
    "street": ("street", column("street"), {"street": FOUR}),
    "last name": ("last_name", column("last_name", "sensitive"), {"last_name": FOUR}),
    "generalized name": (
        "last_name",
        column("last_name", "generalize", hierarchy={"suppress": True}),
        {"last_name": FOUR},
    ),
    "medical record": ("mrn", column("mrn"), {"mrn": [1, 2, 3, 4]}),
    "serial number": ("serial_number", column("serial_number"), {"serial_number": FOUR}),
    "photo": ("photo", column("photo"), {"photo": FOUR}),
    "noisy account": (
        "account",
        column("account", "perturb", **NUMBER) | {"perturb": {"epsilon": 1}},
        {"account": [1.0] * 4},
    ),
    "e-mail in a text": ("note", {}, {"note": ["ask ann.lee@mail.example.org", "a", "b", "c"]}),
    "e-mail that the policy allows": (
        "note",
        column("note", allow={"email": "ours"}),
        {"note": ["ann.lee@mail.example.org", "a", "b", "c"]},
    ),
    "IP address": ("note", {}, {"note": ["203.0.113.7", "a", "b", "c"]}),
    "web address": ("note", {}, {"note": ["https://example.org/ann", "a", "b", "c"]}),
    "hash": (
        "name",
        {"columns": {"name": {"action": "hash"}}, "deidentify": {"key_env": "K"}},
        {"name": ["0" * 64] * 4},
    ),
}


@pytest.mark.parametrize("case", CARELESS)
def test_a_careless_change_breaks_it(case: str) -> None:
    name, changes, cells = CARELESS[case]
    lines = found(changes, **cells)
    assert [line.partition(":")[0] for line in lines] == [name]
    assert any(word in lines[0] for word in ("Set ", "Write ", "Release "))
    shown = {str(cell) for cell in cells.get(name, ()) if len(str(cell)) > 3 and not str(cell).isdigit()}
    assert not any(cell in lines[0] for cell in shown)


KEEPS: dict[str, tuple[dict[str, Any], dict[str, list[Any]]]] = {
    "a newer list of areas": (
        {"gate": {"safe_harbor_terms": {"small_zips": ["203"]}}},
        {"zip": ["036**", "021**", "*", "*"]},
    ),
    "ages moved to 90": (column("age", hierarchy=None, top=90), {"age": [90, 30, 40, 50]}),
    "noisy ages within bounds": (
        column("age", "perturb", hierarchy=None, output_bounds=[0, 90], **NUMBER)
        | {"perturb": {"epsilon": 1}},
        {"age": [90.0, 30.0, 40.0, 50.0]},
    ),
    "states": (column("city"), {"city": ["Ohio", "NY", "Texas", "Texas"]}),
    "birth years": (column("birth_year", bottom=1936) | AS_OF, {"birth_year": [1936, 1937, 1980, 1990]}),
    "a hidden name": (
        column("last_name", "generalize", hierarchy={"suppress": True}),
        {"last_name": ["*"] * 4},
    ),
    "a mask": ({"columns": {"name": {"action": "mask"}}}, {"name": ["***"] * 4}),
}


@pytest.mark.parametrize("case", KEEPS)
def test_what_it_asks_for_keeps_it(case: str) -> None:
    changes, cells = KEEPS[case]
    assert found(changes, **cells) == []
