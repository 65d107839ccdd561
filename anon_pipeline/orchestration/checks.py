"""The contracts of a release: blocking checks on its private tables. The gate is in `gate_checks`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dagster as dg

from anon_pipeline.base.errors import private_stage
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.encode.codes import code_quasi_identifiers
from anon_pipeline.evidence.identifying_columns import identifying_columns, utc_today
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.orchestration.partitions import partitions_of
from anon_pipeline.orchestration.resources import Folders
from anon_pipeline.orchestration.stage import stage_key
from anon_pipeline.policy.model import Policy
from anon_pipeline.stages.contracts.stages import (
    broken_contract,
    deidentified_contract,
    k_anonymized_contract,
    raw_contract,
)
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.vault_tables import trusted_table


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """Checks of one stage of a release.

    guards: the stage.
    build: makes the checks, given the name of the stage before the guarded one.
    """

    guards: str
    build: Callable[[str | None], dg.AssetChecksDefinition]


def check_declared(policy: Policy) -> Check:
    """Check of `raw`: every declared column is there, has its type, and has values where it must."""
    said = "Every declared column is there, has its type, and has values where it must."
    return _contract_check(policy, "raw", "contract", said, raw_contract)


def check_identifiers(policy: Policy) -> Check:
    """Check of `deidentified`: no identifier is left, neither a declared one nor one in a text."""
    said = (
        "No declared identifier is left, a detector finds none but those that the policy allows, and no "
        "column singles people out that is not acknowledged."
    )

    def build(_: str | None) -> dg.AssetChecksDefinition:
        """Return the check; it compares with no other stage."""

        @dg.asset_check(**_declaration(policy, "deidentified", "no_identifier_left", said))
        def without_identifiers(anon_folders: Folders, table: Staged) -> dg.AssetCheckResult:
            """Judge the table of `deidentified` by its contract, then its columns together."""

            def schema() -> Any:
                """Return the contract, once its paths are known to be within their folders."""
                folders = anon_folders.locations()
                folders.confine(policy)
                return deidentified_contract(policy, folders.hierarchies)

            return _contract("deidentified", table, schema, lambda frame: _identifying_columns(policy, table))

        return without_identifiers

    return Check("deidentified", build)


def _identifying_columns(policy: Policy, table: Staged) -> list[str]:
    holding = trusted_table(policy, table).facts["deidentified"]["holding"]
    return identifying_columns(table.frame, policy, today=utc_today(), holding=holding)


def _contract_check(
    policy: Policy, stage: str, name: str, said: str, contract: Callable[[Policy], Any]
) -> Check:
    """Return the check of a stage whose contract follows from the policy alone."""

    def build(_: str | None) -> dg.AssetChecksDefinition:
        """Return the check; it compares with no other stage."""

        @dg.asset_check(**_declaration(policy, stage, name, said))
        def as_contracted(table: Staged) -> dg.AssetCheckResult:
            """Judge the table of the stage by its contract."""
            return _contract(stage, table, lambda: contract(policy))

        return as_contracted

    return Check(stage, build)


def check_hierarchies(policy: Policy) -> Check:
    """Check of `k_anonymized`: generalized values are values of their hierarchy, at the chosen level."""
    said = "Generalized values are values of their hierarchy, at the level that was chosen."

    def build(before: str | None) -> dg.AssetChecksDefinition:
        """Return the check, which takes the table of the stage ``before`` as well."""
        taken = {"before": dg.AssetIn(stage_key(policy, str(before)))}

        @dg.asset_check(**_declaration(policy, "k_anonymized", "contract", said), additional_ins=taken)
        def of_their_hierarchy(anon_folders: Folders, table: Staged, before: Staged) -> dg.AssetCheckResult:
            """Judge the table of `k_anonymized` by hierarchies that are made anew from the stage before."""

            def schema() -> Any:
                """Return the contract with the levels that the table's trusted facts name."""
                folders = anon_folders.locations()
                folders.confine(policy)
                coded = code_quasi_identifiers(before.frame, policy, folder=folders.hierarchies)
                levels = trusted_table(policy, table).facts["k_anonymized"]["levels"]
                return k_anonymized_contract(policy, coded.hierarchies, levels, folders.hierarchies)

            return _contract("k_anonymized", table, schema)

        return of_their_hierarchy

    return Check("k_anonymized", build)


def _declaration(policy: Policy, stage: str, name: str, description: str) -> dict[str, Any]:
    """Return what a contract's check is declared with."""
    return {
        "asset": stage_key(policy, stage),
        "name": name,
        "description": description,
        "blocking": True,
        "partitions_def": partitions_of(policy),
    }


def _contract(
    stage: str,
    table: Staged,
    schema: Callable[[], Any],
    further: Callable[[Table], list[str]] = lambda frame: [],
) -> dg.AssetCheckResult:
    """Check a table against a schema, and further where it keeps it: one answer, the broken rules by name."""
    with as_failure(), private_stage(f"check of {stage}"):
        problems = broken_contract(table.frame, schema()) or further(table.frame)
    return dg.AssetCheckResult(
        passed=not problems, description="; ".join(problems) or None, metadata={"broken_rules": len(problems)}
    )
