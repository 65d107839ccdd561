"""The policy of the partitions is that of the whole table, but for the source, the levels and the keys."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_pipeline.base.errors import InputError, PolicyError
from anon_pipeline.division.divided_policy import divided_document, write_policy
from anon_pipeline.policy.load import parse_policy
from tests.conftest import SMALL, merged

CHANGES: dict[str, Any] = {
    "source": {"path": "people.parquet", "format": "parquet", "limits": {"rows": 10}},
    "gate": {"t_closeness": {"income": 0.3, "illness": 0.4}},
    "schedule": {"cron": "0 3 * * 1"},
    "publish": {"format": "csv"},
    "budget": {"epsilon": 5},
}
SECTIONS: dict[str, Any] = {
    "name": "small_divided",
    "dataset": "small",
    "source": {"path": "parts/{partition}.parquet", "format": "parquet", "limits": {"rows": 10}},
    "publish": {"to": "out_divided/ab"},
}
TERMS: dict[str, Any] = {
    "sections": SECTIONS,
    "classes": None,
    "levels": {"age": 1, "city": 0},
    "keys": ["ab.1", "ab.2"],
    "closeness": {key: {"income": 0.25, "illness": 0.5} for key in ("anonymize", "gate")},
}


def document(**changes: Any) -> dict[str, Any]:
    attributes = {
        name: value for name, value in merged(merged(SMALL, CHANGES), changes).items() if name != "x"
    }
    return {"type": "anon_pipeline.AnonymizedRelease", "attributes": attributes, "post_processing": {}}


def test_what_is_other_and_what_is_not() -> None:
    before = document(
        anonymize={"recoder": "ola", "prefer": "least_suppression", "t_closeness": {"income": 0.2}}
    )
    kept = deepcopy(before)
    made = divided_document(before, **TERMS)
    assert before == kept
    attributes = made.pop("attributes")
    assert made == {"type": "anon_pipeline.AnonymizedRelease", "post_processing": {}}
    assert attributes.pop("source") == {
        "path": "parts/{partition}.parquet",
        "format": "parquet",
        "limits": {"rows": 10},
    }
    assert (attributes.pop("name"), attributes.pop("dataset")) == ("small_divided", "small")
    assert attributes.pop("publish") == {"to": "out_divided/ab", "format": "csv"}
    anonymize = attributes.pop("anonymize")
    assert (anonymize["recoder"], anonymize["levels"]) == ("fixed", {"age": 1, "city": 0})
    assert "prefer" not in anonymize
    assert anonymize["t_closeness"] == {"income": 0.2}  # it is less already
    assert attributes.pop("gate")["t_closeness"] == {"income": 0.25, "illness": 0.4}
    assert attributes.pop("budget") == {"epsilon": 5, "per": "record"}
    assert attributes.pop("schedule") == {"partitions": "listed", "keys": ["ab.1", "ab.2"]}
    rest = {name: kept["attributes"][name] for name in attributes}
    assert attributes == rest


def test_a_policy_may_have_no_gate() -> None:
    made = divided_document(document(gate=None, budget=None, publish=None), **TERMS)
    assert "gate" not in made["attributes"] and made["attributes"]["publish"] == SECTIONS["publish"]


@pytest.mark.parametrize("closer", [True, False])
def test_its_file_is_a_policy(tmp_path: Path, closer: bool) -> None:
    made = divided_document(document(budget=None), **TERMS)
    write_policy(tmp_path / "parts.yaml", made, name="whole.yaml", closer=closer)
    text = (tmp_path / "parts.yaml").read_text()
    assert ("smaller t" in text) is closer
    assert yaml.safe_load(text) == made
    assert parse_policy(text).anonymize.levels == {"age": 1, "city": 0}


def test_classes_take_the_place_of_levels(tmp_path: Path) -> None:
    terms = {**TERMS, "classes": "division_class", "levels": {}}
    made = divided_document(document(budget=None), **terms)
    anonymize = made["attributes"]["anonymize"]
    assert (anonymize["recoder"], anonymize["classes"]) == ("given", "division_class")
    assert "levels" not in anonymize
    write_policy(tmp_path / "parts.yaml", made, name="whole.yaml", closer=False)
    assert "whose classes were chosen" in (tmp_path / "parts.yaml").read_text()


def test_a_file_that_cannot_be_written_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"parts\.yaml: must be a file that can be written"):
        write_policy(tmp_path / "nowhere" / "parts.yaml", {}, name="whole.yaml", closer=False)


def test_what_would_be_no_policy_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"anonymize\.levels"):
        divided_document(document(), **{**TERMS, "levels": {"age": 1}})
