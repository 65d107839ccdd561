"""Places and digests that do not depend on the order of a table."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.canonical import canonical_form
from anon_pipeline.base.errors import InputError

ROWS = st.lists(
    st.tuples(
        st.none() | st.sampled_from(["a", "b", "", "ä", "a\x00"]),
        st.none() | st.sampled_from([0.0, -0.0, 1.5, -2.0, 1e300]),
        st.integers(-2, 2) | st.sampled_from([2**62, -(2**62)]),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


def table(rows: list[tuple]) -> pd.DataFrame:
    texts, numbers, whole, flags = zip(*rows, strict=True)
    return pd.DataFrame(
        {
            "text": pd.array(texts, dtype="str"),
            "number": np.array(numbers, dtype=np.float64),
            "whole": np.array(whole, dtype=np.int64),
            "flag": flags,
            "kind": pd.Categorical(texts, categories=["ä", "b", "a", "", "a\x00", "unused"]),
        }
    )


@given(ROWS, st.randoms(use_true_random=False))
def test_equal_records_in_any_order_have_equal_places_and_one_digest(rows, random):
    shuffled = list(range(len(rows)))
    random.shuffle(shuffled)
    whole, mixed = table(rows), table([rows[i] for i in shuffled])
    first, second = canonical_form(whole), canonical_form(mixed)
    assert first.digest == second.digest
    at_first = whole.iloc[np.argsort(first.places)].reset_index(drop=True)
    at_second = mixed.iloc[np.argsort(second.places)].reset_index(drop=True)
    pd.testing.assert_frame_equal(at_first, at_second, check_categorical=False)
    assert sorted(first.places.tolist()) == list(range(len(rows)))


def test_places_are_the_lexicographic_order():
    frame = pd.DataFrame({"a": ["b", "a", None, "b"], "b": [1, 5, 9, 0]})
    assert canonical_form(frame).places.tolist() == [3, 1, 0, 2]


def test_what_differs_has_another_digest():
    frames = [
        pd.DataFrame({"a": [1, 2], "b": [1, 2]}),
        pd.DataFrame({"a": [1, 2], "b": [2, 1]}),
        pd.DataFrame({"b": [1, 2], "a": [1, 2]}),
        pd.DataFrame({"a": [1, 2], "c": [1, 2]}),
        pd.DataFrame({"a": [1, 2, 2], "b": [1, 2, 2]}),
        pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2]}),
        pd.DataFrame({"a": ["1", "2"], "b": [1, 2]}),
        pd.DataFrame({"a": [1, 2], "b": [1, None]}),
        pd.DataFrame({"a": [1, 2]}),
        pd.DataFrame({"a": [1, 1], "b": [1, 2]}),
        pd.DataFrame({"a": [1, None], "b": [1, 2]}),
        pd.DataFrame({"a": [None, None], "b": [1, 2]}),
    ]
    assert len({canonical_form(frame).digest for frame in frames}) == len(frames)


def test_a_missing_value_is_not_an_empty_text():
    frames = [pd.DataFrame({"a": pd.array(values, dtype="str")}) for values in (["", "a"], [None, "a"])]
    assert canonical_form(frames[0]).digest != canonical_form(frames[1]).digest


@given(ROWS, ROWS)
def test_digests_are_equal_for_equal_records_alone(one, other):
    def said(rows):
        return sorted(repr(tuple(0.0 if v == 0 and isinstance(v, float) else v for v in row)) for row in rows)

    assert (canonical_form(table(one)).digest == canonical_form(table(other)).digest) == (
        said(one) == said(other)
    )


def test_places_of_a_slow_twin():
    rows = list(itertools.product([3, 1, 2], ["y", "x"], [0.5, -1.0]))
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    order = sorted(range(len(rows)), key=lambda i: rows[i])
    assert np.argsort(canonical_form(frame).places).tolist() == order


def test_no_records():
    assert canonical_form(pd.DataFrame({"a": pd.Series([], dtype="str")})).places.tolist() == []


def test_what_no_table_file_holds_is_refused_without_its_values():
    with pytest.raises(InputError, match="must hold numbers") as caught:
        canonical_form(pd.DataFrame({"a": [["secret"], ["b"]]}))
    assert "secret" not in str(caught.value)
