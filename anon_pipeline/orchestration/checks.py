"""The checks of one release, all blocking: a contract on each private table, and the gate by limits."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pandas as pd

from anon_pipeline.base.errors import InputError, private_stage
from anon_pipeline.encode.codes import code_quasi_identifiers
from anon_pipeline.evidence.identifying import identifying_columns, utc_today
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.limits.table import limit_meaning, next_step
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.orchestration.metadata import digests, verdict_metadata
from anon_pipeline.orchestration.names import GX_CHECK, check_names
from anon_pipeline.orchestration.partitions import partition_of_run, partitions_of
from anon_pipeline.orchestration.resources import Folders
from anon_pipeline.orchestration.stage import stage_key
from anon_pipeline.orchestration.vault import location_of, measured_in, published_before
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.booking import booking, release_id_in
from anon_pipeline.sources.population import Population, read_population
from anon_pipeline.stages.contracts.stages import (
    broken_contract,
    deidentified_contract,
    k_anonymized_contract,
    raw_contract,
)
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.lineage import Descent, Where
from anon_pipeline.stages.private import Staged
from anon_pipeline.stages.stored import trusted_table

if TYPE_CHECKING:
    from anon_pipeline.gate.great_expectations import SuiteResult


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """Checks of one stage of a release.

    guards: the stage.
    build: makes the checks, given the name of the stage before the guarded one.
    gate: whether they are the gate.
    """

    guards: str
    build: Callable[[str | None], dg.AssetChecksDefinition]
    gate: bool = False


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
        @dg.asset_check(**_declared(policy, "deidentified", "no_identifier_left", said))
        def without_identifiers(anon_folders: Folders, table: Staged) -> dg.AssetCheckResult:
            def schema() -> Any:
                folders = anon_folders.locations()
                folders.confine(policy)
                return deidentified_contract(policy, folders.hierarchies)

            return _contract("deidentified", table, schema, lambda frame: _identifying(policy, frame))

        return without_identifiers

    return Check("deidentified", build)


def _identifying(policy: Policy, frame: pd.DataFrame) -> list[str]:
    return identifying_columns(frame, policy, today=utc_today())


def _contract_check(
    policy: Policy, stage: str, name: str, said: str, contract: Callable[[Policy], Any]
) -> Check:
    """Return the check of a stage whose contract follows from the policy alone."""

    def build(_: str | None) -> dg.AssetChecksDefinition:
        @dg.asset_check(**_declared(policy, stage, name, said))
        def as_contracted(table: Staged) -> dg.AssetCheckResult:
            return _contract(stage, table, lambda: contract(policy))

        return as_contracted

    return Check(stage, build)


def check_hierarchies(policy: Policy) -> Check:
    """Check of `k_anonymized`: generalized values are values of their hierarchy, at the chosen level."""
    said = "Generalized values are values of their hierarchy, at the level that was chosen."

    def build(before: str | None) -> dg.AssetChecksDefinition:
        taken = {"before": dg.AssetIn(stage_key(policy, str(before)))}

        @dg.asset_check(**_declared(policy, "k_anonymized", "contract", said), additional_ins=taken)
        def of_their_hierarchy(anon_folders: Folders, table: Staged, before: Staged) -> dg.AssetCheckResult:
            def schema() -> Any:
                folders = anon_folders.locations()
                folders.confine(policy)
                coded = code_quasi_identifiers(before.frame, policy, folder=folders.hierarchies)
                levels = trusted_table(policy, table).facts["k_anonymized"]["levels"]
                return k_anonymized_contract(policy, coded.hierarchies, levels, folders.hierarchies)

            return _contract("k_anonymized", table, schema)

        return of_their_hierarchy

    return Check("k_anonymized", build)


def check_gate(policy: Policy) -> Check:
    """The gate on `suppressed`: a check for each limit, and one of Great Expectations."""
    return Check("suppressed", lambda _: _gate(policy), gate=True)


def _declared(policy: Policy, stage: str, name: str, description: str) -> dict[str, Any]:
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
    further: Callable[[pd.DataFrame], list[str]] = lambda frame: [],
) -> dg.AssetCheckResult:
    """Check a table against a schema, and further where it keeps it: one answer, the broken rules by name."""
    with as_failure(), private_stage(f"check of {stage}"):
        problems = broken_contract(table.frame, schema()) or further(table.frame)
    return dg.AssetCheckResult(
        passed=not problems, description="; ".join(problems) or None, metadata={"broken_rules": len(problems)}
    )


def _gate_specs(policy: Policy) -> list[dg.AssetCheckSpec]:
    """Return the specs of the gate's checks: one per limit, and one of Great Expectations."""
    says = {name: limit_meaning(limit, policy) for limit, name in check_names(policy).items()}
    says[GX_CHECK] = "The same limits as a suite of Great Expectations."
    return [
        dg.AssetCheckSpec(
            name,
            asset=stage_key(policy, "suppressed"),
            blocking=True,
            additional_deps=[stage_key(policy, "k_anonymized")],
            partitions_def=partitions_of(policy),
            description=description,
        )
        for name, description in says.items()
    ]


