"""Whom a class of a release may be about, by hand and against looking at every person."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.evidence.population_risk import class_populations, sampled_risk
from anon_pipeline.hierarchy import code_column
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy.load import policy_from
from anon_pipeline.sources.population import Population
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Means

FULL_DOMAIN = tuple(n for n, r in RECODERS.items() if r.family.name == "full_domain")


def policy_of(hierarchies, recoder):
    return policy_from(
        {
            "name": "x",
            "source": {"path": "x.csv"},
            "columns": {n: {"role": "generalize", "hierarchy": h} for n, h in hierarchies.items()},
            "anonymize": {"k": 2, "recoder": recoder},
        }
    )


def counted(hierarchies, recoder, released, people):
    """Count persons for each record of one release: columns are the hierarchies' names."""
    policy = policy_of(hierarchies, recoder)
    evidence = evidence_from(pd.DataFrame(released), policy)
    found = class_populations(evidence, policy, Population(pd.DataFrame(people), "0" * 64))
    return found[evidence.classes.labels].tolist()


INTERVALS = {"age": {"intervals": [10]}}


@pytest.mark.parametrize(
    ("released", "persons"),
    [
        (["[20, 30)", "[30, 40)", "[20, 30)"], [3, 1, 3]),
        (["[20, 30)", "*"], [3, 6]),  # a blanked cell may be anybody, of other classes too
        (["[20, 30)", None], [3, 1]),
        (["20", "25"], [2, 1]),  # on the lowest level
        (["[20, 30)", "[80, 90)"], [3, 0]),  # nobody of the population
        (["*"], [6]),
    ],
)
def test_a_level_covers_what_is_below_it(released, persons):
    people = {"age": [20, 20, 25, 30, 49, None]}
    assert counted(INTERVALS, "ola", {"age": released}, people) == persons


@pytest.mark.parametrize(
    ("hierarchy", "people", "released", "persons"),
    [
        ({"numbers": True}, [1, 2.5, 3, 9, None], ["[2, 3]", "[1, 9]", "2.5", None, "*"], [2, 4, 1, 1, 5]),
        ({"numbers": True}, [-10, 9, 10], ["[-10.5, 9]"], [2]),  # by number, not by text
        ({"intervals": [10]}, [8, 9, 10], ["[9, 12]", "[0, 10)"], [2, 2]),
        ({"dates": ["year"]}, ["2001-01-01", "2001-12-31", "2003-05-05"], ["[2001-06-01, 2003-05-05]"], [2]),
        ({"order": ["low", "mid, so so", "high"]}, ["low", "mid, so so", "high"], ["[low, mid, so so]"], [2]),
        ({"tree": {"A": ["a", "b"], "B": ["c"]}}, ["a", "a", "b", "c"], ["A", "a", "c", "*"], [3, 2, 1, 4]),
        ({"tree": {"A": ["a", "b"], "B": ["c"]}}, ["a", "b", "c"], ["[a, b]"], [0]),  # no range there
        (None, ["a", "b", "a"], ["a", "*"], [2, 3]),
        ({"numbers": True}, [1, 2], ["[1, x]", "[, 2]", "1]", "[1,2]", ""], [0] * 5),
    ],
)
def test_local_recodings_cover_nodes_and_ranges(hierarchy, people, released, persons):
    assert counted({"q": hierarchy}, "mondrian", {"q": released}, {"q": people}) == persons


NAMED = {
    "groups": ["a;a1;X;*", "b;b1;X;*", "c;X;C2;*"],
    "levels": ["a;a;*", "b;a;*", "e;b;*", "f;b;*"],
    "pairs": ["a;o;g;*", "b;o;g;*", "c;x;o;*", "d;y;o;*"],
}


def counted_by_table(tmp_path, table, recoder, released, people):
    (tmp_path / "q.csv").write_text("\n".join(NAMED[table]), encoding="utf-8")
    hierarchies = {name: {"table": "q.csv"} if name == "q" else {"suppress": True} for name in released}
    policy = policy_of(hierarchies, recoder)
    evidence = evidence_from(pd.DataFrame(released), policy, hierarchies=tmp_path)
    found = class_populations(evidence, policy, Population(pd.DataFrame(people), "0" * 64))
    return found[evidence.classes.labels].tolist()


@pytest.mark.parametrize("recoder", ["top_down", "mondrian", "local"])
def test_of_values_of_one_name_that_of_the_fewest_people_counts(tmp_path, recoder):
    people = {"q": ["a"] * 3 + ["b"] * 2 + ["c"] * 50}
    assert counted_by_table(tmp_path, "groups", recoder, {"q": ["X", "X"]}, people) == [5, 5]


def test_of_levels_that_make_the_same_names_that_of_the_fewest_people_counts(tmp_path):
    people = {"q": ["a"] * 400 + ["b"] * 500 + ["e", "f"]}
    assert counted_by_table(tmp_path, "levels", "optimal", {"q": ["a", "b"]}, people) == [400, 2]


