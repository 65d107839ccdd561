"""Values that a reader would take for a suppressed one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.policy.suppression_mark import TOP, looks_suppressed

BLANK = st.sampled_from([" ", "\t", "\u00a0", "\u200b", "\u2060", "\0", "\ufeff"])


@given(st.lists(BLANK), st.sampled_from(["*", "\uff0a", "\ufe61"]), st.lists(BLANK))
def test_blanks_invisible_signs_and_width_make_no_difference(
    before: list[str], star: str, after: list[str]
) -> None:
    assert looks_suppressed("".join([*before, star, *after]))


@pytest.mark.parametrize("value", ["", " ", "a", "a*", "**", "* a", "\u2605", None, 5, float("nan")])
def test_other_values_are_values(value: object) -> None:
    assert not looks_suppressed(value)


def test_the_mark_itself() -> None:
    assert looks_suppressed(TOP)
