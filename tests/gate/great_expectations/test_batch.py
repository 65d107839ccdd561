"""Releases that follow each other: the suite says what the gate says of `cross_release_k` and `sticky`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import great_expectations as gx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.encode.codes import PERSON
from anon_pipeline.gate import GateReport, Status, evaluate
from anon_pipeline.gate.great_expectations import (
    ExpectReleasesTogetherToBeKAnonymous,
    ExpectReleaseToKeepPublishedNoise,
    SuiteResult,
    gate_batch,
    validate,
)
from anon_pipeline.gate.great_expectations.arguments import GENERALIZED, document
from anon_pipeline.gate.great_expectations.base import ReleaseExpectation
from anon_pipeline.gate.great_expectations.batch import MEMBER, PUBLISHED
from anon_pipeline.limits.table import demands, limit_of
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy
from anon_pipeline.stages.history.cross_release import cross_release_k, histories, history
from anon_pipeline.stages.history.memory import Memory, Past, remember
from anon_pipeline.stages.pipeline import run
from anon_pipeline.stages.private import Chain, Means
from tests.example_counts import examples_of

DECLARED = {"sensitivity": "declared", "input_bounds": [0, 9]}
KEY = b"0123456789abcdef"
Measured = Callable[[pd.DataFrame, ReleaseExpectation], float | None]
Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]

"""Limits that no table shows alone: they have no expectation."""


@pytest.fixture
def sticky(small_policy: Small) -> Callable[..., Policy]:
    """The small policy with sticky noise, judged together with what was published."""

    def make(k: int = 3, *, republish: str = "sticky") -> Policy:
        return small_policy(
            record_key="person",
            deidentify={"key_env": "UNUSED"},
            columns={"height": {"sensitivity": "declared", "input_bounds": [145, 195]}},
            perturb={"epsilon": 2, "republish": republish},
            suppress=None,
            gate={"k": 3, "suppression": 0.9, "cross_release_k": k},
        )

    return make


def _made(policy: Policy, people: pd.DataFrame, memory: Memory, seed: int) -> Chain:
    return run(policy, people, Means(Path(), KEY, seeded_entropy(seed), memory=memory))


def _published(policy: Policy, chain: Chain, memory: Memory, digest: str) -> Memory:
    frames = chain.suppressed.frame, chain.k_anonymized.frame
    return remember(memory, policy, *frames, past=Past(digest, None))


def _judged(policy: Policy, chain: Chain, memory: Memory | None) -> tuple[SuiteResult, GateReport]:
    """Ask both doors about the same release."""
    tables = chain.suppressed.frame, chain.k_anonymized.frame
    batch = gate_batch(*tables, policy, memory=memory)
    report = evaluate(tables[0], policy, chain.suppressed.facts, originals=tables[1], memory=memory)
    return validate(batch, policy), report


def _same(policy: Policy, result: SuiteResult, report: GateReport) -> dict[str, bool]:
    """Compare the doors limit by limit; return which were kept of those that a policy sets itself."""
    verdicts = {v.limit: v for v in report.verdicts if limit_of(v.limit).expectation_name}
    assert [line.limit for line in result.lines] == list(verdicts)
    for line in result.lines:
        verdict = verdicts[line.limit]
        assert (line.success, line.observed) == (verdict.status.publishable, verdict.value), line
        assert line.error is None
    known = limit_of("known_columns")  # which every policy demands
    own = {one.name for one in demands(policy) if not one.advised and one.limit is not known}
    return {line.limit: line.success for line in result.lines if line.limit in own}


def _moved(people: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Return the same people, some of them in another city: their class changes."""
    later = people.copy()
    later.loc[: rows - 1, "city"] = later.loc[: rows - 1, "city"].map(
        {"Cork": "Dublin", "Dublin": "Galway", "Galway": "Cork"}
    )
    return later


def test_a_first_release_is_judged_by_its_smallest_class(
    sticky: Callable[..., Policy], small_people: People
) -> None:
    policy, memory = sticky(), Memory.empty()
    result, report = _judged(policy, _made(policy, small_people(), memory, 1), memory)
    assert _same(policy, result, report)["sticky"]
    found = {line.limit: line.observed for line in result.lines}
    assert found["cross_release_k"] == found["k"]


