"""Policies of all kinds on one table: each is measured alike, or said to have no release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.kinds.compare_kinds import Compared, compare_kinds
from anon_pipeline.policy import policy_from
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.synthetic import SyntheticPolicy
from tests.kinds.conftest import DECLARED, class_policy, people, policies


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people(1_000).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def compared(folder: Path, named: dict[str, Any], **options: Any) -> dict[str, Compared]:
    where = Locations(folder, folder, folder / "releases", folder / "vault")
    return {one.name: one for one in compare_kinds(named, dict.fromkeys(named, where), **options)}


def test_all_kinds_are_measured_alike(folder: Path) -> None:
    found = compared(folder, policies())
    assert [one.kind for one in found.values()] == ["classes", "synthetic", "epsilon_dp", "bucketized"]
    for one in found.values():
        assert one.problem == "" and one.found is not None
        assert list(one.found.learned.gains) == ["ward"]
        assert 0 <= one.found.risk < 0.6 and 0 <= one.found.loss < 0.5
        json.dumps(one.to_json())
    assert {path.name for path in folder.iterdir()} == {"people.csv"}


def test_what_is_exact_is_copied_and_loses_nothing(folder: Path) -> None:
    exact = class_policy(
        2, anonymize={"k": 2, "recoder": "fixed", "levels": {"age": 0, "sex": 0}, "suppression_limit": 0.9}
    )
    found = compared(folder, {"coarse": class_policy(50), "exact": exact})
    coarse, fine = found["coarse"].found, found["exact"].found
    assert coarse is not None and fine is not None
    assert fine.loss < coarse.loss and fine.learned.membership > coarse.learned.membership


def test_one_without_a_release_says_why(folder: Path) -> None:
    found = compared(folder, {"many": class_policy(900), "five": class_policy()})
    assert found["many"].found is None and "k" in found["many"].problem
    assert found["five"].found is not None
    assert found["many"].to_json()["found"] is None


def test_a_limit_that_only_half_of_the_records_breaks_leaves_no_policy_out(folder: Path) -> None:
    """The expected error of half of the records is twice as large; only that of all is published."""
    named = policies()
    limit = named["dp"].model_copy(
        update={"gate": named["dp"].gate.model_copy(update={"expected_error": 0.03})}
    )
    found = compared(folder, {"dp": limit, "classes": class_policy()})["dp"]
    assert found.found is not None, found.problem
    tighter = limit.model_copy(update={"gate": limit.gate.model_copy(update={"expected_error": 0.001})})
    assert compared(folder, {"dp": tighter, "classes": class_policy()})["dp"].found is None


def test_secrets_are_those_asked_for(folder: Path) -> None:
    found = compared(folder, policies(), secrets=["sex"])["classes"].found
    assert found is not None and list(found.learned.gains) == ["sex"]
    with pytest.raises(InputError, match="--secret: must be a column that all policies release, got pay"):
        compared(folder, policies(), secrets=["pay"])


def test_policies_without_a_column_in_common(folder: Path) -> None:
    other = SyntheticPolicy.model_validate(
        {
            "name": "x",
            "source": {"path": "people.csv"},
            "columns": {"years": DECLARED["age"], "sex": DECLARED["sex"]},
            "method": "copula",
        }
    )
    with pytest.raises(InputError, match="at least two columns of the same names, got 1"):
        compared(folder, {"one": class_policy(), "other": other})


def test_a_small_table_or_another_one_is_refused(folder: Path) -> None:
    people(10).to_csv(folder / "people.csv", index=False)
    with pytest.raises(InputError, match="at least 20 records to be compared, got 10"):
        compared(folder, policies())
    people(100).drop(columns="ward").to_csv(folder / "people.csv", index=False)
    with pytest.raises(InputError, match="not there: ward"):
        compared(folder, policies())


def test_what_is_cleaned_is_compared_with_what_it_was_cleaned_to(folder: Path) -> None:
    """Spelling is no loss: the values that a policy maps are those that its release is compared with."""
    table = people(1_000)
    table["sex"] = table["sex"].map({"f": " F ", "m": "Male"})
    table.to_csv(folder / "people.csv", index=False)
    cleaned = class_policy(clean={"strip": True, "case": "lower", "values": {"male": "m"}})
    found = compared(folder, {"one": cleaned, "two": cleaned})["one"].found
    assert found is not None and found.lost.columns < 0.05 and found.loss < 0.1


@pytest.mark.parametrize("kind", ["names", "numbers", "days"])
def test_a_release_that_says_nothing_teaches_nothing(folder: Path, kind: str) -> None:
    """What stands for a hidden cell must not come from the half that is attacked."""
    random, many = np.random.default_rng(2), 1_200
    values = {
        "names": [f"name {one}" for one in range(many)],
        "numbers": random.random(many).round(9),
        "days": pd.date_range("1990-01-01", periods=many).strftime("%Y-%m-%d"),
    }[kind]
    table = pd.DataFrame({"x": values, "flag": random.choice(["f", "m"], many)})
    table.to_csv(folder / "people.csv", index=False)
    hidden = policy_from(
        {
            "name": "hidden",
            "source": {"path": "people.csv"},
            "columns": {
                "x": {"role": "generalize", "hierarchy": {"suppress": True}},
                "flag": {"role": "generalize", "hierarchy": {"suppress": True}},
            },
            "anonymize": {"k": 5, "recoder": "fixed", "levels": {"x": 1, "flag": 1}},
        }
    )
    found = compared(folder, {"one": hidden, "two": hidden}, secrets=["flag"])["one"].found
    assert found is not None
    assert abs(found.learned.copied) < 0.02 and abs(found.learned.membership - 0.5) < 0.05
    assert found.risk < 0.1


def test_people_are_halved_whole(folder: Path) -> None:
    """Four equal records of each person must not be in both halves, where they would be no secret."""
    random = np.random.default_rng(3)
    once = pd.DataFrame({"id": range(500), "x": random.random(500).round(6), "z": random.integers(0, 9, 500)})
    pd.concat([once.assign(y="a")] * 4).to_csv(folder / "people.csv", index=False)
    (folder / "key").write_bytes(bytes(range(32)))
    exact = policy_from(
        {
            "name": "exact",
            "source": {"path": "people.csv"},
            "columns": {
                "id": {"role": "identifier", "action": "drop"},
                "x": {"role": "insensitive"},
                "z": {"role": "insensitive"},
                "y": {"role": "generalize", "hierarchy": {"suppress": True}},
            },
            "person": "id",
            "deidentify": {"key_file": "key"},
            "anonymize": {"k": 2, "recoder": "fixed", "levels": {"y": 1}},
        }
    )
    found = compared(folder, {"one": exact, "two": exact}, secrets=["z"])["one"]
    assert found.found is not None, found.problem
    assert found.found.learned.membership > 0.9 and found.found.risk > 0.8
