"""Where the vault's key comes from: an environment variable, a file, or the output of a command.

No message holds a key, a part of it, or what a command printed.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from anon_pipeline.base.errors import InputError, error_words
from anon_pipeline.base.places import LOCAL, is_local
from anon_pipeline.vault.crypto import VaultKey, vault_key

PREFIX = "ANON_PIPELINE_VAULT"
_SECONDS = 30  # for a command
_LARGEST = 2**16  # bytes of a key file; whatever is longer is none
_FEWEST = 16  # different bytes; 32 random ones have 30, fewer than 16 in one of 10¹³ keys


@dataclass(frozen=True, slots=True)
class Keys:
    """The key that artifacts are sealed with, and older ones that they may still be read with.

    current: None for a vault that is not encrypted.
    """

    current: VaultKey | None = None
    old: tuple[VaultKey, ...] = ()

    def readable(self) -> dict[str, VaultKey]:
        """Return every key by its id."""
        return {key.id: key for key in (self.current, *self.old) if key is not None}


def keys_from(environ: Mapping[str, str] | None = None, *, prefix: str = PREFIX) -> Keys:
    """Find the keys: ``<prefix>_KEY``, ``_KEY_FILE`` or ``_KEY_COMMAND``, and ``_OLD_KEYS…`` likewise.

    Args:
        environ: default: the process's environment.
        prefix: of the variables' names.
    Returns:
        No current key where none of the variables is set.
    Raises:
        InputError: more than one is set; it is empty; it does not give 32 bytes; the prefix is none.
    """
    plain_prefix(prefix)
    given = os.environ if environ is None else environ
    current = _find(given, f"{prefix}_KEY")
    old = _find(given, f"{prefix}_OLD_KEYS")
    if len(current) > 1:
        raise InputError(f"{prefix}_KEY must give one key, got {len(current)}. Old ones: {prefix}_OLD_KEYS.")
    if old and not current:
        raise InputError(f"{prefix}_OLD_KEYS must come with {prefix}_KEY, which is not set.")
    return Keys(current[0] if current else None, old)


def plain_prefix(prefix: str) -> str:
    """Return the beginning of names of environment variables, if it is one.

    Raises:
        InputError: it is something else, perhaps a key; without it.
    """
    if not re.fullmatch(r"[A-Z][A-Z0-9_]{0,39}", prefix):
        raise InputError(
            "the vault's key_names must be the beginning of names of environment variables, such as "
            f"{PREFIX} (what it is now is not shown). A key itself does not belong there."
        )
    return prefix


def keys_in_file(path: Path) -> tuple[VaultKey, ...]:
    """Read keys from a file, one per line.

    Raises:
        InputError: it cannot be read, or holds something else.
    """
    return _decode(_contents(path, str(path)), str(path))


def _find(environ: Mapping[str, str], name: str) -> tuple[VaultKey, ...]:
    """Return the keys that one of three variables leads to; none if none is set."""
    ways: dict[str, Callable[[str], str]] = {
        name: str,
        f"{name}_FILE": lambda value: _contents(Path(value), f"{name}_FILE"),
        f"{name}_COMMAND": lambda value: _output_of(value, f"{name}_COMMAND"),
    }
    used = [way for way in ways if way in environ]
    if len(used) > 1:
        raise InputError(
            f"the vault's key must come from one place, got {', '.join(used)}. Unset the others."
        )
    if not used:
        return ()
    if not environ[used[0]].strip():
        raise InputError(f"{used[0]} must not be empty. Unset it to work without a key.")
    return _decode(ways[used[0]](environ[used[0]]), used[0])


def _contents(path: Path, what: str) -> str:
    if not is_local(path):
        raise InputError(f"{what}: the key's file {LOCAL}")
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST).decode("ascii", "replace")
    except OSError as error:
        reason = error_words(error)
    raise InputError(f"{what}: the key's file must be readable: {reason}")


def _output_of(command: str, what: str) -> str:
    """Return a command's standard output; no shell, no input, and no word of what it printed in an error."""
    try:
        done = subprocess.run(  # noqa: S603 - the deployment's own command, split without a shell
            shlex.split(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
        reason = f"it ended with {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired:
        reason = f"it took longer than {_SECONDS} s"
    except (OSError, ValueError) as error:
        reason = error_words(error)
    if reason:
        raise InputError(f"{what} must print the key: {reason}. Its output is not shown.")
    return done.stdout[:_LARGEST].decode("ascii", "replace")


def _decode(text: str, what: str) -> tuple[VaultKey, ...]:
    """Decode keys that are separated by white space or commas."""
    secrets = [_secret(word) for word in re.split(r"[\s,]+", text) if word]
    if not secrets or any(secret is None or len(secret) != 32 for secret in secrets):
        raise InputError(f"{what} must give 32 bytes in base64 or hexadecimal (what it gives is not shown).")
    if any(len(set(secret)) < _FEWEST for secret in secrets if secret is not None):
        raise InputError(f"{what} must give random bytes, got a pattern. Make one: openssl rand -base64 32")
    return tuple(vault_key(secret) for secret in secrets if secret is not None)


def _secret(word: str) -> bytes | None:
    """Decode 64 hexadecimal digits, else base64, with or without padding, also that for URLs."""
    if re.fullmatch(r"[0-9A-Fa-f]{64}", word):
        return bytes.fromhex(word)
    try:
        standard = word.rstrip("=").replace("-", "+").replace("_", "/")
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
