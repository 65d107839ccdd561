"""Thirty releases of the same people at ε = 8, really published: what they give away, and what stops them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import GateRefused, Locations, Policy, make_release
from anon_pipeline.ledger import ledger_at
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.publish.accounting.archive import VaultArchive

RELEASES = 30


class Weekly:
    """A release of the same people, published week after week; each record is found by its note."""

    def __init__(self, folder: Path, policy: Policy, people: pd.DataFrame) -> None:
        self.policy, self.locations = policy, Locations.of(folder, {})
        labeled = people.assign(note=people["person"])
        labeled.to_csv(folder / "people.csv", index=False)
        self.truth = labeled.set_index("note")["height"].sort_index()

    def release(self) -> pd.Series:
        archive = VaultArchive(self.policy, self.locations)
        written = make_release(self.policy, self.locations, archive=archive)
        return pd.read_parquet(written.path).set_index("note")["height"].sort_index()

    def error(self, guess: pd.Series) -> float:
        """Mean relative error of a guess at the heights."""
        return float(((guess - self.truth).abs() / self.truth).mean())

    def booked(self) -> list[Fraction]:
        found = release_states(ledger_at(self.locations.ledger).events()).values()
        assert {state.last.event for state in found} == {"published"}
        return [state.epsilon for state in found]


@pytest.fixture
def weekly(
    tmp_path: Path,
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
    traced: None,
) -> Callable[..., Weekly]:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    keeps: dict[str, Any] = {
        "deidentify": {"key_env": "ANON_TEST_KEY"},
        "record_key": "person",
        "columns": {"height": {"sensitivity": "declared", "input_bounds": [145, 195]}},
        "suppress": None,
        "gate": {"suppression": None},
    }

    def make(republish: str, **changes: Any) -> Weekly:
        perturb = {"epsilon": 8, "republish": republish}
        return Weekly(tmp_path, small_policy(**keeps, perturb=perturb, **changes), small_people())

    return make


def test_thirty_fresh_ones_give_the_values_away(weekly: Callable[..., Weekly]) -> None:
    made = weekly("fresh")
    seen = [made.release() for _ in range(RELEASES)]
    one, thirty = made.error(seen[0]), made.error(pd.concat(seen, axis=1).mean(axis=1))
    assert thirty < 0.01
    assert thirty < one / 3
    assert made.booked() == [8] * RELEASES


def test_the_gate_stops_them_long_before(weekly: Callable[..., Weekly]) -> None:
    made, seen = weekly("fresh", budget={"epsilon": 24}), []
    with pytest.raises(GateRefused, match="spent 24, requested 8, remaining 0"):
        for _ in range(RELEASES):
            seen.append(made.release())
    assert len(seen) == 3
    assert made.booked() == [8] * 3
    assert made.error(pd.concat(seen, axis=1).mean(axis=1)) > made.error(seen[0]) / 3


def test_thirty_sticky_ones_say_no_more_than_one(weekly: Callable[..., Weekly]) -> None:
    made = weekly("sticky", budget={"epsilon": 8})
    seen = pd.concat([made.release() for _ in range(RELEASES)], axis=1)
    assert np.array_equal(seen.mean(axis=1), seen.iloc[:, 0])
    assert made.error(seen.mean(axis=1)) == made.error(seen.iloc[:, 0])
    assert made.booked() == [8] + [0] * (RELEASES - 1)
