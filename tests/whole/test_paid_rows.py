"""A release that is paid for is published again with its rows alone, in whatever order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import Locations
from anon_pipeline.base.errors import GateRefused
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.publish import Published, publish
from anon_pipeline.publish.accounting.booking import booking
from anon_pipeline.publish.draws.draw_keys import draws_of
from anon_pipeline.publish.draws.drawing import Opening
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Staged
from tests.acknowledging import acknowledged

Small = Callable[..., Policy]


class World:
    """A project on disk whose tables are kept between the stages, as Dagster's vault does."""

    def __init__(self, folder: Path, people: pd.DataFrame) -> None:
        self.people, self.places = people, Locations.of(folder, {})

    @property
    def book(self) -> Ledger:
        return ledger_at(self.places.ledger)

    def drawn(self, policy: Policy, *, booked: bool = True) -> tuple[Staged, Staged]:
        """Run the stages to `k_anonymized` and `perturbed`; without a booking nobody pays for the noise."""
        opens = Opening(booking(policy, self.places), draws_of(policy, self.places, None)) if booked else None
        raw = pipeline.raw(policy, self.people, entropy=system_entropy())
        recoded = pipeline.k_anonymized(policy, pipeline.deidentified(policy, raw, key=None))
        return recoded, pipeline.perturbed(policy, recoded, entropy=system_entropy(), opens=opens)

    def publish(self, policy: Policy, made: tuple[Staged, Staged], **said: Any) -> Published:
        """Materialize `shuffled` and what follows, with other facts of the noise if wanted."""
        recoded, noisy = made
        shuffled = pipeline.shuffled(policy, noisy, entropy=system_entropy())
        table = pipeline.suppressed(policy, shuffled, recoded)
        facts = {**table.facts, "perturbed": {**table.facts["perturbed"], **said}}
        return publish(replace(table, facts=facts), recoded.frame, policy, locations=self.places)


@pytest.fixture
def world(tmp_path: Path, small_people: Callable[..., pd.DataFrame]) -> World:
    return World(tmp_path, small_people())


@pytest.mark.parametrize("noise", [True, False])
def test_the_same_rows_shuffled_anew_are_published_for_nothing(
    world: World, small_policy: Small, noise: bool
) -> None:
    policy = small_policy(budget={"epsilon": 2}) if noise else without_noise(small_policy)
    made = world.drawn(policy)
    first, second = (world.publish(policy, made) for _ in range(2))
    assert first.manifest["data_digest"] != second.manifest["data_digest"]
    assert len({event.release_id for event in world.book.events()}) == 1
    assert len({event.rows_digest for event in world.book.events()} - {None}) == 1


def test_a_second_draw_with_the_facts_of_a_paid_one_is_refused(world: World, small_policy: Small) -> None:
    """Whoever can write to a vault without a key could publish draw after draw for one ε."""
    policy = small_policy(budget={"epsilon": 2})
    first = world.drawn(policy)
    paid = first[1].facts["perturbed"]["release_id"]
    out = world.publish(policy, first)
    for _ in range(2):
        with pytest.raises(GateRefused, match="its ε has paid for one table, and this is another"):
            world.publish(policy, world.drawn(policy, booked=False), release_id=paid)
    assert [path.name for path in out.path.parent.glob("*.parquet")] == [out.path.name]
    world.publish(policy, first)


def without_noise(small_policy: Small) -> Policy:
    return small_policy(
        perturb=None,
        suppress=None,
        acknowledged=acknowledged("height", "note", share=0.5),
        gate={"attacks": {"known_columns": [{"columns": ["height"], "risk": 1}]}},
        columns={"height": {"role": "insensitive", "unit": None, "resolution": None}},
    )
