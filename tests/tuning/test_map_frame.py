"""The frame of a map: its axes hold whatever is drawn on it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.tuning.map_frame import PAPER, scale_of

SHARE = st.floats(0, 1)


@given(points=st.lists(st.tuples(SHARE, SHARE), max_size=6))
def test_every_point_is_on_the_paper(points: list[tuple[float, float]]) -> None:
    scale = scale_of([loss for loss, _ in points], [risk for _, risk in points])
    for loss, risk in points:
        x, y = scale.place(loss, risk)
        assert PAPER.x(0) <= x <= PAPER.x(1) + 1e-9
        assert PAPER.y(1) - 1e-9 <= y <= PAPER.y(0) + 1e-9


def test_more_loss_is_to_the_right_and_more_risk_is_higher() -> None:
    scale = scale_of([0.1, 0.4], [0.001, 0.2])
    (x, y), (right, high) = scale.place(0.1, 0.001), scale.place(0.4, 0.2)
    assert x < right and y > high
