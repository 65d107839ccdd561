"""The component `anon_pipeline.AnonymizedRelease`: a policy in a project's `defs.yaml` becomes its assets."""

import os
from pathlib import Path
from typing import Any

import click
import dagster as dg
from dagster.components.scaffold.scaffold import ScaffoldRequest
from pydantic import BaseModel, Field, RootModel

from anon_pipeline.base.errors import AnonPipelineError, InputError, private_stage
from anon_pipeline.base.places import TableUrl, is_local, remote_problem
from anon_pipeline.base.project import project_root
from anon_pipeline.orchestration.chain import Chain, chain, chain_definitions
from anon_pipeline.orchestration.divided_release import Divided, published_divided
from anon_pipeline.orchestration.guard import check_defs, questions_in_defs
from anon_pipeline.orchestration.jobs import build_jobs, build_release_job, build_schedule
from anon_pipeline.orchestration.new_files import build_sensor
from anon_pipeline.orchestration.one_process import write_one_process
from anon_pipeline.orchestration.partitions import partitions_of
from anon_pipeline.orchestration.release_elsewhere import (
    PIPES,
    Elsewhere,
    default_client,
    published_elsewhere,
)
from anon_pipeline.orchestration.resources import active_session, default_resources
from anon_pipeline.orchestration.upstream import spark_keys
from anon_pipeline.policy.defaults_files import refuse_below_defaults
from anon_pipeline.policy.load import policy_from
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.rendering import render_attributes
from anon_pipeline.policy.templates import template
from anon_pipeline.stages.private import STAGES
from anon_pipeline.vault.git_ignore import ignore_vault


class ScaffoldOptions(BaseModel):
    """What `dg scaffold defs anon_pipeline.AnonymizedRelease` accepts, except the name of the release."""

    data: str | None = Field(
        None, description="Table to look at: a policy is proposed for it, as `anon-pipeline init --yes` does."
    )


class ReleaseScaffolder(dg.Scaffolder[ScaffoldOptions]):
    """Writes a `defs.yaml` that runs, named after its folder: of a table, or of generated patients."""

    @classmethod
    def get_scaffold_params(cls) -> type[ScaffoldOptions]:
        """Return the options of the command."""
        return ScaffoldOptions

    def scaffold(self, request: ScaffoldRequest[ScaffoldOptions]) -> None:
        """Write the file into the target folder, the vault into the project's ``.gitignore``, an executor."""
        if request.scaffold_format != "yaml":
            raise ValueError(f"a policy is written as yaml, got {request.scaffold_format}")
        folder, data = request.target_path, None if request.params is None else request.params.data
        project = project_root(folder / "defs.yaml")
        folder.mkdir(parents=True, exist_ok=True)
        if data is None:
            (folder / "defs.yaml").write_text(template(folder.name), encoding="utf-8")
        elif (problem := _draft(data, folder, project)) is not None:
            if not any(folder.iterdir()):  # `dg` has made it
                folder.rmdir()
            raise click.ClickException(problem)
        if project != folder.absolute():  # else there is no project to find
            ignore_vault(project)
            written = write_one_process(folder.parent, project)
            if written is not None:
                click.echo(f"wrote {os.path.relpath(written)}: all steps of a run in one process")


def _draft(place: str, folder: Path, project: Path) -> str | None:
    """Write a policy for a table, at a path or a URL; say why not where that failed."""
    from anon_pipeline.draft.policy_draft import draft, summary  # noqa: PLC0415 - takes seconds to import

    problem = None if is_local(place) else remote_problem(place)
    if problem:
        return f"--data {problem}"
    data = Path(place) if is_local(place) else TableUrl(place)
    try:
        with private_stage("init"):
            made = draft(data, folder / "defs.yaml", project, name=folder.name)
    except AnonPipelineError as error:
        return str(error)
    click.echo("\n".join(summary(made.fitted, folder / "defs.yaml", made.tables)))
    return None


