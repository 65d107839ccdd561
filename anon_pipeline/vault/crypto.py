"""Sealing an artifact: AES-256-GCM in chunks, under a data key of its own that the vault's key wraps.

Layout: a head (magic, version, key id, chunk size, nonce prefix), the wrapped data key (nonce, key, tag),
then chunks of ciphertext with a tag each. A chunk's nonce is the prefix, its number, and whether it is the
last one (the STREAM construction), so that a chunk that is missing, moved or added does not open. The
artifact's name is authenticated with the data key and with every chunk; the key id with the data key only,
which a rotation wraps anew without touching the chunks.

Source: NIST SP 800-38D; Hoang, Reyhanitabar, Rogaway and Vizár, Online Authenticated-Encryption (2015).
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Final, NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from anon_pipeline.base.errors import InputError

MAGIC = b"APVAULT"
_VERSION = 1
_HEAD = struct.Struct(">7sB16sI7s")  # magic, version, key id, chunk size, nonce prefix
_NONCE, _TAG, _KEY = 12, 16, 32  # bytes
HEADER = _HEAD.size + _NONCE + _KEY + _TAG
"""Bytes before the first chunk."""
_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class VaultKey:
    """A key of the vault; its id may be shown, its secret never is.

    secret: 32 bytes.
    """

    id: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SealedPlace:
    """Where sealed files are, for messages.

    whose: before a file's name.
    again: how a file is made again; ``there``: who could have changed it.
    """

    whose: str
    again: str
    there: str


VAULT: Final = SealedPlace("the vault's ", "materialize the stage again", "to the vault")


def vault_key(secret: bytes) -> VaultKey:
    """Return the key of 32 random bytes, with the id that artifacts name it by."""
    return VaultKey(hashlib.sha256(b"anon_pipeline vault key id\0" + secret).hexdigest()[:32], secret)


@dataclass(frozen=True, slots=True)
class _Head:
    key_id: str
    chunk: int
    prefix: bytes = field(repr=False)

    def pack(self) -> bytes:
        return _HEAD.pack(MAGIC, _VERSION, bytes.fromhex(self.key_id), self.chunk, self.prefix)

    def bound_to(self, name: str) -> bytes:
        """Return what every chunk authenticates: all that a rotation does not change."""
        return struct.pack(">7sBI7s", MAGIC, _VERSION, self.chunk, self.prefix) + name.encode()

    def nonce(self, number: int, last: bool) -> bytes:
        return self.prefix + struct.pack(">IB", number, last)

    def header(self, data_key: bytes, key: VaultKey, name: str) -> bytes:
        """Return the whole header: the head, and the data key wrapped for this head and name."""
        head, nonce = self.pack(), os.urandom(_NONCE)
        return head + nonce + AESGCM(key.secret).encrypt(nonce, data_key, head + name.encode())


class Sealer(io.RawIOBase):
    """A file that encrypts what is written to it; memory stays at one chunk.

    Nothing is complete before `finish`: closing alone leaves what does not open.
    """

    def __init__(self, target: BinaryIO, key: VaultKey, name: str, *, chunk: int = _CHUNK) -> None:
        data_key = AESGCM.generate_key(256)
        self._head = _Head(key.id, chunk, os.urandom(7))
        self._bound, self._cipher = self._head.bound_to(name), AESGCM(data_key)
        self._target, self._rest, self._number, self._size = target, bytearray(), 0, 0
        target.write(self._head.header(data_key, key, name))

    def writable(self) -> bool:
        """Say yes."""
        return True

    def tell(self) -> int:
        """Return how many bytes were written, in plain text."""
        return self._size

    def write(self, data: object) -> int:
        """Encrypt bytes; those of an unfinished chunk wait for more."""
        view = memoryview(data).cast("B")  # type: ignore[arg-type]
        size = len(view)
        while len(view):
            if len(self._rest) == self._head.chunk:
                self._seal(last=False)
            room = self._head.chunk - len(self._rest)
            self._rest += view[:room]
            view = view[room:]
        self._size += size
        return size

    def finish(self) -> None:
        """Encrypt the last chunk."""
        self._seal(last=True)

    def _seal(self, *, last: bool) -> None:
        nonce = self._head.nonce(self._number, last)
        self._target.write(self._cipher.encrypt(nonce, self._rest, self._bound))
        self._rest.clear()
        self._number += 1


def key_id_of(header: bytes) -> str | None:
    """Return the id of the key that an artifact is sealed with; None for one that is not sealed.

    Args:
        header: the artifact's first `HEADER` bytes, or fewer where it is shorter.
    """
    if not header.startswith(MAGIC) or len(header) < _HEAD.size:
        return None
    return str(_HEAD.unpack_from(header)[2].hex())


def unseal(
    source: BinaryIO, name: str, keys: Mapping[str, VaultKey], *, place: SealedPlace = VAULT
) -> Iterator[bytes]:
    """Decrypt an artifact, a chunk at a time; none is returned before it is authenticated.

    Args:
        source: at the artifact's beginning.
        name: that the artifact was sealed with.
        keys: those that may open it, by id.
        place: where it is, for messages.
    Raises:
        InputError: it is sealed with another key; or it, its order, its length or its name has changed. A
            change further on is found when the iteration gets there: use nothing before it has ended.
    """
    head, data_key = _open(_read_block(source, HEADER), name, keys, place)
    cipher, bound, size = AESGCM(data_key), head.bound_to(name), head.chunk + _TAG
    block, number = _read_block(source, size), 0
    while True:
        following = _read_block(source, size)
        try:
            yield cipher.decrypt(head.nonce(number, not following), block, bound)
        except InvalidTag:
            changed = True
        else:
            changed = False
        if changed:
            _refuse_change(name, place)
        if not following:
            return
        block, number = following, number + 1


def rewrap(
    source: BinaryIO, target: BinaryIO, name: str, *, keys: Mapping[str, VaultKey], to: VaultKey
) -> None:
    """Copy a sealed artifact with its data key wrapped by another key; the chunks are copied as they are.

    Raises:
        InputError: the header does not open: see `unseal`.
    """
    head, data_key = _open(_read_block(source, HEADER), name, keys, VAULT)
    target.write(_Head(to.id, head.chunk, head.prefix).header(data_key, to, name))
    while block := source.read(_CHUNK):
        target.write(block)


def _open(header: bytes, name: str, keys: Mapping[str, VaultKey], place: SealedPlace) -> tuple[_Head, bytes]:
    """Return an artifact's head and its data key; nothing of the head is used before it is authenticated."""
    if len(header) < HEADER or not header.startswith(MAGIC):
        _refuse_change(name, place)
    _, version, key_id, chunk, prefix = _HEAD.unpack_from(header)
    if version != _VERSION:
        raise InputError(f"{place.whose}{name} must be of format version {_VERSION}, got {version}.")
    key = keys.get(key_id.hex())
    if key is None:
        raise InputError(
            f"{place.whose}{name} is encrypted with key {key_id.hex()}. The keys given are: "
            f"{', '.join(keys) or 'none'}. Set key {key_id.hex()}, or pass it as an old key. If it is lost, "
            f"{place.again}."
        )
    wrapped = header[_HEAD.size :]
    try:
        data_key = AESGCM(key.secret).decrypt(
            wrapped[:_NONCE], wrapped[_NONCE:], header[: _HEAD.size] + name.encode()
        )
    except InvalidTag:
        data_key = b""
    if not data_key:
        _refuse_change(name, place)
    return _Head(key.id, chunk, prefix), data_key


def _refuse_change(name: str, place: SealedPlace) -> NoReturn:
    raise InputError(
        f"{place.whose}{name} must be as it was written: it has been changed, cut, renamed or exchanged. "
        f"{place.again.capitalize()}, and find out who can write {place.there}."
    )


def _read_block(source: BinaryIO, size: int) -> bytes:
    """Read so many bytes, fewer only at the end: a remote file may return less at a time."""
    block = source.read(size)
    while len(block) < size and (more := source.read(size - len(block))):
        block += more
    return block
