"""A mistake says how many, never which: numbers of records go aside, and are in no text of the error."""

from __future__ import annotations

import pickle

import numpy as np

from anon_pipeline.base.mistakes import Mistake, mistakes_error

RULE = "must be a number"


def mistake(rows: list[int], size: int = 9000) -> Mistake:
    marked = np.zeros(size, dtype=bool)
    marked[rows] = True
    return Mistake("balance", RULE, "without a digit", marked, "Write missing.")


def test_its_text_has_counts_and_no_record() -> None:
    assert mistake([7776]).text == "balance: must be a number, got 1 record without a digit. Write missing."
    assert mistake([1, 7776]).text.startswith("balance: must be a number, got 2 records without a digit")


def test_records_are_counted_from_1_and_the_first_ten_are_named() -> None:
    assert mistake([0, 7776]).where.first == "balance, without a digit: 1, 7777"
    assert mistake(list(range(12))).where.first == (
        "balance, without a digit: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more"
    )


def test_the_error_withholds_the_records() -> None:
    error = mistakes_error([mistake([7776])], ["note: must have a value"], names=["column 1: x"])
    assert error.withheld_records() == ("balance, without a digit: 7777",)
    assert error.withheld_names() == ("column 1: x",)
    assert error.problems == (mistake([7776]).text, "note: must have a value")
    for shown in (str(error), repr(error), repr(vars(error))):
        assert "7777" not in shown
        assert "7777" not in repr(error.withheld_numbers())
    assert pickle.loads(pickle.dumps(error)).withheld_records() == ()
    assert pickle.loads(pickle.dumps(error)).withheld_numbers() == ()
