"""The gate judges all tables of a bucketized release together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.bucketized.bucket_tables import bucket_tables
from anon_pipeline.bucketized.bucketized_gate import (
    MEANINGS,
    broken_tables,
    judge_bucketized,
    refuse_bucketized,
    simulated_guesses,
)
from anon_pipeline.declared.parts import Release
from anon_pipeline.gate import Status
from anon_pipeline.perturb.keys import NoiseKey
from anon_pipeline.policy.bucketized_release import BUCKET, BucketizedPolicy
from tests.bucketized.conftest import THREE_SLICES

Bucketized = Callable[..., BucketizedPolicy]
Change = Callable[[list[pd.DataFrame]], list[pd.DataFrame]]


@pytest.fixture
def release(bucketized: Bucketized, people: Callable[..., Any]) -> Release:
    codes = people(400)
    return Release(bucket_tables(bucketized(), codes, NoiseKey(bytes(32))), 400, codes)


def test_what_the_tables_show_is_measured_on_them(bucketized: Bucketized, release: Release) -> None:
    verdicts = judge_bucketized(bucketized(), release)
    assert [(one.limit, one.status) for one in verdicts] == [(name, Status.PASSED) for name in MEANINGS]
    second = release.tables[1]
    sizes = second.groupby(BUCKET).size()
    most = second.groupby(BUCKET)["illness"].agg(lambda cells: cells.value_counts().max())
    assert verdicts[2].value == sizes.min() and verdicts[3].value == pytest.approx((most / sizes).max())
    alone = judge_bucketized(bucketized(), Release(release.tables, 400))
    assert [one.limit for one in alone if one.status is Status.UNMEASURED] == ["draw", "guessed"]
    assert (alone[2].value, alone[3].value) == (verdicts[2].value, verdicts[3].value)


@pytest.mark.parametrize(
    ("changes", "refused"),
    [({"k": 50}, ["bucket_size"]), ({"gate": {"guessed": 0.2}}, ["guessed"])],
)
def test_each_limit_refuses(
    bucketized: Bucketized, release: Release, changes: dict[str, Any], refused: list[str]
) -> None:
    verdicts = judge_bucketized(bucketized(**changes), release)
    assert [one.limit for one in verdicts if one.status is Status.REFUSED] == refused


def test_columns_beside_the_sensitive_one_are_known_to_the_attacker(
    bucketized: Bucketized, people: Callable[..., Any]
) -> None:
    codes = people(400)
    apart, beside = bucketized(), bucketized(slices=[["city"], ["age", "illness"]])
    own = pd.DataFrame(codes, columns=["age", "city", "illness"])
    most = own.groupby("age")["illness"].agg(lambda cells: cells.value_counts().max()).sum()
    assert simulated_guesses(beside, codes) > 0.9 > most / 400  # the bucket is known, too
    assert simulated_guesses(apart, codes) < most / 400


def test_other_secrets_have_bounds_of_their_own(bucketized: Bucketized, release: Release) -> None:
    """The city is in a bucket of four, of three cities: it is guessed often."""
    verdicts = judge_bucketized(bucketized(gate={"guessed": 1, "guessed_of": {"city": 0.3}}), release)
    (refused,) = (one for one in verdicts if one.status is Status.REFUSED)
    assert (refused.limit, refused.bound, refused.reason) == ("guessed", 0.3, "of city")
    kept = judge_bucketized(bucketized(gate={"guessed": 1, "guessed_of": {"city": 1}}), release)
    assert {one.status for one in kept} == {Status.PASSED} and kept[-1].bound == 1
    alone = judge_bucketized(
        bucketized(gate={"guessed": 1, "guessed_of": {"city": 1}}), Release(release.tables, 400)
    )
    assert (alone[-1].status, alone[-1].bound) == (Status.UNMEASURED, 1)


def test_a_larger_l_refuses_the_files(bucketized: Bucketized, release: Release) -> None:
    verdicts = judge_bucketized(bucketized(l=4), Release(release.tables, 400))
    assert [one.limit for one in verdicts if one.status is Status.REFUSED] == ["value_share"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tables: tables[:1], "there must be 2 tables"),
        (lambda tables: tables[::-1], "columns must be"),
        (lambda tables: [tables[0].drop(columns=BUCKET), tables[1]], "first column of each table"),
        (lambda tables: [tables[0].assign(age=100), tables[1]], "declared values only"),
        (lambda tables: [tables[0], tables[1][1:]], "400 records"),
        (lambda tables: [tables[0].assign(bucket=0), tables[1]], "same number of rows of each bucket"),
        (lambda tables: [tables[0].assign(bucket="a"), tables[1]], "with whole numbers"),
    ],
)
def test_tables_that_do_not_belong_together_are_refused(
    bucketized: Bucketized, release: Release, change: Change, said: str
) -> None:
    changed = Release(change(list(release.tables)), 400, release.codes)
    assert said in str(broken_tables(bucketized(), changed))
    verdicts = judge_bucketized(bucketized(), changed)
    assert [one.limit for one in verdicts] == [*MEANINGS] and verdicts[0].status is Status.REFUSED
    assert {one.status for one in verdicts[2:]} == {Status.UNMEASURED}


def test_small_sources_are_refused(bucketized: Bucketized) -> None:
    refuse_bucketized(bucketized(k=9), 9)
    with pytest.raises(InputError, match="at least 9 records"):
        refuse_bucketized(bucketized(k=9), 8)


def test_the_attacker_is_the_same_each_time(bucketized: Bucketized, people: Callable[..., Any]) -> None:
    policy, codes = bucketized(), people(300)
    assert simulated_guesses(policy, codes) == simulated_guesses(policy, codes)


def test_three_tables_are_judged_together(bucketized: Bucketized, people: Callable[..., Any]) -> None:
    """By hand: bucket 0 has 4 records, bucket 1 has 5, of which 2 have one illness; all tables have both."""
    policy, codes = bucketized(slices=THREE_SLICES, k=4, l=2), people(9)
    own = [0] * 4 + [1] * 5
    illness = ["flu", "gout", "none", "asthma", "flu", "flu", "gout", "none", "asthma"]
    tables = [
        pd.DataFrame({BUCKET: own, name: cells})
        for name, cells in (("age", list(range(20, 29))), ("city", ["Cork"] * 9), ("illness", illness))
    ]
    verdicts = {one.limit: one for one in judge_bucketized(policy, Release(tables, 9, codes))}
    assert [verdicts[name].value for name in ("bucket_size", "value_share")] == [4, 2 / 5]
    assert {one.status for one in verdicts.values()} == {Status.PASSED}
    for place, name in enumerate(("age", "city", "illness")):
        changed = [*tables]
        changed[place] = tables[place].assign(**{BUCKET: [0] * 5 + [1] * 4})
        assert "same number of rows of each bucket" in str(broken_tables(policy, Release(changed, 9, codes)))
        changed[place] = tables[place].drop(columns=name)
        assert "columns must be" in str(broken_tables(policy, Release(changed, 9, codes)))
    assert "there must be 3 tables" in str(broken_tables(policy, Release(tables[:2], 9, codes)))


@pytest.mark.parametrize("slices", [[["age"], ["city"], ["illness"]], [["city"], ["age"], ["illness"]]])
def test_the_attacker_knows_the_columns_of_all_other_tables(
    bucketized: Bucketized, people: Callable[..., Any], slices: list[list[str]]
) -> None:
    """Of each person, whichever table a column is in: here ages tell the illness."""
    codes = people(600, tied=1.0)
    two = [slices[0] + slices[1], slices[2]]
    three, same = (simulated_guesses(bucketized(slices=own), codes) for own in (slices, two))
    assert three == same > 0.95
