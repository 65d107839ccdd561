"""What is published of an ε-DP release depends on the data through the noisy output alone.

A manifest, a report or an answer of the gate that depended on the data in another way would tell neighbouring
tables apart, whatever the noise.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import GateRefused
from anon_pipeline.declared import draft as draft_module
from anon_pipeline.declared.declared_verify import verify_declared
from anon_pipeline.declared.draft import DeclaredPublished, make_declared_release
from anon_pipeline.epsilon_dp import epsilon_dp_parts
from anon_pipeline.epsilon_dp.methods import noisy_table
from anon_pipeline.gate import Status
from anon_pipeline.perturb.entropy import Entropy
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.epsilon_dp import METHODS, EpsilonDpPolicy
from anon_pipeline.policy.locations import Locations
from tests.declared.dp_projects import people_policy

KEYS: dict[str, dict[str, Any]] = {"histograms": {}, "group_means": {"k": 30}, "column_means": {"k": 10}}
RECORDS = 120
REPLACED: list[tuple[str, str]] = [
    ("18", "Cork"),
    ("90", "Dublin"),
    ("1e300", "Galway"),
    ("", ""),
    ("no number", "<b>"),
]
"""Records, one of which takes the place of one record of the table."""


class Fixed(Entropy):
    """Random words that are equal each time, and that the gate does not know to have a seed."""

    @property
    def seeded(self) -> bool:
        return False


class Noon(datetime.datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Noon:
        return cls(2026, 11, 27, 12, tzinfo=tz)


@pytest.fixture(autouse=True)
def _equal_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all releases the same random numbers, and the same time."""
    monkeypatch.setattr(draft_module, "system_entropy", lambda: Fixed(0))
    monkeypatch.setattr(draft_module, "datetime", Noon)


@pytest.fixture
def projects(tmp_path: Path) -> list[Locations]:
    """Make projects whose tables differ from that of the first one in one record."""
    random = np.random.default_rng(0)
    ages, cities = random.integers(20, 80, RECORDS).astype(str), random.choice(["Cork", "Dublin"], RECORDS)
    people = pd.DataFrame({"age": ages, "city": cities})
    found = []
    for place, record in enumerate([("45", "Dublin"), *REPLACED]):
        folder = tmp_path / str(place)
        folder.mkdir()
        people.loc[7] = list(record)
        people.to_csv(folder / "people.csv", index=False)
        found.append(Locations.of(folder, {"ANON_PIPELINE_LEDGER": "off"}))
    return found


def policy_of(method: str, bound: float = 1) -> EpsilonDpPolicy:
    return people_policy(**{method: KEYS[method]}, epsilon=8, gate={"expected_error": bound})


def folder_of(made: DeclaredPublished) -> dict[str, bytes]:
    """Return all files of a release."""
    return {path.name: path.read_bytes() for path in made.manifest_path.parent.iterdir()}


@pytest.mark.parametrize("method", METHODS)
def test_with_an_equal_output_all_files_are_equal(
    projects: list[Locations], monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    policy, outputs = policy_of(method), list[pd.DataFrame]()

    def first_output(policy: EpsilonDpPolicy, codes: np.ndarray, key: NoiseKey) -> pd.DataFrame:
        outputs.append(noisy_table(policy, codes, key))
        return outputs[0]

    monkeypatch.setattr(epsilon_dp_parts, "noisy_table", first_output)
    made = [make_declared_release(policy, project) for project in projects]
    assert len(outputs) == len(projects) and len(folder_of(made[0])) == 4
    assert all(folder_of(one) == folder_of(made[0]) for one in made)
    assert all(one.report == made[0].report for one in made)


def without_digests(made: DeclaredPublished) -> dict[str, Any]:
    """Return a manifest without what says which bytes its files have."""
    document = json.loads(made.manifest_path.read_text())
    for place, keys in (
        (document, ("data_digest", "report")),
        (document["gate"], ("data_digest",)),
        (document["files"][0], ("name", "sha256", "size")),
    ):
        for key in keys:
            del place[key]
    return dict(document)


@pytest.mark.parametrize("method", METHODS)
def test_with_equal_noise_nothing_but_the_output_differs(projects: list[Locations], method: str) -> None:
    """The report follows from manifest, public policy and data: verifying it makes it again from these."""
    made = [make_declared_release(policy_of(method), project) for project in projects]
    assert len({one.manifest["data_digest"] for one in made}) > 1  # the data do enter
    assert all(one.report.verdicts == made[0].report.verdicts for one in made)
    assert all(without_digests(one) == without_digests(made[0]) for one in made)
    for one in made:
        assert not verify_declared(one.manifest_path.parent).with_status(Status.REFUSED)


@pytest.mark.parametrize("method", METHODS)
def test_the_gate_refuses_all_in_the_same_words_or_none(projects: list[Locations], method: str) -> None:
    refused = []
    for project in projects:
        with pytest.raises(GateRefused) as error:
            make_declared_release(policy_of(method, bound=1e-4), project)
        refused.append((str(error.value), error.value.report))
    assert all(one == refused[0] for one in refused) and "expected_error" in refused[0][0]
