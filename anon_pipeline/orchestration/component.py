"""The component `anon_pipeline.AnonymizedRelease`: a policy in a project's `defs.yaml` becomes its assets."""

from pathlib import Path
from typing import Any

import dagster as dg
from dagster.components.scaffold.scaffold import ScaffoldRequest
from pydantic import BaseModel

from anon_pipeline.orchestration.chain import Chain, chain, chain_definitions
from anon_pipeline.orchestration.guard import check_defs
from anon_pipeline.orchestration.jobs import build_jobs, build_schedule
from anon_pipeline.orchestration.partitions import partitions_of
from anon_pipeline.orchestration.resources import default_resources
from anon_pipeline.policy.defaults_files import refuse_below_defaults
from anon_pipeline.policy.locations import project_root
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.templates import template
from anon_pipeline.vault.ignoring import ignore_vault


class ReleaseScaffolder(dg.Scaffolder):
    """Writes a `defs.yaml` that runs as it is, on generated patients, named after its folder."""

    def scaffold(self, request: ScaffoldRequest[Any]) -> None:
        """Write the file into the target folder, and the vault into the project's ``.gitignore``."""
        if request.scaffold_format != "yaml":
            raise ValueError(f"a policy is written as yaml, got {request.scaffold_format}")
        request.target_path.mkdir(parents=True, exist_ok=True)
        (request.target_path / "defs.yaml").write_text(template(request.target_path.name), encoding="utf-8")
        project = project_root(request.target_path / "defs.yaml")
        if project != request.target_path.absolute():  # else there is no project to find
            ignore_vault(project)


@dg.scaffold_with(ReleaseScaffolder)
class AnonymizedRelease(dg.Component):
    """A release of personal data that is safe to publish: k-anonymized, perturbed, shuffled, gated."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @classmethod
    def get_model_cls(cls) -> type[BaseModel]:
        """Return the policy: what stands below ``attributes:``."""
        return Policy

    @classmethod
    def load(cls, attributes: BaseModel | None, context: dg.ComponentLoadContext) -> "AnonymizedRelease":
        """Make the component of a policy; templates are not rendered: a policy is named by its digest.

        Raises:
            PolicyError: the file is one that the command line would refuse to read, see `guard`, or weaker
                than a `policy.defaults.yaml` accepts.
        """
        check_defs(Path(context.path))
        policy = Policy.model_validate(attributes)
        refuse_below_defaults(policy, Path(context.path))
        return cls(policy)

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


def build_release(policy: Policy, project: Path, links: Chain | None = None) -> dg.Definitions:
    """Build assets, checks, jobs and schedule of one release, with resources below the project.

    Args:
        project: folder that the default resources are below.
        links: its stages and checks; default: `chain.chain`.
    Raises:
        InputError: the chain lacks a stage or the gate, see `chain.chain_definitions`.
        PolicyError: the policy is weaker than a `policy.defaults.yaml` of the project accepts.
    """
    refuse_below_defaults(policy, project)
    assets, checks = chain_definitions(chain(policy) if links is None else links)
    jobs = build_jobs(policy, assets)
    schedule = build_schedule(policy, jobs[0], partitions_of(policy))
    return dg.Definitions(
        assets=assets,
        asset_checks=checks,
        jobs=jobs,
        schedules=[] if schedule is None else [schedule],
        resources=default_resources(project),
    )
