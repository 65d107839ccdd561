"""What a release adds to those that the ledger has."""

from __future__ import annotations

from fractions import Fraction

from anon_pipeline.stages.history.in_ledger import NOTHING_IN_LEDGER, InLedger


def test_a_first_release_adds_nothing_up() -> None:
    assert NOTHING_IN_LEDGER.epsilon_with(8) is None


def test_later_releases_add_up_exactly() -> None:
    assert InLedger(published=Fraction("0.2")).epsilon_with(0.1) == Fraction("0.3")
