"""The internal report of a release, from the private tables that the vault still has."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.measurements import measured_of
from anon_pipeline.report import Exact, internal_report
from anon_pipeline.stages.lineage import Descent, Where
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.vault_tables import read_staged, stage_table
from anon_pipeline.vault.artifacts import vault_of
from anon_pipeline.vault.identity import project_of
from anon_pipeline.vault.retention import table_name


def internal_report_of(policy: Policy, document: Mapping[str, Any], locations: Locations) -> bytes:
    """Make the internal report of a release that Dagster has made.

    Raises:
        InputError: the vault has no tables of it any more, or those of another release.
    """
    vault, partition = vault_of(locations), document.get("partition")
    where = Where(project_of(vault.store, project=locations.project), policy.name, partition)

    def table(stage: str) -> Staged:
        """Return a stage's table from the vault, if it belongs to this release."""
        name = table_name(policy.name, stage, partition=partition)
        return stage_table(policy, read_staged(PurePath(name), vault=vault), stage, where)

    released, originals = table("suppressed"), table("k_anonymized")
    problems = Descent(released.frame, released.lineage, where).problems(originals.frame)
    if problems:
        raise InputError(problems)
    exact = measured_of(policy, locations, partition).exact(document) or Exact(released.facts)
    return internal_report(
        policy, document, released.frame, originals.frame, hierarchies=locations.hierarchies, exact=exact
    )
