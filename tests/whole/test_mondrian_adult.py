"""t-close and l-diverse Mondrian on Adult: the whole chain, judged by the gate, nothing suppressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.gate import Status, evaluate
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import policy_from
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Means

TABLES = ["sex", "race", "marital-status", "education", "native-country", "workclass"]
RECODERS = ["mondrian", "mondrian_relaxed"]


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> tuple[Path, pd.DataFrame]:
    folder = shared_data / "adult"
    return folder, pd.read_csv(folder / "adult.csv", sep=";", dtype=str)


def classes(adult: tuple[Path, pd.DataFrame], recoder: str, **gate: Any) -> int:
    """Release Adult with three sensitive columns, one for each distance; return the number of classes."""
    folder, frame = adult
    occupation = {"table": "adult_hierarchy_occupation.csv"}
    columns = {
        **{
            name: {"role": "generalize", "hierarchy": {"table": f"adult_hierarchy_{name}.csv"}}
            for name in TABLES
        },
        "age": {"role": "sensitive", "distance": "ordered"},
        "occupation": {"role": "sensitive", "distance": "hierarchical", "hierarchy": occupation},
        "salary-class": {"role": "sensitive", "distance": "equal"},
    }
    known = {"columns": ["age", "occupation", "salary-class"], "risk": 1}  # not what is shown here
    anonymize = {"k": 10, "recoder": recoder, "loss": "granularity", "suppression_limit": 0}
    policy = policy_from(
        {
            "name": "adult",
            "source": {"path": "adult.csv"},
            "columns": columns,
            "anonymize": anonymize,
            "gate": {**gate, "suppression": 0, "attacks": {"known_columns": [known]}},
        }
    )
    found = pipeline.run(policy, frame, Means(folder, None, system_entropy()))
    report = evaluate(
        found.suppressed.frame,
        policy,
        found.suppressed.facts,
        originals=found.k_anonymized.frame,
        hierarchies=folder,
    )
    others = {v.limit.partition(".")[0]: v.status for v in report.verdicts if v.status != Status.PASSED}
    advised = ("utility_fully_generalized", "homogeneity", "accepted", "told_secrets")  # age links people
    warned = dict.fromkeys(advised, Status.WARNED)
    assert others.items() <= warned.items(), report  # a small t hides columns, a large one tells values
    assert len(found.suppressed.frame) == len(frame)
    return int(found.suppressed.facts["k_anonymized"]["classes"])


@pytest.mark.parametrize("recoder", RECODERS)
def test_smaller_t_leaves_fewer_classes(adult: Any, recoder: str) -> None:
    found = [
        classes(adult, recoder, t_closeness={"age": t, "occupation": t, "salary-class": t})
        for t in (1, 0.4, 0.25, 0.15)
    ]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 4
    assert found[-1] > 1


@pytest.mark.parametrize("recoder", RECODERS)
@pytest.mark.parametrize(
    "limit",
    [
        {"kind": "distinct", "l": 8},
        {"kind": "entropy", "l": 6.5},
        {"kind": "recursive", "l": 4, "c": 0.6},
    ],
    ids=lambda limit: limit["kind"],
)
def test_each_diversity_costs_classes(adult: Any, recoder: str, limit: dict[str, Any]) -> None:
    free = classes(adult, recoder)
    assert 1 < classes(adult, recoder, l_diversity={"occupation": limit}) < free


@pytest.mark.parametrize("recoder", RECODERS)
def test_all_kinds_of_limits_at_once(adult: Any, recoder: str) -> None:
    diverse = {"age": {"l": 8}, "occupation": {"kind": "entropy", "l": 5}}
    assert classes(adult, recoder, t_closeness={"age": 0.2, "salary-class": 0.3}, l_diversity=diverse) > 1
