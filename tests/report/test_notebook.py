"""A release, a report, a tuning and a recoding in a notebook: exact numbers, and no cell of the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import Grid, Policy, anonymize, tune
from anon_pipeline.base.notebook import CURATOR
from anon_pipeline.hierarchy.build import code_column
from anon_pipeline.recode import Constraints, recode
from tests.recode.asking import ask

Make = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def test_a_release_that_passed(small_policy: Make, small_people: People) -> None:
    release = anonymize(small_policy(), small_people())
    html = release._repr_html_()
    assert html is not None
    assert "Release small: passed" in html and "Gate: passed" in html
    assert " of 240 records" in html
    assert html.count("<img") == 2
    assert CURATOR in html
    exact = [one for one in release.report.verdicts if one.value is not None and not one.recomputable]
    assert exact  # what the public report does not have
    assert all(f"<td>{one.measured}</td>" in html for one in exact)
    released = set(release.frame.astype(str).to_numpy().ravel()) - {"*"}
    assert not any(f"<td>{value}</td>" in html for value in released if len(value) > 3)


def test_of_a_refused_one_the_verdicts_alone(small_policy: Make, small_people: People) -> None:
    html = anonymize(small_policy(gate={"linking_risk": 0.0}), small_people())._repr_html_()
    assert html is not None
    assert "refused: nothing of the table is shown" in html and "refused by linking_risk" in html
    assert "<img" not in html and "of 200 records" not in html


def test_a_tuning(small_policy: Make, small_people: People) -> None:
    found = tune(small_policy(), small_people(), Grid(k=(2, 5), epsilon=(1.0, 2.0)))
    html = found._repr_html_()
    assert html.count("<img") == 1
    assert html.count("<tr>") == 1 + len(found.points)
    assert CURATOR in html


@pytest.mark.parametrize("recoder", ["optimal", "mondrian"])
def test_a_recoding(small_policy: Make, small_people: People, recoder: str) -> None:
    columns, people = small_policy().generalized, small_people()
    coded = [code_column(people[name], column.hierarchy) for name, column in columns.items()]
    codes = np.column_stack([own for own, _ in coded])
    found = recode(ask(codes, tuple(hierarchy for _, hierarchy in coded), Constraints(3, 20), recoder))
    html = found._repr_html_()
    sizes = np.unique(found.codes[found.codes[:, 0] >= 0], axis=0, return_counts=True)[1]
    assert f"<td>classes</td><td>{len(sizes)}</td>" in html
    assert f"<td>records suppressed</td><td>{found.suppressed}</td>" in html
    assert ("<td>by class</td>" in html) == (recoder == "mondrian")
