"""What is sealed opens as it was, under its key and name, or not at all."""

from __future__ import annotations

import io
import os
import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.vault.crypto import HEADER, MAGIC, Sealer, VaultKey, key_id_of, rewrap, unseal, vault_key

CHUNK, TAG, NAME = 64, 16, "clinic/raw/2026-01-05.parquet"
REGIONS = {
    "magic": (0, 7),
    "version": (7, 8),
    "key id": (8, 24),
    "chunk size": (24, 28),
    "nonce prefix": (28, 35),
    "wrap nonce": (35, 47),
    "wrapped key": (47, 79),
    "wrap tag": (79, 95),
    "first chunk": (95, 95 + CHUNK),
    "first tag": (95 + CHUNK, 95 + CHUNK + TAG),
    "second chunk": (95 + CHUNK + TAG, 95 + 2 * CHUNK + TAG),
    "second tag": (95 + 2 * CHUNK + TAG, 95 + 2 * (CHUNK + TAG)),
    "last chunk": (95 + 2 * (CHUNK + TAG), 95 + 2 * (CHUNK + TAG) + 22),
    "last tag": (95 + 2 * (CHUNK + TAG) + 22, 95 + 2 * (CHUNK + TAG) + 38),
}
PLAIN = bytes(range(150))  # two chunks and 22 bytes


def seal(data: bytes, key: VaultKey, name: str = NAME, pieces: Sequence[int] = ()) -> bytes:
    target = io.BytesIO()
    sealer = Sealer(target, key, name, chunk=CHUNK)
    rest = data
    for size in pieces:
        sealer.write(rest[:size])
        rest = rest[size:]
    sealer.write(rest)
    assert sealer.tell() == len(data)
    sealer.finish()
    return target.getvalue()


def open_(data: bytes, key: VaultKey, name: str = NAME) -> bytes:
    return b"".join(unseal(io.BytesIO(data), name, {key.id: key}))


def chunks(data: bytes) -> list[bytes]:
    body = data[HEADER:]
    return [body[i : i + CHUNK + TAG] for i in range(0, len(body), CHUNK + TAG)]


