"""The column of the source that names classes: read, numbered, and gone after recoding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import AnonPipelineError, InputError, PolicyError
from anon_pipeline.encode.codes import GIVEN, RECORD
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.publish.whole_chain import anonymize
from anon_pipeline.stages.class_column import classes_of, number_classes, without_classes
from anon_pipeline.stages.pipeline import raw
from tests.conftest import SMALL, merged, policy_from

GIVEN_CLASSES: dict[str, Any] = {"anonymize": {"recoder": "given", "classes": "own", "k": 3}}


def frame_of(classes: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"x": range(len(classes)), "own": classes})


def test_equal_values_are_one_class() -> None:
    policy = policy_from(merged(SMALL, GIVEN_CLASSES))
    found = number_classes(policy, frame_of(["Quillfeather", 7, "Quillfeather", "b"]))
    assert found is not None and found.dtype == np.int64
    assert (found[0] == found[2], len({*found.tolist()})) == (True, 3)
    other = number_classes(policy, frame_of(["b", "Quillfeather", 3]))
    assert other is not None and other[:2].tolist() == found[[3, 0]].tolist()  # whatever else is there
    assert list(without_classes(policy, frame_of([1])).columns) == ["x"]


def test_another_policy_has_no_such_column() -> None:
    policy = policy_from(SMALL)
    assert number_classes(policy, frame_of([1])) is None
    assert list(without_classes(policy, frame_of([1])).columns) == ["x", "own"]


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (frame_of([1, None, None]), "every record must have a class, 2 have none"),
        (frame_of([[1], [2]]), "must hold numbers, booleans, texts or dates of the years 1 to 9999: Type"),
        (frame_of([1])[["x"]], "must name one column of the source, there are 0"),
        (frame_of([1])[["x", "own", "own"]], "must name one column of the source, there are 2"),
    ],
)
def test_what_is_no_class(frame: pd.DataFrame, said: str) -> None:
    with pytest.raises(InputError, match=f"anonymize.classes: {said}"):
        number_classes(policy_from(merged(SMALL, GIVEN_CLASSES)), frame)


def test_some_records_have_classes_without_gaps() -> None:
    frame = pd.DataFrame({GIVEN: [5, 3, 9, 5]})
    found = classes_of(frame, np.array([True, False, True, True]))
    assert found is not None and found.tolist() == [0, 1, 0]
    assert classes_of(frame.rename(columns={GIVEN: "x"}), np.ones(4, np.bool_)) is None


def test_a_release_has_the_given_classes(small_people: Any) -> None:
    frame = small_people()
    frame["own"] = np.where(frame["age"] < frame["age"].median(), "Quillfeather", "b")
    limits = {"t_closeness": {"illness": 1.0}, "suppression": 1.0}
    policy = policy_from(merged(SMALL, merged(GIVEN_CLASSES, {"gate": limits, "suppress": None})))
    made = anonymize(policy, frame)
    assert made.facts["k_anonymized"]["classes"] == 2
    assert "own" not in made.frame and GIVEN not in made.frame
    assert "Quillfeather" not in made.frame.to_csv() + repr(made.facts)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"classes": None}, "anonymize.classes: must name the column of the source"),
        ({"classes": "age"}, "anonymize.classes: must name a column that has no role"),
        ({"classes": "a\x1bge"}, "anonymize.classes: must have a name of printable characters"),
        ({"classes": "Age"}, "that looks like none of columns"),
        ({"recoder": "mondrian"}, "classes must be given only with recoder: given, got mondrian"),
    ],
)
def test_a_policy_that_names_no_classes(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        policy_from(merged(SMALL, merged(GIVEN_CLASSES, {"anonymize": changes})))
    assert said in str(raised.value)


def test_a_sample_is_the_same_however_classes_are_numbered(small_people: Any) -> None:
    frame = small_people()
    frame["own"] = frame["age"] // 10
    sampled = {"sample": {"share": 0.5}, "deidentify": {"key_env": "UNUSED"}}
    policy = policy_from(merged(SMALL, merged(GIVEN_CLASSES, sampled)))
    found = [
        raw(policy, one, entropy=seeded_entropy(1), key=b"0123456789abcdef").frame
        for one in (frame, frame.iloc[::-1].reset_index(drop=True))
    ]
    kept = [sorted(map(str, one.drop(columns=[RECORD]).to_numpy().tolist())) for one in found]
    assert kept[0] == kept[1]
    assert 0 < len(kept[0]) < len(frame)


def test_undeclared_columns_are_refused_as_ever(small_people: Any, tmp_path: Path) -> None:
    frame = small_people()
    frame["own"], frame["Quillfeather"] = 1, 2
    with pytest.raises(AnonPipelineError) as raised:
        anonymize(policy_from(merged(SMALL, GIVEN_CLASSES)), frame)
    assert "Quillfeather" not in str(raised.value)
