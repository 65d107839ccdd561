"""What refuses a release before anything is read, or before noise is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import GateRefused, InputError, Locations, PolicyError, anonymize
from anon_pipeline.policy import Policy
from anon_pipeline.publish import early_refusals
from anon_pipeline.publish.early_refusals import before_noise, refuse_early
from anon_pipeline.stages.private import Staged

Small = Callable[..., Policy]


def test_a_policy_below_the_defaults_of_its_project_is_refused(small_policy: Small, tmp_path: Path) -> None:
    (tmp_path / "policy.defaults.yaml").write_text(
        "type: anon_pipeline.PolicyDefaults\nattributes:\n  anonymize: {k: 50}\n"
    )
    with pytest.raises(PolicyError, match="must protect at least as much as 50"):
        refuse_early(small_policy(), Locations.of(tmp_path, {}), None, None)
    refuse_early(small_policy(anonymize={"k": 50}, gate={"k": 50}), Locations.of(tmp_path, {}), None, None)


def test_paths_outside_of_the_project_are_refused(small_policy: Small, tmp_path: Path) -> None:
    policy = small_policy(source={"path": "../people.csv"})
    with pytest.raises(InputError, match="must stay within"):
        refuse_early(policy, Locations.of(tmp_path, {}), None, None)


def test_identifiers_that_are_left_are_found_before_noise_is_drawn(
    small_policy: Small, small_people: Callable[..., pd.DataFrame]
) -> None:
    people = small_people().assign(note=[f"p{i}@example.org" for i in range(len(small_people()))])
    with pytest.raises(GateRefused, match="No noise was drawn, and no ε was spent") as refused:
        anonymize(small_policy(), people)
    assert "example.org" not in str(refused.value)


def test_what_the_gate_would_refuse_is_said_before_what_cannot_be_delivered(
    small_policy: Small, small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()
    monkeypatch.setattr(early_refusals, "refuse_before_drawing", lambda policy, staged: asked.append("gate"))
    refusals = before_noise(small_policy(), Path(), deliverable=lambda staged: asked.append("destination"))
    refusals.worth_drawing(Staged(small_people(), {}))
    assert asked == ["gate", "destination"]
