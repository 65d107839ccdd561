"""The gate's checks on `published`: one for each limit, and one of Great Expectations.

They are judged before anything is written, in the step that publishes, and by themselves in the job of the
gate. What they say is stored at once, so that whoever opens `published` sees why nothing was written.

Decision: docs/adr/0056-the-gates-checks-are-of-published.md.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from anon_pipeline.base.errors import InputError
from anon_pipeline.base.packed_tables import Table
from anon_pipeline.gate import GateReport, Status, Verdict, evaluate
from anon_pipeline.limits.table import limit_meaning, next_step, verdict_text
from anon_pipeline.orchestration.metadata import digests, markdown_list, verdict_metadata
from anon_pipeline.orchestration.names import GX_CHECK, check_names
from anon_pipeline.orchestration.partitions import partitions_of
from anon_pipeline.orchestration.stage import StageRun, stage_key
from anon_pipeline.orchestration.vault import measured_in, published_before, recoded_table
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish.accounting.booking import release_id_in
from anon_pipeline.publish.judgment import refuse_unless_passed
from anon_pipeline.sources.population import Population, read_population
from anon_pipeline.stages.history.in_ledger import NOTHING_IN_LEDGER, InLedger
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.lineage import Descent, Where
from anon_pipeline.stages.private import Chain, Staged
from anon_pipeline.stages.vault_tables import trusted_table
from anon_pipeline.tuning.advise import advise, limits_refused

if TYPE_CHECKING:
    from anon_pipeline.gate.great_expectations import SuiteResult


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What the checks of a release say beside each one's verdict.

    measured: name of the file in the vault that has all numbers.
    advice: what to change in the policy, of a release that was refused, see `tuning.advise`.
    """

    report: GateReport
    measured: str
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class GateResult:
    """What the gate says of a release: the checks that were asked for, and their report.

    advice: what to change in the policy, of a refused release.
    kept: where the curator finds what was measured of a refused release; None: nowhere.
    """

    policy: Policy
    report: GateReport
    checks: tuple[dg.AssetCheckResult, ...]
    advice: tuple[str, ...]
    kept: str | None

    def refuse_unless_passed(self) -> None:
        """Raise unless every limit was measured and kept.

        Raises:
            GateRefused: see `publish.judgment.refuse_unless_passed`.
        """
        drawn, advises = bool(self.policy.noisy), partial(tuple, self.advice)
        refuse_unless_passed(self.report, drawn=drawn, kept=self.kept, advises=advises)


def gate_specs(policy: Policy) -> list[dg.AssetCheckSpec]:
    """Return the specs of the gate's checks: one per limit, and one of Great Expectations."""
    says = {name: limit_meaning(limit, policy) for limit, name in check_names(policy).items()}
    says[GX_CHECK] = "The same limits as a suite of Great Expectations: it must find what the gate finds."
    return [
        dg.AssetCheckSpec(
            name,
            asset=stage_key(policy, "published"),
            blocking=True,
            partitions_def=partitions_of(policy),
            description=description,
        )
        for name, description in says.items()
    ]


def judge_tables(run: StageRun, released: Staged, originals: Staged, wanted: Collection[str]) -> GateResult:
    """Judge the tables of a run, keep what was measured in the vault, and answer for some checks.

    A release that is refused is entered as failed in the ledger.

    Args:
        wanted: names of the checks.
    Raises:
        InputError: tables that no stage wrote, a population that cannot be read, a vault that is not ours.
    """
    policy, folders = run.policy, run.folders
    folders.confine(policy)
    trusted_table(policy, released)
    trusted_table(policy, originals)
    memory = published_before(policy, folders, partition=run.partition, manager=run.vault)
    population = read_population(policy, folder=folders.sources, hierarchies=folders.hierarchies)
    in_ledger = run.booking().in_ledger(release_id_in(released.facts))
    judged = _Judged(released, originals.frame, memory, population, run.where(), in_ledger)
    report = _report(policy, judged, folders.hierarchies)
    measured = measured_in(run.vault, policy, folders, run.partition)
    kept, advice = None, tuple[str, ...]()
    if report.passed:
        measured.keep(report, released.facts)
    else:
        kept = measured.keep_refused(report, released.facts)
        run.booking().enter_failed(release_id_in(released.facts))
        advice = _advice(run, report, originals)
    checks = limit_checks(policy, run.partition, Told(report, measured.name, advice), wanted)
    if GX_CHECK in wanted and not (is_one_cause(report) and checks):
        checks.append(agreement(policy, run.partition, report, suite_of(policy, judged, folders.hierarchies)))
    return GateResult(policy, report, tuple(checks), advice, kept)


