"""Components of releases with declared columns: the policy of each becomes one asset.

Nothing between the source and the release is stored, so there is one asset. Its checks are the gate's: they
are recorded before anything is written, and the release is written only if all have passed.

Decision: docs/adr/0090-releases-with-differential-privacy.md.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

import dagster as dg
from dagster.components.scaffold.scaffold import ScaffoldRequest
from pydantic import BaseModel, RootModel

from anon_pipeline.base.errors import GateRefused, private_stage
from anon_pipeline.base.project import project_root
from anon_pipeline.catalog.release_kinds import BUCKETIZED, EPSILON_DP, SYNTHETIC, ReleaseKind
from anon_pipeline.declared.draft import DeclaredPublished, Draft, draw_release, publish_draft
from anon_pipeline.declared.parts import parts_of
from anon_pipeline.limits.verdicts import GateReport, Status, Verdict
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.orchestration.guard import check_defs, questions_in_defs
from anon_pipeline.orchestration.jobs import build_release_job, build_schedule
from anon_pipeline.orchestration.metadata import markdown_list
from anon_pipeline.orchestration.resources import Folders, active_session, default_resources
from anon_pipeline.orchestration.stage import owners, run_options
from anon_pipeline.orchestration.upstream import source_reader, spark_keys, upstream_keys
from anon_pipeline.policy.declared_release import DeclaredRelease
from anon_pipeline.policy.defaults_files import refuse_declared_below_defaults
from anon_pipeline.policy.load_declared import declared_from, policy_model
from anon_pipeline.policy.rendering import render_attributes
from anon_pipeline.policy.templates import declared_template
from anon_pipeline.stages.private import STAGES
from anon_pipeline.vault.git_ignore import ignore_vault

Outcome = dg.AssetCheckResult | dg.MaterializeResult[Any]


def attributes_of(kind: ReleaseKind) -> type[BaseModel]:
    """Return the model of what stands below ``attributes:``: a policy, perhaps with templates."""

    class Attributes(RootModel[Any]):
        @classmethod
        def model_json_schema(cls, *arguments: Any, **named: Any) -> dict[str, Any]:
            """Return the JSON Schema of the policies of the kind."""
            return policy_model(kind).model_json_schema(*arguments, **named)

    return Attributes


def scaffolder_of(kind: ReleaseKind) -> type[dg.Scaffolder[BaseModel]]:
    """Return what writes a `defs.yaml` that runs, named after its folder, of generated patients."""

    class Scaffolder(dg.Scaffolder[BaseModel]):
        def scaffold(self, request: ScaffoldRequest[BaseModel]) -> None:
            """Write the file into the target folder, and the vault into the project's ``.gitignore``."""
            if request.scaffold_format != "yaml":
                raise ValueError(f"a policy is written as yaml, got {request.scaffold_format}")
            folder, project = request.target_path, project_root(request.target_path / "defs.yaml")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "defs.yaml").write_text(declared_template(kind, folder.name), encoding="utf-8")
            if project != folder.absolute():  # else there is no project to find
                ignore_vault(project)

    return Scaffolder


class DeclaredComponent(dg.Component):
    """A release whose columns are declared."""

    kind: ClassVar[ReleaseKind]

    def __init__(self, policy: DeclaredRelease) -> None:
        self.policy = policy

    @classmethod
    def get_model_cls(cls) -> type[BaseModel]:
        """Return what stands below ``attributes:``, see `attributes_of`."""
        return attributes_of(cls.kind)

    @classmethod
    def get_spec(cls) -> dg.ComponentTypeSpec:
        """Describe the component for `dg` and the UI."""
        return dg.ComponentTypeSpec(description=cls.kind.description, tags=[*cls.kind.tags])

    @classmethod
    def load(cls, attributes: BaseModel | None, context: dg.ComponentLoadContext) -> Self:
        """Make the component of a policy, its templates rendered as Dagster does.

        Raises:
            PolicyError: the file is one that the command line would refuse to read, see `guard`.
        """
        check_defs(Path(context.path))
        written = attributes.root if isinstance(attributes, RootModel) else attributes
        rendered = render_attributes(written, context.resolution_context.resolve_value)
        policy = declared_from(rendered, cls.kind)
        refuse_declared_below_defaults(policy, Path(context.path))
        return cls(policy.with_open_questions(questions_in_defs(Path(context.path))))

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Build the release's definitions for a project."""
        return build_declared_release(self.policy, Path(context.project_root))


