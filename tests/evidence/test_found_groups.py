"""Shares of records whose value gives their group away: by hand, and against a plain loop."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.evidence.evidence import Evidence, Originals, value_classes
from anon_pipeline.evidence.found_groups import MOSTLY, found_groups
from tests.example_counts import examples_of


def evidence(rows: list[tuple[int, str | None]], people: list[int] | None = None) -> Evidence:
    frame = pd.DataFrame({"place": [str(one) for one, _ in rows], "nation": [two for _, two in rows]})
    classes, own = value_classes(frame, ["place"]), np.arange(len(frame))
    behind = Originals(frame, classes.labels, own, np.empty((len(frame), 0)), np.array(people or own))
    return Evidence(frame, classes, behind if people is not None else None, hierarchies=None)  # type: ignore[arg-type]


def test_a_tenth_is_found_while_the_mean_is_low() -> None:
    """Ten classes of ten: one of a rare nation in each, of two of which one class has two."""
    rows = [(place, "rare" if at == 0 else "home") for place in range(10) for at in range(10)]
    assert found_groups(evidence(rows), "nation") == 0.1
    sizes = [1 if nation == "rare" else 9 for _, nation in rows]
    assert np.mean([1 / size for size in sizes]) == pytest.approx(0.2)
    rows[1] = rows[11] = (0, "rare")  # a mean chance of (1 + 9) / 12 is still beyond four fifths
    assert found_groups(evidence(rows), "nation") == pytest.approx(0.12)
    pairs = [(place, "rare" if at < 2 else "home") for place in range(10) for at in range(10)]
    assert found_groups(evidence(pairs), "nation") == 0


def test_a_gap_is_a_value_and_no_record_is_no_share() -> None:
    rows = [(place, None if at == 0 else "home") for place in range(10) for at in range(10)]
    assert found_groups(evidence(rows), "nation") == 0.1
    assert found_groups(evidence([]), "nation") == 0


def test_records_of_one_person_do_not_hide_each_other() -> None:
    rows = [(place, "rare" if at < 3 else "home") for place in range(4) for at in range(9)]
    assert found_groups(evidence(rows), "nation") == 0
    whose = [place if nation == "rare" else 100 + at for at, (place, nation) in enumerate(rows)]
    assert found_groups(evidence(rows, whose), "nation") == pytest.approx(1 / 3)


@settings(max_examples=examples_of(150))
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from(["a", "b", "c", None]), st.integers(0, 6)),
        min_size=1,
        max_size=40,
    ),
    st.booleans(),
)
def test_a_plain_loop_finds_the_same(rows: list[tuple[int, str | None, int]], of_people: bool) -> None:
    found = 0
    for value in ("a", "b", "c", None):
        having = [
            (place, who if of_people else at) for at, (place, own, who) in enumerate(rows) if own == value
        ]
        chances = [1 / len({who for other, who in having if other == place}) for place, _ in having]
        found += len(having) if chances and np.mean(chances) > MOSTLY + 1e-12 else 0
    people = [who for _, _, who in rows] if of_people else None
    table = evidence([(place, own) for place, own, _ in rows], people)
    assert found_groups(table, "nation") == pytest.approx(found / len(rows))
