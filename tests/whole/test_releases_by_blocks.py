"""Small blocks give the same release, facts and verdicts as one block, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import anonymize
from anon_pipeline.base import blocks
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.publish.release_in_memory import Release
from anon_pipeline.stages.history.memory import Memory
from tests.whole.test_packed_releases import CHANGES, KEY, same

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]

MORE: dict[str, dict[str, Any]] = {
    **CHANGES,
    "two columns with noise": {
        "columns": {"income": {"role": "perturb", "unit": "EUR", "resolution": 1000, "distance": None}},
        "suppress": {"confidence": 0.9},
    },
    "people with closeness": {
        "person": "person",
        "rows_per_person": 2,
        **KEY,
        "gate": {"t_closeness": {"illness": 0.6}, "utility": {"released": 0.1}},
    },
}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "a key of a test, " * 2)


@pytest.mark.parametrize("name", MORE)
def test_a_release_is_the_same(
    name: str, small_policy: Small, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, people = small_policy(**MORE[name]), small_people(400)
    if policy.person is not None:
        people["person"] = [f"person {i // 3}" for i in range(len(people))]
    memory = Memory.empty() if policy.record_key is not None else None

    def make() -> Release:
        return anonymize(policy, people, entropy=seeded_entropy(1), memory=memory)

    whole = make()
    monkeypatch.setattr(blocks, "BLOCK", 37)
    same(whole, make())
