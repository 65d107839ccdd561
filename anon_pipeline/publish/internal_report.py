"""The internal report of a release, from the private tables that the vault still has."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.report import internal_report
from anon_pipeline.stages.lineage import Descent, Where
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.stored import read_staged, stage_table
from anon_pipeline.vault.artefacts import Vault
from anon_pipeline.vault.identity import project_of
from anon_pipeline.vault.keys import keys_from
from anon_pipeline.vault.retention import table_name
from anon_pipeline.vault.store import store_at


def internal_report_of(policy: Policy, document: Mapping[str, Any], locations: Locations) -> bytes:
    """Make the internal report of a release that Dagster has made.

    Raises:
        InputError: the vault has no tables of it any more, or those of another release.
    """
    vault, partition = Vault(store_at(locations.vault_place), keys_from()), document.get("partition")
    where = Where(project_of(vault.store, project=locations.project), policy.name, partition)

    def table(stage: str) -> Staged:
        name = table_name(policy.name, stage, partition=partition)
        return stage_table(policy, read_staged(PurePath(name), vault=vault), stage, where)

    released, originals = table("suppressed"), table("k_anonymized")
    problems = Descent(released.frame, released.lineage, where).broken(originals.frame)
    if problems:
        raise InputError(problems)
    return internal_report(
        policy, document, released.frame, originals.frame, hierarchies=locations.hierarchies
    )
