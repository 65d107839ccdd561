"""The gate judges the bytes that would be written, and a refusal names limits without their values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline.base.errors import ANOTHER_DRAW, GateRefused, PublishError
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.gate import GateReport, Status, Verdict
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.publish.file_formats import from_bytes, read_back
from anon_pipeline.publish.judgment import judge, refuse_unless_passed
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Chain, Means

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


@pytest.fixture
def chain(small_policy: Small, small_people: People) -> Chain:
    return run(small_policy(), small_people(), Means(Path(), None, system_entropy()))


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_what_is_judged_is_what_the_bytes_hold(small_policy: Small, chain: Chain, form: str) -> None:
    policy = small_policy(publish={"format": form})
    judged = judge(chain.suppressed, chain.k_anonymized.frame, policy, hierarchies=Path())
    assert judged.report.passed
    assert RECORD not in judged.frame
    (file,) = judged.files
    assert judged.frame.equals(from_bytes(file.data, form, like=judged.frame))
    assert (file.described.records, file.described.size) == (len(judged.frame), len(file.data))


def test_a_changed_cell_is_found_by_the_digest_and_without_it_by_the_gate(
    small_policy: Small, chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(files: list[bytes], form: str, **how: object) -> pd.DataFrame:
        return read_back(files, form, **how).assign(city="Cork")  # type: ignore[arg-type]

    asked = (chain.suppressed, chain.k_anonymized.frame, small_policy())
    monkeypatch.setattr("anon_pipeline.publish.judgment.read_back", broken)
    with pytest.raises(PublishError, match="does not read back as it was written"):
        judge(*asked, hierarchies=Path())
    monkeypatch.setattr("anon_pipeline.publish.judgment.digest_frame", lambda frame: "equal")
    report = judge(*asked, hierarchies=Path()).report
    with pytest.raises(GateRefused, match="must be as in the vault"):
        refuse_unless_passed(report)


def test_a_refusal_names_limits_and_bounds_and_not_by_how_much() -> None:
    limits = (
        Verdict("k", Status.PASSED, 5.0, 3.0, "at least"),
        Verdict("linking_risk", Status.REFUSED, 0.8125, 0.2, "at most"),
    )
    report = GateReport(limits, "0" * 64, "1" * 64)
    for drawn in (False, True):
        with pytest.raises(GateRefused) as caught:
            refuse_unless_passed(report, drawn=drawn, kept="Kept by the curator.")
        assert caught.value.report is report
        said = str(caught.value)
        assert "linking_risk" in said
        assert "0.2" in said
        assert "0.8125" not in said
        assert "(Kept by the curator.)" in said
        assert (ANOTHER_DRAW in said) is drawn
    refuse_unless_passed(GateReport(limits[:1], "0" * 64, "1" * 64))
