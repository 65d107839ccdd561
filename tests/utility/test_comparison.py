"""A release held against its input: what covers what, what is predicted, what does not belong together."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import RECORD
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.utility.comparison import compare
from anon_pipeline.utility.results import utility
from tests.utility.released import Small, made, with_recoder


def test_what_a_range_covers_is_what_it_says(small_policy: Small, people: pd.DataFrame) -> None:
    policy = with_recoder(small_policy, "mondrian", k=8)
    found = made(policy, people)
    table = compare(found.evidence(), policy, found.before).table
    for column in table.generalized.values():
        assert (column.low[column.codes] <= column.own).all()
        assert (column.own <= column.high[column.codes]).all()
    ages, hierarchy = table.generalized["age"], table.generalized["age"].hierarchy
    texts = {
        f"[{hierarchy.values[0][a]}, {hierarchy.values[0][b]}]" if a < b else hierarchy.values[0][a]
        for a, b, level in zip(ages.low, ages.high, ages.levels, strict=True)
        if level <= 0
    }
    assert set(found.released["age"].dropna()) - {"*"} == texts - {None}


def test_means_are_the_numbers_that_are_released(small_policy: Small, people: pd.DataFrame) -> None:
    policy = with_recoder(small_policy, "mdav")
    found = made(policy, people)
    table = compare(found.evidence(), policy, found.before).table
    ages = table.generalized["age"]
    released = pd.to_numeric(found.released["age"]).dropna()
    own = ages.midpoints()[ages.codes[ages.codes >= 0]]
    assert sorted(own[~np.isnan(own)].tolist()) == sorted(released.tolist())
    days = table.generalized["born"]
    own = days.midpoints()[days.codes[days.codes >= 0]]
    born = pd.to_datetime(found.released["born"].dropna()).to_numpy().astype("datetime64[D]")
    assert sorted(own[~np.isnan(own)].tolist()) == sorted(born.astype(int).tolist())


def test_the_target_is_chosen_or_told(small_policy: Small, people: pd.DataFrame) -> None:
    policy = with_recoder(small_policy, "optimal")
    found = made(policy, people)
    assert utility(found.evidence(), policy, found.before).target == "illness"
    told = utility(found.evidence(), policy, found.before, target="note")
    assert (told.target, told.classifier.tested) == ("note", 50)
    for wrong in ("height", "person", "nobody"):
        with pytest.raises(InputError, match="target must be a sensitive or insensitive column"):
            utility(found.evidence(), policy, found.before, target=wrong)


def test_what_does_not_belong_together_is_refused(small_policy: Small, people: pd.DataFrame) -> None:
    policy = with_recoder(small_policy, "optimal")
    found = made(policy, people)
    alone = evidence_from(found.released, policy)
    with pytest.raises(InputError, match="a file alone does not have"):
        utility(alone, policy, found.before)
    before = found.before
    for other in (before.iloc[1:], before.assign(**{RECORD: 1}), before.drop(columns=RECORD)):
        with pytest.raises(InputError, match="must have the records of the vault"):
            utility(found.evidence(), policy, other)


@pytest.mark.parametrize("recoder", ["optimal", "mondrian", "mdav"])
def test_values_that_no_hierarchy_makes_are_counted_and_not_shown(
    recoder: str, small_policy: Small, people: pd.DataFrame
) -> None:
    policy = with_recoder(small_policy, recoder)
    found = made(policy, people)
    text = found.recoded["city"].iloc[0]
    forged = dataclasses.replace(
        found,
        recoded=found.recoded.replace({"city": {text: "Atlantis"}}),
        released=found.released.replace({"city": {text: "Atlantis"}}),
    )
    with pytest.raises(InputError, match=r"city: every released value .* got \d+ values") as refused:
        utility(forged.evidence(), policy, found.before)
    assert "Atlantis" not in str(refused.value)


def test_labels_and_answers_are_in_the_order_of_the_input(small_policy: Small, people: pd.DataFrame) -> None:
    policy = with_recoder(small_policy, "optimal")
    found = made(policy, people)
    held = compare(found.evidence(), policy, found.before, target="note")
    assert (held.records, int(held.sizes.sum())) == (150, len(found.released))
    released = found.recoded[RECORD].isin(found.released[RECORD]).to_numpy()
    assert ((held.labels >= 0) == released).all()
    notes = found.before.set_index(RECORD)["note"].loc[found.recoded[RECORD]].to_numpy()
    assert (np.array(["a", "b"])[held.answers] == notes).all()
    assert sorted(np.bincount(held.labels[released])) == sorted(held.sizes)
