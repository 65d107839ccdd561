"""The vault: where the private tables between the stages are kept.

Parquet with the types kept and the facts in the file's own metadata; sealed where there is a key; nothing of
it in Dagster's metadata but counts.
"""

import datetime
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import field_validator

from anon_pipeline.base.errors import InputError, in_words, private_stage
from anon_pipeline.facts.recorded import checked_facts
from anon_pipeline.policy.locations import Locations, plain_vault
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.after_rename import NOT_AGAIN
from anon_pipeline.stages.lineage import Where, broken_table, from_json, to_json
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.vault.artefacts import Vault
from anon_pipeline.vault.gitindex import refuse_tracked
from anon_pipeline.vault.identity import project_of
from anon_pipeline.vault.keys import PREFIX, keys_from, plain_prefix
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.vault.retention import Tables, retain, table_name
from anon_pipeline.vault.store import store_at

_FACTS, _LINEAGE = b"anon_pipeline.facts", b"anon_pipeline.lineage"


class VaultIOManager(dg.ConfigurableIOManager):
    """Keeps private tables in one place that only its owner can read.

    folder: a local folder, or a URL that fsspec knows.
    key_names: beginning of the names of the environment variables that lead to the key (``…_KEY``,
        ``…_KEY_FILE``, ``…_KEY_COMMAND``, ``…_OLD_KEYS…``); never a key itself, since Dagster stores
        configuration.
    """

    folder: str
    key_names: str = PREFIX

    @field_validator("folder")
    @classmethod
    def _plain_folder(cls, folder: str) -> str:
        return plain_vault(folder)

    @field_validator("key_names")
    @classmethod
    def _plain_names(cls, key_names: str) -> str:
        return plain_prefix(key_names)

    def handle_output(self, context: dg.OutputContext, obj: Staged) -> None:
        """Store a table; Dagster learns how many records and columns it has."""
        with private_stage("vault"):
            vault = self.vault()
            write_staged(PurePath(_name(context)), obj, vault=vault)
        if vault.keys.current is None and next(_first_time(self.folder), False):
            context.log.warning(
                f"The vault is not encrypted: there is no key. Set {self.key_names}_KEY, _KEY_FILE or "
                f"_KEY_COMMAND, and encrypt what is there: anon-pipeline vault rotate. Until then private "
                f"tables are protected by file permissions alone."
            )
        context.add_output_metadata(
            {"stored_records": len(obj.frame), "stored_columns": len(obj.frame.columns)}
        )

    def load_input(self, context: dg.InputContext) -> Staged:
        """Load a table.

        Raises:
            InputError: it is not in the vault, or cannot be read, or has been changed.
        """
        with private_stage("vault"):
            return read_staged(PurePath(_name(context)), vault=self.vault())

    def vault(self) -> Vault:
        """Open the vault with the keys that the environment leads to now.

        Raises:
            InputError: a key that is none, or more than one.
        """
        return Vault(store_at(self.folder), keys_from(prefix=self.key_names))


def _name(context: dg.InputContext | dg.OutputContext) -> str:
    partition = context.asset_partition_key if context.has_asset_partitions else None
    return table_name(*context.asset_key.path, partition=partition)


@cache
def _first_time(folder: str) -> Iterator[bool]:
    """Return an iterator that says yes once in a process."""
    return iter([True])


def check_retainable(manager: object, policy: Policy) -> None:
    """Make sure, before anything is published, that private tables can be deleted as the policy wants.

    Raises:
        InputError: another IO manager than ours keeps them, and the policy wants other than ``retain: last``.
    """
    if policy.vault.retain != "last" and not isinstance(manager, VaultIOManager):
        raise InputError("vault.retain must be last where another IO manager keeps the private tables.")


def retain_by_policy(
    manager: object, policy: Policy, partition: str | None, *, now: datetime.datetime
) -> int:
    """Delete the private tables that a policy does not retain, once its release is published.

    Args:
        manager: of the private tables, see `check_retainable`.
        policy: whose ``vault.retain`` it is.
        partition: that was published.
        now: with a time zone.
    Returns:
        How many files were deleted.
    Raises:
        InputError: they could not be.
    """
    if policy.vault.retain == "last" or not isinstance(manager, VaultIOManager):
        return 0
    tables = Tables(policy.name, STAGES, partition)
    try:
        return retain(store_at(manager.folder), policy.vault.retain, tables, now=now)
    except (OSError, NotImplementedError) as error:
        reason = in_words(error)
    raise InputError(
        f"vault.retain: the release is published, but its private tables could not be deleted: {reason}. "
        f"Delete them: anon-pipeline vault purge. {NOT_AGAIN}"
    )


