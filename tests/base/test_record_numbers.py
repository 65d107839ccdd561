"""A terminal sees the first records with a mistake, a private file all; no repr has one."""

from __future__ import annotations

import numpy as np

from anon_pipeline.base.record_numbers import RecordNumbers

LISTED = RecordNumbers("age, without a digit", np.arange(5000, 6234))


def test_the_first_ten_and_how_many_more() -> None:
    wanted = "5000, 5001, 5002, 5003, 5004, 5005, 5006, 5007, 5008, 5009 and 1,224 more"
    assert LISTED.first == f"age, without a digit: {wanted}"
    assert RecordNumbers("age", [3]).first == RecordNumbers("age", [3]).every == "age: 3"


def test_all_of_them() -> None:
    where, numbers = LISTED.every.split(": ")
    assert where == "age, without a digit"
    assert [int(one) for one in numbers.split(", ")] == list(range(5000, 6234))


def test_no_number_is_in_its_repr() -> None:
    assert "5000" not in repr(LISTED)
