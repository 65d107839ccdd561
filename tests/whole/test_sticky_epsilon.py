"""What ε promises over releases, by enumeration: classes that grow, shrink, merge and split.

The draws are those of the real memory and the real rules. What they tell is computed by `benchmarks.epsilon`,
from the law's formula alone.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.encode.categories import noisy_units
from anon_pipeline.encode.codes import PERSON, RECORD
from anon_pipeline.encode.grids import noises
from anon_pipeline.perturb.mechanisms import sensitivities
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.stages.history.memory import Memory, Past, noise_terms, remember
from anon_pipeline.stages.history.memory_table import from_table, to_table
from anon_pipeline.stages.history.sticky import epsilon_to_book, recall, sticky_noise
from benchmarks.epsilon import Draw, laplace, published_ratio
from tests.example_counts import examples_of

EPSILON, LOW, HIGH = 1.0, 0, 10
Keeping = Callable[..., Policy]
Places = Mapping[str, str]
"""Of one release: the class of each person that is in it."""
Values = Mapping[str, int]

GROWING: list[Places] = [dict.fromkeys("AB", "x"), dict.fromkeys("ABC", "x")]
SHRINKING: list[Places] = [dict.fromkeys("ABC", "x"), dict.fromkeys("AB", "x")]
MERGING: list[Places] = [{"A": "x", "B": "x", "C": "y"}, dict.fromkeys("ABC", "xy")]
SPLITTING: list[Places] = [dict.fromkeys("ABC", "xy"), {"A": "x", "B": "x", "C": "y"}]
WANDERING: list[Places] = [dict.fromkeys("ABC", name) for name in ("x", "y", "xy", "x")]
HISTORIES = {
    "growing": GROWING,
    "shrinking": SHRINKING,
    "merging": MERGING,
    "splitting": SPLITTING,
    "wandering": WANDERING,
}


def the_policy(mechanism: str = "discrete_laplace", **perturb: Any) -> Policy:
    """Return a policy with sticky noise on one column, hidden in 0 … 10."""
    return policy_from(
        {
            "name": "small",
            "source": {"path": "people.csv"},
            "columns": {
                "person": {"role": "identifier"},
                "ward": {"role": "generalize", "hierarchy": {"suppress": True}},
                "height": {
                    "role": "perturb",
                    "resolution": 1,
                    "mechanism": mechanism,
                    "sensitivity": "declared",
                    "input_bounds": [LOW, HIGH],
                },
            },
            "deidentify": {"key_env": "KEY"},
            "record_key": "person",
            "anonymize": {"k": 2},
            "perturb": {"epsilon": EPSILON, "republish": "sticky", **perturb},
        }
    )


@dataclass
class World:
    """People whose releases are remembered by the real memory; each fresh draw gets a number of its own.

    drawn: what each person's draws were of, in their order.
    shown: which of its draws each release shows of a person.
    spent: the ε that the rules name before each release.
    """

    policy: Policy
    memory: Memory
    drawn: dict[str, list[Draw]]
    shown: dict[str, list[int]]
    spent: list[float]

    @classmethod
    def of(cls, policy: Policy, history: Sequence[Places], values: Sequence[Values]) -> World:
        """Publish all releases, one after the other."""
        world = cls(policy, Memory.empty(), {}, {}, [])
        for number, (places, known) in enumerate(zip(history, values, strict=True)):
            world._publish(number, places, known)
        return world

    def _publish(self, number: int, places: Places, values: Values) -> None:
        people = sorted(places)
        frame = pd.DataFrame(
            {
                PERSON: people,
                RECORD: people,
                "ward": [places[person] for person in people],
                "height": [values[person] for person in people],
            }
        )
        stays = sticky_noise(self.policy, frame, noisy_units(frame, self.policy), memory=self.memory)
        self.spent.append(float(epsilon_to_book(self.policy, stays)))
        (noise,) = noises(self.policy)
        noisy = []
        for row, person in enumerate(people):
            own = self.drawn.setdefault(person, [])
            if not stays.known[row, 0]:
                inside = [values[other] for other in people if places[other] == places[person]]
                wide = sensitivities(noise, np.array([max(inside) - min(inside)]))
                own.append(Draw(int(np.clip(values[person], LOW, HIGH)), int(wide[0])))
            which = int(stays.noisy[row, 0]) if stays.known[row, 0] else len(own) - 1
            self.shown.setdefault(person, []).append(which)
            noisy.append(which)
        released = frame.assign(height=noisy).drop(columns=PERSON)
        past = Past(f"{number:064x}", None)
        self.memory = remember(self.memory, self.policy, released, frame, past=past)


def both(
    history: Sequence[Places], values: Values, other: Values, policy: Policy | None = None
) -> tuple[World, World]:
    """Publish the same releases in two worlds whose values differ."""
    used = policy or the_policy()
    return tuple(World.of(used, history, [each] * len(history)) for each in (values, other))  # type: ignore[return-value]


def ratio(one: World, other: World) -> float:
    """Return the largest log ratio of all that is published of everybody."""
    assert one.shown == other.shown  # which values are the same as before tells nothing of them
    return sum(published_ratio(one.drawn[person], other.drawn[person], EPSILON) for person in one.drawn)


# What was wrong: noise of the scale that the class had then (version 0.1.0).


def test_a_class_that_grew_told_its_members_from_the_one_who_joined() -> None:
    """Ten people 0 … 10, ε = 1, then one with 1,000: the manifest said e^1."""
    old, newcomer = Draw(5, 10), Draw(1000, 1000)
    law = laplace(1.0)
    at_1000 = law(1000 - newcomer.value, newcomer.wide) - law(1000 - old.value, old.wide)
    assert at_1000 == pytest.approx(94.9, abs=0.05)
    assert published_ratio([newcomer], [old], 1.0) == math.inf  # further out it is larger still
    anew = Draw(5, 1000)  # drawn anew that release is right, but the old one is out
    assert published_ratio([newcomer], [anew], 1.0) <= 1 + 1e-12
    assert published_ratio([old], [Draw(1000, 1000)], 1.0) > 4


@pytest.mark.parametrize("history", ["growing", "merging"])
def test_noise_of_the_class_breaks_epsilon_where_the_class_gets_wider(history: str) -> None:
    """Two members of the last class; the noise of one is of when the class was narrower."""
    values = {"A": 0, "B": 1, "C": 9}
    first, last = HISTORIES[history][0], HISTORIES[history][-1]

    def wide(places: Places, person: str) -> int:
        inside = [values[other] for other in places if places[other] == places[person]]
        return max(inside) - min(inside)

    stuck = Draw(values["A"], wide(first, "A"))  # as it was drawn first and kept
    assert published_ratio([Draw(values["C"], wide(last, "C"))], [stuck], EPSILON) == math.inf
    fresh = Draw(values["A"], wide(last, "A"))
    assert published_ratio([Draw(values["C"], wide(last, "C"))], [fresh], EPSILON) <= EPSILON + 1e-12


def test_noise_of_the_class_can_be_asked_for_no_more() -> None:
    scaled = the_policy().model_dump(mode="json", exclude_none=True)
    del scaled["columns"]["height"]["input_bounds"]
    scaled["columns"]["height"]["sensitivity"] = "class"
    with pytest.raises(PolicyError, match="height"):
        policy_from(scaled)
    old = policy_from(scaled, retired=True)
    with pytest.raises(PolicyError, match="height"):  # nor by a policy that was read to verify
        World.of(old, GROWING, [{"A": 0, "B": 1, "C": 9}] * 2)


# What holds now: ε for each value, whatever happens to the classes.


@pytest.mark.parametrize("history", HISTORIES)
def test_all_releases_together_tell_epsilon_of_a_value(history: str) -> None:
    values = {"A": 0, "B": 1, "C": 9}
    worst = 0.0
    for x, y in itertools.permutations((LOW, 1, 6, HIGH), 2):
        one, other = both(HISTORIES[history], values | {"A": x}, values | {"A": y})
        worst = max(worst, ratio(one, other))
    assert worst == pytest.approx(EPSILON, abs=1e-12)  # and that is reached: 0 against 10


@pytest.mark.parametrize("history", HISTORIES)
def test_all_releases_together_tell_two_epsilon_of_an_exchange(history: str) -> None:
    one, other = both(HISTORIES[history], {"A": 0, "B": 10, "C": 5}, {"A": 10, "B": 0, "C": 5})
    assert ratio(one, other) == pytest.approx(2 * EPSILON, abs=1e-12)


PLACES = st.lists(
    st.dictionaries(st.sampled_from("ABCD"), st.sampled_from(["x", "y", "xy", "*"]), min_size=1),
    min_size=1,
    max_size=6,
)
ALL = st.fixed_dictionaries({person: st.integers(-3, 15) for person in "ABCD"})


@settings(max_examples=examples_of(20))
@given(history=PLACES, values=ALL, other=st.integers(-3, 15), who=st.sampled_from("ABCD"))
def test_any_history_tells_epsilon_of_a_value(
    history: list[Places], values: dict[str, int], other: int, who: str
) -> None:
    one, two = both(history, values, values | {who: other})
    assert ratio(one, two) <= EPSILON + 1e-12
    assert ratio(two, one) <= EPSILON + 1e-12
    assert all(len(draws) == 1 for draws in one.drawn.values())  # one draw, however the classes move
    assert all(set(shown) == {0} for shown in one.shown.values())


@settings(max_examples=examples_of(20))
@given(
    releases=st.lists(
        st.tuples(st.sampled_from(["x", "y", "xy"]), st.integers(0, 2)), min_size=1, max_size=7
    ),
    firsts=st.tuples(*[st.integers(LOW, HIGH)] * 3),
    seconds=st.tuples(*[st.integers(LOW, HIGH)] * 3),
)
def test_values_that_change_tell_epsilon_each_and_that_is_booked(
    releases: list[tuple[str, int]], firsts: tuple[int, ...], seconds: tuple[int, ...]
) -> None:
    """A person's value is the i-th of three; two worlds that change alike, with other values."""
    if len(set(firsts)) < 3 or len(set(seconds)) < 3:
        return
    history: list[Places] = [{"A": place, "B": place} for place, _ in releases]
    worlds = [
        World.of(the_policy(), history, [{"A": each[i], "B": 4} for _, i in releases])
        for each in (firsts, seconds)
    ]
    different = len({i for _, i in releases})
    assert ratio(*worlds) <= different * EPSILON + 1e-12
    assert len(worlds[0].drawn["A"]) == different


