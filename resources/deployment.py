"""Where each deployment keeps things: every folder, the vault and the ledger, by name of the deployment.

Belongs here: places and IO managers of this repository. Does not belong here: anything a release decides.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.orchestration.resources import FOLDERS, VAULT, Folders
from anon_pipeline.orchestration.vault import VaultIOManager
from anon_pipeline.policy.locations import Locations

__all__ = ["deployment"]

_NAMED_BY = "DAGSTER_DEPLOYMENT"


def deployment(root: Path, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the resources of the deployment that ``DAGSTER_DEPLOYMENT`` names; ``local`` if it is not set.

    Args:
        root: of the repository.
        environ: default: the process's environment. A variable that moves a place on the command line, such
            as ``ANON_PIPELINE_VAULT``, moves it here too.
    Raises:
        InputError: the deployment is not one of these; an earlier vault is below ``DAGSTER_HOME``.
    """
    given = {name: value for name, value in (os.environ if environ is None else environ).items() if value}
    places = {
        "local": _local(root),
        "staging": _shared(root, "staging"),
        "production": _shared(root, "production"),
    }
    name = given.get(_NAMED_BY, "local")
    if name not in places:
        raise InputError(f"{_NAMED_BY} must be one of {', '.join(places)}")
    locations = Locations.of(root, {**places[name], **given})
    if name == "local" and "ANON_PIPELINE_VAULT" not in given:
        _refuse_old_vault(given.get("DAGSTER_HOME"))
    return {FOLDERS: Folders.of(locations), VAULT: VaultIOManager(folder=locations.vault_place)}


def _local(root: Path) -> dict[str, str]:
    """Everything is below the repository, where the command line has it, too."""
    return {
        "ANON_PIPELINE_SOURCES": str(root),
        "ANON_PIPELINE_HIERARCHIES": str(root),
        "ANON_PIPELINE_RELEASES": str(root),
        "ANON_PIPELINE_VAULT": str(root / "vault"),
        "ANON_PIPELINE_LEDGER": f"sqlite:///{root / 'ledger.sqlite'}",
    }


def _refuse_old_vault(home: str | None) -> None:
    """Refuse to run if private tables remain where earlier versions had Dagster's vault."""
    if home and (Path(home) / "vault" / "project-id").exists():
        raise InputError(
            "the vault is vault/ in the project, also in Dagster, but there is one in DAGSTER_HOME, where it "
            "was: move it there, or delete its tables (ANON_PIPELINE_VAULT=… anon-pipeline vault purge, with "
            "that folder) and then the folder"
        )


def _shared(root: Path, name: str) -> dict[str, str]:
    """Only the hierarchies are next to the code, because they are part of it. Put your own places here."""
    below = Path("/srv/anon-pipeline") / name
    return {
        "ANON_PIPELINE_SOURCES": str(below / "sources"),
        "ANON_PIPELINE_HIERARCHIES": str(root),
        "ANON_PIPELINE_RELEASES": str(below),
        "ANON_PIPELINE_VAULT": str(below / "vault"),  # or a URL, such as s3://bucket/vault
        "ANON_PIPELINE_LEDGER": f"postgresql://anon_pipeline@localhost/{name}",
    }
