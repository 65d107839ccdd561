"""The gate of synthetic releases: what attackers learn is judged, and not published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.declared.parts import Release
from anon_pipeline.gate import Status
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.synthetic import SyntheticPolicy
from anon_pipeline.synthetic import synthetic_gate
from anon_pipeline.synthetic.attackers import Learned
from anon_pipeline.synthetic.copies import synthetic_tables
from anon_pipeline.synthetic.synthetic_gate import judge_synthetic, refuse_synthetic

Synthetic = Callable[..., SyntheticPolicy]


@pytest.fixture
def release(synthetic: Synthetic, people: Callable[..., Any]) -> Release:
    codes = people(400)
    return Release(synthetic_tables(synthetic(), codes, NoiseKey(bytes(32))), 400, codes)


@pytest.mark.parametrize(
    ("learned", "refused"),
    [
        (Learned(0.0, 0.5, {}), []),
        (Learned(0.02, 0.55, {"pay": 0.05, "city": -0.1}), []),
        (Learned(0.021, 0.5, {}), ["copied_records"]),
        (Learned(0.0, 0.56, {"pay": 0.06, "city": 0.2}), ["membership", "attribute_gain"]),
    ],
)
def test_each_attacker_has_a_limit(
    synthetic: Synthetic,
    release: Release,
    monkeypatch: pytest.MonkeyPatch,
    learned: Learned,
    refused: list[str],
) -> None:
    monkeypatch.setattr(synthetic_gate, "learned_by_attackers", lambda policy, codes, people: learned)
    verdicts = judge_synthetic(synthetic(sensitive=["pay", "city"]), release)
    assert [one.limit for one in verdicts if one.status is Status.REFUSED] == refused
    assert all(one.to_json()["value"] is None for one in verdicts)
    if "attribute_gain" in refused:
        assert verdicts[-1].reason == "of city"


def test_files_alone_leave_the_attackers_unmeasured(synthetic: Synthetic, release: Release) -> None:
    verdicts = judge_synthetic(synthetic(), Release(release.tables, 400))
    assert [one.status for one in verdicts] == [Status.PASSED, *[Status.UNMEASURED] * 5]
    few = judge_synthetic(synthetic(), Release(release.tables[:2], 400))
    assert few[0].status is Status.REFUSED and "5 copies" in str(few[0].reason)
    strange = [release.tables[0], *(table.assign(age=100) for table in release.tables[1:])]
    assert judge_synthetic(synthetic(), Release(strange, 400))[0].status is Status.REFUSED


def test_without_a_sensitive_column_no_gain_is_measured(synthetic: Synthetic, release: Release) -> None:
    verdict = judge_synthetic(synthetic(), release)[-1]
    assert (verdict.limit, verdict.status, verdict.value) == ("attribute_gain", Status.WARNED, None)
    assert "not measured" in str(verdict.reason)
    assert judge_synthetic(synthetic(sensitive=["pay"]), release)[-1].value is not None


def test_attackers_need_people(synthetic: Synthetic, release: Release) -> None:
    few = replace(release, people=np.arange(400) // 5)
    verdicts = {one.limit: one.status for one in judge_synthetic(synthetic(person="id"), few)}
    assert verdicts["records_of_people"] is Status.REFUSED
    assert verdicts["membership"] is Status.UNMEASURED
    more = replace(release, people=np.arange(400) // 4)
    verdicts = {one.limit: one.status for one in judge_synthetic(synthetic(person="id"), more)}
    assert verdicts["records_of_people"] is verdicts["membership"] is Status.PASSED


def test_small_tables_are_refused(synthetic: Synthetic) -> None:
    refuse_synthetic(synthetic(k=10), 100)
    with pytest.raises(InputError, match="at least 10 times k records"):
        refuse_synthetic(synthetic(k=10), 99)
    assert np.isfinite(synthetic().gate.membership)