def test_the_fewest_people_are_those_of_a_class_and_not_of_a_column(tmp_path):
    """Of all z the first group named o has fewer people, of z = 1 the second one."""
    people = {"q": ["a"] * 80 + ["c"] * 102, "z": ["1"] * 50 + ["0"] * 30 + ["1"] * 2 + ["0"] * 100}
    released = {"q": ["o", "o"], "z": ["1", "0"]}
    assert counted_by_table(tmp_path, "pairs", "top_down", released, people) == [2, 30]


def test_a_range_with_two_readings_is_that_of_the_fewest_people():
    order = {"order": ["a", "b, c", "a, b", "c"]}
    people = {"q": ["a"] * 999 + ["b, c"] + ["a, b", "c"]}
    assert counted({"q": order}, "local", {"q": ["[a, b, c]"] * 2}, people) == [2, 2]


def test_overlapping_classes_each_count_a_person():
    people = {"q": [1, 2, 3, 4], "r": ["a", "a", "b", "b"]}
    released = {"q": ["[1, 3]", "[2, 4]", "[1, 4]"], "r": ["*", "*", "b"]}
    assert counted({"q": {"numbers": True}, "r": None}, "mondrian_relaxed", released, people) == [3, 3, 2]


@pytest.mark.parametrize("cells", ["records", "cells"])
@pytest.mark.parametrize(
    "recoder", [name for name, one in RECODERS.items() if one.family.releases != "means"]
)
def test_everybody_who_was_released_fits_his_own_class(small_policy, small_people, recoder, cells):
    suppress = cells if recoder in FULL_DOMAIN else "records"
    levels = {"age": 1, "city": 1} if "levels" in RECODERS[recoder].options else None
    classes = "own" if "classes" in RECODERS[recoder].options else None
    own = {"recoder": recoder, "suppress": suppress, "levels": levels, "classes": classes}
    policy, people = small_policy(anonymize=own), small_people()
    if classes is not None:
        people["own"] = np.arange(len(people)) // 10
    chain = run(policy, people.iloc[:120], Means(None, None, seeded_entropy(1)))
    evidence = evidence_from(chain.suppressed.frame, policy)
    sample, everybody = (
        class_populations(evidence, policy, Population(some[["age", "city"]], "0" * 64))
        for some in (people.iloc[:120], people)
    )
    assert (sample >= evidence.classes.sizes).all()
    assert (everybody >= sample).all()
    assert everybody.sum() > sample.sum()
    shuffled = Population(people[["age", "city"]].sample(frac=1, random_state=3), "0" * 64)
    assert class_populations(evidence, policy, shuffled).tolist() == everybody.tolist()


def test_full_domain_counts_are_those_of_recoding_every_person(small_policy, small_people):
    policy, people = small_policy(), small_people(400, 5)
    chain = run(policy, people.iloc[:150], Means(None, None, seeded_entropy(1)))
    levels = chain.suppressed.facts["k_anonymized"]["levels"]
    recoded = {}
    for name, column in policy.generalized.items():
        codes, hierarchy = code_column(people[name], column.hierarchy)
        recoded[name] = hierarchy.values[levels[name]][hierarchy.lookups[levels[name]][codes]].astype(str)
    whole = pd.DataFrame(recoded).value_counts()
    evidence = evidence_from(chain.suppressed.frame, policy)
    found = class_populations(evidence, policy, Population(people[["age", "city"]], "0" * 64))
    mine = evidence.released[["age", "city"]].apply(tuple, axis=1)
    assert found[evidence.classes.labels].tolist() == [whole[key] for key in mine]


def test_a_class_is_about_no_fewer_persons_than_it_has_records(small_policy):
    policy = small_policy(perturb=None, suppress=None, columns={"height": None})
    rows = {"age": ["[20, 30)"] * 4 + ["[30, 40)"] * 2, "city": ["Cork"] * 6}
    released = pd.DataFrame(rows).assign(income=1, illness="x", note="y")
    people = Population(pd.DataFrame({"age": [20] + [35] * 8, "city": ["Cork"] * 9}), "0" * 64)
    risk = sampled_risk(evidence_from(released, policy), policy, people)
    assert (risk.journalist, risk.marketer) == (1 / 4, pytest.approx((4 / 4 + 2 / 8) / 6))


def test_values_that_no_hierarchy_covers_are_named_by_count():
    with pytest.raises(
        InputError, match=r"population: q: every value must be a leaf .* 2 records have"
    ) as raised:
        counted({"q": {"order": ["a", "b"]}}, "mondrian", {"q": ["a"]}, {"q": ["a", "CANARY", "CANARY"]})
    assert "CANARY" not in str(raised.value)


def test_a_categorical_column_is_read_as_its_values():
    people = pd.DataFrame({"age": pd.Categorical([20, 25, 31])})
    assert counted(INTERVALS, "ola", {"age": ["[20, 30)"]}, people) == [2]
    assert np.array_equal(people["age"].cat.codes, [0, 1, 2])
