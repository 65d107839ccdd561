"""The noise of tests repeats, by test and seed; nothing else's does."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from anon_pipeline.perturb import entropy
from anon_pipeline.perturb.entropy import system_entropy
from tests.forked import run_forked
from tests.repeatable_noise import SEED, RepeatableKeys, repeat_noise


@pytest.fixture
def real(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A patch of what has the system's keys, as in a process that no test runs in."""
    monkeypatch.setattr(entropy, "os", os)
    monkeypatch.delenv(SEED, raising=False)
    yield monkeypatch


def words(patch: pytest.MonkeyPatch, seed: str, name: str) -> list[int]:
    """Return words of two streams that what runs by a name draws."""
    keys = RepeatableKeys(seed)
    repeat_noise(patch, keys)
    with keys.of(name):
        return [int(system_entropy().words(1)[0]) for _ in range(2)]


def test_noise_depends_on_the_seed_and_the_name_alone(real: pytest.MonkeyPatch) -> None:
    first = words(real, "", "one")
    assert words(real, "", "one") == first and len(set(first)) == 2
    assert len({*first, *words(real, "", "two"), *words(real, "7", "one")}) == 6


def test_a_fixture_has_keys_of_its_own_and_takes_none_of_the_tests(real: pytest.MonkeyPatch) -> None:
    first = words(real, "", "test")
    keys = RepeatableKeys("")
    repeat_noise(real, keys)
    with keys.of("test"):
        drawn = [int(system_entropy().words(1)[0])]
        with keys.of("fixture"):
            assert int(system_entropy().words(1)[0]) == words(real, "", "fixture")[0]
        repeat_noise(real, keys)
        drawn.append(int(system_entropy().words(1)[0]))
    assert drawn == first


def test_forks_and_what_no_test_runs_have_keys_of_the_system(real: pytest.MonkeyPatch) -> None:
    keys = RepeatableKeys("")
    repeat_noise(real, keys)
    outside = [int(system_entropy().words(1)[0]) for _ in range(2)]
    reader, writer = os.pipe()
    with keys.of("test"):
        assert run_forked(lambda: os.write(writer, system_entropy().words(1).tobytes())) == 0
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        forked = int(np.frombuffer(pipe.read(), np.uint64)[0])
    assert not {*outside, forked} & {*words(real, "", "test"), *words(real, "", "")}


def test_the_environment_leaves_noise_to_the_system(real: pytest.MonkeyPatch) -> None:
    real.setenv(SEED, "system")
    assert words(real, "", "one") != words(real, "", "one")


def test_the_noise_of_this_test_repeats(request: pytest.FixtureRequest) -> None:
    if os.environ.get(SEED) == "system":
        pytest.skip("the environment leaves noise to the system")
    keys = RepeatableKeys(os.environ.get(SEED, ""))
    drawn = int(system_entropy().words(1)[0])
    with pytest.MonkeyPatch.context() as patch, keys.of(request.node.nodeid):
        repeat_noise(patch, keys)
        assert int(system_entropy().words(1)[0]) == drawn