def _advice(run: StageRun, report: GateReport, originals: Staged) -> tuple[str, ...]:
    """Return what to change in the policy, from the table in the vault that was recoded."""
    recoded = partial(recoded_table, run.vault, originals, run.where())
    folder = run.folders.hierarchies
    return tuple(advise(run.policy, recoded, limits_refused(report), hierarchies=folder, observe=run.observe))


def limit_checks(
    policy: Policy, partition: str | None, told: Told, wanted: Collection[str]
) -> list[dg.AssetCheckResult]:
    """Return the result of each limit's check that is wanted.

    Where nothing could be measured, for one reason, one check says so: one cause is one red check. The
    others have no result on this data, so `published` is refused whoever asks for them.
    """
    names = check_names(policy)
    verdicts = [verdict for verdict in told.report.verdicts if names[verdict.limit] in wanted]
    if is_one_cause(told.report):
        verdicts = verdicts[:1]
    return [check_result(policy, partition, names[each.limit], each, told) for each in verdicts]


def check_result(
    policy: Policy, partition: str | None, name: str, verdict: Verdict, told: Told
) -> dg.AssetCheckResult:
    """Return the result of a limit's check; that of a limit that refused says what to change.

    Args:
        name: of the check.
    """
    found = verdict_metadata(verdict, told.report, told.measured)
    if verdict.status is Status.REFUSED and told.advice:
        found["advice"] = markdown_list(told.advice)
    said = described_verdict(verdict, policy, told.advice, published=told.report.passed)
    return _result(policy, partition, name, verdict.status, said, found)


def is_one_cause(report: GateReport) -> bool:
    """Whether nothing was measured, all for the same reason."""
    reasons = {verdict.reason for verdict in report.verdicts}
    return len(report.unkept) == len(report.verdicts) > 1 and len(reasons) == 1 and None not in reasons


def agreement(
    policy: Policy, partition: str | None, report: GateReport, suite: "SuiteResult"
) -> dg.AssetCheckResult:
    """Return the check of Great Expectations, red where the suite does not find what the gate finds.

    A limit that both refuse is red once, by its own check.
    """
    judged = {line.limit for line in suite.lines}
    refused = {verdict.limit for verdict in report.unkept}
    odd = [line.as_text() for line in suite.lines if line.success == (line.limit in refused)]
    agrees = not odd and judged <= set(check_names(policy))
    said = {"expectations": len(suite.lines), **digests(report)}
    text = "; ".join(odd) if odd else None
    status = Status.PASSED if agrees else Status.REFUSED
    return _result(policy, partition, GX_CHECK, status, text, said)


def _result(
    policy: Policy, partition: str | None, name: str, status: Status, text: str | None, found: dict[str, Any]
) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        asset_key=stage_key(policy, "published"),
        check_name=name,
        passed=status is Status.PASSED,
        severity=_severity(status),
        description=text,
        metadata=found if partition is None else {**found, "partition": partition},
    )


def described_verdict(
    verdict: Verdict,
    policy: Policy | None = None,
    advice: Collection[str] = (),
    *,
    published: bool = True,
) -> str:
    """Say a verdict; of one that is not kept or warns also what to do, and where the numbers are.

    Args:
        advice: on all limits that refused the release.
        published: whether others will have the file, and can compute what follows from it; no value is said
            otherwise ([ADR 45]).
    """
    said = verdict_text(verdict if published else replace(verdict, recomputable=False))
    if verdict.status in (Status.REFUSED, Status.WARNED):
        said += f". Next: {next_step(verdict, policy)}"
    if verdict.status is Status.REFUSED:
        said += "".join(f" {line}" for line in advice)
        said += " What was measured: anon-pipeline vault measured POLICY --out FILE"
    return said


def _severity(status: Status) -> dg.AssetCheckSeverity:
    """Return the severity of a check; one that only warns blocks nothing, though it is a blocking check."""
    return dg.AssetCheckSeverity.WARN if status is Status.WARNED else dg.AssetCheckSeverity.ERROR


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Judged:
    """What the gate judges: the release, its originals, what was published before, the population.

    where: the tables should belong.
    in_ledger: what the ledger has of other releases.
    """

    released: Staged
    originals: Table
    memory: Memory | None
    population: Population | None
    where: Where
    in_ledger: InLedger = NOTHING_IN_LEDGER


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
        in_ledger=judged.in_ledger,
    )


def suite_of_chain(
    policy: Policy, folders: Locations, partition: str | None, chain: Chain, memory: Memory | None
) -> "SuiteResult":
    """Run the limits as a suite on tables that were made in memory just now, see `suite_of`."""
    population = read_population(policy, folder=folders.sources, hierarchies=folders.hierarchies)
    where = Where(None, policy.name, partition)
    judged = _Judged(chain.suppressed, chain.k_anonymized.frame, memory, population, where)
    return suite_of(policy, judged, folders.hierarchies)


def suite_of(policy: Policy, judged: _Judged, hierarchies: Path) -> "SuiteResult":
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
