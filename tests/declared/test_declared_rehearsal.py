"""Rehearsals of releases with declared columns: judged as a release is, and nothing is left of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.declared.declared_rehearsal import rehearse_declared
from anon_pipeline.declared.draft import make_declared_release
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations

Project = tuple[EpsilonDpPolicy, Locations]
Changed = Callable[..., EpsilonDpPolicy]


def files(locations: Locations) -> set[Path]:
    return {path for path in locations.project.rglob("*") if path.is_file() and "ledger" not in path.name}


def test_it_says_what_a_release_would_and_leaves_nothing(dp_project: Project) -> None:
    policy, locations = dp_project
    before = files(locations)
    made = rehearse_declared(policy, locations)
    assert files(locations) == before and not list(ledger_at(locations.ledger).events())
    written = make_declared_release(policy, locations)
    assert made.records == written.manifest["records"]
    assert [(one.limit, one.status) for one in made.report.verdicts] == [
        (one.limit, one.status) for one in written.report.verdicts
    ]
    assert made.report.data_digest != written.report.data_digest  # another draw


def test_it_asks_the_budget_and_spends_nothing(dp_project: Project, changed: Changed) -> None:
    _, locations = dp_project
    policy = changed(budget={"epsilon": 1})
    for _ in range(3):
        rehearse_declared(policy, locations)
    make_declared_release(policy, locations)
    with pytest.raises(GateRefused, match="spent 1, requested 1, remaining 0"):
        rehearse_declared(policy, locations)


def test_what_a_release_refuses_a_rehearsal_refuses(dp_project: Project, changed: Changed) -> None:
    _, locations = dp_project
    with pytest.raises(GateRefused, match="expected error"):
        rehearse_declared(changed(gate={"expected_error": 1e-6}), locations)
    with pytest.raises(InputError, match="nowhere"):
        rehearse_declared(changed(source={"path": "nowhere.csv"}), locations)
