"""The draws of a release in the vault of Dagster's IO manager."""

from anon_pipeline.orchestration.vault import VaultIOManager
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.draw_keys import Draws, draws_of


def draws_in(manager: object, policy: Policy, folders: Locations, partition: str | None) -> Draws:
    """Return the draws in the vault of an IO manager: its place, its keys.

    Args:
        manager: of the private tables; one that is not ours has no vault, so the folders' is used.
        policy: of the release.
        folders: the release's.
        partition: of a partitioned release.
    """
    opens = manager.vault if isinstance(manager, VaultIOManager) else None
    return draws_of(policy, folders, partition, opens=opens)