@dg.scaffold_with(scaffolder_of(EPSILON_DP))
class EpsilonDpRelease(DeclaredComponent):
    """A release that is differentially private from end to end: noise on all that is taken from the data."""

    kind = EPSILON_DP


@dg.scaffold_with(scaffolder_of(SYNTHETIC))
class SyntheticRelease(DeclaredComponent):
    """A release of synthetic records, in several copies, whose risk is measured with attackers."""

    kind = SYNTHETIC


@dg.scaffold_with(scaffolder_of(BUCKETIZED))
class BucketizedRelease(DeclaredComponent):
    """A release of values as they are, in tables that only buckets of records connect."""

    kind = BUCKETIZED


def build_declared_release(policy: DeclaredRelease, project: Path) -> dg.Definitions:
    """Build asset, checks, job and schedule of one release, with resources below the project.

    Args:
        project: folder that the default resources are below.
    Raises:
        PolicyError: a `policy.defaults.yaml` of the project does not accept it.
    """
    refuse_declared_below_defaults(policy, project)
    asset = declared_published(policy)
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


def declared_published(policy: DeclaredRelease) -> dg.AssetsDefinition:
    """Return the asset of a release, with the gate's checks."""
    key = dg.AssetKey([policy.name, "published"])
    spec = dg.AssetSpec(
        key,
        deps=upstream_keys(policy),
        description=f"{policy.kind.words}: drawn, judged by its gate, written.".removeprefix("a")[1:].lstrip(
            "n "
        ),
        group_name=policy.name,
        kinds={"python", policy.publish.format},
        tags={"anon_pipeline/private": "false"},
        owners=owners(policy),
    )
    checks = [
        dg.AssetCheckSpec(name, asset=key, blocking=True, description=said)
        for name, said in parts_of(policy.kind).meanings.items()
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
            written = None if draft is None else publish_draft(draft)
        if written is not None:
            version = dg.DataVersion(str(written.manifest["data_digest"]))  # else it is one of the input
            yield dg.MaterializeResult(
                asset_key=key, metadata=_metadata(policy, written), data_version=version
            )

    return published_asset


def _draw(
    context: dg.AssetExecutionContext, policy: DeclaredRelease, folders: Folders
) -> tuple[Draft | None, GateRefused | None]:
    """Return what was drawn, or why nothing was."""
    with as_failure(), private_stage("draw"):
        try:
            read = source_reader(context, policy, None, STAGES[0])
            return draw_release(policy, folders.locations(), read=read, run=context.run.run_id), None
        except GateRefused as error:
            return None, error


def _checks(key: dg.AssetKey, policy: DeclaredRelease, report: GateReport) -> Iterator[dg.AssetCheckResult]:
    """Yield the result of each check; one that was not come to has not passed."""
    found = {verdict.limit: verdict for verdict in report.verdicts}
    for name in parts_of(policy.kind).meanings:
        verdict = found.get(name, Verdict(name, Status.UNMEASURED, reason="nothing was drawn"))
        measured = {} if verdict.value is None else {"measured": verdict.value}
        bound = {} if verdict.bound is None else {"demanded": f"{verdict.sense} {verdict.bound:g}"}
        yield dg.AssetCheckResult(
            passed=verdict.status is Status.PASSED,
            asset_key=key,
            check_name=name,
            severity=_SEVERITIES.get(verdict.status, dg.AssetCheckSeverity.ERROR),
            description=verdict.as_text(),
            metadata={**measured, **bound, "policy_digest": policy.digest},
        )


_SEVERITIES = {Status.WARNED: dg.AssetCheckSeverity.WARN}
"""Of a check that has not passed; one that only warns stops nothing."""


def _metadata(policy: DeclaredRelease, written: DeclaredPublished) -> dict[str, Any]:
    """Return what Dagster shows of a release: all of it is in the manifest or follows from it."""
    records, parts = int(written.manifest["records"]), parts_of(policy.kind)
    return {
        "records": records,
        "dagster/row_count": sum(file["records"] for file in written.manifest["files"]),
        "epsilon": float(parts.epsilon(policy)),
        "data_files": len(written.paths),
        "file": written.paths[0].name,
        "manifest": written.manifest_path.name,
        "report": written.report_path.name,
        "guarantee": markdown_list(written.manifest["guarantee"]),
        "losses": markdown_list(parts.losses(policy, records)),
    }
