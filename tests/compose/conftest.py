"""A policy that remembers, and people who can be recognized in its releases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.policy import Policy

KEEPS: dict[str, Any] = {
    "deidentify": {"key_env": "ANON_TEST_KEY"},
    "record_key": "person",
    "suppress": None,
    "gate": {"suppression": None},
}


@pytest.fixture
def keeping(small_policy: Callable[..., Policy], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Policy]:
    """The small policy with a record key, and its key in the environment."""
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")

    def make(**changes: Any) -> Policy:
        nested = {
            name: {**value, **changes.pop(name, {})} if isinstance(value, dict) else value
            for name, value in KEEPS.items()
        }
        return small_policy(**{**nested, **changes})

    return make


@pytest.fixture
def labelled(small_people: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
    """The small people, each with a note of its own, by which a test finds it in a release."""
    return lambda n=240: small_people(n).assign(note=lambda people: people["person"])
