"""The command that makes a release, judges it and throws it away: `rehearse`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.cli.declared_releases import rehearse_declared_release
from anon_pipeline.cli.memory_warning import warn_of_memory
from anon_pipeline.cli.options import (
    archive_of,
    json_option,
    locations_of,
    next_of_rehearsal,
    partition_option,
    policy_argument,
    source_options,
)
from anon_pipeline.cli.partition_keys import check_partition
from anon_pipeline.cli.run_output import Asked, refusal_document, rehearsal_document
from anon_pipeline.cli.shared import (
    PRIVATE,
    Progress,
    echo_json,
    print_report,
    print_warnings,
    shows_values,
    warn_of_questions,
)

if TYPE_CHECKING:
    from anon_pipeline.publish.release_in_memory import Release


@click.command()
@policy_argument
@partition_option
@json_option
@source_options
@click.pass_context
def rehearse(ctx: click.Context, /, policy_file: Path, **options: Any) -> None:
    """Make the release of POLICY, judge it, and throw it away.

    Says what `run` would say: what refuses the release, what it warns of, what is left. Nothing is published
    and no ε is spent. What is drawn for the release itself is another draw, so a limit near its bound may be
    judged otherwise then.

    POLICY may be of any kind: see its type.

    What is printed depends on the originals and on noise that no ledger counts: it is for the curator.
    """
    from anon_pipeline.base.errors import GateRefused  # noqa: PLC0415
    from anon_pipeline.gate import GateReport  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.policy.load_declared import kind_of_policy  # noqa: PLC0415
    from anon_pipeline.publish.rehearsal import rehearse as make_and_judge  # noqa: PLC0415

    kind = kind_of_policy(policy_file)
    if kind is not None:
        rehearse_declared_release(policy_file, kind, options, exact=shows_values(ctx))
        return
    policy = load_policy(policy_file)
    check_partition(policy, options["partition"])
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    warn_of_questions(policy)
    asked, archive = Asked(policy, locations, options["partition"]), archive_of(policy, locations)
    warn_of_memory(asked)
    try:
        with Progress() as progress:
            made = make_and_judge(
                policy, locations, partition=asked.partition, observe=progress, archive=archive
            )
    except GateRefused as refused:
        if options["as_json"]:
            echo_json(refusal_document(asked, refused))
            if isinstance(refused.report, GateReport):  # the document has its verdicts
                ctx.exit(refused.exit_code)
        raise
    advice = _advise(asked, made)
    if options["as_json"]:
        echo_json(rehearsal_document(asked, made) | {"advice": advice})
    else:
        _print(asked, made, advice, exact=shows_values(ctx))
        click.echo(next_of_rehearsal(policy, policy_file, options))
    click.echo(PRIVATE, err=True)


def _advise(asked: Asked, made: Release) -> list[str]:
    """Try what leaves something of columns that are hidden entirely, if the gate warns of the recoding."""
    from anon_pipeline.base.errors import AnonPipelineError, private_stage  # noqa: PLC0415
    from anon_pipeline.gate import Status  # noqa: PLC0415
    from anon_pipeline.limits.table import limit_of  # noqa: PLC0415
    from anon_pipeline.tuning.hidden_columns import MOST_RECORDS, advise_on_hidden  # noqa: PLC0415
    from anon_pipeline.tuning.recode_input import input_to_recode  # noqa: PLC0415
    from anon_pipeline.tuning.tune import source_of  # noqa: PLC0415

    warned = [limit_of(verdict.limit) for verdict in made.report.with_status(Status.WARNED)]
    if (
        not any(limit.usefulness == "recoding" for limit in warned)
        or made.facts["raw"]["records"] > MOST_RECORDS
    ):
        return []
    policy, hierarchies = asked.policy, asked.locations.hierarchies
    try:
        with Progress() as progress, private_stage("advice"):
            frame = source_of(policy, asked.locations, partition=asked.partition)
            before = input_to_recode(policy, frame, hierarchies=hierarchies)
            return advise_on_hidden(policy, lambda: before, hierarchies=hierarchies, observe=progress)
    except AnonPipelineError:  # what was rehearsed is said all the same
        return []


def _print(asked: Asked, made: Release, advice: list[str], *, exact: bool) -> None:
    """Print verdicts, warnings and what is left; no measured value, since nobody has the file."""
    policy = asked.policy
    print_report(made.report, f"Rehearsal of {policy.name}", exact=exact, policy=policy, published=False)
    print_warnings(made.report, policy, rehearsed=True)
    for line in advice:
        click.echo(f"advice    {line}")
    click.echo("What would be left:")
    for line in rehearsal_document(asked, made)["left"]:
        click.echo(f"  {line}")
