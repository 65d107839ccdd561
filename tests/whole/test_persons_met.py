"""A memory of keys as they were written knows everybody by their normal form, and nobody becomes new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline import Memory, anonymize
from anon_pipeline.base.errors import GateRefused, InputError
from anon_pipeline.gate import Status
from anon_pipeline.policy import Policy
from anon_pipeline.stages.history.cross_release import cross_release_k, history
from anon_pipeline.stages.history.memory import Past, normalize_persons
from anon_pipeline.stages.history.memory_table import from_table, to_table
from anon_pipeline.stages.persons import ID, person_ids

Keeping = Callable[..., Policy]
KEY = b"0123456789abcdef"


def of_version_3(memory: Memory, keys: list[str]) -> Memory:
    """The memory that version 3 would have written of these keys."""
    ids = person_ids(pd.Series(keys), KEY)
    names = dict(zip(ids.str[:ID], ids.str[ID:], strict=True))
    members, values = (
        frame.assign(person=frame["person"].map(names).astype("str"))
        for frame in (memory.members, memory.values)
    )
    frame, facts = to_table(replace(memory, members=members, values=values))
    return from_table(frame, {"memory": {**facts["memory"], "version": 3}})


def cross(release: object) -> tuple[Status, float | None]:
    verdicts = release.report.verdicts  # type: ignore[attr-defined]
    return next((v.status, v.value) for v in verdicts if v.limit == "cross_release_k")


@pytest.fixture
def wards(keeping: Keeping) -> Policy:
    none = dict.fromkeys(("age", "city", "height", "income", "note"))
    ward = {"role": "generalize", "hierarchy": {"suppress": True}}
    return keeping(
        columns={**none, "ward": ward, "illness": {"role": "sensitive"}},
        anonymize={"k": 5, "suppression_limit": 0.0},
        perturb=None,
        gate={"k": 5, "suppression": None, "cross_release_k": 2},
    )


def patients(wards: str, names: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"person": names, "ward": list(wards), "illness": "flu"})


NAMES = [f"Ward {chr(ord('A') + i)}-{i:03}" for i in range(12)]
MONDAY, TUESDAY = "x" * 6 + "y" * 6, "x" * 5 + "y" + "y" * 5 + "x"  # two have changed places


@pytest.mark.parametrize(
    "write", [str, str.upper, str.casefold, lambda name: f" {name.replace(' ', '  ')}\t"]
)
@pytest.mark.parametrize("version", [3, 4])
def test_ways_of_writing_make_nobody_a_stranger(
    wards: Policy, write: Callable[[str], str], version: int
) -> None:
    memory = anonymize(wards, patients(MONDAY, NAMES), memory=Memory.empty()).memory
    assert memory is not None
    if version == 3:
        memory = of_version_3(memory, NAMES)
        if write is not str:  # only hashes are there: met once as it was written, known in any writing after
            again = anonymize(wards, patients(MONDAY, NAMES), memory=memory)
            assert cross(again) == (Status.PASSED, 6.0)
            memory = again.memory
            assert memory is not None
    tuesday = anonymize(wards, patients(TUESDAY, [write(name) for name in NAMES]), memory=memory)
    assert cross(tuesday) == (Status.REFUSED, 1.0)


def test_noise_stays_over_the_migration(keeping: Keeping, labeled: Callable[..., pd.DataFrame]) -> None:
    policy, people = keeping(), labeled()
    people = people.assign(person="P " + people["person"].astype(str))
    first = anonymize(policy, people, memory=Memory.empty())
    old = of_version_3(first.memory, list(people["person"]))
    half = people.iloc[:120]
    for memory in (first.memory, old):
        then = anonymize(policy, half.assign(person=half["person"]), memory=memory)
        rest = anonymize(policy, people.assign(person=people["person"]), memory=then.memory or memory)
        assert rest.report.passed, rest.report
        assert then.memory is None or len(then.memory.releases) == 2
        known = (then.memory or memory).members["person"].nunique()
        assert known == len(people)


@given(st.data())
def test_nobody_whom_the_memory_knew_is_new(data: st.DataObject) -> None:
    """Random releases of old hashes, met in random tables: histories are those of new hashes."""
    n, releases = 8, data.draw(st.integers(1, 4))
    keys = [f"Key {i}" if i % 2 else f"key{i:03}" for i in range(n)]
    ids = person_ids(pd.Series(keys), KEY)
    now, then = ids.str[:ID].to_numpy(), ids.str[ID:].to_numpy()
    rows = [
        (r, i, data.draw(st.sampled_from("xyz")))
        for r in range(releases)
        for i in sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
    ]
    base = Memory.empty()

    def memory(names: np.ndarray) -> Memory:
        members = pd.DataFrame(
            {
                "release": [r for r, _, _ in rows],
                "person": pd.array([names[i] for _, i, _ in rows], dtype="str"),
                "class": pd.array([c for _, _, c in rows], dtype="str"),
            }
        )
        return Memory(tuple(Past(f"{r:064}", None) for r in range(releases)), members, base.values)

    old, new = memory(then), memory(now)
    for _ in range(3):
        present = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
        classes = pd.Series([data.draw(st.sampled_from("xyz")) for _ in present], dtype="str")
        persons = ids.iloc[present].reset_index(drop=True)
        one, other = history(old, persons, classes), history(new, persons, classes)
        assert sorted(map(tuple, one)) == sorted(map(tuple, other))
        assert cross_release_k(one) == cross_release_k(other)
        old = normalize_persons(old, persons)[0]
        assert not set(old.members["person"]) & set(persons.str[ID:])


def test_two_persons_of_one_release_never_become_one() -> None:
    """Version 3 took `Ann` and `ann` for two; which of them comes now cannot be told."""
    one, other = (person_ids(pd.Series([name]), KEY) for name in ("Ann", "ann"))
    members = pd.DataFrame(
        {
            "release": [0, 0],
            "person": pd.array([one[0][ID:], other[0][ID:]], dtype="str"),
            "class": pd.array(["x", "y"], dtype="str"),
        }
    )
    memory = Memory((Past("a" * 64, None),), members, Memory.empty().values)
    first, _ = normalize_persons(memory, one)
    with pytest.raises(InputError, match="got 1 in one release"):
        normalize_persons(first, other)


def test_without_a_memory_nothing_is_measured_and_nothing_comes_out(
    keeping: Keeping, labeled: Callable[..., pd.DataFrame]
) -> None:
    policy = keeping(perturb={"republish": "sticky"}, gate={"cross_release_k": 2})
    release = anonymize(policy, labeled())
    found = {v.limit: v.status for v in release.report.unkept}
    assert found == {"cross_release_k": Status.UNMEASURED, "sticky": Status.UNMEASURED}
    for name in ("frame", "memory"):
        with pytest.raises(GateRefused, match=r"Memory.empty\(\) says that nothing was"):
            getattr(release, name)

    first = anonymize(policy, labeled(), memory=Memory.empty())
    assert first.report.passed
    assert len(first.frame) == len(labeled())
    assert anonymize(keeping(), labeled()).memory is None


def test_without_a_memory_what_is_only_advised_keeps_nothing_back(
    keeping: Keeping, labeled: Callable[..., pd.DataFrame]
) -> None:
    release = anonymize(keeping(perturb={"republish": "fresh"}, gate={"cross_release_k": None}), labeled())
    (found,) = (v for v in release.report.verdicts if v.limit == "cross_release_k")
    assert (found.status, release.report.unkept) == (Status.PASSED, ())
    assert len(release.frame)
