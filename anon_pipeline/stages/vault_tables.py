"""Private tables in the vault: Parquet with the types kept, facts and lineage in the file's own metadata.

Sealed where there is a key. What is read is checked before a stage uses it.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from anon_pipeline.base.arrow_tables import arrow_table, table_from_arrow
from anon_pipeline.base.errors import InputError, error_words, may_pass
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.facts.check import checked_facts
from anon_pipeline.stages.lineage import Where, broken_table, from_json, to_json
from anon_pipeline.stages.private import Staged
from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.local import LocalStore

_FACTS, _LINEAGE = b"anon_pipeline.facts", b"anon_pipeline.lineage"


def _locate(path: PurePath, vault: Vault | None) -> tuple[Vault, str]:
    """Return the vault of a table and its name there; without a vault the path says both."""
    return (Vault(LocalStore(Path(path).parent)), path.name) if vault is None else (vault, path.as_posix())


def write_staged(path: PurePath, staged: Staged, *, vault: Vault | None = None) -> None:
    """Write a table and its facts: sealed if there is a key, complete or not at all.

    Args:
        path: of the Parquet file in ``vault``; without one, of an unencrypted local file.
        staged: (n, columns) table and facts.
    Raises:
        InputError: the disk is full, or cannot be written; what was there before is untouched.
    """
    table = arrow_table(staged.frame)
    said = {_FACTS: json.dumps(staged.facts), _LINEAGE: to_json(staged.lineage)}
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **said})
    opened, name = _locate(path, vault)
    try:
        with opened.writing(name) as file:
            pq.write_table(table, file, compression="zstd")
        return
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error_words(error)
        passing = may_pass(error)
    refused = InputError(f"the vault must be writable, {'/'.join(path.parts[-3:])} is not: {reason}")
    refused.passing = passing
    raise refused


def read_staged(path: PurePath, *, vault: Vault | None = None) -> Staged:
    """Read a table and its facts.

    Args:
        path: of the Parquet file in ``vault``; without one, of an unencrypted local file.
    Raises:
        InputError: it is not there, or cannot be read; it is not sealed as it must be, or has been changed.
    """
    name = "/".join(path.parts[-3:])
    opened, inside = _locate(path, vault)
    try:
        table = pq.read_table(pa.BufferReader(pa.py_buffer(opened.read(inside))))
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"the vault's {name} must be readable: {error_words(error)}") from None
    said = table.schema.metadata or {}
    facts, lineage = _facts(said.get(_FACTS, b"{}"), name), from_json(said.get(_LINEAGE, b"null"))
    return Staged(table_from_arrow(table, with_metadata=True), facts, lineage)


def _facts(data: bytes, name: str) -> dict[str, dict[str, Any]]:
    """Read facts: mappings of stages to mappings. What is in them is checked by who knows the policy."""
    try:
        facts = json.loads(data)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict) or not all(isinstance(values, dict) for values in facts.values()):
        raise InputError(f"the vault's {name} must have facts as this version writes them, it has others")
    return facts


def trusted_table(policy: Policy, staged: Staged) -> Staged:
    """Return a table of the vault whose facts are what the stages write; see `facts.check`.

    Args:
        staged: as it was loaded.
    Raises:
        InputError: its facts say something else; naming stages and fields.
    """
    return replace(staged, facts=checked_facts(policy, staged.facts))


def stage_table(policy: Policy, staged: Staged, stage: str, where: Where) -> Staged:
    """Return a table of the vault if a stage has made it here: of this project, release and partition.

    Args:
        staged: as it was loaded.
        where: it should belong.
    Raises:
        InputError: its facts or its lineage say something else, or its content is another.
    """
    found = trusted_table(policy, staged)
    problems = broken_table(stage, found.frame, found.lineage, where)
    if problems:
        raise InputError(problems)
    return found
