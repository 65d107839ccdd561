"""The component `anon_pipeline.EpsilonDpRelease`: the policy of an ε-DP release becomes one asset.

Nothing between the source and the release is stored, so there is one asset. Its checks are the gate's: they
are recorded before anything is written, and the release is written only if all have passed.

Decision: docs/adr/0090-releases-with-differential-privacy.md.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
from dagster.components.scaffold.scaffold import ScaffoldRequest
from pydantic import BaseModel, RootModel

from anon_pipeline.base.errors import GateRefused, private_stage
from anon_pipeline.base.project import project_root
from anon_pipeline.epsilon_dp.dp_gate import MEANINGS
from anon_pipeline.epsilon_dp.dp_release import DpDraft, DpPublished, draw_dp_release, publish_dp_release
from anon_pipeline.epsilon_dp.expected_errors import expected_errors
from anon_pipeline.limits.verdicts import GateReport, Status, Verdict
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.orchestration.guard import check_defs
from anon_pipeline.orchestration.jobs import build_release_job, build_schedule
from anon_pipeline.orchestration.resources import Folders, active_session, default_resources
from anon_pipeline.orchestration.stage import owners, run_options
from anon_pipeline.orchestration.upstream import source_reader, spark_keys, upstream_keys
from anon_pipeline.policy.defaults_files import refuse_dp_below_defaults
from anon_pipeline.policy.epsilon_dp import EpsilonDpPolicy
from anon_pipeline.policy.load_epsilon_dp import dp_policy_from
from anon_pipeline.policy.rendering import render_attributes
from anon_pipeline.policy.templates import dp_template
from anon_pipeline.stages.private import STAGES
from anon_pipeline.vault.git_ignore import ignore_vault

Outcome = dg.AssetCheckResult | dg.MaterializeResult[Any]


class DpAttributes(RootModel[Any]):
    """A policy as it is written; its schema is that of policies of ε-DP releases."""

    @classmethod
    def model_json_schema(cls, *arguments: Any, **named: Any) -> dict[str, Any]:
        """Return the JSON Schema of the policy of an ε-DP release."""
        return EpsilonDpPolicy.model_json_schema(*arguments, **named)


class DpScaffolder(dg.Scaffolder[BaseModel]):
    """Writes a `defs.yaml` that runs, named after its folder, of generated patients."""

    def scaffold(self, request: ScaffoldRequest[BaseModel]) -> None:
        """Write the file into the target folder, and the vault into the project's ``.gitignore``."""
        if request.scaffold_format != "yaml":
            raise ValueError(f"a policy is written as yaml, got {request.scaffold_format}")
        folder, project = request.target_path, project_root(request.target_path / "defs.yaml")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "defs.yaml").write_text(dp_template(folder.name), encoding="utf-8")
        if project != folder.absolute():  # else there is no project to find
            ignore_vault(project)


@dg.scaffold_with(DpScaffolder)
class EpsilonDpRelease(dg.Component):
    """A release that is differentially private from end to end: noise on all that is taken from the data."""

    def __init__(self, policy: EpsilonDpPolicy) -> None:
        self.policy = policy

    @classmethod
    def get_model_cls(cls) -> type[BaseModel]:
        """Return what stands below ``attributes:``: a policy, perhaps with templates."""
        return DpAttributes

    @classmethod
    def load(cls, attributes: BaseModel | None, context: dg.ComponentLoadContext) -> "EpsilonDpRelease":
        """Make the component of a policy, its templates rendered as Dagster does.

        Raises:
            PolicyError: the file is one that the command line would refuse to read, see `guard`.
        """
        check_defs(Path(context.path))
        written = attributes.root if isinstance(attributes, DpAttributes) else attributes
        policy = dp_policy_from(render_attributes(written, context.resolution_context.resolve_value))
        refuse_dp_below_defaults(policy, Path(context.path))
        return cls(policy)

    @classmethod
    def get_spec(cls) -> dg.ComponentTypeSpec:
        """Describe the component for `dg` and the UI."""
        return dg.ComponentTypeSpec(
            description="A release that is differentially private from end to end.",
            tags=["privacy", "differential-privacy"],
        )

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Build the release's definitions for a project."""
        return build_dp_release(self.policy, Path(context.project_root))


