"""The expectations in a suite of anybody's: arguments, results without values, errors, rendering."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import great_expectations as gx
import numpy as np
import pandas as pd
import pytest
from great_expectations.core import ExpectationSuite
from great_expectations.data_context.data_context.context_factory import project_manager
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.render.renderer.inline_renderer import InlineRenderer
from great_expectations.render.renderer.page_renderer import (
    ExpectationSuitePageRenderer,
    ValidationResultsPageRenderer,
)

from anon_pipeline.gate.great_expectations import (
    ExpectReleaseLinkingRiskToBeAtMost,
    ExpectReleaseSuppressionToBeAtMost,
    ExpectReleaseToBeConfidentlyKAnonymous,
    ExpectReleaseToBeKAnonymous,
    ExpectReleaseToBeLDiverse,
    ExpectReleaseToBeTClose,
    suite_for,
)
from anon_pipeline.gate.great_expectations.arguments import GENERALIZED, document
from anon_pipeline.gate.great_expectations.base import METRIC
from anon_pipeline.policy import Policy

QUASI: dict[str, Any] = {"quasi_identifiers": ["zip"], "released": "out"}


def _policy(limit: str, bound: float, *, epsilon: float = 1) -> dict[str, Any]:
    """Return arguments that name a limit of a policy, judged by the noise that was drawn."""
    columns = {"zip": GENERALIZED, "height": {"role": "perturb", "resolution": 0.1}}
    gate = {"linking": "realized", limit: bound}
    sections = {"perturb": {"epsilon": epsilon}, "suppress": {"confidence": 0.9}, "gate": gate}
    return {"policy": document(columns, **sections), "limit_name": limit, "released": "out"}


TREE = {"tree": {"one": ["x", "y"], "two": ["z"]}}

# what keeps the limit, what just breaks it, what is observed on the batch by hand
CASES: dict[str, tuple[Any, Any, float | None]] = {
    "k": (
        ExpectReleaseToBeKAnonymous(k=2, **QUASI),
        ExpectReleaseToBeKAnonymous(k=3, **QUASI),
        2,
    ),
    "t ordered": (
        ExpectReleaseToBeTClose(column="pay", t=3 / 7, distance="ordered", **QUASI),
        ExpectReleaseToBeTClose(column="pay", t=3 / 7 - 1e-9, distance="ordered", **QUASI),
        3 / 7,
    ),
    "t declared": (
        ExpectReleaseToBeTClose(column="ill", t=1.0, distance="ordered", order=["x", "y", "z"], **QUASI),
        ExpectReleaseToBeTClose(column="ill", t=0.3, distance="ordered", order=["x", "y", "z"], **QUASI),
        (4 / 7 + 1 / 7) / 2,
    ),
    "t tree": (
        ExpectReleaseToBeTClose(column="ill", t=0.36, distance="hierarchical", hierarchy=TREE, **QUASI),
        ExpectReleaseToBeTClose(column="ill", t=0.35, distance="hierarchical", hierarchy=TREE, **QUASI),
        3 / 7 / 2 + 1 / 7,
    ),
    "l distinct": (
        ExpectReleaseToBeLDiverse(column="ill", kind="distinct", l=1, **QUASI),
        ExpectReleaseToBeLDiverse(column="ill", kind="distinct", l=2, **QUASI),
        1,
    ),
    "l recursive": (
        ExpectReleaseToBeLDiverse(column="ill", kind="recursive", l=1, c=1.1, **QUASI),
        ExpectReleaseToBeLDiverse(column="ill", kind="recursive", l=1, c=1.0, **QUASI),
        1,
    ),
    "linking": (
        ExpectReleaseLinkingRiskToBeAtMost(**_policy("linking_risk", 0.8)),
        ExpectReleaseLinkingRiskToBeAtMost(**_policy("linking_risk", 0.79)),
        0.8,
    ),
    "suppression": (
        ExpectReleaseSuppressionToBeAtMost(limit=0.29, released="out"),
        ExpectReleaseSuppressionToBeAtMost(limit=0.28, released="out"),
        2 / 7,
    ),
    "confident": (
        ExpectReleaseToBeConfidentlyKAnonymous(**_policy("confidence_k", 3)),
        ExpectReleaseToBeConfidentlyKAnonymous(**_policy("confidence_k", 3, epsilon=10)),
        None,  # 3 and 1, by the ε
    ),
}
CLASSES = {type(kept) for kept, _, _ in CASES.values()}


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    yield gx.get_context(mode="ephemeral")
    project_manager.set_project(None)


def _batch(context: Any, frame: pd.DataFrame) -> Any:
    asset = context.data_sources.add_or_update_pandas("anybody").add_dataframe_asset("theirs")
    return asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": frame})


@pytest.mark.parametrize("case", CASES)
def test_limits_are_judged_and_results_hold_one_number(
    context: Any, by_hand: pd.DataFrame, case: str
) -> None:
    kept, broken, observed = CASES[case]
    batch = _batch(context, by_hand)
    for expectation, success in ((kept, True), (broken, False)):
        for result_format in ("BASIC", "SUMMARY", "COMPLETE"):
            result = batch.validate(expectation, result_format=result_format)
            assert result.success is success
            assert list(result.result) == ["observed_value"]
            if observed is not None:
                assert result.result["observed_value"] == pytest.approx(observed, rel=1e-12)
            json.dumps(result.to_json_dict())
        assert batch.validate(expectation, result_format="BOOLEAN_ONLY").result == {}


def test_an_infinite_ratio_breaks_the_limit_and_is_shown_as_nothing(
    context: Any, by_hand: pd.DataFrame
) -> None:
    expectation = ExpectReleaseToBeLDiverse(column="ill", kind="recursive", l=2, c=1e9, **QUASI)
    result = _batch(context, by_hand).validate(expectation)
    assert (result.success, result.result) == (False, {"observed_value": None})


def test_without_a_mark_all_rows_are_released(context: Any, by_hand: pd.DataFrame) -> None:
    result = _batch(context, by_hand).validate(ExpectReleaseToBeKAnonymous(quasi_identifiers=["zip"], k=1))
    assert (result.success, result.result) == (True, {"observed_value": 1})


def test_a_table_of_a_hierarchy_is_read_from_its_folder(
    context: Any, by_hand: pd.DataFrame, tmp_path: Path
) -> None:
    (tmp_path / "ill.csv").write_text("x;one;*\ny;one;*\nz;two;*\n", encoding="utf-8")
    by_table = ExpectReleaseToBeTClose(
        column="ill",
        t=1.0,
        distance="hierarchical",
        hierarchy={"table": "ill.csv"},
        hierarchies=str(tmp_path),
        **QUASI,
    )
    result = _batch(context, by_hand).validate(by_table)
    assert result.result["observed_value"] == pytest.approx(3 / 7 / 2 + 1 / 7, rel=1e-12)


CANARY, NUMBER = "CANARY-7f3a", 987654.321
WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "column gone": ("k", {"zip": None}, "InputError"),
    "marks": ("suppression", {"out": [CANARY] * 7}, "InputError"),
    "not a number": ("t ordered", {"pay": [CANARY] * 7}, "InputError"),
    "not in the order": ("t declared", {"ill": [CANARY] * 7}, "InputError"),
    "not in the tree": ("t tree", {"ill": [CANARY] * 7}, "InputError"),
    "missing": ("l distinct", {"ill": [None] * 6 + [CANARY]}, "InputError"),
    "noise is text": ("linking", {"height": [CANARY] * 7}, "InputError"),
    "infinite": ("linking", {"height": [np.inf] + [NUMBER] * 6}, "InputError"),
    "too large": ("confident", {"_original_height": [NUMBER * 1e12] * 7}, "InputError"),
    "class is text": ("confident", {"_class_id": [CANARY] * 7}, "InputError"),
    "a list": ("k", {"zip": [[CANARY]] * 7}, "InputError"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_error_is_told_apart_from_a_broken_limit_and_holds_no_value(
    context: Any, by_hand: pd.DataFrame, wrong: str, caplog: pytest.LogCaptureFixture
) -> None:
    case, spoil, kind = WRONG[wrong]
    dropped = [name for name, values in spoil.items() if values is None]
    frame = by_hand.assign(**{name: v for name, v in spoil.items() if v is not None}).drop(columns=dropped)
    batch = _batch(context, frame)
    with caplog.at_level(logging.DEBUG):
        result = batch.validate(CASES[case][0], result_format="COMPLETE")
    assert (result.success, result.result) == (False, {})
    told = result.exception_info
    (info,) = [told] if "raised_exception" in told else told.values()
    assert info["raised_exception"]
    assert f" could not be measured: {kind}: " in info["exception_message"]
    text = json.dumps(result.to_json_dict()) + repr(result) + str(result) + caplog.text
    assert CANARY not in text
    assert str(int(NUMBER)) not in text


def test_a_bug_in_a_measure_holds_no_value(
    context: Any, by_hand: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crashed(*_: Any, **__: Any) -> None:
        try:
            raise KeyError(CANARY)
        except KeyError as error:
            raise RuntimeError(f"cannot use {CANARY}") from error

    monkeypatch.setattr("anon_pipeline.limits.linking.linking_risk_share", crashed)
    suite = ExpectationSuite(name="s", expectations=[CASES["linking"][0], CASES["k"][0]])
    result = _batch(context, by_hand).validate(suite, result_format="COMPLETE")
    assert {r.expectation_config.type: r.success for r in result.results} == {
        "expect_release_linking_risk_to_be_at_most": False,
        "expect_release_to_be_k_anonymous": True,
    }
    text = json.dumps(result.to_json_dict())
    assert "could not be measured: RuntimeError" in text
    assert CANARY not in text


@pytest.mark.parametrize(
    ("expectation", "arguments"),
    [
        (ExpectReleaseToBeKAnonymous, {"quasi_identifiers": ["zip"], "k": 4.7}),
        (ExpectReleaseToBeKAnonymous, {"quasi_identifiers": ["zip"], "k": 0}),
        (ExpectReleaseToBeKAnonymous, {"quasi_identifiers": ["zip"], "k": True}),
        (ExpectReleaseToBeKAnonymous, {"quasi_identifiers": ["zip"], "k": 10**400}),
        (ExpectReleaseToBeKAnonymous, {"quasi_identifiers": [], "k": 2}),
        (ExpectReleaseToBeKAnonymous, {"quasi_identifiers": "zip", "k": 2}),
        (ExpectReleaseToBeKAnonymous, {"quasi_identifiers": ["zip"], "k": 2, "row_condition": "x"}),
        (ExpectReleaseToBeTClose, {**QUASI, "column": "ill", "t": 1.1, "distance": "equal"}),
        (ExpectReleaseToBeTClose, {**QUASI, "column": "ill", "t": float("nan"), "distance": "equal"}),
        (ExpectReleaseToBeTClose, {**QUASI, "column": "ill", "t": 0.1, "distance": "hierarchical"}),
        (ExpectReleaseToBeTClose, {**QUASI, "column": "ill", "t": 0.1, "distance": "equal", "order": ["x"]}),
        (ExpectReleaseToBeTClose, {**QUASI, "column": "ill", "t": 0.1}),
        (ExpectReleaseToBeLDiverse, {**QUASI, "column": "ill", "kind": "distinct", "l": 2.5}),
        (ExpectReleaseToBeLDiverse, {**QUASI, "column": "ill", "kind": "recursive", "l": 2}),
        (ExpectReleaseToBeLDiverse, {**QUASI, "column": "ill", "kind": "distinct", "l": 2, "c": 1.0}),
        (ExpectReleaseToBeLDiverse, {**QUASI, "column": "ill", "kind": "entropy", "l": 0.5}),
        (ExpectReleaseSuppressionToBeAtMost, {"limit": 0.1}),
        (ExpectReleaseLinkingRiskToBeAtMost, {}),
        (ExpectReleaseLinkingRiskToBeAtMost, {"limit_name": "linking_risk"}),
        (ExpectReleaseLinkingRiskToBeAtMost, _policy("confidence_k", 2)),
        (ExpectReleaseLinkingRiskToBeAtMost, _policy("linking_risk", -0.1)),
        (ExpectReleaseToBeConfidentlyKAnonymous, _policy("confidence_k", 2, epsilon=0)),
    ],
)
def test_arguments_that_make_no_limit_are_refused(expectation: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        expectation(**arguments)


def test_names_are_those_of_the_design() -> None:
    assert sorted(expectation.expectation_type for expectation in CLASSES) == [
        "expect_release_linking_risk_to_be_at_most",
        "expect_release_suppression_to_be_at_most",
        "expect_release_to_be_confidently_k_anonymous",
        "expect_release_to_be_k_anonymous",
        "expect_release_to_be_l_diverse",
        "expect_release_to_be_t_close",
    ]


def test_expectations_survive_being_written_and_read() -> None:
    suite = ExpectationSuite(name="s", expectations=[kept for kept, _, _ in CASES.values()])
    written = json.loads(json.dumps(suite.to_json_dict()))
    assert ExpectationSuite(**written).expectations == suite.expectations
    for expectation in CLASSES:
        assert json.loads(expectation.schema_json())["properties"]["metadata"]


def test_every_expectation_says_itself_in_a_sentence() -> None:
    for expectation, _, _ in CASES.values():
        expectation.render()
        (content,) = expectation.rendered_content
        assert content.name == "atomic.prescriptive.summary"
        template = content.to_json_dict()["value"]
        assert template["template"] == "$limit: $meaning"
        assert set(template["params"]) == {"limit", "meaning"}


def test_documents_of_suite_and_results_render(context: Any, by_hand: pd.DataFrame) -> None:
    suite = ExpectationSuite(name="s", expectations=[e for pair in CASES.values() for e in pair[:2]])
    page = str(ExpectationSuitePageRenderer().render(suite).to_json_dict())
    for limit in ("k", "t_closeness.column pay", "l_diversity.column ill", "linking_risk"):
        assert f"'limit': '{limit}'" in page
    k = "Every class of equal quasi-identifiers has at least this many records."
    assert f"{k} (at least 2; quasi_identifiers: zip; k: 2)" in page
    for frame in (by_hand, by_hand.drop(columns="height").assign(ill=CANARY)):
        result = _batch(context, frame).validate(suite, result_format="COMPLETE")
        page = str(ValidationResultsPageRenderer().render(result).to_json_dict())
        assert "'limit': 'linking_risk'" in page
        assert CANARY not in page
        for single in result.results:
            assert CANARY not in str(InlineRenderer(render_object=single).get_rendered_content())


def test_the_batch_is_named_as_great_expectations_names_it(small_policy: Callable[..., Policy]) -> None:
    for expectation in suite_for(small_policy()).expectations:
        expectation.batch_id = "a batch"
        ours = expectation.get_validation_dependencies(None, {"result_format": "BASIC"})
        theirs = BatchExpectation.get_validation_dependencies(expectation, None, {"result_format": "BASIC"})
        assert ours.result_format == theirs.result_format
        assert ours.metric_configurations.keys() == theirs.metric_configurations.keys()
        domains = [each.metric_configurations[METRIC].metric_domain_kwargs for each in (ours, theirs)]
        assert domains[0] == domains[1]
        assert domains[0]["batch_id"] == "a batch"
