"""A project whose release the gate refuses, and what its runs have drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import Locations, make_release
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.ledger.budget import State, release_states
from anon_pipeline.ledger.fence import close
from anon_pipeline.policy import Policy
from anon_pipeline.publish import whole_chain as release_room
from tests.forked import killed

Small = Callable[..., Policy]
REFUSED: dict[str, Any] = {"gate": {"attacks": {"prosecutor_risk": 0.001}}}
"""A limit that the gate judges after the noise, and that these people never keep."""


class World:
    """A project on disk, and what came of each run in it: the noise that was made, in the records' order."""

    def __init__(self, folder: Path, policies: Small, people: pd.DataFrame) -> None:
        self.folder, self.policies, self.people = folder, policies, people
        self.places = Locations.of(folder, {})
        self.noise: list[dict[str, float]] = []

    def policy(self, **changes: Any) -> Policy:
        return self.policies(**changes)

    def run(self, policy: Policy, **options: Any) -> bool:
        """Make a release; say whether it was published."""
        self.people.to_csv(self.folder / "people.csv", index=False)
        try:
            make_release(policy, options.pop("places", self.places), **options)
        except GateRefused:
            return False
        return True

    @property
    def book(self) -> Ledger:
        return ledger_at(self.places.ledger)

    @property
    def states(self) -> list[State]:
        return list(release_states(self.book.events()).values())

    @property
    def sealed(self) -> list[Path]:
        """Every file that may hold the key of a draw."""
        return sorted(path for path in (self.folder / "vault").rglob("*") if ".draw" in path.name)

    @property
    def ids(self) -> list[str]:
        return [path.stem for path in self.sealed]

    def give_up(self, release_id: str) -> None:
        seen = release_states(self.book.events())[release_id].last.hash
        close(self.book, release_id, seen=seen, there=lambda: False)

    def killed(self, work: Callable[[], object]) -> None:
        """Do some work in a child process that must kill itself on the way."""
        assert killed(work)


@pytest.fixture
def world(
    tmp_path: Path,
    small_policy: Small,
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
    traced: None,
) -> World:
    people = small_people()
    people["note"] = [f"n{i}" for i in range(len(people))]  # says whose noise it is
    made = World(tmp_path, small_policy, people)
    perturb = release_room.run

    def noted(*given: Any, **named: Any) -> Any:
        chain = perturb(*given, **named)
        released = chain.suppressed.frame
        made.noise.append(dict(zip(released["note"], released["height"], strict=True)))
        return chain

    monkeypatch.setattr(release_room, "run", noted)
    return made
