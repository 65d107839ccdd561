"""Windows: each record goes with one partition, in time, and what was decided stays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import (
    AllWaitError,
    GateRefused,
    InfeasibleError,
    InputError,
    TooFewWaitedError,
)
from anon_pipeline.windows.window_table import Deployment, partitions_over, window_table
from tests.example_counts import examples_of
from tests.windows.conftest import DAYS, Stream, people


def arrivals(sizes: list[int], *, seed: int = 0) -> dict[str, pd.DataFrame]:
    """Return the people that arrive on each day; their ids tell the day."""
    return {DAYS[day]: people(many, seed=seed + day, first=1_000 * day) for day, many in enumerate(sizes)}


def take_all(stream: Stream, came: dict[str, pd.DataFrame]) -> None:
    for day, table in came.items():
        try:
            stream.take(day, table)
        except InfeasibleError:
            stream.gone[day] = table.iloc[:0]


def test_without_a_stream_the_source_is_what_it_is(stream: Callable[..., Stream]) -> None:
    made, table = stream(stream=None), people(3, seed=0)
    assert made.take(DAYS[0], table) is table and made.states.partitions() == []


@given(
    sizes=st.lists(st.integers(1, 30), min_size=3, max_size=7),
    delay=st.integers(1, 3),
    waiting=st.sampled_from([0.1, 0.5, 0.9]),
    seed=st.integers(0, 100),
)
@settings(
    max_examples=examples_of(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_each_record_goes_once_and_in_time(
    stream: Callable[..., Stream], sizes: list[int], delay: int, waiting: float, seed: int
) -> None:
    made, came = stream(stream={"delay": delay, "waiting": waiting}), arrivals(sizes, seed=seed)
    for one in made.states.partitions():  # of the example before
        made.states.remove(one)
    take_all(made, came)
    every = pd.concat([*made.gone.values(), made.waiting(DAYS[len(sizes) - 1])[came[DAYS[0]].columns]])
    expected = pd.concat([*came.values()])
    pd.testing.assert_frame_equal(
        every.sort_values("id", ignore_index=True), expected.sort_values("id", ignore_index=True)
    )
    for place, (day, table) in enumerate(made.gone.items()):
        since = place - table["id"].to_numpy() // 1_000
        assert (since >= 0).all() and (since <= delay).all(), day


def test_what_was_decided_is_found_again(stream: Callable[..., Stream]) -> None:
    made, came = stream(), arrivals([30, 25, 28, 26])
    take_all(made, came)
    first = dict(made.gone)
    for day in reversed(came):
        pd.testing.assert_frame_equal(made.take(day, came[day]), first[day])


@pytest.mark.parametrize("followed", [False, True])
def test_what_was_decided_stays_whatever_the_policy_says(
    stream: Callable[..., Stream], followed: bool
) -> None:
    """Otherwise records that are out, or that others have taken up, could go with another partition, too."""
    made, came = stream(), arrivals([30, 25, 28] if followed else [30, 25])
    take_all(made, came)
    first = made.gone[DAYS[1]]
    for changes in (
        {"anonymize": {"k": 20, "suppression_limit": 0.2}},
        {"stream": {"delay": 1, "waiting": 0.01}},
    ):
        made.policy = stream(**changes).policy
        pd.testing.assert_frame_equal(made.take(DAYS[1], came[DAYS[1]]), first)
    more = pd.concat([came[DAYS[1]], people(9, seed=77, first=5_000)], ignore_index=True)
    for other in (more, came[DAYS[1]].iloc[:-1], came[DAYS[1]].iloc[::-1]):
        with pytest.raises(InputError, match=f"which records of {DAYS[1]} wait was decided already"):
            made.take(DAYS[1], other)


def test_a_release_without_waiting_is_not_made_again_with_it(stream: Callable[..., Stream]) -> None:
    made, came = stream(), arrivals([30, 25])
    made.published.add(DAYS[0])
    with pytest.raises(InputError, match=f"{DAYS[0]} or a later partition has a release already"):
        made.take(DAYS[0], came[DAYS[0]])
    made.take(DAYS[1], came[DAYS[1]])


def test_a_stream_does_not_end_while_records_wait(stream: Callable[..., Stream]) -> None:
    made, came = stream(), arrivals([30, 25])
    made.take(DAYS[0], came[DAYS[0]])
    made.policy = stream(stream=None).policy
    for day in DAYS[:2]:
        with pytest.raises(InputError, match="stream: must stay in the policy of visits"):
            made.take(day, came[DAYS[0]])
    made.states.remove(DAYS[0])
    assert len(made.take(DAYS[1], came[DAYS[1]])) == 25


def test_a_stream_does_not_end_because_the_vault_has_forgotten_it(stream: Callable[..., Stream]) -> None:
    made, came = stream(stream=None), arrivals([30, 25])
    made.streamed = True
    with pytest.raises(InputError, match="stream: must stay in the policy of visits"):
        made.take(DAYS[1], came[DAYS[1]])


LISTED = {"source": {"path": "{partition}.csv"}}


def listed(*keys: str) -> dict[str, object]:
    return {**LISTED, "schedule": {"partitions": "listed", "keys": keys}}


def test_a_partition_does_not_come_between_others(stream: Callable[..., Stream]) -> None:
    made, came = stream(**listed("aa", "cc")), people(30, seed=1)
    made.take("aa", came)
    made.take("cc", people(30, seed=2, first=100))
    for keys in (("aa", "bb", "cc"), ("bb", "aa", "cc"), ("aa", "cc", "dd", "bb")):
        made.policy = stream(**listed(*keys)).policy
        with pytest.raises(InputError, match="cc was made last, and bb does not follow it"):
            made.take("bb", people(30, seed=3, first=200))
    made.policy = stream(schedule={"partitions": "weekly", "start": "2026-01-01"}).policy
    for key in ("aa", "cc"):
        made.states.remove(key)
    made.published.clear()
    made.take("2026-01-05", came)
    made.take("2026-01-12", people(30, seed=2, first=100))
    made.policy = stream(schedule={"partitions": "daily", "start": "2026-01-01"}).policy
    with pytest.raises(InputError, match="2026-01-06 does not follow it"):
        made.take("2026-01-06", people(30, seed=3, first=200))


@pytest.mark.parametrize("keys", [("aa", "cc"), ("bb", "aa", "cc"), ("cc", "bb", "aa")])
def test_a_changed_list_of_partitions_changes_no_decision(
    stream: Callable[..., Stream], keys: tuple[str, ...]
) -> None:
    made = stream(**listed("aa", "bb", "cc"))
    came = {key: people(30, seed=at, first=100 * at) for at, key in enumerate(("aa", "bb", "cc"))}
    first = {key: made.take(key, came[key]) for key in ("aa", "bb")}
    made.policy = stream(**listed(*keys)).policy
    for key, gone in first.items():
        pd.testing.assert_frame_equal(made.take(key, came[key]), gone)
    with pytest.raises(InputError, match="bb was made last, and cc does not follow it"):
        made.take("cc", came["cc"])


def test_a_stream_begins_after_all_that_is_released(stream: Callable[..., Stream]) -> None:
    made = stream()
    made.published.add(DAYS[4])
    for day in DAYS[:5]:
        with pytest.raises(InputError, match=f"{day} or a later partition has a release already"):
            made.take(day, people(30, seed=1))
    made.take(DAYS[5], people(30, seed=1))
    made.take(DAYS[6], people(30, seed=2, first=50))


def test_who_waits_is_not_decided_where_nothing_can_be_booked(stream: Callable[..., Stream]) -> None:
    made = stream()

    def spent() -> None:
        raise GateRefused("the budget is spent")

    with pytest.raises(GateRefused):
        window_table(
            made.policy,
            DAYS[0],
            lambda: people(30, seed=1),
            made.states,
            made.means,
            Deployment(tuple, spent, lambda: True),
        )
    assert made.states.partitions() == []


def test_groups_of_listed_partitions_are_streams_of_their_own(stream: Callable[..., Stream]) -> None:
    """Partitions of two groups may hold the same records, which must not be each other's company."""
    made, came = stream(**listed("g1.a", "g2.a", "g1.b", "g2.b")), people(30, seed=1)
    for key in ("g1.a", "g2.a"):
        pd.testing.assert_frame_equal(made.take(key, came), made.gone["g1.a"])
    taken = made.take("g2.b", people(30, seed=2, first=100))
    assert set(taken["id"]) & set(came["id"]) <= set(made.waiting("g2.a")["id"])


