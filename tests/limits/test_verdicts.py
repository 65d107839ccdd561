"""Verdicts in one line, and reports that cannot be forged by a flag."""

from __future__ import annotations

import pytest

from anon_pipeline.gate import GateReport, Status, Verdict


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (Verdict("k", Status.PASSED, 10.0, 5.0, "at least"), "k: 10 (at least 5) passed"),
        (Verdict("contract", Status.PASSED), "contract passed"),
        (
            Verdict("linking_risk", Status.REFUSED, 0.123456789, 0.05, "at most"),
            "linking_risk: 0.123457 (at most 0.05) refused",
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
