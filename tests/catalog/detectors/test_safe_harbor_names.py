"""What names of columns say of the kinds that Safe Harbor lists."""

from __future__ import annotations

import pytest

from anon_pipeline.catalog.detectors.safe_harbor_names import held_by_name, per_year, says_age


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("lastName", "identifiers"),
        ("fax_number", "identifiers"),
        ("Medical Record No", "identifiers"),
        ("health_plan_id", "identifiers"),
        ("subscriber_id", "identifiers"),
        ("license", "identifiers"),
        ("VIN", "identifiers"),
        ("device_serial", "identifiers"),
        ("website", "identifiers"),
        ("ip_address", "identifiers"),
        ("fingerprint", "identifiers"),
        ("photo", "identifiers"),
        ("zip3", "zips"),
        ("PLZ", "zips"),
        ("ageGroup", "ages"),
        ("Alter", "ages"),
        ("dob", "birth years"),
        ("birth_month", "birth years"),
        ("discharge_date", "days"),
        ("county", "places"),
        ("Wohnort", "places"),
    ],
)
def test_a_name_says_what_a_column_holds(name: str, holds: str) -> None:
    found = held_by_name(name)
    assert found is not None and found[0] == holds


@pytest.mark.parametrize(
    "name", ["stage", "visits_per_month", "device_type", "sex", "diagnosis", "health_plan"]
)
def test_other_names_say_nothing(name: str) -> None:
    assert held_by_name(name) is None


def test_units_say_age() -> None:
    assert [says_age(unit) for unit in ("years", "age", "cm", "", None)] == [True, True, False, False, False]
    assert (per_year("age_months"), per_year("age_in_days"), per_year("age")) == (12, 365.25, 1)
