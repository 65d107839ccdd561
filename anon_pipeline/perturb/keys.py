"""Random words by record: a function of a key, the record's place, the column and the word's number.

So the same key gives the same noise whatever the order of the records, the size of a batch or the number of
tries.

A block of AES-256 holds two words. Its input is the place (64 bits), the column (16), the part (16) and the
number of the block (32), little-endian: no two blocks of a key have the same input.
Source: NIST SP 800-38A, counter mode, with counters that are computed instead of counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from anon_pipeline.perturb.entropy import Entropy, masks_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext


_COLUMNS, _PARTS, _WORDS = 2**16, 2**16, 2**33


@dataclass(frozen=True, slots=True)
class NoiseKey:
    """What all noise of one draw comes from.

    secret: 32 bytes.
    seeded: whether somebody who knows a seed can make it again: for tests, refused by the gate.
    """

    secret: bytes = field(repr=False)
    seeded: bool = False

    def __post_init__(self) -> None:
        if len(self.secret) != 32:
            raise ValueError(f"the key of noise must have 32 bytes, got {len(self.secret)}.")


def fresh_key(entropy: Entropy) -> NoiseKey:
    """Draw a key of noise, from the operating system's entropy but in tests."""
    return NoiseKey(entropy.words(4).tobytes(), entropy.seeded)


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The random words of each element of one column.

    key: of the draw.
    places: (n,) of the elements, ≥ 0; elements of equal places have equal words.
    column: number of the column, below 2^16.
    part: what the words are for, where a mechanism draws several things of an element; below 2^16.
    """

    key: NoiseKey
    places: NDArray[np.int64] = field(repr=False)
    column: int = 0
    part: int = 0

    def __post_init__(self) -> None:
        if not (0 <= self.column < _COLUMNS and 0 <= self.part < _PARTS):
            raise ValueError(f"column and part must be in [0, 2^16), got {self.column} and {self.part}.")

    def of_column(self, column: int) -> Words:
        """Return the words of another column of the same records."""
        return replace(self, column=column)

    def of_part(self, part: int) -> Words:
        """Return words for something else that is drawn of each element."""
        return replace(self, part=part)

    def rows(self, at: NDArray[np.int64] | slice, count: int, *, first: int = 0) -> NDArray[np.int64]:
        """Return words of some elements, (len(at), count), as signed integers.

        Args:
            at: the elements, by their position.
            count: words of each, ≥ 1.
            first: number of the first word.
        Raises:
            ValueError: words beyond the 2^33 that an element has.
        """
        return np.array(self.reader().rows(at, count, first=first))

    def reader(self) -> Reader:
        """Return what reads many words piece by piece."""
        return Reader(self)


class Reader:
    """Reads words into memory of its own, again and again: fresh memory would cost more than the cipher.

    Not for use by several threads at once.
    """

    __slots__ = ("_blocks", "_encrypt", "_words", "_written")

    def __init__(self, words: Words) -> None:
        self._words, self._encrypt = words, _cipher(words.key.secret)
        self._blocks, self._written = np.empty(0, "<u8"), np.empty(2, "<i8")

    def rows(self, at: NDArray[np.int64] | slice, count: int, *, first: int = 0) -> NDArray[np.int64]:
        """Return words of some elements as `Words.rows` does; they hold until the next call."""
        if not 0 <= first <= first + count <= _WORDS:
            raise ValueError(f"words must be in [0, 2^33) of an element, got {first} … {first + count}.")
        begin, end = first // 2, (first + count + 1) // 2
        places = self._words.places[at]
        used = 2 * len(places) * (end - begin)
        if used > len(self._blocks):
            self._blocks, self._written = np.empty(used, "<u8"), np.empty(used + 2, "<i8")
        blocks = self._blocks[:used].reshape(len(places), end - begin, 2)
        blocks[:, :, 0] = places[:, None]
        blocks[:, :, 1] = (np.arange(begin, end, dtype=np.uint64) << np.uint64(32)) | np.uint64(
            self._words.part << 16 | self._words.column
        )
        self._encrypt.update_into(self._blocks[:used].data.cast("B"), self._written.data.cast("B"))
        drawn = self._written[:used].reshape(len(places), 2 * (end - begin))
        skipped = first - 2 * begin
        return np.ascontiguousarray(drawn[:, skipped : skipped + count], np.int64)


Source = Entropy | Words
"""Where the words of elements come from: the words of a draw, or a stream that they get a fresh key from."""


def by_element(source: Source, n: int) -> Words:
    """Return the words of n elements.

    Args:
        source: a stream, from which a fresh key is drawn for these elements alone; or words of a draw.
    Raises:
        ValueError: words of another number of elements.
    """
    if isinstance(source, Entropy):
        return Words(fresh_key(source), np.arange(n, dtype=np.int64))
    if len(source.places) != n:
        raise ValueError(f"there must be words of {n} elements, got those of {len(source.places)}.")
    return source


def integers_each(bounds: NDArray[np.int64], *, words: Words) -> NDArray[np.int64]:
    """Draw a uniform integer in [0, bound) for each element, from its own words, by rejection.

    Args:
        bounds: (n,) ≥ 1.
        words: of the n elements; each uses its words from the first on until one, cut to the bits that the
            bound needs, is below the bound.
    Raises:
        ValueError: a bound below 1.
    """
    masks, drawn = masks_of(bounds), np.zeros(len(bounds), np.int64)
    waiting, number = np.arange(len(bounds)), 0
    while len(waiting):
        found = words.rows(waiting, 1, first=number)[:, 0] & masks[waiting]
        drawn[waiting] = found
        waiting, number = waiting[found >= bounds[waiting]], number + 1
    return drawn


def _cipher(secret: bytes) -> CipherContext:
    """Return what encrypts each block of 16 bytes by itself."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415 - slow

    # ECB over inputs that never repeat is a keyed random function of each, not an encryption of data.
    return Cipher(algorithms.AES256(secret), modes.ECB()).encryptor()  # noqa: S305