class Attributes(RootModel[Any]):
    """A policy as it is written; its schema is the policy's."""

    @classmethod
    def model_json_schema(cls, *arguments: Any, **named: Any) -> dict[str, Any]:
        """Return the JSON Schema of a policy."""
        return Policy.model_json_schema(*arguments, **named)


@dg.scaffold_with(ReleaseScaffolder)
class AnonymizedRelease(dg.Component):
    """A release of personal data that is safe to publish: k-anonymized, perturbed, shuffled, gated."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @classmethod
    def get_model_cls(cls) -> type[BaseModel]:
        """Return what stands below ``attributes:``: a policy, perhaps with templates."""
        return Attributes

    @classmethod
    def load(cls, attributes: BaseModel | None, context: dg.ComponentLoadContext) -> "AnonymizedRelease":
        """Make the component of a policy, its templates rendered as Dagster does; see `policy.rendering`.

        Raises:
            PolicyError: the file is one that the command line would refuse to read, see `guard`, or weaker
                than a `policy.defaults.yaml` accepts.
        """
        check_defs(Path(context.path))
        written = attributes.root if isinstance(attributes, Attributes) else attributes
        policy = policy_from(render_attributes(written, context.resolution_context.resolve_value))
        refuse_below_defaults(policy, Path(context.path))
        return cls(policy.with_open_questions(questions_in_defs(Path(context.path))))

    @classmethod
    def get_spec(cls) -> dg.ComponentTypeSpec:
        """Describe the component for `dg` and the UI."""
        return dg.ComponentTypeSpec(
            description="A release of personal data that is safe to publish, and refused otherwise.",
            tags=["privacy", "anonymization"],
        )

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Build the release's definitions for a project."""
        return build_release(self.policy, Path(context.project_root))


def build_release(
    policy: Policy,
    project: Path,
    links: Chain | None = None,
    *,
    elsewhere: Elsewhere | None = None,
    divided: Divided | None = None,
) -> dg.Definitions:
    """Build assets, checks, jobs and schedule of one release, with resources below the project.

    Args:
        project: folder that the default resources are below.
        links: its stages and checks; default: `chain.chain`.
        elsewhere: makes the release by another process, as one asset; see `release_elsewhere`.
        divided: divides the table and releases its partitions, as one asset; see `divided_release`.
    Raises:
        InputError: the chain lacks a stage or the gate, see `chain.chain_definitions`; or more than one of
            a chain, ``elsewhere`` and ``divided``.
        PolicyError: the policy is weaker than a `policy.defaults.yaml` of the project accepts; or it cannot
            be made elsewhere, or divided.
    """
    refuse_below_defaults(policy, project)
    if sum(one is not None for one in (links, elsewhere, divided)) > 1:
        raise InputError(
            "a release that is made elsewhere or divided has no chain here: give one of links, elsewhere "
            "and divided"
        )
    resources, checks = default_resources(project), list[dg.AssetChecksDefinition]()
    if elsewhere is not None:
        assets = [published_elsewhere(policy, elsewhere)]
        resources |= {PIPES: default_client()} if elsewhere.client == PIPES else {}
    elif divided is not None:
        assets = [published_divided(policy, divided, project)]
    else:
        assets, checks = chain_definitions(chain(policy) if links is None else links)
    whole = elsewhere is None and divided is None
    jobs = build_jobs(policy, assets) if whole else [build_release_job(policy, assets)]
    resources |= dict.fromkeys(spark_keys(policy, STAGES[0]), active_session())
    schedule = build_schedule(policy, jobs[0], partitions_of(policy))
    sensor = build_sensor(policy, jobs[0], partitions_of(policy))
    return dg.Definitions(
        assets=assets,
        asset_checks=checks,
        jobs=jobs,
        schedules=[] if schedule is None else [schedule],
        sensors=[] if sensor is None else [sensor],
        resources=resources,
    )
