"""Verdicts in one line, and reports that cannot be forged by a flag."""

from __future__ import annotations

import pytest

from anon_pipeline.gate import GateReport, Status, Verdict


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (
            Verdict("k", Status.PASSED, 10.0, 5.0, "at least", recomputable=True),
            "k: 10 (at least 5) passed",
        ),
        (Verdict("k", Status.REFUSED, 3.0, 5.0, "at least", recomputable=True), "k (at least 5) refused"),
        (
            Verdict("t_closeness.salary", Status.PASSED, 0.3, 0.4, "at most"),
            "t_closeness.salary (at most 0.4) passed",
        ),
        (Verdict("contract", Status.PASSED), "contract passed"),
        (
            Verdict("linking_risk", Status.REFUSED, 0.123456789, 0.05, "at most"),
            "linking_risk (at most 0.05) refused",
        ),
        (
            Verdict("origin", Status.UNMEASURED, reason="needs the originals"),
            "origin unmeasured: needs the originals",
        ),
    ],
)
def test_a_verdict_in_one_line(verdict: Verdict, text: str) -> None:
    assert verdict.as_text() == text


@pytest.mark.parametrize("status", [Status.REFUSED, Status.UNMEASURED])
def test_one_limit_that_did_not_pass_is_enough(status: Status) -> None:
    passed = Verdict("k", Status.PASSED)
    assert GateReport((passed,), "d", "p").passed
    assert not GateReport((passed, Verdict("origin", status)), "d", "p").passed
    assert not GateReport((), "d", "p").passed


def test_a_judged_file_that_is_at_hand_shows_what_it_tells() -> None:
    refused = Verdict("k", Status.REFUSED, 3.0, 5.0, "at least", recomputable=True)
    assert refused.as_text(at_hand=True) == "k: 3 (at least 5) refused"
    exact = Verdict("linking_risk", Status.PASSED, 0.25, 0.5, "at most", realized=0.3)
    assert "0.25" not in exact.as_text(at_hand=True)
    assert exact.measured == "0.25, realized 0.3"
    assert exact.to_json()["value"] is None
    assert (exact.exact_json()["value"], exact.exact_json()["realized"]) == (0.25, 0.3)


def test_verdicts_by_status() -> None:
    verdicts = (Verdict("a", Status.PASSED), Verdict("b", Status.REFUSED), Verdict("c", Status.PASSED))
    report = GateReport(verdicts, "d", "p")
    assert [verdict.limit for verdict in report.with_status(Status.PASSED)] == ["a", "c"]
    assert report.with_status(Status.UNMEASURED) == ()


def test_a_report_that_is_none_is_an_error() -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        GateReport.from_json(
            {"verdicts": [{"limit": "k", "status": "fine"}], "data_digest": "", "policy_digest": ""}
        )
