"""The internal report of a release, from the private tables that the vault still has.

Belongs here: finding them. Does not belong here: the report (`report`).
"""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from anon_pipeline.locations import Locations
from anon_pipeline.orchestration.vault import read_staged, trusted
from anon_pipeline.policy.model import Policy
from anon_pipeline.report import internal_report
from anon_pipeline.staged import Staged
from anon_pipeline.vault.artefacts import Vault
from anon_pipeline.vault.keys import keys_from
from anon_pipeline.vault.retention import table_name
from anon_pipeline.vault.store import store_at

__all__ = ["internal_report_of"]


def internal_report_of(policy: Policy, document: Mapping[str, Any], locations: Locations) -> bytes:
    """Make the internal report of a release that Dagster has made.

    Args:
        policy: that made it.
        document: its manifest.
        locations: the vault's and the hierarchies' folders.
    Raises:
        InputError: the vault has no tables of it any more, or those of another release.
    """
    vault = Vault(store_at(locations.vault_place), keys_from())

    def table(stage: str) -> Staged:
        name = table_name(policy.name, stage, partition=document.get("partition"))
        return trusted(policy, read_staged(PurePath(name), vault=vault))

    released, originals = table("suppressed"), table("k_anonymized")
    return internal_report(
        policy, document, released.frame, originals.frame, hierarchies=locations.hierarchies
    )
