"""The policy of an ε-DP release: one method, all columns declared, nothing taken from the data."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.walks import named_paths

COLUMNS = {
    "age": {"bounds": [0, 99], "otherwise": 0},
    "city": {"values": ["Cork", "Dublin"], "otherwise": "Cork"},
}


def attributes(**changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": "people",
        "source": {"path": "people.csv"},
        "one_record_per_person": True,
        "epsilon": 1,
        "columns": COLUMNS,
        "histograms": {},
    }
    found = {**said, **changes}
    return {key: one for key, one in found.items() if one is not None}


def test_one_table_of_all_columns_unless_it_is_said_otherwise() -> None:
    policy = EpsilonDpPolicy.model_validate(attributes())
    assert policy.tables == (("age", "city"),) and policy.cells(policy.tables[0]) == 200
    assert policy.method == "histograms" and policy.numeric == ("age",)
    tables = [["city"], ["age"]]
    assert EpsilonDpPolicy.model_validate(attributes(histograms={"tables": tables})).tables == (
        ("city",),
        ("age",),
    )


@pytest.mark.parametrize("method", [{"histograms": {}}, {"histograms": None, "column_means": {"k": 3}}])
def test_lists_of_people_are_refused(method: dict[str, Any]) -> None:
    names = [f"person {place}" for place in range(30)]
    columns = COLUMNS | {"full_name": {"values": names, "otherwise": names[0]}}
    with pytest.raises(
        ValidationError, match=r"columns\.full_name: must be left out, since it is named like"
    ):
        EpsilonDpPolicy.model_validate(attributes(columns=columns, **method))
    numbers = COLUMNS | {"account": {"bounds": [0, 99], "otherwise": 0}}
    EpsilonDpPolicy.model_validate(attributes(columns=numbers, **method))


def test_spelled_out_defaults_do_not_change_the_digest() -> None:
    policy = EpsilonDpPolicy.model_validate(attributes())
    again = EpsilonDpPolicy.model_validate(attributes(gate={"expected_error": 0.25}, publish={"wait": 60}))
    assert policy.digest == again.digest
    assert policy.digest != EpsilonDpPolicy.model_validate(attributes(epsilon=2)).digest


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"histograms": None}, "exactly one of histograms, group_means, column_means"),
        ({"group_means": {"k": 2}}, "exactly one of histograms, group_means, column_means"),
        ({"histograms": {"tables": [["age"]]}}, "must have every column, has not city"),
        ({"histograms": {"tables": [["age", "city", "pay"]]}}, "must name columns of columns, got also pay"),
        ({"histograms": {"tables": [["age", "age"], ["city"]]}}, "a column once in each table"),
        ({"columns": {"age": {"bounds": [0, 2**30], "otherwise": 0}}}, "at most 10,000,000 cells"),
        ({"histograms": None, "group_means": {"k": 1}}, "greater than or equal to 2"),
        (
            {
                "histograms": None,
                "column_means": {"k": 3},
                "columns": {"age": {"bounds": [0, 9], "bins": 3, "otherwise": 0}},
            },
            r"columns\.age\.bins: must be left out",
        ),
        ({"one_record_per_person": False}, "one_record_per_person"),
        ({"one_record_per_person": None}, "one_record_per_person"),
        (
            {"columns": {"age": {"bounds": [0, 9], "weight": 2, "otherwise": 0}}},
            "age.weight: must be left out",
        ),
        ({"epsilon": 0}, "greater than or equal to 0.000001"),
        ({"epsilon": 1e-300}, "greater than or equal to 0.000001"),
        ({"source": {"path": "x.jsonl", "format": "jsonl"}}, "each cell is read by itself"),
        ({"source": {"path": "x.xlsx", "format": "excel"}}, "each cell is read by itself"),
        ({"source": {"sql": {"url_env": "DB", "table": "t"}}}, "each cell is read by itself"),
        ({"source": {"asset": "people"}}, "each cell is read by itself"),
        ({"histograms": {"tables": [["age", "city"]] * 1_001}}, "at most 1,000 tables"),
        ({"histograms": None, "group_means": {"k": 10**19}}, "less than or equal to 1000000000"),
        ({"epsilon": 21}, "less than or equal to 20"),
        ({"epsilon": True}, "must be a number"),
        (
            {"columns": {"age": {"bounds": "auto", "otherwise": 0}}},
            "known without the data: bounds from the data would tell",
        ),
        ({"name": "a b"}, "letters, digits and underscores"),
        ({"budget": {"epsilon": 1, "per": "record"}}, "budget.per: must be dataset"),
        ({"schedule": {"partitions": "daily"}}, "schedule.partitions: must be left out"),
        ({"source": {"path": "{partition}.csv"}}, "source: must not hold"),
        ({"gate": {"k": 5}}, "Extra inputs"),
        ({"budget": {"epsilon": 0.5}}, "budget.epsilon: must be at least epsilon, 1: no release"),
        (
            {
                "publish": {"format": "csv"},
                "columns": {"city": {"values": ["=1+1", "x"], "otherwise": "x"}},
            },
            "must not begin with =",
        ),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        EpsilonDpPolicy.model_validate(attributes(**changes))


def test_keys_of_other_releases_are_named_with_what_they_would_break() -> None:
    left, problems = EpsilonDpPolicy.fit_attributes(
        attributes(
            anonymize={"k": 5},
            gate={"t_closeness": {"city": 0.2}, "expected_errors": 0.1},
            columns={"age": {**COLUMNS["age"], "hierarchy": {"width": 10}}, "city": 3},
        )
    )
    assert "anonymize" not in left and left["gate"] == {"expected_errors": 0.1}  # misspelled: said to be
    assert left["columns"] == {"age": COLUMNS["age"], "city": 3}
    said = "must be left out of an ε-DP release"
    assert [line.partition(":")[0] for line in problems] == [
        "anonymize",
        "gate.t_closeness",
        "columns.age.hierarchy",
    ]
    assert all(said in line and "without noise" in line for line in problems)
    assert EpsilonDpPolicy.fit_attributes(attributes()) == (attributes(), [])


def test_its_paths_are_known() -> None:
    policy = EpsilonDpPolicy.model_validate(
        attributes(publish={"to": "out", "sign": {"key_file": "keys/sign.pem"}})
    )
    assert {("source.path", "sources"), ("publish.to", "releases"), ("publish.sign.key_file", "sources")} <= {
        (one.where, one.folder) for one in named_paths(policy)
    }