@given(data=st.binary(max_size=5 * CHUNK), pieces=st.lists(st.integers(0, 3 * CHUNK), max_size=6))
def test_what_was_written_comes_back(data: bytes, pieces: list[int]) -> None:
    key = vault_key(os.urandom(32))
    assert open_(seal(data, key, pieces=pieces), key) == data


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK])
def test_sizes_around_chunks(size: int, key: VaultKey) -> None:
    data = os.urandom(size)
    sealed = seal(data, key)
    assert open_(sealed, key) == data
    assert len(sealed) == HEADER + size + TAG * max(1, -(-size // CHUNK))


def test_the_regions_are_all_of_the_file(key: VaultKey) -> None:
    ends = list(REGIONS.values())
    assert ends[0][0] == 0
    assert ends[-1][1] == len(seal(PLAIN, key))
    assert all(a[1] == b[0] for a, b in pairwise(ends))


@pytest.mark.parametrize("region", REGIONS)
def test_every_flipped_bit_is_an_error(region: str, key: VaultKey) -> None:
    sealed = seal(PLAIN, key)
    for place in range(*REGIONS[region]):
        for bit in range(8):
            changed = bytearray(sealed)
            changed[place] ^= 1 << bit
            with pytest.raises(InputError, match="the vault's clinic/raw"):
                open_(bytes(changed), key)


def test_every_shorter_file_is_an_error(key: VaultKey) -> None:
    for data in (PLAIN, PLAIN[: 2 * CHUNK], b""):
        sealed = seal(data, key)
        for size in range(len(sealed)):
            with pytest.raises(InputError, match="changed, cut, renamed"):
                open_(sealed[:size], key)


@pytest.mark.parametrize("more", [b"\0", b"\0" * TAG, b"\0" * (CHUNK + TAG)])
def test_a_longer_file_is_an_error(more: bytes, key: VaultKey) -> None:
    for data in (PLAIN, PLAIN[: 2 * CHUNK]):
        with pytest.raises(InputError, match="changed"):
            open_(seal(data, key) + more, key)


def test_chunks_in_another_order_twice_or_left_out_are_an_error(key: VaultKey) -> None:
    sealed = seal(bytes(CHUNK) * 4, key)  # equal chunks: only their place tells them apart
    a, b, c, d = chunks(sealed)
    for order in (
        [b, a, c, d],
        [a, c, b, d],
        [a, b, d, c],
        [a, b, d],
        [a, d],
        [d],
        [a, b, c],
        [a, a, b, c, d],
    ):
        with pytest.raises(InputError, match="changed"):
            open_(sealed[:HEADER] + b"".join(order), key)


def test_a_chunk_or_header_of_another_artifact_is_an_error(key: VaultKey) -> None:
    one, two = seal(PLAIN, key), seal(PLAIN, key)
    a, b = chunks(one), chunks(two)
    for spliced in (one[:HEADER] + b[0] + a[1] + a[2], one[:HEADER] + two[HEADER:]):
        with pytest.raises(InputError, match="changed"):
            open_(spliced, key)
    with pytest.raises(InputError, match="changed"):  # the data key of one in the head of the other
        open_(one[:35] + two[35:], key)


def test_another_name_is_an_error(key: VaultKey) -> None:
    sealed = seal(PLAIN, key)
    for name in ("clinic/raw/2026-01-12.parquet", "clinic/raw", NAME + "x", ""):
        with pytest.raises(InputError, match="renamed or exchanged"):
            open_(sealed, key, name)


def test_another_key_is_named_by_its_id_only(key: VaultKey, other_key: VaultKey) -> None:
    with pytest.raises(InputError, match=key.id) as raised:
        open_(seal(PLAIN, key), other_key)
    assert other_key.id in str(raised.value)
    impostor = VaultKey(key.id, other_key.secret)  # the same id, another secret
    with pytest.raises(InputError, match="changed"):
        open_(seal(PLAIN, key), impostor)


def test_no_plain_text_key_or_nonce_is_written_twice(key: VaultKey) -> None:
    plain = b"CANARY-7f3a" * 20
    one, two = seal(plain, key), seal(plain, key)
    assert b"CANARY" not in one
    assert key.secret not in one
    assert one[24:28] == two[24:28]
    assert one[28:35] != two[28:35]
    assert one[35:95] != two[35:95]
    assert one[HEADER : HEADER + 32] != two[HEADER : HEADER + 32]


def test_what_is_closed_and_not_finished_does_not_open(key: VaultKey) -> None:
    target = io.BytesIO()
    sealer = Sealer(target, key, NAME, chunk=CHUNK)
    sealer.write(bytes(2 * CHUNK))
    sealer.close()
    with pytest.raises(InputError, match="changed"):
        open_(target.getvalue(), key)


def test_the_key_is_never_shown(key: VaultKey) -> None:
    shown = repr(key) + str(key)
    assert key.id in shown
    assert "secret" not in shown
    assert len(key.id) == 32


def test_a_rotation_keeps_the_chunks(key: VaultKey, other_key: VaultKey) -> None:
    sealed, target = seal(PLAIN, key), io.BytesIO()
    rewrap(io.BytesIO(sealed), target, NAME, keys={key.id: key}, to=other_key)
    turned = target.getvalue()
    assert turned[HEADER:] == sealed[HEADER:]
    assert key_id_of(turned) == other_key.id
    assert open_(turned, other_key) == PLAIN
    with pytest.raises(InputError, match="is encrypted with key"):
        open_(turned, key)


def test_a_rotation_does_not_bless_a_changed_artifact(key: VaultKey, other_key: VaultKey) -> None:
    sealed = bytearray(seal(PLAIN, key))
    sealed[HEADER] ^= 1
    target = io.BytesIO()
    rewrap(io.BytesIO(bytes(sealed)), target, NAME, keys={key.id: key}, to=other_key)
    with pytest.raises(InputError, match="changed"):
        open_(target.getvalue(), other_key)
    with pytest.raises(InputError, match="renamed"):
        rewrap(io.BytesIO(seal(PLAIN, key)), io.BytesIO(), "b", keys={key.id: key}, to=other_key)


def test_a_source_that_reads_little_at_a_time(key: VaultKey) -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(7, size) if size and size > 0 else size)

    assert b"".join(unseal(Slow(seal(PLAIN, key)), NAME, {key.id: key})) == PLAIN


def test_memory_stays_at_a_few_chunks(key: VaultKey) -> None:
    class Target(io.RawIOBase):
        largest = 0

        def write(self, data: object) -> int:
            size = len(bytes(data))  # type: ignore[call-overload]
            self.largest = max(self.largest, size)
            return size

    target = Target()
    sealer = Sealer(target, key, NAME)  # type: ignore[arg-type]
    sealer.write(random.Random(0).randbytes(5 * 2**20 + 3))
    sealer.finish()
    assert target.largest == 2**20 + TAG


def test_only_what_begins_as_sealed_is(key: VaultKey) -> None:
    assert key_id_of(seal(b"", key)) == key.id
    assert key_id_of(b"PAR1" + bytes(200)) is None
    assert key_id_of(MAGIC) is None
    assert key_id_of(b"") is None
