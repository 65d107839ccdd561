"""What `run` says of a release as JSON: measured values of a refused one are in none of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import GateRefused, Locations, Policy, make_release
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.cli.release_account import account_of, print_release, refusal_account
from anon_pipeline.gate import GateReport


@pytest.fixture
def locations(tmp_path: Path, small_people: Callable[..., pd.DataFrame]) -> Locations:
    small_people().to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


def test_what_was_published_is_told_alike_to_people_and_programs(
    small_policy: Callable[..., Policy], locations: Locations, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = small_policy()
    written = make_release(policy, locations)
    account = account_of(policy, None, written, locations)
    print_release(policy, None, written, locations, exact=False)
    out = capsys.readouterr().out
    for line in (
        account["data"],
        account["manifest"],
        account["report"],
        account["ledger"],
        *account["left"],
    ):
        assert line in out
    assert account["published"] and "ε = 2 is booked" in account["ledger"]


def test_a_refusal_by_the_gate_has_verdicts_and_no_value(
    small_policy: Callable[..., Policy], locations: Locations
) -> None:
    policy = small_policy(gate={"linking_risk": 0.0})
    with pytest.raises(GateRefused) as caught:
        make_release(policy, locations)
    report = caught.value.report
    assert isinstance(report, GateReport)
    assert any(verdict.value is not None for verdict in report.verdicts)
    said = refusal_account(policy, None, caught.value)
    assert [verdict["limit"] for verdict in said["verdicts"]] == [one.limit for one in report.verdicts]
    assert {verdict["value"] for verdict in said["verdicts"]} == {None}
    assert "error" not in said


def test_what_was_refused_before_the_gate_says_why_and_not_by_how_much(
    small_policy: Callable[..., Policy],
) -> None:
    refused = InfeasibleError("k must be smaller.", k=5, reached_k=3, suppressed=0.1234)
    said = refusal_account(small_policy(), "2026-01-05", refused)
    assert (said["published"], said["partition"], said["verdicts"]) == (False, "2026-01-05", [])
    assert said["error"].startswith("k must be smaller.")
    assert "12.34" not in str(said)
