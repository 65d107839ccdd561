"""The section anonymize: limits of suppression, and kinds of l-diversity."""

from __future__ import annotations

import pytest

from anon_pipeline.policy.recoding import Anonymize, LDiversity


@pytest.mark.parametrize("limit", [0, 0.05, 0.999])
def test_suppression_limits(limit: float) -> None:
    assert Anonymize(k=2, suppression_limit=limit).suppression_limit == limit


def test_kinds_of_l_diversity() -> None:
    assert LDiversity(l=2).kind == "distinct"
    assert LDiversity(kind="entropy", l=1.5).l == 1.5
    assert LDiversity(kind="recursive", l=3, c=0.5).c == 0.5
