"""Policies that cannot be divided are refused, and nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.division.undividable import refuse_undividable
from tests.conftest import SMALL, merged, policy_from
from tests.division.test_divide import QUIET, divided, people, project


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"source": {"path": "people.csv", "format": "excel"}},
            "source.format: must be one of csv, parquet, jsonl, got excel, to be divided",
        ),
        (
            {"source": {"path": None, "generate": "patients", "format": None}},
            "iceberg, delta, spark, got generate, to be divided",
        ),
        ({"anonymize": {"recoder": "local"}}, "anonymize.recoder: must choose classes for the whole table"),
        (
            {"record_key": "person", "one_record_per_person": None, "deidentify": {"key_env": "KEY"}},
            "record_key: such a table cannot be divided",
        ),
        (
            {
                "person": "person",
                "rows_per_person": 2,
                "one_record_per_person": None,
                "deidentify": {"key_env": "KEY"},
            },
            "Make one release of it and give the run more memory (docs/scale.md), or keep one record of each",
        ),
        (
            {"one_record_per_person": None},
            "one_record_per_person: make sure that each person has one record, then set it to true to divide",
        ),
        (
            {"source": {"path": "{partition}.parquet"}, "schedule": {"partitions": "listed", "keys": ["a"]}},
            "source: must name no partition, to be divided",
        ),
    ],
)
def test_what_cannot_be_divided_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path, policy = project(tmp_path, people(300), **changes)
    (tmp_path / "people.csv").write_text("")
    with pytest.raises(PolicyError) as raised:
        divided(path, policy)
    assert message in str(raised.value)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["people.csv", "people.parquet", "policy.yaml"]


@pytest.mark.parametrize("recoder", RECODERS)
def test_recoders_that_count_can_be_divided(recoder: str) -> None:
    own: dict[str, Any] = {"recoder": recoder, "k": 3}
    if recoder in ("univariate", "tclose_first"):  # need other columns
        return
    own |= {"levels": {"age": 1, "city": 1}} if recoder == "fixed" else {}
    own |= {"classes": "own"} if recoder == "given" else {}
    policy = policy_from(merged(merged(SMALL, QUIET), {"anonymize": own}))
    counting = {"ola", "optimal", "incognito", "samarati", "datafly", "mingen", "fixed", "mondrian"}
    if recoder in counting:
        refuse_undividable(policy)
    else:
        with pytest.raises(PolicyError, match=r"by counts \(ola, .*, mondrian\), got " + recoder):
            refuse_undividable(policy)