def test_partitions_are_made_in_order(stream: Callable[..., Stream]) -> None:
    made, came = stream(), arrivals([30, 25, 28, 20])
    made.take(DAYS[1], came[DAYS[1]])  # a stream may begin anywhere
    for day in (DAYS[0], DAYS[3]):
        with pytest.raises(InputError, match=f"{DAYS[1]} was made last, and {day} does not"):
            made.take(day, came[day])
    made.take(DAYS[2], came[DAYS[2]])


def test_it_is_said_why_a_partition_does_not_follow(stream: Callable[..., Stream]) -> None:
    """Nothing is between a partition and an earlier one, or one that the policy does not list any more."""
    made, came = stream(), arrivals([30, 25, 28, 20])
    made.take(DAYS[1], came[DAYS[1]])
    for day, said in ((DAYS[0], "its turn is over"), (DAYS[3], "Make those between them first")):
        with pytest.raises(InputError, match=f"{DAYS[1]} was made last, and {day} does not.*{said}"):
            made.take(day, came[day])
    for one in made.states.partitions():
        made.states.remove(one)
    made = stream(**listed("aa", "bb", "cc"))
    made.take("aa", came[DAYS[0]])
    made.take("bb", came[DAYS[1]])
    for keys in (("aa", "cc"), ("cc", "aa")):
        made.policy = stream(**listed(*keys)).policy
        with pytest.raises(InputError, match=r"cc does not follow it\. schedule\.keys lacks bb: put it back"):
            made.take("cc", came[DAYS[2]])
    made.policy = stream(**listed("aa", "bb", "cc")).policy
    made.take("cc", came[DAYS[2]])


