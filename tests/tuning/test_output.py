"""What is said of points on a terminal."""

from __future__ import annotations

from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.tuning.output import short_verdicts, verdict
from tests.tuning.test_choose import point


def missed(limit: str, status: Status) -> Verdict:
    return Verdict(limit, status, 0.3, 0.2, "at most")


def test_limits_that_points_do_not_keep_are_numbered_and_named_once() -> None:
    points = [
        point(0.1, 0.1),
        point(0.1, 0.1, missed("utility_kept.x", Status.WARNED), missed("k", Status.REFUSED)),
        point(0.1, 0.1, missed("t_closeness.x", Status.WARNED), missed("utility_kept.x", Status.WARNED)),
        point(0.1, 0.1, missed("linking_risk", Status.REFUSED), missed("k", Status.REFUSED)),
    ]
    said, limits = short_verdicts(points)
    assert said == ["passes", "refused by 1", "passes, warns of 2, 3", "refused by 1, 4"]
    assert limits == ["1: k", "2: t_closeness.x", "3: utility_kept.x", "4: linking_risk"]
    assert verdict(points[2]) == "passes, warns: t_closeness.x, utility_kept.x"


def test_where_all_pass_nothing_is_named() -> None:
    assert short_verdicts([point(0.1, 0.1)]) == (["passes"], [])