def _located(path: PurePath, vault: Vault | None) -> tuple[Vault, str]:
    """Return the vault of a table and its name there; without a vault the path says both."""
    return (Vault(LocalStore(Path(path).parent)), path.name) if vault is None else (vault, path.as_posix())


def write_staged(path: PurePath, staged: Staged, *, vault: Vault | None = None) -> None:
    """Write a table and its facts: sealed if there is a key, complete or not at all.

    Args:
        path: of the Parquet file in ``vault``; without one, of an unencrypted local file.
        staged: (n, columns) table and facts.
        vault: place and keys.
    Raises:
        InputError: the disk is full, or cannot be written; what was there before is untouched.
    """
    table = pa.Table.from_pandas(staged.frame, preserve_index=False)
    said = {_FACTS: json.dumps(staged.facts), _LINEAGE: to_json(staged.lineage)}
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **said})
    opened, name = _located(path, vault)
    try:
        with opened.writing(name) as file:
            pq.write_table(table, file, compression="zstd")
        return
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else in_words(error)
    raise InputError(f"the vault must be writable, {'/'.join(path.parts[-3:])} is not: {reason}")


def read_staged(path: PurePath, *, vault: Vault | None = None) -> Staged:
    """Read a table and its facts.

    Args:
        path: of the Parquet file in ``vault``; without one, of an unencrypted local file.
        vault: place and keys.
    Raises:
        InputError: it is not there, or cannot be read; it is not sealed as it must be, or has been changed.
    """
    name = "/".join(path.parts[-3:])
    opened, inside = _located(path, vault)
    try:
        table = pq.read_table(pa.BufferReader(pa.py_buffer(opened.read(inside))))
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"the vault's {name} must be readable: {in_words(error)}") from None
    said = table.schema.metadata or {}
    facts, lineage = _facts(said.get(_FACTS, b"{}"), name), from_json(said.get(_LINEAGE, b"null"))
    return Staged(table.to_pandas(integer_object_nulls=True), facts, lineage)


def _facts(data: bytes, name: str) -> dict[str, dict[str, Any]]:
    """Read facts: mappings of stages to mappings. What is in them is checked by who knows the policy.

    Raises:
        InputError: they are none; without their text.
    """
    try:
        facts = json.loads(data)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict) or not all(isinstance(values, dict) for values in facts.values()):
        raise InputError(f"the vault's {name} must have facts as this version writes them, it has others")
    return facts


def trusted(policy: Policy, staged: Staged) -> Staged:
    """Return a table of the vault whose facts are what the stages write; see `facts.recorded`.

    Args:
        policy: of the release.
        staged: as the IO manager has loaded it.
    Raises:
        InputError: its facts say something else; naming stages and fields.
    """
    return replace(staged, facts=checked_facts(policy, staged.facts))


def of_stage(policy: Policy, staged: Staged, stage: str, where: Where) -> Staged:
    """Return a table of the vault if a stage has made it here: of this project, release and partition.

    Args:
        policy: of the release.
        staged: as the IO manager has loaded it.
        stage: that should have made it.
        where: it should belong.
    Raises:
        InputError: its facts or its lineage say something else, or its content is another.
    """
    found = trusted(policy, staged)
    problems = broken_table(stage, found.frame, found.lineage, where)
    if problems:
        raise InputError(problems)
    return found


def where_at(manager: object, policy: Policy, folders: Locations, partition: str | None) -> Where:
    """Return where the tables of a run belong.

    Args:
        manager: of the private tables; one that is not ours has no vault, so the folders' says which project.
        policy: of the release.
        folders: the deployment's.
        partition: that the run is about.
    Raises:
        InputError: the vault is another project's, or git tracks a file of it.
    """
    store = store_at(manager.folder if isinstance(manager, VaultIOManager) else folders.vault_place)
    if isinstance(store, LocalStore):
        refuse_tracked(store.root)
    return Where(project_of(store, project=folders.project), policy.name, partition)