def test_what_is_over_is_removed_and_such_partitions_are_not_made_again(
    stream: Callable[..., Stream],
) -> None:
    made, came = stream(stream={"delay": 1, "waiting": 0.5}), arrivals([30] * 6)
    take_all(made, came)
    assert made.states.partitions() == DAYS[3:6]
    pd.testing.assert_frame_equal(made.take(DAYS[4], came[DAYS[4]]), made.gone[DAYS[4]])
    with pytest.raises(InputError, match="no longer kept"):
        made.take(DAYS[3], came[DAYS[3]])
    with pytest.raises(InputError, match="one after the other"):
        made.take(DAYS[1], came[DAYS[1]])


def test_a_refused_partition_can_be_made_again(stream: Callable[..., Stream]) -> None:
    made, came = stream(stream={"delay": 1, "waiting": 0.5}), arrivals([30] * 7)
    for day in DAYS[:7]:
        made.take(day, came[day])
        made.published.discard(DAYS[1])
    assert made.states.partitions() == [DAYS[0], DAYS[1], *DAYS[4:7]]
    pd.testing.assert_frame_equal(made.take(DAYS[1], came[DAYS[1]]), made.gone[DAYS[1]])


def test_a_state_that_was_purged_alone_loses_no_record(stream: Callable[..., Stream]) -> None:
    made, came = stream(), arrivals([30, 25, 20])
    take_all(made, came)
    made.states.remove(DAYS[0])
    with pytest.raises(InputError, match="no longer kept"):
        made.take(DAYS[1], came[DAYS[1]])
    for day in DAYS[1:3]:
        made.states.remove(day)
    with pytest.raises(InputError, match="what waited after it is not kept"):
        made.take(DAYS[1], came[DAYS[1]])
    made.take(DAYS[3], came[DAYS[1]])  # a new stream


def test_a_quiet_partition_passes_on_what_waits(stream: Callable[..., Stream]) -> None:
    made, none = stream(), people(0, seed=0)
    with pytest.raises(InfeasibleError, match="all records that have arrived wait"):
        made.take(DAYS[0], people(3, seed=1))
    with pytest.raises(InfeasibleError):
        made.take(DAYS[1], none)
    assert len(made.waiting(DAYS[1])) == 3
    assert len(made.take(DAYS[2], none)) == 3  # they may wait no longer
    assert len(made.waiting(DAYS[2])) == 0


def test_records_that_may_not_wait_longer_and_are_no_class_are_left_out(
    stream: Callable[..., Stream],
) -> None:
    made, none = stream(), people(0, seed=0)
    for arrived in (people(3, seed=1), none):
        with pytest.raises(AllWaitError):
            made.release(DAYS[made.number], arrived)
    for _ in range(2):  # made again, it is the same
        with pytest.raises(TooFewWaitedError, match="may not wait longer") as left:
            made.release(DAYS[2], none)
        assert "3" not in str(left.value) and left.value.exact.startswith(
            "Records that may not wait longer: 3,"
        )
    assert len(made.waiting(DAYS[2])) == 0
    assert len(made.release(DAYS[3], people(40, seed=2, first=50))) >= 4


def test_what_was_left_out_is_forgotten_as_what_is_released(stream: Callable[..., Stream]) -> None:
    made, none = stream(stream={"delay": 1, "waiting": 0.5}), people(0, seed=0)
    for arrived in (people(3, seed=1), none, none, none, none, none):
        with pytest.raises(AllWaitError):
            made.release(DAYS[made.number], arrived)
    assert made.states.partitions() == DAYS[3:6]