def test_looking_up_by_the_class_too_would_cost_epsilon_for_each_class() -> None:
    """As version 0.1.0 did: with a public scale it keeps ε, but each class is another draw."""
    one, other = [Draw(0, 10)] * 3, [Draw(10, 10)] * 3
    assert published_ratio(one, other, EPSILON) == pytest.approx(3 * EPSILON)
    now, then = both(WANDERING, {"A": 0, "B": 1, "C": 9}, {"A": 10, "B": 1, "C": 9})
    assert ratio(now, then) == pytest.approx(EPSILON)


# Memories of before.


def of_the_class(memory: Memory) -> Memory:
    """Return a memory as version 0.1.0 wrote it: noise of class scale, looked up by the class, too."""
    scaled = '["1", 1.0, null, "discrete_laplace"]'
    return Memory(memory.releases, memory.members, memory.values.assign(terms=scaled), memory.key)


def test_noise_of_the_class_in_an_old_memory_is_never_used_again() -> None:
    policy, values = the_policy(), {"A": 0, "B": 1, "C": 9}
    memory = of_the_class(World.of(policy, GROWING, [values] * 2).memory)
    assert len(memory.values) == 3
    for version in (1, 2, 3):
        frame, found = to_table(memory)
        releases = [past if version == 3 else past[:2] for past in found["memory"]["releases"]]
        facts = {"memory": {**found["memory"], "version": version, "releases": releases}}
        back = from_table(frame, facts)
        world = World(policy, back, {}, {}, [])
        world._publish(2, GROWING[1], values)
        assert world.spent == [EPSILON]  # all of it is drawn anew, and booked
        assert {draw.wide for draws in world.drawn.values() for draw in draws} == {HIGH - LOW}


