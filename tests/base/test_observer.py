"""Observers: the two callbacks of 0.1.0 still hear what they heard."""

import pytest

from anon_pipeline.base.observer import Progress, Step, ignore, observer_of


def test_each_callback_hears_its_own_events_and_is_named_as_deprecated() -> None:
    steps: list[str] = []
    searched: list[Progress] = []
    with pytest.warns(DeprecationWarning, match="pass observe"):
        observe = observer_of(steps.append, searched.append)
    observe(Step("raw"))
    observe(Progress("searching", 3, 4))
    assert (steps, searched) == (["raw"], [Progress("searching", 3, 4)])


def test_one_callback_alone_is_enough() -> None:
    steps: list[str] = []
    with pytest.warns(DeprecationWarning):
        observe = observer_of(steps.append, None)
    observe(Progress("searching"))
    observe(Step("gate"))
    assert steps == ["gate"]


def test_events_are_words_and_coarse_counts() -> None:
    assert Progress("dividing", 1_000, 20).as_text() == "more than 512 records in classes"
    assert Progress("searching", 7, 3).as_text() == "more than 4 nodes counted (combinations of levels)"
    assert Progress("searching", 0, 3).as_text() == "comparing combinations of levels (nodes)"
    assert "once on a machine" in Progress("loading").as_text()
    ignore(Step("raw"))
