"""What releases of the same people add up to, where no budget says which of them to count."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from anon_pipeline.ledger.book import Ledger
from anon_pipeline.ledger.budget import sum_spent
from anon_pipeline.ledger.requests import Asked
from anon_pipeline.policy.sections import Budget


def all_of_the_people(asked: Asked) -> Budget:
    """Return a budget that counts all releases ever of the same dataset, and of the same partition."""
    per: Literal["record", "dataset"] = "dataset" if asked.partition is None else "record"
    return Budget(epsilon=1.0, per=per)


def published_epsilon(ledger: Ledger, asked: Asked, *, but: str | None) -> Fraction:
    """Return the ε of the releases of the same people that were ever published, with those withdrawn.

    Noise that was drawn and never published shows nobody anything, and does not count here.

    Args:
        but: release that is left out, such as the one that asks.
    Raises:
        InputError: the ledger cannot be read.
    """
    with ledger.page() as page:
        entries = [entry for entry in page.others(but or "") if entry.published_at is not None]
    counted = all_of_the_people(asked)
    now = ledger.now()
    return sum_spent(entries, counted, dataset=asked.dataset, partition=asked.partition, now=now).epsilon
