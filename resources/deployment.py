"""Where this deployment keeps things: an example of overriding the component's defaults.

Belongs here: folders and IO managers of this repository. Does not belong here: anything a release decides.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from anon_pipeline.orchestration.resources import FOLDERS, VAULT, Folders
from anon_pipeline.orchestration.vault import VaultIOManager
from anon_pipeline.policy.locations import Locations

__all__ = ["deployment"]


def deployment(root: Path) -> dict[str, Any]:
    """Return this deployment's resources: as by default, but the vault is below DAGSTER_HOME where it is set.

    Args:
        root: of the repository.
    """
    locations = Locations.of(root)
    home = os.environ.get("DAGSTER_HOME")
    if home and "ANON_PIPELINE_VAULT" not in os.environ:
        locations = replace(locations, vault=Path(home) / "vault")
    return {FOLDERS: Folders.of(locations), VAULT: VaultIOManager(folder=locations.vault_place)}
