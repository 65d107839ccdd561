"""The IO manager of the private tables, and what the stages need of its vault: memory, draws, retention.

Dagster's metadata gets how many columns a table has, nothing else of it.
"""

import datetime
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import PurePath

import dagster as dg
from pydantic import field_validator

from anon_pipeline.base.errors import InputError, error_words, private_stage
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.policy.locations import Locations, plain_vault
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.publish.draws.draw_keys import Draws, draws_of
from anon_pipeline.publish.measurements import Measured, measured_of
from anon_pipeline.publish.post_rename_errors import NOT_AGAIN
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.lineage import Where
from anon_pipeline.stages.private import STAGES, Staged
from anon_pipeline.stages.vault_tables import read_staged, write_staged
from anon_pipeline.vault.artifacts import Vault
from anon_pipeline.vault.gitindex import refuse_tracked
from anon_pipeline.vault.identity import project_of
from anon_pipeline.vault.keys import PREFIX, keys_from, plain_prefix
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.vault.retention import Tables, retain, table_name
from anon_pipeline.vault.store import store_at
from anon_pipeline.windows.window_states import WindowStates, window_states


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
        """Store a table; Dagster learns how many columns it has.

        How many records would say, stage by stage, why records were suppressed.
        """
        with as_failure(), private_stage("vault"):
            vault = self.vault()
            write_staged(PurePath(_name(context)), obj, vault=vault)
        if vault.keys.current is None and next(_first_time(self.folder), False):
            context.log.warning(
                f"The vault is not encrypted: there is no key. Set {self.key_names}_KEY, _KEY_FILE or "
                f"_KEY_COMMAND, and encrypt what is there: anon-pipeline vault rotate. Until then private "
                f"tables are protected by file permissions alone."
            )
        context.add_output_metadata({"stored_columns": len(obj.frame.columns)})

    def load_input(self, context: dg.InputContext) -> Staged:
        """Load a table.

        Raises:
            dagster.Failure: it is not in the vault, or cannot be read, or has been changed.
        """
        with as_failure(), private_stage("vault"):
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
        reason = error_words(error)
    raise InputError(
        f"vault.retain: the release is published, but its private tables could not be deleted: {reason}. "
        f"Delete them: anon-pipeline vault purge. {NOT_AGAIN}"
    )


def draws_in(manager: object, policy: Policy, folders: Locations, partition: str | None) -> Draws:
    """Return the draws of a release in the vault of an IO manager: its place, its keys.

    Args:
        manager: of the private tables; one that is not ours has no vault, so the folders' is used.
    """
    return draws_of(policy, folders, partition, opens=_opens(manager))


def waiting_in(manager: object, policy: Policy, folders: Locations) -> WindowStates:
    """Return where records of a stream wait, in the vault of an IO manager, see `draws_in`."""
    return window_states(policy, folders, opens=_opens(manager))


def measured_in(manager: object, policy: Policy, folders: Locations, partition: str | None) -> Measured:
    """Return where all that the gate measures is kept, in the vault of an IO manager; see `draws_in`."""
    return measured_of(policy, folders, partition, opens=_opens(manager))


def archive_in(manager: object, policy: Policy, folders: Locations) -> VaultArchive:
    """Return the archive in the vault of an IO manager, see `draws_in`."""
    return VaultArchive(policy, folders, _opens(manager))


def _opens(manager: object) -> Callable[[], Vault] | None:
    return manager.vault if isinstance(manager, VaultIOManager) else None


def published_before(
    policy: Policy, folders: Locations, *, partition: str | None, manager: object = None
) -> Memory | None:
    """Return what was published of a release; None without ``record_key``.

    Args:
        partition: that is to be published next.
        manager: of the private tables, see `archive_in`.
    Raises:
        InputError: see `VaultArchive.read`.
    """
    if policy.record_key is None:
        return None
    archive = archive_in(manager, policy, folders)
    with archive.alone():
        return archive.read(partition)


def recoded_table(manager: object, originals: Staged, where: Where) -> Staged:
    """Return the table that `k_anonymized` was made of, as it lies in the vault.

    Args:
        originals: the table of `k_anonymized`.
        where: it belongs.
    Raises:
        InputError: another IO manager than ours keeps the private tables, or the table has changed since.
    """
    if not isinstance(manager, VaultIOManager) or originals.lineage is None:
        raise InputError("only the vault has the table that was recoded")
    made = originals.lineage.tables
    stage = [*made][[*made].index("k_anonymized") - 1]
    name = table_name(where.release, stage, partition=where.partition)
    found = read_staged(PurePath(name), vault=manager.vault())
    if found.lineage is None or found.lineage.tables[stage] != made[stage]:
        raise InputError(f"{stage} has been made again since k_anonymized was made of it")
    return found


def location_of(manager: object, policy: Policy, folders: Locations, partition: str | None) -> Where:
    """Return where the tables of a run belong.

    Args:
        manager: of the private tables; one that is not ours has no vault, so the folders' says which project.
    Raises:
        InputError: the vault is another project's, or git tracks a file of it.
    """
    store = store_at(manager.folder if isinstance(manager, VaultIOManager) else folders.vault_place)
    if isinstance(store, LocalStore):
        refuse_tracked(store.root)
    return Where(project_of(store, project=folders.project), policy.name, partition)
