"""Who sees a number; what nobody declared, and what needs a reason, only the curator."""

from __future__ import annotations

import pytest

from anon_pipeline.base.audience import CURATORS, Audience, Number, declaration_of, number_field


def test_a_number_of_the_originals_needs_a_reason_to_be_shown() -> None:
    for to in (Audience.PUBLIC, Audience.OPERATOR):
        with pytest.raises(ValueError, match="give a reason"):
            Number(("originals",), to)
        with pytest.raises(ValueError, match="give a reason"):
            Number(("policy",), to, "a reason that is not needed")
    with pytest.raises(ValueError, match="computed from"):
        Number(())


def test_each_audience_sees_what_the_one_before_sees() -> None:
    seen = [[audience.sees(Number(("the run",), to)) for to in Audience] for audience in Audience]
    assert seen == [[True, False, False], [True, True, False], [True, True, True]]


def test_a_mark_is_read_back_and_what_has_none_is_the_curators() -> None:
    number = Number(("policy",), Audience.PUBLIC)
    assert declaration_of(number_field(number)) is number
    assert declaration_of({}) is CURATORS
