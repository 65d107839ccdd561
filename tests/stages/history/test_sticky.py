"""Noise that stays: when it does, when it does not, and what averaging over releases is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anon_pipeline import Release, anonymize
from anon_pipeline.policy import Policy
from anon_pipeline.stages.history.memory import Memory, Past
from anon_pipeline.stages.history.sticky import largest_spent
from anon_pipeline.stages.private import Means

Keeping = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
STICKY: dict[str, Any] = {"republish": "sticky"}


def heights(release: Release) -> pd.Series:
    return release.frame.set_index("note")["height"].sort_index()


def facts(release: Release) -> dict[str, Any]:
    found: dict[str, Any] = release.facts["perturbed"]["composition"]
    return found


def again(policy: Policy, people: pd.DataFrame, release: Release) -> Release:
    made = anonymize(policy, people, memory=release.memory)
    assert made.report.passed, made.report
    return made


@pytest.fixture
def sticky(keeping: Keeping) -> Policy:
    return keeping(perturb=STICKY)


@pytest.fixture
def first(sticky: Policy, labeled: People) -> Release:
    return anonymize(sticky, labeled(), memory=Memory.empty())


def test_the_first_release_draws_everything(first: Release) -> None:
    assert facts(first) == {
        "releases_before": 0,
        "values_reused": 0,
        "values_drawn": 240,
        "epsilon_spent": "2",
    }


def test_what_has_not_changed_stays_and_spends_nothing(
    sticky: Policy, labeled: People, first: Release
) -> None:
    second = again(sticky, labeled().sample(frac=1, random_state=1), first)
    pd.testing.assert_series_equal(heights(second), heights(first))
    assert facts(second) == {
        "releases_before": 1,
        "values_reused": 240,
        "values_drawn": 0,
        "epsilon_spent": "0",
    }


def test_fresh_noise_is_drawn_anew(keeping: Keeping, labeled: People) -> None:
    one = anonymize(keeping(), labeled(), memory=Memory.empty())
    two = again(keeping(), labeled(), one)
    assert (heights(one) != heights(two)).mean() > 0.5
    assert (facts(two)["values_drawn"], facts(two)["epsilon_spent"]) == (240, "2")


def test_only_a_changed_value_is_drawn_anew(sticky: Policy, labeled: People, first: Release) -> None:
    people = labeled()
    people.loc[7, "height"] += 1
    second = again(sticky, people, first)
    others = heights(first).index != "person 7"
    pd.testing.assert_series_equal(heights(second)[others], heights(first)[others])
    assert (facts(second)["values_drawn"], facts(second)["epsilon_spent"]) == (1, "2")


def test_a_value_that_comes_back_brings_its_noise_back(
    sticky: Policy, labeled: People, first: Release
) -> None:
    people = labeled()
    people.loc[7, "height"] += 1
    third = again(sticky, labeled(), again(sticky, people, first))
    pd.testing.assert_series_equal(heights(third), heights(first))
    assert facts(third)["values_drawn"] == 0


def test_a_change_in_a_class_leaves_the_noise_of_the_others(
    sticky: Policy, labeled: People, first: Release
) -> None:
    people = labeled()
    people.loc[7, "height"] += 100  # the diameter of its class
    second = again(sticky, people, first)
    others = heights(first).index != "person 7"
    pd.testing.assert_series_equal(heights(second)[others], heights(first)[others])
    assert facts(second)["values_drawn"] == 1


def test_another_class_is_no_reason_to_draw_anew(sticky: Policy, labeled: People, first: Release) -> None:
    coarser = sticky.model_copy(update={"anonymize": sticky.anonymize.model_copy(update={"k": 100})})
    moved = again(coarser, labeled(), first)
    assert moved.facts["k_anonymized"]["levels"] != first.facts["k_anonymized"]["levels"]
    pd.testing.assert_series_equal(heights(moved), heights(first))
    assert (facts(moved)["values_drawn"], facts(moved)["epsilon_spent"]) == (0, "0")


def test_a_change_beyond_the_public_bounds_is_none(keeping: Keeping, labeled: People) -> None:
    """The noise hides the bound there: another draw would cost ε and tell that something has changed."""
    policy, people = keeping(perturb=STICKY), labeled()
    people.loc[7, "height"] = 250
    first = anonymize(policy, people, memory=Memory.empty())
    people.loc[7, "height"] = 251
    second = again(policy, people, first)
    pd.testing.assert_series_equal(heights(second), heights(first))
    assert facts(second)["epsilon_spent"] == "0"
    people.loc[7, "height"] = 194
    assert facts(again(policy, people, second))["values_drawn"] == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"perturb": {**STICKY, "epsilon": 2.5}},
        {"perturb": STICKY, "columns": {"height": {"output_bounds": [0, 300]}}},
        {"perturb": STICKY, "columns": {"height": {"resolution": 0.5}}},
    ],
)
def test_other_terms_are_drawn_anew(
    keeping: Keeping, labeled: People, first: Release, changes: dict[str, Any]
) -> None:
    second = again(keeping(**changes), labeled(), first)
    assert facts(second)["values_reused"] == 0


def test_new_and_gone_persons(sticky: Policy, labeled: People, first: Release) -> None:
    everybody = labeled(260)
    people = pd.concat([labeled().iloc[40:], everybody.assign(note="new").iloc[240:]])
    people["person"] = [*labeled()["person"].iloc[40:], *(f"new {i}" for i in range(20))]
    second = again(sticky, people, first)
    assert (facts(second)["values_reused"], facts(second)["values_drawn"]) == (200, 20)
    third = again(sticky, labeled(), second)  # the gone ones come back
    pd.testing.assert_series_equal(heights(third), heights(first))


def test_the_gate_refuses_noise_that_should_have_stayed(
    sticky: Policy, labeled: People, first: Release
) -> None:
    """As when another run publishes between drawing the noise and publishing it."""
    from anon_pipeline import evaluate
    from anon_pipeline.perturb.entropy import system_entropy
    from anon_pipeline.stages import pipeline
    from anon_pipeline.stages.deidentify import hashing_key
    from anon_pipeline.stages.persons import memory_key

    key = hashing_key(sticky)
    before = Memory.empty().rehash(memory_key(sticky, key))
    from pathlib import Path

    made = pipeline.run(sticky, labeled(), Means(Path(), key, system_entropy(), memory=before))

    def verdict(memory: Memory | None) -> Any:
        report = evaluate(
            made.suppressed.frame,
            sticky,
            made.suppressed.facts,
            originals=made.k_anonymized.frame,
            memory=memory,
        )
        return next(v for v in report.verdicts if v.limit == "sticky")

    assert verdict(before).status == "passed"
    late = verdict(first.memory)
    assert (late.status, late.reason) == ("refused", "materialize perturbed again")
    assert late.value > 100
    assert verdict(None).status == "unmeasured"
    alone = evaluate(made.suppressed.frame[sticky.released], sticky)
    assert next(v for v in alone.verdicts if v.limit == "sticky").status == "unmeasured"


@pytest.mark.parametrize(("republish", "recovered"), [("fresh", True), ("sticky", False)])
def test_averaging_thirty_releases(
    keeping: Keeping, labeled: People, republish: str, recovered: bool
) -> None:
    """Thirty fresh releases at ε = 8 give the values away to 1 %; sticky ones say no more than one."""
    policy, people = keeping(perturb={"epsilon": 8, "republish": republish}), labeled()
    truth = people.set_index("note")["height"].sort_index()
    memory, seen = Memory.empty(), []
    for _ in range(30):
        release = anonymize(policy, people, memory=memory)
        memory = release.memory
        seen.append(heights(release))
    table = pd.concat(seen, axis=1)

    def error(guess: pd.Series) -> float:
        return float(((guess - truth).abs() / truth).mean())

    one, thirty = error(seen[0]), error(table.mean(axis=1))
    if recovered:
        assert thirty < 0.01
        assert thirty < one / 3
    else:
        assert table.nunique(axis=1).max() == 1
        assert thirty == one


def test_what_no_ledger_has_booked_is_booked_when_it_stays(
    sticky: Policy, labeled: People, first: Release
) -> None:
    assert first.memory is not None
    digest = first.report.data_digest
    memory = replace(first.memory, releases=(Past(digest, None, "a" * 32),))
    for published, epsilon in (((), "2"), ((("b" * 32, digest),), "2"), ((("a" * 32, digest),), "0")):
        second = anonymize(sticky, labeled(), memory=memory.only_booked(published))
        assert facts(second)["values_drawn"] == 0
        assert facts(second)["epsilon_spent"] == epsilon


def test_largest_spent_is_of_one_record() -> None:
    shares = (Fraction(1, 2), Fraction(3, 2))
    assert largest_spent(np.array([[True, False], [False, True], [False, False]]), shares) == Fraction(3, 2)
    assert largest_spent(np.array([[True, False], [True, True]]), shares) == 2
    assert largest_spent(np.zeros((3, 2), bool), shares) == 0
    assert largest_spent(np.empty((3, 0), bool), ()) == 0
