"""A release that is made elsewhere: Dagster starts `anon-pipeline run` by a Pipes client and shows it.

Belongs here: the asset, and how a project declares it. Does not belong here: what is believed of a report,
see `pipes_results`; the process that makes the release, see `pipes_process` and `pipes_report`.

Decision: docs/adr/0083-a-release-made-elsewhere.md.
"""

import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import dagster as dg
from dagster import AssetExecutionContext, PipesClient, PipesSession

from anon_pipeline.base.errors import AnonPipelineError, InputError, PublishError, private_stage
from anon_pipeline.base.quiet import own_words
from anon_pipeline.orchestration.failures import as_failure
from anon_pipeline.orchestration.gate_checks import gate_specs
from anon_pipeline.orchestration.partitions import partition_of_run, partitions_of
from anon_pipeline.orchestration.pipes_process import POLICY_DIGEST
from anon_pipeline.orchestration.pipes_results import (
    Reported,
    accepted_results,
    refuse_failed,
    refuse_incomplete,
    refuse_other_manifest,
)
from anon_pipeline.orchestration.resources import FOLDERS
from anon_pipeline.orchestration.stage import asset_declaration, run_options
from anon_pipeline.orchestration.upstream import refuse_own_source
from anon_pipeline.policy.model import Policy

PIPES = "anon_pipes"
"""Key of the resource that is the Pipes client, unless `Elsewhere` names another."""
Arguments = Callable[[list[str]], Mapping[str, Any]]


def pass_command(command: list[str]) -> dict[str, Any]:
    """Return the arguments of a client whose ``run`` takes the command by this name."""
    return {"command": command}


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Where a release is made if not by Dagster's own process, and how it is started there.

    command: such as ``("anon-pipeline", "run", "/srv/releases/policy.yaml")``; ``--partition KEY`` is added.
    client: key of the resource that is the Pipes client.
    arguments: from the complete command to what the client's ``run`` takes beside context and extras.
    shared: whether Dagster reaches the release that is published there, in its own folder of releases; then
        its manifest is compared with what was reported.
    """

    command: Sequence[str]
    client: str = PIPES
    arguments: Arguments = pass_command
    shared: bool = True


@lru_cache
def default_client() -> dg.PipesSubprocessClient:
    """Return the client that starts a process on this machine: one for all releases, so that they merge."""
    return dg.PipesSubprocessClient()


def published_elsewhere(policy: Policy, elsewhere: Elsewhere) -> dg.AssetsDefinition:
    """Return the release as one asset with the gate's checks, made by a process that a Pipes client starts.

    Raises:
        PolicyError: its source is an asset of Dagster, which another process cannot read.
        InputError: the command is not one.
    """
    refuse_own_source(policy)
    if isinstance(elsewhere.command, str) or not elsewhere.command:
        raise InputError("command of Elsewhere must be a list: a program, then its arguments")
    partitions = partitions_of(policy)

    @dg.multi_asset(
        **_declaration(policy), required_resource_keys={elsewhere.client, FOLDERS}, **run_options(policy)
    )
    def published_asset(
        context: AssetExecutionContext,
    ) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]:
        """Start the process, show what the gate found, and accept the release if all was reported."""
        with as_failure(policy):
            partition = partition_of_run(context, partitions)
            ended = _run(context, policy, elsewhere, partition)
        with as_failure(policy), private_stage("published"):
            reported = accepted_results(ended.results, policy, partition, more=ended.more)
            if ended.error is None and not reported.failed:
                _refuse_unproven(context, reported, policy, elsewhere, partition)
        yield from reported.checks.values()
        with as_failure(policy):
            refuse_failed(reported)
            if ended.error is not None:
                raise ended.error
        if reported.release is not None:
            yield reported.release

    return published_asset


def _declaration(policy: Policy) -> dict[str, Any]:
    """Return what the asset is declared with: as `published` in a chain, without tables that it takes."""
    said = "The release: made, judged and published by another process, which reports what the gate found."
    named = asset_declaration(policy, "published", said, {})
    del named["ins"], named["deps"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=dg.PreviewWarning)  # partitions of a check
        checks = gate_specs(policy)
    return {"name": "__".join(named["key"].path), "specs": [dg.AssetSpec(**named)], "check_specs": checks}


def _refuse_unproven(
    context: AssetExecutionContext,
    reported: Reported,
    policy: Policy,
    elsewhere: Elsewhere,
    partition: str | None,
) -> None:
    """Refuse a release of which something was not reported, or whose manifest says something else."""
    refuse_incomplete(reported, policy)
    if elsewhere.shared:
        folders = getattr(context.resources, FOLDERS).locations()
        folders.confine(policy, partition)
        refuse_other_manifest(reported, policy, folders.release(policy, partition), partition)
        return
    with own_words():
        context.log.info("The manifest of the release was not compared: it is out of reach (shared=False).")


@dataclass(frozen=True, slots=True, eq=False)
class _Ended:
    """How a process ended: what it reported, names of metadata that the client added, why it failed."""

    results: Sequence[Any]
    more: frozenset[str] = frozenset()
    error: AnonPipelineError | None = None


def _run(
    context: AssetExecutionContext, policy: Policy, elsewhere: Elsewhere, partition: str | None
) -> _Ended:
    """Start the process and wait for its end. What a client raises may quote anything: only its type is kept.

    Raises:
        InputError: the resource is no Pipes client.
    """
    client = getattr(context.resources, elsewhere.client)
    if not isinstance(client, PipesClient):
        raise InputError(
            f"the resource {elsewhere.client} must be a Pipes client, got {type(client).__name__}"
        )
    command = [*elsewhere.command, *([] if partition is None else ["--partition", partition])]
    arguments = elsewhere.arguments(command)
    try:
        done = client.run(context=context, extras={POLICY_DIGEST: policy.digest}, **arguments)
        results = done.get_results(implicit_materializations=False)
        return _Ended(results, frozenset(done.metadata))
    except Exception as error:  # noqa: BLE001 - clients raise anything
        session, kind = _session_of(error), type(error).__name__
    failed = PublishError(
        f"The process that makes the release did not end well ({kind}). If it was started, what it said is "
        f"in the log of this run."
    )
    return _Ended(() if session is None else session.get_reported_results(), error=failed)


def _session_of(error: Exception) -> PipesSession | None:
    """Return the session in which a client failed.

    Clients raise within the session if the process fails, and return nothing: what a refused release has
    reported is in the session alone.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for value in frame.f_locals.values():
            if isinstance(value, PipesSession):
                return value
    return None
