"""A ledger in SQLite, and the same in a real PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.ledger.store import store_at
from anon_pipeline.policy.sections import Budget

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of a ledger that is not there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.sqlite"
    found: str = request.getfixturevalue("postgres_url")
    return found


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def book(url: str, clock: Clock) -> Ledger:
    """An empty ledger with a clock that is set by hand."""
    return Ledger(store_at(url), "a-run", clock)


@pytest.fixture
def asked() -> Callable[..., Asked]:
    """What a release of the dataset `people` asks for."""

    def make(
        epsilon: str = "2",
        budget: float | None = None,
        *,
        per: str = "dataset",
        window: int | None = None,
        partition: str | None = None,
        dataset: str = "people",
    ) -> Asked:
        limit = None if budget is None else Budget(epsilon=budget, per=per, window=window)  # type: ignore[arg-type]
        return Asked(dataset, "small", partition, "policy", "making", 5, epsilon, limit)

    return make
