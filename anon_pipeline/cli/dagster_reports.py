"""Who in Dagster is told of a release that `run` makes: nobody, an instance, or the run that started it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anon_pipeline.base.observer import Observer
    from anon_pipeline.cli.run_output import Asked
    from anon_pipeline.gate import GateReport
    from anon_pipeline.gate.great_expectations import SuiteResult
    from anon_pipeline.orchestration.pipes_report import PipesReport
    from anon_pipeline.policy import Policy
    from anon_pipeline.publish import Published
    from anon_pipeline.stages.history.memory import Memory
    from anon_pipeline.stages.private import Chain


@dataclass(frozen=True, slots=True)
class Reports:
    """What is called while a release is made; each does nothing by default.

    observe: with each step, beside the command line's own progress; None: there is nobody else.
    witness, second_lock: see `make_release`.
    refused: with the gate's report and advice.
    published: with what was written.
    """

    observe: Observer | None = None
    witness: Callable[[Chain, Memory | None], None] | None = None
    second_lock: Callable[[GateReport], None] = lambda report: None
    refused: Callable[[GateReport, Sequence[str]], None] = lambda report, advice: None
    published: Callable[[Published], None] = lambda written: None


def refuse_unreportable(policy: Policy, options: Mapping[str, Any]) -> None:
    """Refuse a release that could not be reported as the options ask; called before anything is made.

    Args:
        options: those of `run`, and the way to Dagster (``pipes``) or None.
    Raises:
        InputError: there is no instance; or Dagster Pipes waits for something else.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    if options["pipes"] is not None:
        from anon_pipeline.orchestration.pipes_process import refuse_other_request  # noqa: PLC0415

        for option, key in (("--partitions", "span"), ("--report-to-dagster", "to_dagster")):
            if options[key]:
                raise InputError(f"{option} must be left out in a process that Dagster Pipes has started")
        refuse_other_request(options["pipes"], policy, options["partition"])
    elif options["to_dagster"]:
        from anon_pipeline.orchestration.instance_events import refuse_without_instance  # noqa: PLC0415

        refuse_without_instance()


def reports_of(asked: Asked, options: Mapping[str, Any]) -> Reports:
    """Return what is called for one release; see `refuse_unreportable`."""
    if options["pipes"] is not None:
        return _to_pipes(asked, options["pipes"])
    if options["to_dagster"]:
        suites: list[SuiteResult] = []
        tell = partial(_tell_instance, asked, suites)
        return Reports(
            witness=partial(_add_suite, asked, suites),
            refused=tell,
            published=lambda written: tell(written, ()),
        )
    return Reports()


def _to_pipes(asked: Asked, pipes: Any) -> Reports:
    from anon_pipeline.orchestration.pipes_report import PipesReport  # noqa: PLC0415
    from anon_pipeline.orchestration.progress import Log  # noqa: PLC0415

    report = PipesReport(pipes, asked.policy, asked.locations, asked.partition)
    return Reports(
        observe=Log(pipes.log.info),
        witness=report.run_suite,
        second_lock=report.report_passed,
        refused=report.report_refused,
        published=partial(_tell_pipes, report),
    )


def _tell_pipes(report: PipesReport, written: Published) -> None:
    """Report what was published; that it cannot be reported does not change that it is published."""
    from anon_pipeline.base.errors import AnonPipelineError  # noqa: PLC0415

    try:
        report.report_published(written)
    except AnonPipelineError as error:
        click.echo(f"warning: Dagster was not notified. {error}", err=True)


def _add_suite(asked: Asked, suites: list[SuiteResult], chain: Chain, memory: Memory | None) -> None:
    """Run the suite of Great Expectations; that it could not be run changes no release."""
    from anon_pipeline.base.errors import AnonPipelineError, private_stage  # noqa: PLC0415
    from anon_pipeline.orchestration.gate_checks import suite_of_chain  # noqa: PLC0415

    try:
        with private_stage("Great Expectations"):
            suites.append(suite_of_chain(asked.policy, asked.locations, asked.partition, chain, memory))
    except AnonPipelineError as error:
        click.echo(f"warning: Great Expectations has no result. {error}", err=True)


def _tell_instance(
    asked: Asked, suites: Sequence[SuiteResult], made: Published | GateReport, advice: Sequence[str]
) -> None:
    """Tell the instance what was published or refused; that it does not answer changes neither."""
    from anon_pipeline.base.errors import AnonPipelineError, private_stage  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415
    from anon_pipeline.orchestration.instance_events import report_refusal, report_release  # noqa: PLC0415

    policy, partition, suite = asked.policy, asked.partition, next(iter(suites), None)
    try:
        with private_stage("report to Dagster"):
            if isinstance(made, GateReport):
                report_refusal(policy, partition, made, advice, suite=suite)
            else:
                report_release(policy, asked.locations, partition, made, suite=suite)
    except AnonPipelineError as error:
        click.echo(f"warning: Dagster was not notified. {error}", err=True)
