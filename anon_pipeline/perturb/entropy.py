"""Random 64-bit words, and integers made of them without any bias."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext


# ChaCha20 counts 64-byte blocks in 32 bits: one key and nonce is good for 2^35 words. Stop at an eighth.
_WORDS_PER_KEY = 2**32


class Entropy:
    """A stream of uniform 64-bit words: the key stream of ChaCha20. Make one with the functions below.

    A stream from the operating system gets a fresh key after 32 GiB and in a forked child, which would
    otherwise repeat its parent's noise. A seeded stream is a function of its seed and so repeats in a
    child. Not for use by several threads at once.
    """

    __slots__ = ("_left", "_pid", "_seed", "_stream", "_streams")

    def __init__(self, seed: int | None) -> None:
        self._seed = seed
        self._streams = 0
        self._rekey()

    @property
    def seeded(self) -> bool:
        """Whether somebody who knows the seed can repeat the words: for tests, refused by the gate."""
        return self._seed is not None

    def words(self, count: int) -> NDArray[np.uint64]:
        """Return the next words of the stream, (count,), read-only.

        Args:
            count: 0 … 2^32.
        Raises:
            ValueError: count out of its range.
        """
        if not 0 <= count <= _WORDS_PER_KEY:
            raise ValueError(f"count must be in [0, {_WORDS_PER_KEY}], got {count}. Ask in smaller pieces.")
        if count > self._left or (not self.seeded and self._pid != os.getpid()):
            self._rekey()
        self._left -= count
        return np.frombuffer(self._stream.update(bytes(8 * count)), "<u8").astype(np.uint64, copy=False)

    def _rekey(self) -> None:
        """Begin a stream: a fresh key of the operating system, or the seed's key and the next nonce."""
        key = os.urandom(32) if self._seed is None else hashlib.sha256(str(self._seed).encode()).digest()
        self._stream = key_stream(key, self._streams)
        self._streams += 1
        self._left = _WORDS_PER_KEY
        self._pid = os.getpid()


def key_stream(key: bytes, number: int) -> CipherContext:
    """Return the key stream of ChaCha20 from block 0: 4 bytes of counter, 12 bytes of nonce."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms  # noqa: PLC0415 - slow to import

    nonce = bytes(4) + number.to_bytes(12, "little")
    return Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor()


def system_entropy() -> Entropy:
    """Return a stream keyed by the operating system: the one that releases are made with."""
    return Entropy(None)


def seeded_entropy(seed: int) -> Entropy:
    """Return the same stream for the same seed.

    Args:
        seed: a number that a secret key gives; or any integer, for simulations and for tests: a release
            that is made with this stream is marked in its manifest. The key is SHA-256 of its decimal text.
    """
    return Entropy(seed)


def integers_below(bounds: NDArray[np.int64], *, entropy: Entropy) -> NDArray[np.int64]:
    """Draw a uniform integer in [0, bound) for each bound.

    A word is cut to the bits that the bound needs and drawn anew until it is below the bound: all
    integers below are equally likely, which a remainder or a scaled float would not give.

    Args:
        bounds: (n,) ≥ 1.
        entropy: source of the words; about 1.4 words are used per integer.
    Returns:
        (n,) integers.
    Raises:
        ValueError: a bound below 1.
    """
    masks, drawn = masks_of(bounds), np.zeros(len(bounds), np.int64)
    waiting = np.arange(len(bounds))
    while len(waiting):
        words = entropy.words(len(waiting)).view(np.int64) & masks[waiting]
        drawn[waiting] = words
        waiting = waiting[words >= bounds[waiting]]
    return drawn


def masks_of(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bits that an integer in [0, bound) needs, all set, (n,).

    Args:
        bounds: (n,) ≥ 1.
    Raises:
        ValueError: a bound below 1.
    """
    if len(bounds) and int(bounds.min()) < 1:
        raise ValueError(f"bounds must be >= 1, got {int(bounds.min())}.")
    masks: NDArray[np.int64] = bounds - 1
    for shift in (1, 2, 4, 8, 16, 32):
        masks |= masks >> shift
    return masks


def distinct_ids(n: int, *, entropy: Entropy) -> NDArray[np.int64]:
    """Draw n different random numbers in [0, 2^63), so that an id says nothing about a record's place.

    Args:
        n: ids, ≥ 0.
    Returns:
        (n,) all different.
    """
    while True:
        ids = (entropy.words(n) >> np.uint64(1)).astype(np.int64)
        if (np.diff(np.sort(ids)) > 0).all():
            return ids
