"""A random sample of the input: a keyed hash of each record, or of its person, decides who is in it.

So neither the order of the source nor other records decide, a release that is made again has the same
records, and so have later releases: together they do not reveal more of the input than one sample. Who does
not have the key cannot say who is in it.

Decision: docs/adr/0089-samples-by-a-keyed-hash.md.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table, value_numbers
from anon_pipeline.base.rows import keep_rows, some_rows
from anon_pipeline.base.values import to_texts
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.persons import normal_key

_VALUE, _MEMBER = b"anon-pipe value", b"anon-pipe sample"  # what a hash is for, at most 16 bytes
_DIGEST = 16  # bytes of a hash


def take_sample(policy: Policy, accepted: Table, *, key: bytes | None) -> Table:
    """Return the records of the sample; all without ``sample``.

    Args:
        accepted: (n, columns) personal data, with the identifiers.
        key: that of ``deidentify``.
    Raises:
        InputError: no key, or nobody is in the sample.
    """
    if policy.sample is None:
        return accepted
    if key is None:
        raise InputError("sample: must have a key, got none. Name it under deidentify.")
    if not len(accepted):
        return accepted
    key = hashlib.sha512(key).digest()  # as long as a key of BLAKE2b may be
    known = policy.person if policy.person is not None else policy.record_key
    members = _records(accepted, key) if known is None else _people(accepted, known, key)
    chosen = choose_members(members, policy.sample.share)
    if not chosen.any():
        raise InputError(
            f"sample: must leave at least one record, got none of {len(accepted):,}. Take a larger share."
        )
    return keep_rows(accepted, chosen)


def choose_members(members: NDArray[np.void], share: float) -> NDArray[np.bool_]:
    """Tell who is in the sample: whose hash is below the share of all hashes, (n,)."""
    first = np.ascontiguousarray(members).view(np.uint8).reshape(len(members), -1)[:, :8].copy()
    limit = int(Fraction(repr(float(share))) * 2**64)
    found: NDArray[np.bool_] = first.view(">u8")[:, 0] < np.uint64(min(limit, 2**64 - 1))
    return found


def _people(accepted: Table, column: str, key: bytes) -> NDArray[np.void]:
    """Hash whose record each one is, (n,): two ways of writing one key are one person."""
    codes = value_numbers(accepted, column)
    texts = to_texts(some_rows(accepted, _first_rows(codes), [column])[column])
    hashed = [_hash(key, _MEMBER, normal_key("" if pd.isna(one) else str(one)).encode()) for one in texts]
    return np.array(hashed, dtype=f"V{_DIGEST}")[codes]


def _records(accepted: Table, key: bytes) -> NDArray[np.void]:
    """Hash what is in each record, (n,), and which one of equal records it is."""
    columns = []
    for name in accepted.columns:
        codes = value_numbers(accepted, str(name))
        texts = to_texts(some_rows(accepted, _first_rows(codes), [str(name)])[str(name)])
        hashed = [
            _hash(key, _VALUE, b"\x00" if pd.isna(one) else b"\x01" + str(one).encode()) for one in texts
        ]
        columns.append(np.frombuffer(b"".join(hashed), np.uint8).reshape(-1, _DIGEST)[codes])
    rows = np.concatenate(columns, axis=1)
    numbers = _occurrences(rows)
    ends = numbers.astype("<i8").view(np.uint8).reshape(len(rows), 8)
    whole = np.ascontiguousarray(np.concatenate((rows, ends), axis=1))
    width, data = whole.shape[1], whole.tobytes()
    return np.array(
        [_hash(key, _MEMBER, data[at : at + width]) for at in range(0, len(data), width)], dtype=f"V{_DIGEST}"
    )


def _occurrences(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Count how many equal rows stand before each one, (n,)."""
    codes = pd.factorize(np.array([row.tobytes() for row in rows], dtype=object))[0]
    return np.asarray(pd.Series(codes).groupby(codes).cumcount(), np.int64)


def _first_rows(codes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return a row of each number, in their order."""
    first = np.empty(int(codes.max()) + 1, np.int64)
    first[codes[::-1].astype(np.int64)] = np.arange(len(codes))[::-1]
    return first


def _hash(key: bytes, purpose: bytes, data: bytes) -> bytes:
    """Return the keyed BLAKE2b of data; twice as fast as an HMAC, of millions of records."""
    return hashlib.blake2b(data, digest_size=_DIGEST, key=key, person=purpose).digest()
