"""Adult: the optima that ARX 3.9.2 finds, and Mondrian's promises on real data."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.classes import equivalence_classes
from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode import Constraints, Recoding, Task, recode


def asked(
    codes: np.ndarray, hierarchies: Sequence[Any], *, k: int, max_suppressed: int, **how: Any
) -> Recoding:
    """Ask the door for k-anonymity alone."""
    return recode(Task(codes, tuple(hierarchies), Constraints(k, max_suppressed), **how))


SETS = {"a": ["sex", "age", "race", "marital-status"]}
SETS["b"] = [*SETS["a"], "education", "native-country", "workclass", "occupation"]


@pytest.fixture(scope="module")
def adult(
    shared_data: Path, from_rows: Callable[..., Hierarchy], encode_column: Callable[..., np.ndarray]
) -> Any:
    frame = pd.read_csv(shared_data / "adult" / "adult.csv", sep=";", dtype=str)
    hierarchies = {}
    for column in SETS["b"]:
        lines = (shared_data / "adult" / f"adult_hierarchy_{column}.csv").read_text().splitlines()
        hierarchies[column] = from_rows(column, [line.split(";") for line in lines], numeric=column == "age")
    codes = {column: encode_column(frame[column], hierarchy) for column, hierarchy in hierarchies.items()}

    def table(name: str) -> tuple[np.ndarray, list[Hierarchy]]:
        columns = SETS[name]
        return np.stack([codes[column] for column in columns], axis=1), [hierarchies[c] for c in columns]

    return table


@pytest.mark.parametrize("position", range(6))
def test_the_optimum_is_arx_s(adult: Any, shared_golden: Path, position: int) -> None:
    optimum = json.loads((shared_golden / "adult_optima.json").read_text())["optima"][position]
    codes, hierarchies = adult(optimum["set"])
    recoding = asked(
        codes,
        hierarchies,
        k=optimum["k"],
        max_suppressed=int(len(codes) * optimum["suppression_limit"]),
        recoder="optimal",
        loss=optimum["loss"],
    )
    assert dict(zip(SETS[optimum["set"]], recoding.levels or (), strict=True)) == optimum["levels"]
    assert recoding.loss == pytest.approx(optimum["score"], abs=1e-9)
    assert recoding.suppressed == optimum["suppressed"]
    classes = equivalence_classes(recoding.codes)
    assert (len(classes.sizes), classes.k >= 5) == (optimum["classes"], True)


def test_all_optima_are_tested(shared_golden: Path) -> None:
    assert len(json.loads((shared_golden / "adult_optima.json").read_text())["optima"]) == 6


@pytest.mark.parametrize("recoder", ["mondrian", "mondrian_relaxed"])
@pytest.mark.parametrize("k", [2, 10, 100])
def test_mondrian_keeps_k_and_loses_less_than_any_node(adult: Any, recoder: Any, k: int) -> None:
    codes, hierarchies = adult("b")
    options: dict[str, Any] = {"k": k, "max_suppressed": 0, "loss": "granularity"}
    local = asked(codes, hierarchies, recoder=recoder, **options)
    assert equivalence_classes(local.codes).k >= k
    assert local.loss < asked(codes, hierarchies, recoder="optimal", **options).loss


def test_ola_is_best_among_its_minimal_nodes_and_optimal_no_worse(adult: Any) -> None:
    codes, hierarchies = adult("a")
    options: dict[str, Any] = {"k": 10, "max_suppressed": len(codes) // 20, "loss": "precision"}
    ola, optimal = (asked(codes, hierarchies, recoder=name, **options) for name in ("ola", "optimal"))
    assert optimal.loss <= ola.loss
    assert max(ola.suppressed, optimal.suppressed) <= len(codes) // 20