@pytest.mark.parametrize("mechanism", ["discrete_laplace", "staircase", "discrete_gaussian", "uniform"])
def test_no_terms_of_a_class_are_those_of_a_public_scale(keeping: Keeping, mechanism: str) -> None:
    extra: dict[str, Any] = {
        "discrete_gaussian": {"delta": 1e-6},
        "uniform": {"without_guarantee": True},
    }.get(mechanism, {})
    for bounds in (None, [0, 300]):
        column = {"mechanism": mechanism, "output_bounds": bounds}
        declared = keeping(columns={"height": column}, perturb=extra)
        scaled = keeping(
            columns={"height": {**column, "sensitivity": None, "input_bounds": None}}, perturb=extra
        )
        assert (declared.perturbed["height"].sensitivity, scaled.perturbed["height"].sensitivity) == (
            "declared",
            "class",
        )
        assert noise_terms(declared)["height"] != noise_terms(scaled)["height"]
        assert len(said(declared)) == 6
        assert said(declared)[5] == [145, 195]
        assert len(said(scaled)) == 4 or said(scaled)[5] is None


def said(policy: Policy) -> list[Any]:
    found: list[Any] = json.loads(noise_terms(policy)["height"])
    return found


def test_of_values_that_an_old_memory_tells_apart_by_their_class_the_last_one_stays() -> None:
    policy, values = the_policy(), {"A": 0, "B": 1, "C": 9}
    memory = World.of(policy, GROWING, [values] * 2).memory
    twice = pd.concat([memory.values, memory.values.assign(**{"class": '["y"]'}, noisy=7, release=0)])
    frame, facts = to_table(Memory(memory.releases, memory.members, twice, memory.key))
    back = from_table(frame, facts)
    assert len(back.values) == 3
    assert (back.values["noisy"] == 7).all()
    people = pd.DataFrame({PERSON: ["A", "B"], "ward": "y", "height": [0, 1]})
    found = recall(back, policy, people, noisy_units(people, policy))
    assert found.known.all()
    assert (found.noisy == 7).all()


def test_what_may_not_stay_is_not_remembered(keeping: Keeping) -> None:
    """Noise of the class is never used again: a memory of it would be private data for nothing."""
    scaled = keeping(columns={"height": {"sensitivity": None, "input_bounds": None}})
    people = pd.DataFrame(
        {
            PERSON: ["a", "b"],
            RECORD: ["1", "2"],
            "age": pd.array(["20-29"] * 2, dtype="str"),
            "city": pd.array(["*"] * 2, dtype="str"),
            "height": [170, 171],
        }
    )
    memory = remember(Memory.empty(), scaled, people.drop(columns=PERSON), people, past=Past("d" * 64, None))
    assert (len(memory.members), len(memory.values)) == (2, 0)
