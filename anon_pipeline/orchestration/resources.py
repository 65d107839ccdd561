"""The resources that a release's assets need, with defaults below the project."""

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import field_validator

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.places import LOCAL, is_local
from anon_pipeline.orchestration.vault import VaultIOManager
from anon_pipeline.policy.locations import Locations, plain_ledger, plain_vault

FOLDERS, VAULT = "anon_folders", "anon_vault"
_FOLDERS = ("sources", "hierarchies", "releases", "vault")


class Folders(dg.ConfigurableResource):  # type: ignore[type-arg] # `[Any]` makes another class
    """Folders that the paths of a policy are relative to, see `Locations`."""

    sources: str
    hierarchies: str
    releases: str
    vault: str
    ledger: str
    remote_vault: str | None = None
    outside: bool = False
    project: str | None = None

    @field_validator(*_FOLDERS)
    @classmethod
    def _local(cls, folder: str) -> str:
        if not is_local(folder):
            raise InputError(f"a folder of Folders {LOCAL}")  # pydantic would show a ValueError's value
        return folder

    @field_validator("remote_vault")
    @classmethod
    def _plain_vault(cls, remote_vault: str | None) -> str | None:
        return remote_vault if remote_vault is None else plain_vault(remote_vault)

    @field_validator("ledger")
    @classmethod
    def _plain_ledger(cls, ledger: str) -> str:
        return plain_ledger(ledger)

    @classmethod
    def of(cls, locations: Locations) -> "Folders":
        """Return the resource for some locations."""
        held: dict[str, Any] = {field.name: getattr(locations, field.name) for field in fields(locations)}
        return cls(
            **held | {name: str(held[name]) for name in (*_FOLDERS, "project") if held[name] is not None}
        )

    def locations(self) -> Locations:
        """Return the folders as paths."""
        said = {field.name: getattr(self, field.name) for field in fields(Locations)}
        paths = {name: Path(said[name]) for name in (*_FOLDERS, "project") if said[name] is not None}
        return Locations(**said | paths)


def default_resources(project: Path) -> dict[str, Any]:
    """Return folders below a project, or where environment variables move them.

    Returns:
        The same objects for the same folders, so that the definitions of several releases can be merged.
    """
    return dict(_resources(Locations.of(project)))


@lru_cache
def _resources(locations: Locations) -> Mapping[str, Any]:
    return {FOLDERS: Folders.of(locations), VAULT: VaultIOManager(folder=locations.vault_place)}


@lru_cache
def active_session() -> dg.ResourceDefinition:
    """Return the resource for the Spark session that is active in the process: one for all releases.

    A deployment replaces it by a session, or by what has one as its ``spark_session``, as the resource of
    `dagster-pyspark` has.
    """
    return dg.ResourceDefinition.none_resource("The Spark session that is active in the process.")


def with_resources(definitions: dg.Definitions, resources: Mapping[str, Any]) -> dg.Definitions:
    """Return definitions with some resources replaced: how a deployment overrides the defaults.

    Args:
        definitions: of a project.
        resources: by key, such as `FOLDERS` and `VAULT`.
    """
    return dg.Definitions(
        assets=definitions.assets,
        asset_checks=definitions.asset_checks,
        schedules=definitions.schedules,
        sensors=definitions.sensors,
        jobs=definitions.jobs,
        executor=definitions.executor,
        loggers=definitions.loggers,
        metadata=definitions.metadata,
        component_tree=definitions.component_tree,
        resources={**(definitions.resources or {}), **resources},
    )
