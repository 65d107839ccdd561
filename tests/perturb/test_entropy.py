"""Random words: their stream, their keys, and integers without bias."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from anon_pipeline.perturb import entropy as module
from anon_pipeline.perturb.entropy import (
    Entropy,
    distinct_ids,
    integers_below,
    seeded_entropy,
    system_entropy,
)
from tests.forked import run_forked


@pytest.fixture(autouse=True)
def _keys_of_the_system(monkeypatch):
    """Draw as releases do: noise of other tests repeats."""
    monkeypatch.setattr(module, "os", os)


def words_in_child(entropy: Entropy, count: int) -> list[int]:
    """Words that a forked child draws from the object it inherits."""
    reader, writer = os.pipe()
    assert run_forked(lambda: os.write(writer, entropy.words(count).tobytes())) == 0
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        return np.frombuffer(pipe.read(), np.uint64).tolist()


def test_key_stream_is_chacha20_from_block_0():
    first_block = module.key_stream(bytes(32), 0).update(bytes(64))  # RFC 8439, A.1, test vector 1
    assert first_block.hex() == (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
    )


def test_key_streams_of_one_key_differ():
    assert module.key_stream(bytes(32), 0).update(bytes(64)) != module.key_stream(bytes(32), 1).update(
        bytes(64)
    )


def test_seeded_words_repeat_and_say_so():
    assert seeded_entropy(7).words(5).tolist() == seeded_entropy(7).words(5).tolist()
    assert seeded_entropy(7).words(5).tolist() != seeded_entropy(8).words(5).tolist()
    assert seeded_entropy(7).seeded is True
    assert system_entropy().seeded is False


def test_system_streams_differ():
    assert system_entropy().words(4).tolist() != system_entropy().words(4).tolist()


def test_stream_does_not_depend_on_the_pieces():
    whole, pieces = seeded_entropy(1), seeded_entropy(1)
    taken = [pieces.words(count) for count in (3, 0, 5, 1)]
    assert whole.words(9).tolist() == np.concatenate(taken).tolist()


def test_bytes_are_uniform():
    counts = np.bincount(seeded_entropy(2).words(2**15).view(np.uint8), minlength=256)
    assert chisquare(counts).pvalue > 1e-3


def test_forked_child_draws_other_words():
    entropy = system_entropy()
    entropy.words(3)
    in_child = words_in_child(entropy, 4)
    assert len(in_child) == 4
    assert in_child != entropy.words(4).tolist()


def test_seeded_stream_repeats_in_a_child():
    entropy = seeded_entropy(3)
    assert words_in_child(entropy, 4) == entropy.words(4).tolist()


@pytest.mark.parametrize("make", [system_entropy, lambda: seeded_entropy(4)])
def test_new_key_before_the_counter_wraps(monkeypatch: pytest.MonkeyPatch, make):
    monkeypatch.setattr(module, "_WORDS_PER_KEY", 8)
    entropy = make()
    assert len({tuple(entropy.words(8).tolist()) for _ in range(5)}) == 5


@pytest.mark.parametrize("count", [-1, 2**32 + 1])
def test_count_out_of_range(count):
    with pytest.raises(ValueError, match="count must be in"):
        seeded_entropy(0).words(count)


def slow_integers(bounds: list[int], entropy: Entropy) -> list[int]:
    """Each integer from the bits of a word; those too large wait for the next round."""
    drawn: dict[int, int] = {}
    while len(drawn) < len(bounds):
        waiting = [i for i in range(len(bounds)) if i not in drawn]
        for i, word in zip(waiting, entropy.words(len(waiting)).tolist(), strict=True):
            cut = word % 2 ** (bounds[i] - 1).bit_length()
            if cut < bounds[i]:
                drawn[i] = cut
    return [drawn[i] for i in range(len(bounds))]


@given(st.lists(st.integers(1, 2**63 - 1) | st.integers(1, 20), max_size=30), st.integers())
def test_integers_below_equal_their_slow_twin(bounds, seed):
    fast = integers_below(np.array(bounds, np.int64), entropy=seeded_entropy(seed))
    assert fast.tolist() == slow_integers(bounds, seeded_entropy(seed))


@pytest.mark.parametrize("bound", [2, 3, 6, 17])
def test_integers_below_are_uniform(bound):
    drawn = integers_below(np.full(50_000, bound), entropy=seeded_entropy(bound))
    assert chisquare(np.bincount(drawn, minlength=bound)).pvalue > 1e-3


def test_integers_below_leave_the_bounds_alone():
    bounds = np.array([5, 9])
    integers_below(bounds, entropy=seeded_entropy(0))
    assert bounds.tolist() == [5, 9]


def test_bound_below_one():
    with pytest.raises(ValueError, match="bounds must be >= 1, got 0"):
        integers_below(np.array([3, 0]), entropy=seeded_entropy(0))


def test_ids_are_drawn_again_until_all_differ():
    class Colliding:
        """Two equal words first, then different ones that only the sign bit would tell from negative."""

        def __init__(self):
            self.left = [[6, 6], [2**64 - 1, 4]]

        def words(self, count):
            assert count == 2
            return np.array(self.left.pop(0), np.uint64)

    assert distinct_ids(2, entropy=Colliding()).tolist() == [2**63 - 1, 2]


def test_ids_of_many_records_are_different_and_not_negative():
    ids = distinct_ids(100_000, entropy=system_entropy())
    assert len(set(ids.tolist())) == 100_000
    assert ids.min() >= 0
