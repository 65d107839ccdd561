"""Direct identifiers: removed, masked, or replaced by a keyed hash."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from anon_pipeline.base.errors import InputError, withhold_text
from anon_pipeline.base.packed_tables import Table, with_columns
from anon_pipeline.base.size_bounds import KEY_BYTES, read_small
from anon_pipeline.base.values import to_texts
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.catalog.identifiers import IDENTIFIER_ACTIONS
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.sections import Deidentify

MASKED = "***"
_SHORTEST_KEY = 16


def read_key(where: Deidentify, *, folder: Path = Path(), environ: Mapping[str, str] | None = None) -> bytes:
    """Read the key for hashing.

    Args:
        folder: what a file's path is relative to.
        environ: default: the process's environment.
    Raises:
        InputError: no key there, or one shorter than 16 bytes (it could be guessed). The key is not shown.
    """
    if where.key_env is not None:
        name = f"environment variable {where.key_env}"
        given = (os.environ if environ is None else environ).get(where.key_env, "")
        key = given.encode(errors="surrogateescape")
    else:
        name = "key file"
        with withhold_text("deidentify: the key file must be readable", OSError, ValueError):
            held = read_small(folder / str(where.key_file), KEY_BYTES)
        if held is None:
            raise InputError(f"deidentify: the key file must have at most {KEY_BYTES:,} bytes, got more")
        key = held.rstrip(b"\r\n")
    if len(key) < _SHORTEST_KEY:
        said = f"deidentify: the {name} must hold a key of at least {_SHORTEST_KEY} bytes, got {len(key)}"
        if where.key_env is not None:
            said += f". For a new one: {new_key_command(where.key_env)}; the same one is needed each time"
        raise InputError(said)
    return key


def new_key_command(variable: str) -> str:
    """Return the command of a shell that sets a variable to a new key.

    >>> new_key_command("CLINIC_KEY")
    'export CLINIC_KEY=$(openssl rand -hex 16)'
    """
    return f"export {variable}=$(openssl rand -hex 16)"


def hashing_key(policy: Policy, *, folder: Path = Path()) -> bytes | None:
    """Return the key that a policy names; None where it hashes nothing and knows nobody.

    Args:
        policy: its identifiers, its ``record_key``, ``person`` or ``sample``, and its section `deidentify`.
        folder: what a key file's path is relative to.
    Raises:
        InputError: no usable key where one is needed.
    """
    hashes = any(one is not None for one in (policy.record_key, policy.person, policy.sample))
    hashes |= any(IDENTIFIER_ACTIONS[column.action].keyed for column in policy.identifiers.values())
    return read_key(policy.deidentify, folder=folder) if hashes and policy.deidentify else None


def identifier_facts(policy: Policy) -> dict[str, Any]:
    """Return the facts on identifiers: from the field of each action to the columns that have it."""
    return {
        action.fact: tuple(name for name, one in policy.identifiers.items() if one.action == action.name)
        for action in IDENTIFIER_ACTIONS.values()
    }


def hash_column(column: pd.Series, key: bytes) -> pd.Series:
    """Replace each value by HMAC-SHA256(key, UTF-8 of the value), as 64 hexadecimal digits.

    Args:
        column: (n,) identifiers; missing ones stay missing.
        key: secret; whoever has it can test guesses, whoever does not cannot.
    Returns:
        (n,) texts; equal values get equal hashes, so that tables can be joined by who holds the key.
    """
    codes, uniques = pd.factorize(to_texts(column))
    hashes = [hmac.new(key, str(value).encode(), hashlib.sha256).hexdigest() for value in uniques]
    return pd.Series(pd.array([*hashes, None], dtype="str")[codes], index=column.index, name=column.name)


def mask_column(column: pd.Series, key: bytes | None = None) -> pd.Series:
    """Replace each value by ``***`` whatever its length; missing ones stay missing."""
    return pd.Series(MASKED, index=column.index, name=column.name, dtype="str").where(column.notna())


def deidentify(frame: Table, policy: Policy, *, key: bytes | None) -> Table:
    """Remove or replace every column with the role identifier.

    Args:
        key: for actions that need one; None where the policy has no such action.
    Raises:
        InputError: an action needs a key and there is none.
    """
    kept = frame
    for name, column in policy.identifiers.items():
        action = IDENTIFIER_ACTIONS[column.action]
        if action.keyed and key is None:
            raise InputError(
                f"{name}: action: {action.name} must have a key, got none. Name it under deidentify."
            )
        if action.replaces is None:
            kept = kept.drop(columns=name)
        else:
            kept = with_columns(kept, [(name, import_entry(action.replaces)(frame[name], key))])
    return kept