@pytest.mark.parametrize(("rows", "k", "kept"), [(0, 3, True), (20, 3, False), (1, 2, False)])
def test_releases_that_follow_are_judged_as_the_gate_judges_them(
    sticky: Callable[..., Policy], small_people: People, rows: int, k: int, kept: bool
) -> None:
    policy, people = sticky(k), small_people()
    memory = _published(policy, _made(policy, people, Memory.empty(), 1), Memory.empty(), "a" * 64)
    second = _made(policy, _moved(people, rows), memory, 2)
    assert _same(policy, *_judged(policy, second, memory)) == {
        "k": True,
        "linking_risk": True,
        "suppression": True,
        "cross_release_k": kept,
        "sticky": True,
    }
    memory = _published(policy, second, memory, "b" * 64)
    third = _made(policy, _moved(people.iloc[20:].reset_index(drop=True), rows), memory, 3)
    _same(policy, *_judged(policy, third, memory))


def test_noise_that_was_drawn_anew_is_refused_by_both(
    sticky: Callable[..., Policy], small_people: People
) -> None:
    policy, people = sticky(), small_people()
    before = Memory.empty()
    memory = _published(policy, _made(policy, people, before, 1), before, "a" * 64)
    overtaken = _made(policy, people, before, 2)  # its noise was drawn before the first was published
    result, report = _judged(policy, overtaken, memory)
    assert not _same(policy, result, report)["sticky"]
    (line,) = [line for line in result.lines if line.limit == "sticky"]
    assert line.observed is not None
    assert line.observed > 100
    assert line.as_text() == "sticky not kept"


def test_fresh_noise_is_not_asked_to_stay(sticky: Callable[..., Policy], small_people: People) -> None:
    policy, people = sticky(republish="fresh"), small_people()
    memory = _published(policy, _made(policy, people, Memory.empty(), 1), Memory.empty(), "a" * 64)
    kept = _same(policy, *_judged(policy, _made(policy, people, memory, 2), memory))
    assert list(kept) == ["k", "linking_risk", "suppression", "cross_release_k"]


def test_without_the_memory_or_the_persons_both_limits_are_not_measured(
    sticky: Callable[..., Policy], small_people: People
) -> None:
    policy, memory = sticky(), Memory.empty()
    chain = _made(policy, small_people(), memory, 1)
    tables = chain.suppressed.frame, chain.k_anonymized.frame
    stranger = tables[1].drop(columns=PERSON)
    for originals, known in ((tables[1], None), (stranger, memory)):
        result = validate(gate_batch(tables[0], originals, policy, memory=known), policy)
        lines = {line.limit: line for line in result.lines}
        assert not result.success
        assert (lines["k"].success, lines["suppression"].success) == (True, True)
        for limit, column in (("cross_release_k", "_class_in_0"), ("sticky", "_published_height")):
            assert (lines[limit].success, lines[limit].error) == (False, "InputError")
            assert lines[limit].reason == f"columns must be in the batch, not there: {column}"
        report = evaluate(tables[0], policy, chain.suppressed.facts, originals=originals, memory=known)
        refused = {v.limit for v in report.verdicts if v.status is not Status.PASSED}
        assert {"cross_release_k", "sticky"} <= refused


def test_a_batch_has_no_person_in_it_and_results_have_no_value(
    sticky: Callable[..., Policy], small_people: People
) -> None:
    policy, people = sticky(), small_people()
    memory = _published(policy, _made(policy, people, Memory.empty(), 1), Memory.empty(), "a" * 64)
    chain = _made(policy, people, memory, 2)
    batch = gate_batch(chain.suppressed.frame, chain.k_anonymized.frame, policy, memory=memory)
    assert PERSON not in batch
    assert {name for name in batch if name.startswith((MEMBER, PUBLISHED))} == {
        "_class_in_0",
        "_class_in_1",
        "_published_height",
    }
    spoilt = batch.assign(_class_in_0="CANARY-7f3a", _published_height="CANARY-7f3a")
    result = validate(spoilt, policy)
    assert "CANARY" not in repr(result) + "".join(result.failures())
    assert {line.limit for line in result.lines if line.error == "InputError"} == {
        "cross_release_k",
        "sticky",
    }


# --- by hand


