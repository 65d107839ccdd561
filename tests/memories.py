"""Policies that keep a memory, and people with labels, for releases that follow each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.policy import Policy

KEEPS: dict[str, Any] = {
    "deidentify": {"key_env": "ANON_TEST_KEY"},
    "record_key": "person",
    "columns": {"height": {"sensitivity": "declared", "input_bounds": [145, 195]}},
    "suppress": None,
    "gate": {"suppression": None},
}


def _together(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Put changes into nested mappings; a None stays, it removes a key of the small policy."""
    found = {**base, **changes}
    for name in base.keys() & changes.keys():
        if isinstance(base[name], dict) and isinstance(changes[name], dict):
            found[name] = _together(base[name], changes[name])
    return found


@pytest.fixture
def keeping(small_policy: Callable[..., Policy], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Policy]:
    """The small policy with a record key and noise of a public scale, and its key in the environment."""
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")

    def make(**changes: Any) -> Policy:
        return small_policy(**_together(KEEPS, changes))

    return make


@pytest.fixture
def labeled(small_people: Callable[..., pd.DataFrame], traced: None) -> Callable[..., pd.DataFrame]:
    """The small people, each with a note of its own, by which a test finds it in a release."""
    return lambda n=240: small_people(n).assign(note=lambda people: people["person"])
