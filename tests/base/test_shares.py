"""A share in per cent: few digits, and never all or nothing where it is neither."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.shares import percent, percent_at_most


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.5, "50 %"),
        (1 / 15, "6.67 %"),
        (0.04851, "4.85 %"),
        (0.2, "20 %"),
        (0.999, "99.9 %"),
        (0.9996, "99.96 %"),
        (0.99999, "99.999 %"),
        (0.00001, "0.001 %"),
        (0.000009, "below 0.001 %"),
        (1.0004, "100.04 %"),
        (-0.0312, "-3.12 %"),
        (float("inf"), "inf %"),
    ],
)
def test_examples(share: float, text: str) -> None:
    assert percent(share) == text


@given(st.floats(1e-5, 1))
def test_it_is_near_the_share_and_all_only_for_all(share: float) -> None:
    said = percent(share)
    assert float(said.removesuffix(" %")) / 100 == pytest.approx(share, rel=0.006)
    assert (said == "100 %") == (share > 1 - 1e-15)
    assert said != "0 %"


def test_more_digits() -> None:
    assert (percent(0.123456, 5), percent(0.123456, 2)) == ("12.346 %", "12 %")


@pytest.mark.parametrize("k", range(2, 200))
def test_a_bound_is_no_less_than_the_share(k: int) -> None:
    bound = float(percent_at_most(1 / k).removesuffix(" %")) / 100
    assert 1 / k - 1e-13 <= bound <= 1.01 / k


@given(st.floats(1e-5, 0.999_99), st.integers(2, 6))
def test_any_bound_is_near_and_not_below(share: float, digits: int) -> None:
    bound = float(percent_at_most(share, digits).removesuffix(" %").replace(",", "")) / 100
    assert bound >= share * (1 - 1e-11)
    assert bound <= share * (1 + 10.0 ** (1 - digits)) + 1e-12
    assert bound < 1


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (0.2, "20 %"), (2e-6, "below 0.001 %"), (0.9996, "99.96 %")]
)
def test_a_bound_is_written_as_a_share(share: float, text: str) -> None:
    assert percent_at_most(share) == text == percent(share)