def build_dp_release(policy: EpsilonDpPolicy, project: Path) -> dg.Definitions:
    """Build asset, checks, job and schedule of one ε-DP release, with resources below the project.

    Args:
        project: folder that the default resources are below.
    Raises:
        PolicyError: a `policy.defaults.yaml` of the project does not accept it.
    """
    refuse_dp_below_defaults(policy, project)
    asset = dp_published(policy)
    job = build_release_job(policy, [asset])
    schedule = build_schedule(policy, job, None)
    return dg.Definitions(
        assets=[asset],
        jobs=[job],
        schedules=[] if schedule is None else [schedule],
        resources={
            **default_resources(project),
            **dict.fromkeys(spark_keys(policy, STAGES[0]), active_session()),
        },
    )


def dp_published(policy: EpsilonDpPolicy) -> dg.AssetsDefinition:
    """Return the asset of an ε-DP release, with the gate's checks."""
    key = dg.AssetKey([policy.name, "published"])
    spec = dg.AssetSpec(
        key,
        deps=upstream_keys(policy),
        description=f"ε-DP release, ε = {policy.epsilon:g}: made with noise, judged by its gate, written.",
        group_name=policy.name,
        kinds={"python", policy.publish.format},
        tags={"anon_pipeline/private": "false"},
        owners=owners(policy),
    )
    checks = [
        dg.AssetCheckSpec(name, asset=key, blocking=True, description=said) for name, said in MEANINGS.items()
    ]

    @dg.multi_asset(
        name="__".join(key.path),
        specs=[spec],
        check_specs=checks,
        required_resource_keys=spark_keys(policy, STAGES[0]),
        **run_options(policy),
    )
    def published_asset(context: dg.AssetExecutionContext, anon_folders: Folders) -> Iterator[Outcome]:
        """Draw the release, report every verdict, and publish what passes."""
        draft, refused = _draw(context, policy, anon_folders)
        report = draft.report if draft is not None else None if refused is None else refused.report
        if isinstance(report, GateReport):
            yield from _checks(key, policy, report)
        with as_failure():
            if refused is not None:
                raise refused
            written = None if draft is None else publish_dp_release(draft)
        if written is not None:
            yield dg.MaterializeResult(asset_key=key, metadata=_metadata(policy, written))

    return published_asset


def _draw(
    context: dg.AssetExecutionContext, policy: EpsilonDpPolicy, folders: Folders
) -> tuple[DpDraft | None, GateRefused | None]:
    """Return what was drawn, or why nothing was."""
    with as_failure(), private_stage("noise"):
        try:
            read = source_reader(context, policy, None, STAGES[0])
            return draw_dp_release(policy, folders.locations(), read=read, run=context.run.run_id), None
        except GateRefused as error:
            return None, error


def _checks(key: dg.AssetKey, policy: EpsilonDpPolicy, report: GateReport) -> Iterator[dg.AssetCheckResult]:
    """Yield the result of each check; one that was not come to has not passed."""
    found = {verdict.limit: verdict for verdict in report.verdicts}
    for name in MEANINGS:
        verdict = found.get(name, Verdict(name, Status.UNMEASURED, reason="nothing was drawn"))
        measured = {} if verdict.value is None else {"measured": verdict.value}
        bound = {} if verdict.bound is None else {"demanded": f"{verdict.sense} {verdict.bound:g}"}
        yield dg.AssetCheckResult(
            passed=verdict.status is Status.PASSED,
            asset_key=key,
            check_name=name,
            description=verdict.as_text(),
            metadata={**measured, **bound, "policy_digest": policy.digest},
        )


def _metadata(policy: EpsilonDpPolicy, written: DpPublished) -> dict[str, Any]:
    """Return what Dagster shows of a release: all of it is in the manifest or follows from it."""
    records = int(written.manifest["records"])
    return {
        "records": records,
        "dagster/row_count": records,
        "epsilon": policy.epsilon,
        "file": written.path.name,
        "manifest": written.manifest_path.name,
        "report": written.report_path.name,
        "guarantee": dg.MetadataValue.md("\n".join(f"* {line}" for line in written.manifest["guarantee"])),
        **{f"expected_error/{name}": error for name, error in expected_errors(policy, records).items()},
    }
