"""Signatures of manifests: Ed25519 over the canonical bytes of all the rest, inside the manifest itself.

Inside, because one rename must still suffice: two files cannot change at once. Collections are signed in the
same way; what is signed begins with what it is, so that none is taken for the other.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.size_bounds import KEY_BYTES, read_small
from anon_pipeline.policy.sections import Sign

MANIFEST_SIGNED: Final = "manifest"
"""What is signed, by default; other documents have another word."""
_ALGORITHM = "ed25519"


def signing_key(sign: Sign | None, *, folder: Path) -> Ed25519PrivateKey | None:
    """Return the key that a policy signs with; None where it signs nothing.

    Args:
        folder: what ``key_file`` is relative to.
    Raises:
        InputError: no usable key; nothing of it is shown.
    """
    if sign is None:
        return None
    where = "publish.sign.key_env" if sign.key_env else "publish.sign.key_file"
    try:
        if sign.key_env:
            text = os.environ[sign.key_env].encode()
        else:
            text = read_small(folder / str(sign.key_file), KEY_BYTES) or b""
    except KeyError:
        raise InputError(f"{where}: the environment must have {sign.key_env}, got nothing") from None
    except OSError as error:
        raise InputError(f"{where} must be a readable file: {error_words(error)}") from None
    key = None
    with contextlib.suppress(Exception):  # what the parser says may quote the key
        key = load_pem_private_key(text, password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(
            f"{where} must be an Ed25519 private key in PEM without a password. anon-pipeline keygen writes "
            "one."
        )
    return key


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key.

    Raises:
        InputError: unreadable, or no Ed25519 public key in PEM.
    """
    try:
        text = read_small(path, KEY_BYTES) or b""
    except OSError as error:
        raise InputError(f"the public key must be a readable file: {error_words(error)}") from None
    key = None
    with contextlib.suppress(Exception):  # the file may be the private one
        key = load_pem_public_key(text)
    if not isinstance(key, Ed25519PublicKey):
        raise InputError("the public key must be an Ed25519 public key in PEM")
    return key


def write_keys(path: Path) -> Path:
    """Write a new private key (0600, whatever the umask) and, next to it with ``.pub``, its public key.

    Returns:
        Path of the public key.
    Raises:
        InputError: one of the files is there already, or cannot be written.
    """
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    beside = path.with_name(path.name + ".pub")
    if beside.exists():
        raise InputError(f"{beside}: exists already. Give the key another name.")
    _write_new(path, private, 0o600)
    _write_new(beside, public, 0o644)
    return beside


def _write_new(path: Path, data: bytes, mode: int) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{path}: must not be there yet. Give the key another name.") from None
    except OSError as error:
        raise InputError(f"{path}: must be a file that can be written: {error_words(error)}") from None
    with os.fdopen(handle, "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(data)


def key_id(key: Ed25519PublicKey) -> str:
    """Return a public key's name: the first 16 digits of the SHA-256 of its 32 bytes."""
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()[:16]


def sign(document: Mapping[str, Any], key: Ed25519PrivateKey, what: str = MANIFEST_SIGNED) -> dict[str, Any]:
    """Return a manifest with its signature; of the key only its public half's name is in the result.

    Args:
        what: the document is, in one word.
    """
    signature = {"algorithm": _ALGORITHM, "key_id": key_id(key.public_key())}
    value = key.sign(_canonical({**document, "signature": signature}, what))
    return {**document, "signature": {**signature, "value": base64.b64encode(value).decode()}}


def broken_signature(
    document: Mapping[str, Any], key: Ed25519PublicKey, what: str = MANIFEST_SIGNED
) -> str | None:
    """Say what is wrong with a manifest's signature; None if it was made with this key over all the rest.

    Args:
        what: as of `sign`.
    """
    signature = document.get("signature")
    if not isinstance(signature, dict):
        return f"the {what} is not signed"
    if signature.get("algorithm") != _ALGORITHM or signature.get("key_id") != key_id(key):
        return f"signed with another key than {key_id(key)}"
    unsigned = {name: value for name, value in signature.items() if name != "value"}
    try:
        value = base64.b64decode(str(signature.get("value")), validate=True)
        key.verify(value, _canonical({**document, "signature": unsigned}, what))
    except (InvalidSignature, binascii.Error, ValueError):
        return f"the {what} is not what was signed"
    return None


def _canonical(document: Mapping[str, Any], what: str) -> bytes:
    """Return the one form of a document that is signed: sorted keys, no spaces, UTF-8 in ASCII escapes."""
    domain = f"anon-pipeline {what} 1\n".encode()
    return domain + json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
