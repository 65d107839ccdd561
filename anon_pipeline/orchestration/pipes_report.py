"""What a process that Dagster Pipes has started reports of the release that it makes.

The checks and the metadata are those of `published`; `pipes_results` is the side that reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dagster as dg

from anon_pipeline.base.errors import GateRefused, private_stage
from anon_pipeline.gate import GateReport
from anon_pipeline.orchestration.gate_checks import (
    Told,
    agreement,
    is_one_cause,
    limit_checks,
    suite_of_chain,
)
from anon_pipeline.orchestration.names import GX_CHECK, check_names
from anon_pipeline.orchestration.release_facts import links_base, published_metadata
from anon_pipeline.orchestration.stage import stage_key
from anon_pipeline.policy.locations import Locations
from anon_pipeline.policy.model import Policy
from anon_pipeline.publish import Published
from anon_pipeline.publish.release_files import named_table
from anon_pipeline.stages.history.memory import Memory
from anon_pipeline.stages.private import Chain
from anon_pipeline.vault.names import measured_name

if TYPE_CHECKING:
    from dagster_pipes import PipesContext

    from anon_pipeline.gate.great_expectations import SuiteResult

DESCRIPTION = "anon_pipeline/description"
"""Name in the metadata of what a check says: a check of Pipes has no description."""
_TYPES: Mapping[type, str] = {
    dg.MarkdownMetadataValue: "md",
    dg.JsonMetadataValue: "json",
    dg.TextMetadataValue: "text",
}


@dataclass(slots=True, eq=False, repr=False)
class PipesReport:
    """Reports one release: its checks before anything is written, or with a refusal; then what was published.

    told: whether its checks were reported.
    suite: what Great Expectations found, once it was run.
    """

    pipes: PipesContext
    policy: Policy
    folders: Locations
    partition: str | None
    told: bool = False
    suite: SuiteResult | None = None

    def __post_init__(self) -> None:
        """Refuse a URL of the releases that `published` would refuse, before anything is made."""
        links_base()

    def run_suite(self, chain: Chain, memory: Memory | None) -> None:
        """Run the suite of Great Expectations on the tables that the gate is about to judge.

        Raises:
            StageCrashed: it cannot be run; nothing is published then, as in Dagster.
        """
        with private_stage("Great Expectations"):
            self.suite = suite_of_chain(self.policy, self.folders, self.partition, chain, memory)

    def report_passed(self, report: GateReport) -> None:
        """Report the checks of a release that the gate has passed, before it is written.

        Raises:
            GateRefused: the suite of Great Expectations does not find what the gate finds.
            StageCrashed: the messages cannot be written.
        """
        if not self._report_checks(report, ()):
            words = "The gate accepts this data, but Great Expectations does not find what the gate finds."
            raise GateRefused(words, report)

    def report_refused(self, report: GateReport, advice: Sequence[str]) -> None:
        """Report the checks of a release that was refused, unless they were reported before.

        Raises:
            StageCrashed: the messages cannot be written.
        """
        if not self.told:
            self._report_checks(report, advice)

    def _report_checks(self, report: GateReport, advice: Sequence[str]) -> bool:
        """Report all checks; return whether Great Expectations finds what the gate finds."""
        policy, partition = self.policy, self.partition
        told = Told(report, measured_name(policy.name, partition), tuple(advice))
        checks = limit_checks(policy, partition, told, check_names(policy).values())
        found = None if self.suite is None else agreement(policy, partition, report, self.suite)
        if found is not None and not is_one_cause(report):
            checks.append(found)
        self.told = True
        with private_stage("report to Dagster"):
            for check in checks:
                self._report_check(check)
        return found is not None and found.passed

    def _report_check(self, check: dg.AssetCheckResult) -> None:
        said = {} if check.description is None else {DESCRIPTION: check.description}
        self.pipes.report_asset_check(
            check_name=check.check_name or GX_CHECK,
            passed=check.passed,
            severity=check.severity.value,
            metadata=as_message({**check.metadata, **said}),
            asset_key=_key(self.policy),
        )

    def report_published(self, written: Published) -> None:
        """Report a release that was published, with the metadata that `published` shows.

        Raises:
            StageCrashed, InputError: the released file cannot be read again, or the message not be written.
        """
        policy = self.policy
        with private_stage("report to Dagster"):
            frame = named_table(written.manifest_path, policy)
            found = published_metadata(policy, self.folders, written, frame)
            self.pipes.report_asset_materialization(metadata=as_message(found), asset_key=_key(policy))


def _key(policy: Policy) -> str:
    return stage_key(policy, "published").to_escaped_user_string()


def as_message(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata as Pipes sends it: JSON, with the type of what is no number and no text."""
    return {name: _as_message(value) for name, value in metadata.items()}


def _as_message(value: Any) -> Any:
    if isinstance(value, dg.TableSchemaMetadataValue):
        value = value.schema
    if isinstance(value, dg.TableColumnLineageMetadataValue):
        value = value.column_lineage
    if isinstance(value, dg.TableSchema):
        columns = [
            {"name": column.name, "type": column.type, "description": column.description}
            for column in value.columns
        ]
        return {"type": "table_schema", "raw_value": {"columns": columns}}
    if isinstance(value, dg.TableColumnLineage):
        deps = {
            name: [{"asset_key": list(dep.asset_key.path), "column_name": dep.column_name} for dep in each]
            for name, each in value.deps_by_column.items()
        }
        return {"type": "table_column_lineage", "raw_value": {"deps_by_column": deps}}
    if type(value) in _TYPES:
        return {"type": _TYPES[type(value)], "raw_value": value.value}
    return value.value if isinstance(value, dg.MetadataValue) else value
