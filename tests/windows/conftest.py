"""Streams in memory and in folders: a policy, partitions of people, and what has gone with each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.packed_tables import unpack_table
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.stages.private import Means
from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.crypto import vault_key
from anon_pipeline.vault.keys import Keys
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.windows.window_states import WindowStates
from anon_pipeline.windows.window_table import Deployment, refuse_too_few, window_table

ATTRIBUTES: dict[str, Any] = {
    "name": "visits",
    "source": {"path": "arrivals/{partition}.csv"},
    "columns": {
        "id": {"role": "identifier", "action": "drop"},
        "age": {"role": "generalize", "hierarchy": {"intervals": [5, 10, 20, 40]}},
        "sex": {"role": "generalize", "hierarchy": {"suppress": True}},
        "ward": {"role": "insensitive"},
    },
    "anonymize": {"k": 4, "suppression_limit": 0.2},
    "schedule": {"partitions": "daily", "start": "2026-01-01"},
    "stream": {"delay": 2},
    "one_record_per_person": True,
}
DAYS = [f"2026-01-{day:02}" for day in range(1, 32)]


def stream_policy(**changes: Any) -> Policy:
    """Return the policy with some sections replaced; None leaves one out."""
    whole = {**ATTRIBUTES, **changes}
    return policy_from({name: one for name, one in whole.items() if one is not None})


def people(many: int, *, seed: int, first: int = 0) -> pd.DataFrame:
    """Return people that arrive together, with ids that are theirs alone."""
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": np.arange(first, first + many),
            "age": random.integers(20, 60, many),
            "sex": random.choice(["f", "m"], many),
            "ward": random.choice(list("abcdefgh"), many),
        }
    )


@dataclass
class Stream:
    """A stream, and what has gone with each partition."""

    policy: Policy
    states: WindowStates
    gone: dict[str, pd.DataFrame] = field(default_factory=dict)
    published: set[str] = field(default_factory=set)
    streamed: bool = False

    @property
    def means(self) -> Means:
        return Means(Path(), None, system_entropy())

    def take(self, partition: str, arrived: pd.DataFrame) -> pd.DataFrame:
        """Return what goes with a partition, and publish it."""
        found = unpack_table(
            window_table(
                self.policy,
                partition,
                lambda: arrived,
                self.states,
                self.means,
                Deployment(lambda: self.published, lambda: None, lambda: self.streamed),
            )
        )
        self.gone[partition] = found
        self.published.add(partition)
        return found

    @property
    def number(self) -> int:
        """Of decisions that are kept or were made."""
        kept = [self.states.read(one).decided.number for one in self.states.partitions()]
        return max(kept, default=-1) + 1

    def release(self, partition: str, arrived: pd.DataFrame) -> pd.DataFrame:
        """Return what a release of a partition is made of."""
        deployment = Deployment(lambda: self.published, lambda: None, lambda: self.streamed)
        found = window_table(self.policy, partition, lambda: arrived, self.states, self.means, deployment)
        refuse_too_few(self.policy, len(found))
        return unpack_table(found)

    def waiting(self, partition: str) -> pd.DataFrame:
        """Return what waits after a partition."""
        return self.states.read(partition).rows


@pytest.fixture
def stream(tmp_path: Path) -> Callable[..., Stream]:
    """Make a stream whose vault has a key."""
    vault = Vault(LocalStore(tmp_path / "vault"), Keys(vault_key(bytes(range(32)))))

    def make(**changes: Any) -> Stream:
        return Stream(stream_policy(**changes), WindowStates("visits", lambda: vault, tmp_path / "vault"))

    return make
