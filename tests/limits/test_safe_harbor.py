"""The limit `safe_harbor`: judged where it is demanded, at the gate, of a file alone, by `verify`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import Policy, anonymize
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.gate import Status, evaluate
from anon_pipeline.limits.table import limits_of
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.manifest.guarantee import guarantee
from anon_pipeline.publish.verify.verify import Against, verify_release
from anon_pipeline.publish.whole_chain import make_release

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
ON = {"safe_harbor": True, "attacks": {"known_columns": [{"columns": ["note"], "risk": 1}]}}
STATES = ["Ohio", "Texas", "Utah"]


def in_states(people: People) -> pd.DataFrame:
    return people().assign(city=lambda frame: np.array(STATES)[pd.factorize(frame["city"])[0]])


def test_it_is_judged_where_it_is_demanded(small_policy: Small) -> None:
    assert "safe_harbor" in limits_of(small_policy(gate=ON))
    assert "safe_harbor" not in limits_of(small_policy())


def test_the_guarantee_says_what_is_not_checked(small_policy: Small) -> None:
    [said] = [line for line in guarantee(small_policy(gate=ON)) if "Safe Harbor" in line]
    assert "actually knows" in said and "free text" in said and "rare" in said
    assert not any("Safe Harbor" in line for line in guarantee(small_policy()))


def test_a_release_that_keeps_it_passes_and_a_careless_one_does_not(
    small_policy: Small, small_people: People
) -> None:
    policy = small_policy(gate=ON)
    kept = anonymize(policy, in_states(small_people))
    careless = anonymize(policy, small_people())
    assert kept.report.passed
    assert [verdict.limit for verdict in careless.report.unkept] == ["safe_harbor"]
    [verdict] = careless.report.unkept
    assert verdict.reason is not None and verdict.reason.startswith("city: by its name it holds places")
    assert "Cork" not in verdict.reason


def test_a_file_alone_shows_it(small_policy: Small, small_people: People) -> None:
    policy = small_policy(gate=ON)
    for people, status in ((in_states(small_people), Status.PASSED), (small_people(), Status.REFUSED)):
        file = people.drop(columns="person").assign(age="[20, 30)")
        [verdict] = [one for one in evaluate(file, policy).verdicts if one.limit == "safe_harbor"]
        assert verdict.status is status


def test_verify_judges_it_anew(small_policy: Small, small_people: People, tmp_path: Path) -> None:
    policy = small_policy(gate=ON)
    places = Locations(sources=tmp_path, hierarchies=tmp_path, releases=tmp_path, vault=tmp_path / "vault")
    in_states(small_people).to_csv(tmp_path / "people.csv", index=False)
    make_release(policy, places)
    verdicts = verify_release(tmp_path / "out", Against(policy)).verdicts
    assert [verdict for verdict in verdicts if verdict.status is Status.REFUSED] == []
    small_people().to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(GateRefused, match="city: by its name it holds places"):
        make_release(policy, places)
