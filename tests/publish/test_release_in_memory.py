"""What can be had and seen of a release in memory: of a refused one nothing."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from anon_pipeline import GateRefused, Policy, anonymize

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def test_the_table_that_is_handed_out_is_a_copy(small_policy: Small, small_people: People) -> None:
    release = anonymize(small_policy(), small_people())
    handed_out = release.frame
    handed_out.loc[:, "height"] = 0.0
    assert (release.frame["height"] != 0).all()


def test_a_refused_table_cannot_be_had_or_seen(small_policy: Small, small_people: People) -> None:
    people = small_people().assign(note="CANARY-7f3a")
    release = anonymize(small_policy(gate={"attacks": {"prosecutor_risk": 0.001}}), people)
    assert not release.report.passed
    with pytest.raises(GateRefused):
        _ = release.frame
    assert repr(release).startswith("Release(refused by prosecutor_risk; ")
    for shown in (repr(release), str(release), f"{release}"):
        assert "CANARY" not in shown