def _gate(policy: Policy) -> dg.AssetChecksDefinition:
    """Return the gate on `suppressed`, which judges once and answers for every check that is wanted."""
    asset, names, partitions = stage_key(policy, "suppressed"), check_names(policy), partitions_of(policy)

    @dg.multi_asset_check(
        name=f"{policy.name}_gate_checks",
        specs=_gate_specs(policy),
        ins={"released": dg.AssetIn(asset), "originals": dg.AssetIn(stage_key(policy, "k_anonymized"))},
        can_subset=True,
    )
    def gate(
        context: dg.AssetCheckExecutionContext,
        anon_folders: Folders,
        anon_vault: dg.ResourceParam[Any],
        released: Staged,
        originals: Staged,
    ) -> Iterator[dg.AssetCheckResult]:
        wanted = {key.name for key in context.selected_asset_check_keys}
        locations = anon_folders.locations()
        with as_failure(), private_stage("gate"):
            locations.confine(policy)
            key = partition_of_run(context, partitions)
            trusted_table(policy, released)
            trusted_table(policy, originals)
            memory = published_before(policy, locations, partition=key, manager=anon_vault)
            population = read_population(policy, folder=locations.sources, hierarchies=locations.hierarchies)
            where = location_of(anon_vault, policy, locations, key)
            judged = _Judged(released, originals.frame, memory, population, where)
            report = _report(policy, judged, locations.hierarchies)
            measured = measured_in(anon_vault, policy, locations, key)
            if report.passed:
                measured.keep(report, released.facts)
            else:
                measured.keep_refused(report, released.facts)
                booking(policy, locations, partition=key).failed(release_id_in(released.facts))
            suite = _suite(policy, judged, locations.hierarchies) if GX_CHECK in wanted else None
        partition = {} if key is None else {"partition": key}
        results: list[tuple[str, Status, str | None, dict[str, Any]]] = [
            (
                names[v.limit],
                v.status,
                described_verdict(v, policy),
                verdict_metadata(v, report, measured.name),
            )
            for v in report.verdicts
        ]
        if suite is not None:
            said = {"expectations": len(suite.lines), **digests(report)}
            kept = Status.PASSED if suite.success else Status.REFUSED
            results.append((GX_CHECK, kept, "; ".join(suite.failures()) or None, said))
        for name, status, text, found in results:
            if name in wanted:
                yield dg.AssetCheckResult(
                    asset_key=asset,
                    check_name=name,
                    passed=status is Status.PASSED,
                    severity=_severity(status),
                    description=text,
                    metadata={**found, **partition},
                )

    return gate


def described_verdict(verdict: Verdict, policy: Policy | None = None) -> str:
    """Say a verdict; of one that is not kept or warns also what to do, and where the numbers are."""
    said = verdict.as_text()
    if verdict.status in (Status.REFUSED, Status.WARNED):
        said += f". Next: {next_step(verdict, policy)}"
    if verdict.status is Status.REFUSED:
        said += " What was measured: anon-pipeline vault measured POLICY --out FILE"
    return said


def _severity(status: Status) -> dg.AssetCheckSeverity:
    """Return the severity of a check; one that only warns blocks nothing, though it is a blocking check."""
    return dg.AssetCheckSeverity.WARN if status is Status.WARNED else dg.AssetCheckSeverity.ERROR


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Judged:
    """What the gate judges: the release, its originals, what was published before, the population.

    where: the tables should belong.
    """

    released: Staged
    originals: pd.DataFrame
    memory: Memory | None
    population: Population | None
    where: Where


def _report(policy: Policy, judged: _Judged, hierarchies: Path) -> GateReport:
    return evaluate(
        judged.released.frame,
        policy,
        judged.released.facts,
        originals=judged.originals,
        hierarchies=hierarchies,
        memory=judged.memory,
        population=judged.population,
        descent=Descent(judged.released.frame, judged.released.lineage, judged.where),
    )


def _suite(policy: Policy, judged: _Judged, hierarchies: Path) -> "SuiteResult":
    """Run the limits as a suite of Great Expectations, which takes seconds to import.

    Tables that do not belong together fail the suite, as they fail every limit of the gate.
    """
    from anon_pipeline.gate.great_expectations import Outcome, SuiteResult, gate_batch, validate  # noqa: PLC0415

    try:
        batch = gate_batch(
            judged.released.frame,
            judged.originals,
            policy,
            hierarchies=hierarchies,
            memory=judged.memory,
            population=judged.population,
        )
    except InputError as error:
        return SuiteResult((Outcome("evidence", False, error="InputError", reason=str(error)),))
    return validate(batch, policy, hierarchies=hierarchies)
