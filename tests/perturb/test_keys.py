"""Words by record: a function of key, place, column, part and number, and of nothing else."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from anon_pipeline.perturb.entropy import seeded_entropy, system_entropy
from anon_pipeline.perturb.keys import NoiseKey, Words, by_element, fresh_key, integers_each

KEY = NoiseKey(bytes(range(32)))


def slow_word(key: bytes, place: int, column: int, part: int, number: int) -> int:
    """One word, by the layout that the module's docstring gives."""
    block = struct.pack("<QHHI", place, column, part, number // 2)
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return struct.unpack("<qq", encryptor.update(block) + encryptor.finalize())[number % 2]


def test_the_cipher_is_aes_256():
    block = bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")  # NIST SP 800-38A, F.1.5
    secret = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    place, rest = struct.unpack("<QQ", block)
    words = Words(NoiseKey(secret), np.array([place]).view(np.int64), rest & 0xFFFF, rest >> 16 & 0xFFFF)
    drawn = words.rows(slice(None), 2, first=2 * (rest >> 32))
    assert drawn.astype("<i8").tobytes().hex() == "f3eed1bdb5d2a03c064b5a7e3db181f8"


@given(
    st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=4),
    st.integers(0, 2**16 - 1),
    st.integers(0, 2**16 - 1),
    st.integers(0, 9) | st.integers(2**32, 2**33 - 20),
    st.integers(1, 9),
)
def test_words_equal_their_slow_twin(places, column, part, first, count):
    words = Words(KEY, np.array(places, np.int64), column, part)
    expected = [[slow_word(KEY.secret, p, column, part, first + i) for i in range(count)] for p in places]
    assert words.rows(slice(None), count, first=first).tolist() == expected


def test_words_depend_on_nothing_but_their_coordinates():
    words = Words(KEY, np.array([7, 3, 9]))
    whole = words.rows(slice(None), 6)
    assert words.rows(np.array([2, 0]), 6).tolist() == whole[[2, 0]].tolist()
    assert words.rows(np.array([1]), 2, first=3).tolist() == [whole[1, 3:5].tolist()]
    mixed = Words(KEY, np.array([9, 7, 3]))
    assert mixed.rows(slice(None), 6).tolist() == whole[[2, 0, 1]].tolist()


def test_other_keys_columns_parts_and_places_have_other_words():
    words = Words(KEY, np.array([1]))
    others = [
        words,
        words.of_column(1),
        words.of_part(1),
        Words(KEY, np.array([2])),
        Words(NoiseKey(bytes(32)), np.array([1])),
    ]
    assert len({tuple(other.rows(slice(None), 2)[0].tolist()) for other in others}) == len(others)


def test_no_elements_have_no_words():
    assert Words(KEY, np.empty(0, np.int64)).rows(slice(None), 3).shape == (0, 3)


def slow_integer(row: list[int], bound: int) -> int:
    """The first of an element's words that is below the bound once cut to its bits."""
    return next(cut for word in row if (cut := word % 2 ** (bound - 1).bit_length()) < bound)


@given(st.lists(st.integers(1, 2**63 - 1) | st.integers(1, 20), max_size=20), st.integers(0, 2**63 - 1))
def test_integers_of_each_element_equal_their_slow_twin(bounds, seed):
    words = Words(fresh_key(seeded_entropy(seed)), np.arange(len(bounds)))
    own = words.rows(slice(None), 200).tolist()
    expected = [slow_integer(row, bound) for row, bound in zip(own, bounds, strict=True)]
    assert integers_each(np.array(bounds, np.int64), words=words).tolist() == expected


@pytest.mark.parametrize("bound", [2, 3, 6, 17])
def test_integers_of_each_element_are_uniform(bound):
    words = Words(fresh_key(seeded_entropy(bound)), np.arange(50_000))
    drawn = integers_each(np.full(50_000, bound), words=words)
    assert chisquare(np.bincount(drawn, minlength=bound)).pvalue > 1e-3


def test_a_bound_below_one():
    with pytest.raises(ValueError, match="bounds must be >= 1, got 0"):
        integers_each(np.array([3, 0]), words=Words(KEY, np.arange(2)))


def test_bytes_are_uniform():
    drawn = Words(KEY, np.arange(2**12)).rows(slice(None), 8)
    assert chisquare(np.bincount(drawn.view(np.uint8).ravel(), minlength=256)).pvalue > 1e-3


def test_fresh_keys_differ_and_seeded_ones_say_so():
    assert fresh_key(system_entropy()).secret != fresh_key(system_entropy()).secret
    assert fresh_key(system_entropy()).seeded is False
    assert fresh_key(seeded_entropy(1)) == fresh_key(seeded_entropy(1))
    assert fresh_key(seeded_entropy(1)).seeded is True


def test_elements_of_a_stream_get_a_fresh_key():
    entropy = seeded_entropy(1)
    first, second = (by_element(entropy, 3) for _ in range(2))
    assert first.key != second.key
    assert first.places.tolist() == [0, 1, 2]
    assert by_element(first, 3) is first
    with pytest.raises(ValueError, match="words of 2 elements, got those of 3"):
        by_element(first, 2)


@pytest.mark.parametrize(("column", "part"), [(-1, 0), (2**16, 0), (0, 2**16)])
def test_columns_and_parts_have_16_bits(column, part):
    with pytest.raises(ValueError, match="column and part must be in"):
        Words(KEY, np.array([0]), column, part)


def test_words_end_before_the_counter_wraps():
    with pytest.raises(ValueError, match=r"words must be in \[0, 2\^33\)"):
        Words(KEY, np.array([0])).rows(slice(None), 2, first=2**33 - 1)


def test_a_key_is_never_shown():
    secret = bytes([7] * 32)
    assert "\\x07" not in repr(NoiseKey(secret)) + repr(Words(NoiseKey(secret), np.array([0])))
    with pytest.raises(ValueError, match="32 bytes, got 3"):
        NoiseKey(b"abc")


def test_a_reader_reads_what_rows_gives_piece_by_piece():
    words = Words(KEY, np.array([7, 0, 3, 2**40]), column=3, part=1)
    reader = words.reader()
    for at, count, first in (([0, 1, 2, 3], 6, 0), ([2], 3, 5), ([3, 3, 0], 40, 1), ([], 4, 0), ([1], 1, 0)):
        rows = np.array(at, np.int64)
        found = reader.rows(rows, count, first=first)
        assert found.tolist() == words.rows(rows, count, first=first).tolist()
        assert found.flags.c_contiguous
    kept = words.rows(slice(None), 6)
    before = kept.copy()
    words.rows(slice(None), 6, first=6)
    assert np.array_equal(kept, before)  # unlike those of a reader
