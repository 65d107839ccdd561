"""Every number of every measure has its words, its unit and its sense; every leaf of a result is shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.catalog.losses import LOSSES
from anon_pipeline.policy import Policy
from anon_pipeline.utility.measures import GROUPS, MEASURES
from anon_pipeline.utility.results import Utility, utility
from tests.utility.released import Small, made


@pytest.fixture
def measured(small_policy: Small, people: pd.DataFrame) -> Utility:
    policy: Policy = small_policy(anonymize={"suppression_limit": 0.2})
    found = made(policy, people.assign(age=people["age"].fillna(50).astype(int))[list(policy.columns)])
    return utility(found.evidence(), policy, found.before)


def leaves(value: Any) -> int:
    """Count the numbers in a result, as JSON types."""
    if isinstance(value, Mapping):
        return sum(map(leaves, value.values()))
    return sum(map(leaves, value)) if isinstance(value, (list, tuple)) else 1


def shown(value: Any, path: list[str]) -> int:
    """Count the numbers at a path, ``*`` standing for every one there."""
    if not path or value is None:
        return 1
    if path[0] == "*":
        several = value.values() if isinstance(value, Mapping) else value
        return sum(shown(below, path[1:]) for below in several)
    return shown(value[path[0]], path[1:])


def test_every_number_of_a_measure_is_shown_once(measured: Utility) -> None:
    for name, value in measured.to_json().items():
        paths = [number.path.split(".") if number.path else [] for number in MEASURES[name].numbers]
        assert value is not None
        assert sum(shown(value, path) for path in paths) == leaves(value), name
        assert len({number.path for number in MEASURES[name].numbers}) == len(paths)


def test_names_are_said_once_and_senses_are_known() -> None:
    assert sum(map(len, GROUPS.values())) == len(MEASURES)
    numbers = [number for measure in MEASURES.values() for number in measure.numbers]
    assert {number.better for number in numbers} == {"", "less", "more"}
    assert all(number.words for number in numbers)
    assert [name for name, one in MEASURES.items() for n in one.numbers if not n.unit] == ["target"]


def test_every_information_loss_is_a_measure_in_its_words() -> None:
    for name, loss in LOSSES.items():
        (number,) = MEASURES[name].numbers
        assert (number.words, number.unit) == (f"{loss.words} ({name})", loss.unit)


def test_a_result_is_a_mapping_whose_entries_are_attributes(measured: Utility) -> None:
    assert list(measured) == list(MEASURES)
    assert measured.precision == measured["precision"] == dict(measured)["precision"]
    assert measured.noise["height"].realized.of_range > 0
    assert not hasattr(measured, "nothing")
    with pytest.raises(KeyError):
        measured["nothing"]
    with pytest.raises(AttributeError):
        measured.measured = {}  # type: ignore[misc]
    document = json.loads(json.dumps(measured.to_json()))
    assert list(document) == list(MEASURES)
    assert document["moments"]["columns"] == measured.moments.columns
