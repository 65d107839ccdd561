"""What is planned: partitions that can be released, or a refusal before anything is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.observer import ignore
from anon_pipeline.division.deciding_columns import read_deciding
from anon_pipeline.division.plan import plan_division
from anon_pipeline.publish.whole_chain import anonymize
from tests.division.test_divide import divided, people, project, releases


def test_each_class_is_whole_and_each_record_somewhere(tmp_path: Path) -> None:
    path, policy = project(tmp_path, people(), anonymize={"k": 5})
    deciding = read_deciding(policy, tmp_path / "people.parquet", hierarchies=path.parent)
    plan = plan_division(policy, deciding, 4, observe=ignore)
    assert plan.owners.dtype == np.int16
    assert np.unique(plan.owners).tolist() == [0, 1, 2, 3]
    codes = [
        hierarchy.lookups[level][own]
        for hierarchy, level, own in zip(
            deciding.hierarchies, plan.levels.values(), deciding.codes, strict=True
        )
    ]
    classes = np.unique(np.stack(codes), axis=1, return_inverse=True)[1]
    pairs = np.unique(np.stack([classes, plan.owners]), axis=1)
    assert pairs.shape[1] == classes.max() + 1
    again = plan_division(policy, deciding, 4, observe=ignore)
    assert again.owners.tolist() == plan.owners.tolist()


def test_a_partition_without_any_value_of_a_column_is_refused(tmp_path: Path) -> None:
    frame = people()
    frame["city"] = frame["city"].where(frame.index < 40)  # most of the records are one class
    path, policy = project(tmp_path, frame, anonymize={"k": 5, "suppression_limit": 0.2})
    assert anonymize(policy, frame).report.passed
    with pytest.raises(InputError, match=r"city: \d+ partitions would have no value in any record"):
        divided(path, policy, parts=40)


def test_partitions_that_a_smaller_t_makes_infeasible_are_refused(tmp_path: Path) -> None:
    """The class that is farthest from the whole table is half of what may be suppressed."""
    frame = people()
    path, policy = project(tmp_path, frame, anonymize={"k": 5})
    whole = anonymize(policy, frame)
    (t,) = (one.value for one in whole.report.verdicts if one.limit == "t_closeness.illness")
    limits = {
        "k": 5,
        "suppression_limit": 0.001 + whole.facts["k_anonymized"]["suppressed_by_recoding"] / 3_000,
    }
    path, policy = project(tmp_path, frame, anonymize=limits, gate={"t_closeness": {"illness": t + 1e-9}})
    again = anonymize(policy, frame)
    assert again.facts["k_anonymized"]["levels"] == whole.facts["k_anonymized"]["levels"]
    with pytest.raises(
        InputError, match=r"partitions would be beyond anonymize\.suppression_limit.*its t is smaller"
    ):
        divided(path, policy, parts=2)


def test_partitions_of_local_suppression_are_released_as_they_blank_cells(tmp_path: Path) -> None:
    """Whole records at these levels would be far too many; each partition blanks cells of its own."""
    frame = people()
    exact = {"recoder": "fixed", "levels": {"age": 0, "city": 0}, "suppress": "cells"}
    path, policy = project(tmp_path, frame, anonymize={"k": 5, **exact})
    whole = anonymize(policy, frame)
    assert whole.facts["k_anonymized"]["suppressed_cells"] > 150  # more records than may be suppressed
    found = divided(path, policy, parts=3)
    made = releases(found)
    assert [one.report.passed for one in made] == [True] * 3
    assert sum(len(one.frame) for one in made) >= 0.95 * len(frame)
    for one in made:
        assert one.frame.groupby(["age", "city"], dropna=False).size().min() >= 5


def test_cells_and_the_optimal_recoder_have_the_levels_of_one_release(tmp_path: Path) -> None:
    """All values of age differ, so only nodes above the leaves keep k by themselves, as marginals show."""
    frame = people().assign(age=lambda one: np.arange(len(one)))
    hierarchy = {"intervals": [100, 300], "bottom": 0, "top": 6000}
    columns = {"age": {"role": "generalize", "hierarchy": hierarchy}}
    how = {"k": 5, "recoder": "optimal", "suppress": "cells"}
    path, policy = project(tmp_path, frame, anonymize=how, columns=columns)
    found = divided(path, policy, parts=2)
    assert found.levels == anonymize(policy, frame).facts["k_anonymized"]["levels"]


def test_what_only_one_partition_could_have_is_one_release(tmp_path: Path) -> None:
    frame = people().assign(city="Cork", age=30)
    path, policy = project(tmp_path, frame, anonymize={"k": 5})
    with pytest.raises(
        InputError, match=r"got 2, of which 1 would have none\. Make one release of the table"
    ):
        divided(path, policy, parts=2)
