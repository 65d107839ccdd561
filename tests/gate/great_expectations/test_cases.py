"""A batch becomes a case: checked, and judged as the gate judges, by every limit of the table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.evidence.measures import require_originals
from anon_pipeline.gate import evaluate
from anon_pipeline.gate.great_expectations import gate_batch, suite_for
from anon_pipeline.gate.great_expectations.arguments import GENERALIZED, document
from anon_pipeline.gate.great_expectations.base import ReleaseExpectation
from anon_pipeline.gate.great_expectations.cases import BatchCase, Layout, case_from
from anon_pipeline.limits.table import LIMITS, limit_of
from anon_pipeline.limits.verdicts import Verdict
from anon_pipeline.sources.population import Population
from tests.example_counts import examples_of

OTHERS = {"cross_release_k", "sticky", "rare_values", "rare_together", "joint_homogeneity", "utility_kept"}
OTHERS |= {"person_homogeneity", "dominance", "found_groups"}
"""Those that need a memory, other columns, or people with several records."""
Release = Callable[..., Any]
Judged = Callable[[pd.DataFrame, Sequence[ReleaseExpectation]], list[Verdict]]


def _limits(share: float, k: int, noisy: int, linking: str) -> dict[str, Any]:
    """Return every limit of the table that needs no memory."""
    match = [{"region": 1, "age": 1}, *([{"height": 0.9}] if noisy else [])]
    names = ("attacker_success", "assignment_risk", "expected_linking_risk") if noisy else ()
    kinds = ("exact", "threshold", "rules", "probabilistic")
    files = ("prosecutor_risk", "marketer_risk", "sample_uniques", "minimal_uniques")
    attacks: dict[str, Any] = {
        **dict.fromkeys((*names, *files), share),
        **({"averaging": {"releases": 3, "risk": share}} if noisy == 1 else {}),
        "linkage": {**dict.fromkeys(kinds, share), "similarity": 0.8, "match": match},
        "homogeneity": {"illness": share, "town": share},
        "skewness": {"pay": 1 + 3 * share},
        "similarity": dict.fromkeys(("pay", "grade", "place", "town"), share),
        "population": {"path": "register.csv", "journalist_risk": share, "marketer_risk": share},
    }
    return {
        "k": k,
        "t_closeness": dict.fromkeys(("pay", "grade", "illness", "place", "town"), share),
        "l_diversity": {
            "pay": {"kind": "entropy", "l": 1 + 5 * share},
            "illness": {"kind": "distinct", "l": 1 + k % 3},
            "place": {"kind": "recursive", "l": 1 + k % 4, "c": 0.1 + 3 * share},
        },
        "suppression": share,
        "attacks": attacks,
        **({"linking_risk": share, "confidence_k": k, "linking": linking} if noisy else {}),
    }


@settings(max_examples=examples_of(30), deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    made=st.fixed_dictionaries(
        {
            "seed": st.integers(0, 10**6),
            "noisy": st.integers(0, 2),
            "kept": st.sampled_from([0.3, 0.8, 1.0]),
            "noise": st.sampled_from([0, 3, 40]),
        }
    ),
    share=st.floats(0, 1),
    k=st.integers(2, 12),
    linking=st.sampled_from(["expected", "realized"]),
)
def test_every_limit_says_the_same_in_the_gate_and_as_an_expectation(
    release: Release,
    judged_suite: Judged,
    folder: Path,
    *,
    made: dict[str, Any],
    share: float,
    k: int,
    linking: str,
) -> None:
    found = release(gate=_limits(share, k, made["noisy"], linking), n=40, **made)
    random = np.random.default_rng(made["seed"])
    persons = {"region": random.choice(["north", "south"], 80), "age": random.integers(20, 60, 80)}
    known: dict[str, Any] = {
        "hierarchies": folder,
        "population": Population(pd.DataFrame(persons), "0" * 64),
    }
    report = evaluate(found.released, found.policy, originals=found.originals, **known)
    verdicts = {verdict.limit: verdict for verdict in report.verdicts}
    batch = gate_batch(found.released, found.originals, found.policy, **known)
    suite = suite_for(found.policy, hierarchies=folder)
    for expectation, judged in zip(suite.expectations, judged_suite(batch, suite.expectations), strict=True):
        verdict = verdicts.pop(expectation.limit_name)
        assert (judged.status, judged.sense, judged.bound) == (verdict.status, verdict.sense, verdict.bound)
        for one, other in ((judged.value, verdict.value), (judged.realized, verdict.realized)):
            # rows are in another order, and so are the summands of some means
            assert one == (None if other is None else pytest.approx(other, rel=1e-12)), judged
    assert not [name for name in verdicts if limit_of(name).expectation_name]
    if made["noisy"] == 1:
        kinds = {expectation.limit_name.partition(".")[0] for expectation in suite.expectations}
        assert kinds == {limit.name for limit in LIMITS if limit.expectation_name} - OTHERS


def _case(frame: pd.DataFrame, released: str | None = "out") -> BatchCase:
    """Return the case of a batch of the columns by hand."""
    columns = {"zip": GENERALIZED, "height": {"role": "perturb", "resolution": 0.1}}
    return case_from(frame, Layout(document(columns, perturb={"epsilon": 1}), released=released))


def test_classes_are_those_of_released_records_and_missing_equals_missing(by_hand: pd.DataFrame) -> None:
    assert sorted(_case(by_hand).evidence.classes.sizes) == [2, 3]
    every = by_hand.assign(height=150.0, _original_height=150.0, _class_id=[1, 1, 1, 2, 2, 2, 3])
    twice = pd.concat([every, every])
    assert sorted(_case(twice, released=None).evidence.classes.sizes) == [2, 6, 6]


def test_class_ids_that_are_not_those_of_the_values_are_refused(by_hand: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="class ids do not match the generalized values"):
        _case(by_hand.assign(_class_id=[10, 10, 10, 4, 4, 10, -1]))


@pytest.mark.parametrize(
    ("values", "how", "problem"),
    [
        (["1"] * 6 + ["CANARY"], {"distance": "ordered"}, "pay: must be a number, got 1 record"),
        (
            ["low"] * 5 + ["CANARY"] * 2,
            {"distance": "ordered", "order": ["low", "high"]},
            "pay: every value must be in the declared order, got 2 records with others",
        ),
        ([None] * 2 + ["x"] * 5, {}, "pay: must have a value where it is measured, got 2 missing"),
        ([["CANARY"]] * 7, {}, "pay: must hold numbers, booleans, texts or dates, all of one kind"),
    ],
    ids=["number", "order", "missing", "list"],
)
def test_sensitive_values_that_do_not_fit_are_counted(
    by_hand: pd.DataFrame, values: list[Any], how: dict[str, Any], problem: str
) -> None:
    by_hand["pay"] = values
    policy = document({"zip": GENERALIZED, "pay": {"role": "sensitive", **how}})
    with pytest.raises(InputError, match=re.escape(problem)) as caught:
        case_from(by_hand, Layout(policy, released="out"))
    assert "CANARY" not in str(caught.value)


def test_a_suppressed_record_may_lack_a_sensitive_value(by_hand: pd.DataFrame) -> None:
    by_hand["pay"] = ["x"] * 6 + [None]
    policy = document({"zip": GENERALIZED, "pay": {"role": "sensitive"}})
    case = case_from(by_hand, Layout(policy, released="out"))
    assert case.evidence.released["pay"].tolist() == ["x"] * 5


def test_perturb_columns_are_on_their_grid_and_classes_numbered_without_gaps(by_hand: pd.DataFrame) -> None:
    case = _case(by_hand)
    behind = require_originals(case.evidence)
    assert behind.labels.tolist() == [0, 0, 0, 1, 1, 1, -1]  # by their released values
    assert behind.own.tolist() == [0, 1, 2, 3, 4]
    assert case.evidence.released["height"].tolist() == [160.0, 170.0, 180.0, 150.0, 150.4]
    assert behind.grid[:6, 0].tolist() == [1600, 1700, 1900, 1500, 1502, 1504]


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        ({"height": [np.nan] + [160.0] * 6}, "height: must have a value where it is measured, got 1 missing"),
        ({"height": [np.inf] + [160.0] * 6}, "height: must be finite, got 1 record with infinite numbers"),
        ({"height": ["CANARY"] + ["160"] * 6}, "height: must be a number, got 1 record"),
        (
            {"_original_height": [160.0] * 5 + [np.nan] * 2},
            "_original_height: must have a value where it is measured, got 1 missing",
        ),
        ({"_class_id": [-1] + [4] * 6}, "_class_id: released records must be in a class, got 1 that are not"),
        ({"_class_id": ["CANARY"] * 7}, "_class_id: must be a whole number in every record"),
    ],
    ids=["missing", "infinite", "text", "original", "classless", "class text"],
)
def test_perturb_columns_that_cannot_be_measured_are_refused(
    by_hand: pd.DataFrame, spoil: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=re.escape(problem)) as caught:
        _case(by_hand.assign(**spoil))
    assert "CANARY" not in str(caught.value)