def test_partitions_that_cannot_be_made_any_more_are_over(stream: Callable[..., Stream]) -> None:
    made, came = stream(stream={"delay": 1, "waiting": 0.5}), arrivals([30] * 7)
    assert partitions_over(made.policy, DAYS, made.states) == []
    for day in DAYS[1:7]:
        made.take(day, came[day])
    assert made.states.partitions() == DAYS[4:7]
    assert partitions_over(made.policy, DAYS, made.states) == DAYS[:5]
    for day in DAYS[:5]:
        with pytest.raises(InputError, match=r"no longer kept|one after the other"):
            made.take(day, came[day])
    groups = stream(**listed("g1.a", "g2.a", "g1.b"))
    for one in groups.states.partitions():
        groups.states.remove(one)
    groups.take("g1.b", came[DAYS[0]])
    assert partitions_over(groups.policy, ["g1.a", "g2.a", "g1.b"], groups.states) == ["g1.a"]


def test_a_partition_without_anybody_is_passed_at_any_time(stream: Callable[..., Stream]) -> None:
    made, none, came = stream(), people(0, seed=0), people(60, seed=1)
    for day in DAYS[:2]:
        with pytest.raises(AllWaitError):
            made.take(day, none)
    first = made.take(DAYS[2], came)
    assert len(first) + len(made.waiting(DAYS[2])) == 60
    while len(made.waiting(max(made.states.partitions()))):
        day = DAYS[len(made.published) + 2]
        with contextlib.suppress(AllWaitError):
            made.take(day, none)
        made.published.add(day)
    for day in DAYS[len(made.published) + 2 :][:2]:
        with pytest.raises(AllWaitError):
            made.take(day, none)


def test_records_wait_rather_than_be_all_alike(stream: Callable[..., Stream]) -> None:
    made, few = stream(), people(7, seed=4)
    with pytest.raises(AllWaitError):  # one class of all, in which nothing is left of age and sex
        made.take(DAYS[0], few)
    alike = few.assign(age=30, sex="f", id=few["id"] + 100)
    again = stream()
    again.states.remove(DAYS[0])
    assert len(again.take(DAYS[0], alike)) == 7  # one class, but exact


def test_columns_must_stay_as_they_are(stream: Callable[..., Stream]) -> None:
    made, table = stream(), people(3, seed=1)
    with pytest.raises(InfeasibleError):
        made.take(DAYS[0], table)
    for other, said in (
        (table.drop(columns="ward"), "the columns that it had"),
        (table.assign(age=table["age"].astype(str)), "the type that they had in the partition before: age"),
    ):
        with pytest.raises(InputError, match=said):
            made.take(DAYS[1], other)
    mixed = people(30, seed=2, first=50)[["ward", "sex", "age", "id"]]  # other order, numbers with gaps
    mixed["age"] = mixed["age"].where(np.arange(30) > 0)
    assert set(made.take(DAYS[1], mixed)["id"]) | set(made.waiting(DAYS[1])["id"]) == {
        *range(3),
        *range(50, 80),
    }


def test_no_large_whole_number_is_rounded(stream: Callable[..., Stream]) -> None:
    made, first = stream(), people(3, seed=1)
    first["id"] += 9_007_199_254_740_999
    with pytest.raises(AllWaitError):
        made.take(DAYS[0], first)
    second = people(30, seed=2, first=50)
    with pytest.raises(InputError, match="the type that they had in the partition before: id"):
        made.take(DAYS[1], second.assign(id=second["id"].astype(float)))
    taken = made.take(DAYS[1], second)
    assert {*taken["id"], *made.waiting(DAYS[1])["id"]} >= {*first["id"]}


def test_whole_and_other_numbers_are_joined_where_none_is_rounded(stream: Callable[..., Stream]) -> None:
    made, first = stream(), people(3, seed=1)
    with pytest.raises(AllWaitError):
        made.take(DAYS[0], first)
    second = people(30, seed=2, first=50).assign(id=np.arange(30) + 0.5)
    taken = made.take(DAYS[1], second)
    assert {*taken["id"], *made.waiting(DAYS[1])["id"]} == {*first["id"], *second["id"]}


def test_waiting_suppresses_fewer_and_keeps_finer_levels(stream: Callable[..., Stream]) -> None:
    """The purpose of it: the same records, released in finer classes or with fewer left out."""
    made, came = stream(stream={"delay": 3, "waiting": 0.5}), arrivals([40] * 8, seed=5)
    take_all(made, came)
    left = [int(len(came[day]) - len(made.gone[day])) for day in came]
    assert sum(left[:-1]) < 0.5 * 40 * 7 and any(one < 0 for one in left)
