"""What an entry of a limit says of itself: what must be said, and that nothing is looser by default."""

from __future__ import annotations

import pytest

from anon_pipeline.limits.table import LIMITS
from anon_pipeline.limits.traits import Forecast, Judged, Published
from anon_pipeline.limits.verdicts import Status, Verdict


def test_a_limit_is_judged_in_one_way() -> None:
    with pytest.raises(ValueError, match="exactly one of measure and judge"):
        Judged()
    with pytest.raises(ValueError, match="exactly one of measure and judge"):
        Judged(lambda case, demand: 0.0, judge=lambda case, demand: Verdict("x", Status.PASSED))
    assert Judged(lambda case, demand: 0.5).bound(1) == 1.0


def test_tuning_judges_what_it_has_a_value_of() -> None:
    assert not Forecast().is_possible and not Forecast(certain=True).is_possible
    assert Forecast(value=lambda expected, policy: 0.5).is_possible
    assert Forecast(of_column=lambda expected, column: 0.5).is_possible


def test_a_manifest_records_value_and_bound_of_a_limit_that_says_no_more() -> None:
    plain = Published()
    assert plain.valued and plain.promise is None
    assert not (plain.boundless or plain.banded or plain.missing or plain.together)
    assert not (plain.compares_lists or plain.by_version)


def test_limits_without_a_value_promise_no_number_to_maps_and_bands() -> None:
    bare = [limit for limit in LIMITS if not limit.published.valued]
    assert bare
    assert not [limit.name for limit in bare if limit.forecast.is_possible or limit.forecast.mapped]
    assert not [limit.name for limit in bare if limit.published.banded or limit.judged.over_noise]


def test_one_limit_at_most_is_the_risk_on_maps_and_one_is_about_the_policy() -> None:
    assert sum(limit.forecast.mapped for limit in LIMITS) == 1
    assert [limit.advisable for limit in LIMITS if limit.of_policy] == [True]
