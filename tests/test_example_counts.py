"""How many examples are tried: a part by default, all if the environment says so."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.example_counts import EXAMPLES, examples_of


def test_a_part_is_tried_unless_all_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(EXAMPLES, raising=False)
    assert [examples_of(most) for most in (5, 12, 25, 100, 300)] == [5, 12, 12, 40, 120]
    monkeypatch.setenv(EXAMPLES, "100")
    assert [examples_of(most) for most in (5, 12, 25, 100, 300)] == [5, 12, 25, 100, 300]


def test_tests_that_name_no_number_try_a_part_of_the_usual_one() -> None:
    assert settings().max_examples == examples_of(100)
