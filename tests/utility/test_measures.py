"""Every number of a utility has one entry, and every entry a number."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from typing import Any

from anon_pipeline.evidence.selection import Bias, Part, Selection
from anon_pipeline.perturb.error import RealizedError
from anon_pipeline.utility.measures import MEASURES, Row, rows
from anon_pipeline.utility.models import Accuracy
from anon_pipeline.utility.moments import Discrepancy
from anon_pipeline.utility.queries import QueryErrors
from anon_pipeline.utility.results import NoiseError, Utility

NESTED: dict[str, Any] = {
    "noise": {"*": NoiseError(RealizedError(0.5, 2, 0.1), 0.6, 12.0)},
    "moments": Discrepancy(0.1, 0.2, 0.3, 4, 6),
    "classifier": Accuracy(0.9, 0.8, 0.5, 100),
    "queries": QueryErrors(1000, 0.3, 0.2, 0.9),
    "selection": Selection(
        0.1,
        0.2,
        30,
        4,
        0,
        0.0,
        0.02,
        0.03,
        {"*": Bias(0.1, 0.2, {"*": 0.3}, (Part(10, 0.4),))},  # type: ignore[dict-item]
    ),
}


def paths(value: Any, before: str = "") -> list[str]:
    """Spell the paths of all leaves of a result."""
    if is_dataclass(value):
        return [p for f in fields(value) for p in paths(getattr(value, f.name), f"{before}.{f.name}")]
    if isinstance(value, dict):
        return [p for name, below in value.items() for p in paths(below, f"{before}.{name}")]
    if isinstance(value, tuple):
        return sorted({p for below in value for p in paths(below, f"{before}.*")})
    return [before.removeprefix(".")]


def result(**more: Any) -> Utility:
    plain: dict[str, Any] = {field.name: 0.25 for field in fields(Utility)}
    return Utility(**(plain | NESTED | more))


def test_every_number_has_one_entry() -> None:
    assert sorted(measure.path for measure in MEASURES) == sorted(paths(result()))


def test_groups_stand_together_and_senses_are_known() -> None:
    groups = [measure.group for measure in MEASURES]
    assert groups == sorted(groups, key=groups.index)
    assert {measure.better for measure in MEASURES} == {"", "less", "more"}
    assert all(measure.unit for measure in MEASURES if measure.path != "target")


def test_numbers_of_a_column_name_it_and_what_is_not_measured_is_a_dash() -> None:
    shown = list(rows(asdict(result(noise={"pay": NESTED["noise"]["*"]}, classifier=None))))
    expected = next(row for row in shown if row.words.startswith("error to expect"))
    words = "error to expect of any draw, in multiples of the value"
    assert expected == Row("What noise loses", words, "pay", "0.6", "times", "less")
    assert {row.value for row in shown if row.words.startswith("predicted rightly")} == {"–"}
    assert len([row for row in shown if row.column == "pay"]) == 5
    assert len(list(rows(asdict(result(noise={}))))) == len(MEASURES) - 5


def test_whom_the_confidence_leaves_out_is_said_by_column_quantile_and_tenth() -> None:
    bias = Bias(0.1, None, {0.5: 0.3, 0.95: 2.0}, (Part(10, 0.4), Part(12, 0.7)))
    found = Selection(0.1, 0.2, 30, 4, 64, 0.125, 0.02, 0.03, {"pay": bias})
    shown = list(rows(asdict(result(selection=found))))
    said = {(row.words, row.column): row.value for row in shown}
    assert said["bias of a quantile", "pay, 0.95"] == "2"
    assert said["mean chance of these", "pay, 2"] == "0.7"
    assert said["bias of the variance, of the variance", "pay"] == "–"