def _sticky(sections: dict[str, Any], gate: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a policy on one noisy column, with what must stay of it."""
    columns = {"zip": GENERALIZED, "h": {"role": "perturb", "resolution": 0.5, **DECLARED}}
    keys = {"record_key": "who", "deidentify": {"key_env": "UNUSED"}}
    columns["who"] = {"role": "identifier"}
    return document(columns, perturb={"epsilon": 1, **sections}, gate={"k": 4, **gate}, **keys)


def _by_hand(**columns: Any) -> pd.DataFrame:
    n = len(next(iter(columns.values())))
    zips = {"zip": ["a"] * n, "_class_id": [0] * n, "_original_h": [1.0] * n}
    return pd.DataFrame({"h": [1.0] * n, **zips, **columns})


def test_two_releases_worked_out_on_paper(measured: Measured) -> None:
    def together(k: int) -> ExpectReleasesTogetherToBeKAnonymous:
        policy = _sticky({"republish": "fresh"}, {"cross_release_k": k})
        return ExpectReleasesTogetherToBeKAnonymous(policy=policy, limit_name="cross_release_k")

    one = {"zip": list("aabbbb"), "_class_id": [5, 5, 7, 7, 7, 7]}
    batch = _by_hand(_class_in_0=[0, 0, 0, 1, 1, -1], _class_in_1=[5, 5, 7, 7, 7, 7], **one)
    alone = batch.drop(columns="_class_in_1").assign(_class_in_0=batch["_class_in_1"])
    assert measured(batch, together(2)) == 1  # the third: with two before, with three others now
    assert measured(alone, together(2)) == 2  # nobody was published before
    assert measured(batch.drop(index=2), together(2)) == 2
    source = gx.get_context(mode="ephemeral").data_sources.add_pandas("p")
    whole = source.add_dataframe_asset("a").add_batch_definition_whole_dataframe("b")
    given_batch = whole.get_batch({"dataframe": batch.drop(index=2)})
    results = [given_batch.validate(together(k)) for k in (3, 2)]
    assert [(r.success, r.result["observed_value"]) for r in results] == [(False, 2), (True, 2)]


def test_noise_worked_out_on_paper(measured: Measured) -> None:
    batch = _by_hand(h=[1.0, 1.5, 2.0, 2.5], _published_h=[1.0, np.nan, 2.5, 2.5])
    batch["out"] = [True, True, True, False]
    wanted = {"policy": _sticky({"republish": "sticky"}, {}), "limit_name": "sticky", "released": "out"}
    stays = ExpectReleaseToKeepPublishedNoise(**wanted)
    assert measured(batch, stays) == 1
    assert measured(batch.drop(index=2), stays) == 0
    assert measured(batch.drop(index=2).assign(_published_h=7.0), stays) == 2
    with pytest.raises(InputError, match="1 missing"):
        measured(batch.assign(h=[np.nan, 1.5, 2.0, 2.5]), stays)
    with pytest.raises(InputError, match="_published_h: must be a number") as caught:
        measured(batch.assign(_published_h="CANARY-7f3a"), stays)
    assert "CANARY" not in str(caught.value)


def test_released_records_must_be_in_a_class_and_classes_be_numbers(measured: Measured) -> None:
    policy = _sticky({"republish": "fresh"}, {"cross_release_k": 2})
    both = ExpectReleasesTogetherToBeKAnonymous(policy=policy, limit_name="cross_release_k")
    for last, problem in (
        ([0, -1], "_class_in_1: released records must be in a class, got 1 that are not"),
        (["CANARY", "x"], "_class_in_1: must be a whole number"),
    ):
        with pytest.raises(InputError, match=problem) as caught:
            measured(_by_hand(_class_in_0=[0, 0], _class_in_1=last), both)
        assert "CANARY" not in str(caught.value)
    with pytest.raises(InputError, match="not there: _class_in_0"):
        measured(_by_hand(_class_in_1=[0, 0]), both)


@settings(max_examples=examples_of(200))
@given(st.lists(st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=1, max_size=14))
def test_who_is_not_in_the_release_fits_nobody_of_it(rows: list[list[int]]) -> None:
    codes = np.array(rows, np.int64)
    inside = codes[codes[:, -1] >= 0]
    if len(inside):
        assert cross_release_k(inside) == cross_release_k(codes)


def test_histories_are_in_the_order_of_the_release() -> None:
    members = pd.DataFrame({"release": [0, 0, 1], "person": ["p", "q", "p"], "class": ["A", "B", "B"]})
    memory = Memory((Past("a" * 64, None), Past("b" * 64, None)), members, Memory.empty().values)
    persons, classes = pd.Series(["r", "q", "p"]), pd.Series(["A", "B", "A"])
    rows = histories(memory, persons, classes)
    assert (rows >= 0).tolist() == [[False, False, True], [True, False, True], [True, True, True]]
    assert rows[2, 0] == rows[2, 2] == rows[0, 2] != rows[1, 2]
    assert len(history(memory, persons, classes)) == 3
