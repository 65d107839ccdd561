"""Exchanges lower the error, and keep every limit."""

from __future__ import annotations

import numpy as np
import pytest

from anon_pipeline.recode.constraints import rules_of
from anon_pipeline.recode.microaggregation.centroids import error_of
from anon_pipeline.recode.microaggregation.merge import merge
from anon_pipeline.recode.microaggregation.microaggregation import clusters_of
from anon_pipeline.recode.microaggregation.slices import (
    form_by_algorithm_6,
)
from anon_pipeline.recode.microaggregation.space import Space, make_space
from anon_pipeline.recode.task import Task
from benchmarks.chapter7 import SECRETS, incomes, task

TABLE = incomes()


def spaced(asked: Task) -> Space:
    return make_space(asked, asked.by_record)


def book(asked: Task, space: Space) -> np.ndarray:
    """Algorithm 6 and, where ties leave more than t, Algorithm 4."""
    k, t = asked.constraints.k, asked.constraints.sensitive[0].t
    return merge(space, rules_of(asked.constraints), form_by_algorithm_6(space, limit=0, k=k, t=t or 0.0))


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("t", [0.05, 0.21])
def test_exchanges_lower_the_error_of_the_book_by_a_part(name: str, t: float) -> None:
    asked = task(TABLE, SECRETS[name], k=5, t=t, recoder="tclose_first")
    space = spaced(asked)
    labels, plain = clusters_of(asked, space), book(asked, space)
    assert labels.max() >= plain.max()
    assert error_of(space, labels) < error_of(space, plain)
