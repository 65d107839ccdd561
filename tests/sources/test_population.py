from __future__ import annotations

import hashlib
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.sources.population import read_population


@pytest.fixture
def wanted(small_policy):
    def make(**changes):
        named = {"path": "all.csv", "journalist_risk": 0.1, **changes}
        return small_policy(gate={"attacks": {"population": named}})

    return make


def test_no_population_is_wanted(small_policy, tmp_path):
    assert read_population(small_policy(), folder=tmp_path) is None


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_generalize_columns_are_read_with_the_digest_of_the_bytes(wanted, tmp_path, form):
    people = pd.DataFrame({"name": ["x", "y"], "city": ["Cork", None], "age": ["20", "30"]})
    path = tmp_path / f"all.{form}"
    people.to_csv(path, index=False) if form == "csv" else people.to_parquet(path)
    found = read_population(wanted(path=path.name, format=form), folder=tmp_path)
    assert list(found.frame.columns) == ["age", "city"]
    assert found.frame["age"].tolist() == ["20", "30"]
    assert found.frame["city"].isna().tolist() == [False, True]
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert "Cork" not in repr(found)


def test_options_and_decimal_marks_are_those_of_a_source(wanted, tmp_path):
    (tmp_path / "all.csv").write_text("age;city\n20,5;?\n")
    policy = wanted(options={"sep": ";", "decimal": ",", "missing": ["?"]})
    found = read_population(policy, folder=tmp_path).frame
    assert found["age"].tolist() == ["20.5"]
    assert found["city"].isna().all()


@pytest.mark.parametrize(
    ("text", "changes", "message"),
    [
        (None, {}, r"population.path: must be a readable file: .*relative to the project"),
        ("age\nCANARY\n", {}, "must have the columns with the role generalize, not there: city"),
        ("age,city\n", {}, "must have at least one record, got none"),
        ("age,city\nCANARY\n", {}, "every line must have 2 fields, got 1 line with more or fewer"),
        ("age,city\n1,CANARY\n", {"limits": {"file_bytes": 5}}, "must keep the limit file_bytes"),
        ("age,city\n1,CANARY\n", {"limits": {"cell_bytes": 2}}, "must keep the limit cell_bytes"),
        ("age,city\n1,CANARY\n", {"format": "parquet"}, "must be a readable Parquet file"),
    ],
)
def test_what_cannot_be_used_is_named_without_a_value(wanted, tmp_path: Path, text, changes, message):
    if text is not None:
        (tmp_path / "all.csv").write_text(text)
    with pytest.raises(InputError, match=message) as raised:
        read_population(wanted(**changes), folder=tmp_path)
    assert "CANARY" not in str(raised.value)
    assert str(tmp_path) not in str(raised.value)


def test_it_is_cleaned_as_the_source_is(small_policy, tmp_path):
    (tmp_path / "all.csv").write_text("age,city\n 20 ,zh\n30,Bern\n")
    named = {"path": "all.csv", "journalist_risk": 0.1}
    clean = {"strip": True, "columns": {"city": {"case": "upper", "values": {"ZH": "Zurich"}}}}
    policy = small_policy(gate={"attacks": {"population": named}}, clean=clean)
    found = read_population(policy, folder=tmp_path).frame
    assert found.to_dict("list") == {"age": [20, 30], "city": ["Zurich", "BERN"]}
    (tmp_path / "all.csv").write_text("age,city\nCANARY,zh\n")
    with pytest.raises(InputError, match=r"population, age: must be a number, got 1 record") as caught:
        read_population(policy, folder=tmp_path)
    assert "CANARY" not in str(caught.value)
    assert caught.value.withheld_records() == ("gate.attacks.population, age, without a digit: 1",)
