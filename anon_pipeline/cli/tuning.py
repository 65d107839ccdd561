"""The command that compares parameters before anything is released: `tune`."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from anon_pipeline.cli.options import (
    NEW_FILE,
    json_option,
    locations_of,
    partition_option,
    policy_argument,
    source_options,
)
from anon_pipeline.cli.partition_keys import check_partition
from anon_pipeline.cli.shared import (
    PRIVATE,
    Progress,
    echo_json,
    print_table,
    warn_of_questions,
    write_file,
)
from anon_pipeline.cli.targets import refuse_targets

if TYPE_CHECKING:
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.tuning.grid import Grid
    from anon_pipeline.tuning.results import Tuning


Value = TypeVar("Value")

_INFEASIBLE = 3
_SHOWN = (
    *("recoder", "k", "epsilon", "confidence", "amount", "error", "linking", "linking_released"),
    *("linking_known", "suppression", "information_loss", "loss", "verdict"),
)
_GRID = ("recoder", "k", "epsilon", "confidence", "amount")
_OF_PEOPLE = ("linking", "linking_released", "suppression")
"""Columns that are shares of the people where these are counted."""


@click.command()
@policy_argument
@click.option("--k", "ks", metavar="2,5,10", help="Values of k. Default: seven from 2 to 100.")
@click.option(
    "--epsilon",
    "epsilons",
    metavar="0.5,1,2",
    help="ε of a record. Default: 0.1 to the policy's, or to what is left.",
)
@click.option(
    "--confidence",
    "confidences",
    metavar="0.95,0.99",
    help="Confidence of the interval, or none. Default: the policy's.",
)
@click.option(
    "--recoder", "recoders", metavar="ola,mondrian", help="Names of recoders. Default: the policy's."
)
@click.option("--csv", "csv_file", type=NEW_FILE, help="Write the table as CSV.")
@click.option(
    "--map",
    "map_file",
    type=NEW_FILE,
    help="Write the map of risk and loss as SVG.",
)
@click.option("--apply", "applies", is_flag=True, help="Write the recommended values into POLICY.")
@partition_option
@source_options
@json_option
@click.pass_context
def tune(
    ctx: click.Context,
    /,
    policy_file: Path,
    csv_file: Path | None,
    map_file: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare k, ε, confidence and recoders for POLICY, and recommend values.

    Error, linking risk and suppression are computed from the distribution of the noise: none is drawn,
    nothing is published and no ε is spent. For columns that are changed as a whole, amounts are compared
    instead of ε: a release is made in memory for each, judged by the gate and thrown away. Exit code 3: no
    point of the grid passes the limits that can be judged.
    """
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.tuning.output import as_document, describe  # noqa: PLC0415

    policy = load_policy(policy_file)
    warn_of_questions(policy)
    check_partition(policy, options["partition"])
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    refuse_targets(policy, policy_file, locations, csv_file, map_file, partition=options["partition"])
    found = _tune(policy, locations, options)
    if not as_json:
        _print(found, policy)
        for line in describe(found):
            click.echo(line)
    written = _write(found, policy, csv_file, map_file)
    changed = options["applies"] and _apply(policy_file, policy, found)
    if as_json:
        echo_json({"release": policy.name, **as_document(found), "written": written, "applied": changed})
    else:
        for path in written:
            click.echo(f"wrote {path}")
        if options["applies"] and found.recommended is not None:
            now = "has the recommended values now" if changed else "has them already"
            click.echo(f"{policy_file.name} {now}.{_say_gate(policy, found.recommended.choice.k)}")
        elif found.recommended is not None:
            click.echo("To write the recommended values into the policy, give the same command --apply.")
    click.echo(PRIVATE, err=True)
    if found.recommended is None:
        ctx.exit(_INFEASIBLE)


def _say_gate(policy: Policy, k: int) -> str:
    """Say that the gate demands less than a k that was written; empty where it does not."""
    if policy.gate_k >= k:
        return ""
    return (
        f" anonymize.k is now {k}. gate.k is still {policy.gate_k}, so the release promises only "
        f"{policy.gate_k}. To promise {k}, set gate.k: {k}."
    )


def _apply(policy_file: Path, policy: Policy, found: Tuning) -> bool:
    """Write the recommended values into the policy, if there are any; return whether that changed it."""
    from anon_pipeline.tuning.apply import apply  # noqa: PLC0415

    return found.recommended is not None and apply(policy_file, policy, found.recommended.choice)


def _tune(policy: Policy, locations: Locations, options: dict[str, Any]) -> Tuning:
    from anon_pipeline.base.observer import Step  # noqa: PLC0415
    from anon_pipeline.tuning.tune import source_of, tune_confined  # noqa: PLC0415

    grid = _grid(policy, options, left=_remaining_epsilon(policy, locations, options))
    with Progress() as progress:
        progress(Step("source"))
        frame = source_of(policy, locations, partition=options["partition"])
        return tune_confined(policy, frame, grid, locations=locations, observe=progress)


def _remaining_epsilon(policy: Policy, locations: Locations, options: dict[str, Any]) -> float:
    """Return the ε that the policy's budget has left, and say so where that is less than its ε.

    Raises:
        InputError: nothing is left, and nobody asks for an ε.
    """
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415
    from anon_pipeline.publish.accounting.accounts import remaining_epsilon  # noqa: PLC0415

    left = remaining_epsilon(policy, locations, partition=options["partition"])
    if left is None:
        return math.inf
    if not left and policy.perturb is not None and options["epsilons"] is None:
        raise InputError(
            "budget: no ε is left, so no release can be made and none is recommended. To compare points all "
            "the same, give --epsilon."
        )
    if policy.perturb is not None and left < policy.perturb.epsilon:
        click.echo(f"The budget has ε = {float(left):g} left, less than the policy's ε.", err=True)
    return float(left)


def _grid(policy: Policy, options: dict[str, Any], *, left: float) -> Grid:
    """Return the grid of the options; k and ε that are not given are the default's."""
    from anon_pipeline.tuning.grid import Grid, default_grid  # noqa: PLC0415

    default = default_grid(policy, left=left)
    return Grid(
        k=_values(options["ks"], "--k", int) or default.k,
        epsilon=_values(options["epsilons"], "--epsilon", float) or default.epsilon,
        confidence=_values(options["confidences"], "--confidence", _or_none),
        recoder=_values(options["recoders"], "--recoder", str),
    )


def _or_none(text: str) -> float | None:
    return None if text == "none" else float(text)


def _values(text: str | None, option: str, kind: Callable[[str], Value]) -> tuple[Value, ...]:
    """Read values between commas."""
    from anon_pipeline.base.errors import InputError  # noqa: PLC0415

    if text is None:
        return ()
    try:
        return tuple(kind(part.strip()) for part in text.split(","))
    except ValueError:
        what = {int: "whole numbers", str: "names"}.get(kind, "numbers")  # type: ignore[call-overload]
        raise InputError(f"{option} must be {what} between commas") from None


def _print(tuning: Tuning, policy: Policy) -> None:
    """Print the points as one table; what all points have in common stands in its title."""
    from anon_pipeline.tuning.output import rows, short_verdicts  # noqa: PLC0415

    verdicts, limits = short_verdicts(tuning.points)
    found = [{**row, "verdict": said} for row, said in zip(rows(tuning), verdicts, strict=True)]
    common = [name for name in _GRID if found and len({row[name] for row in found}) == 1]
    said = [f"{name} {found[0][name]}" for name in common if found[0][name] != "–"]
    unknown = [] if any(row["linking_known"] != "–" for row in found) else ["linking_known"]
    columns = [name for name in _SHOWN if name not in {*common, *unknown}]
    headings = [*(_heading(name, tuning, policy) for name in columns), ""]
    marks = ["recommended" if row["recommended"] else "front" if row["front"] else "" for row in found]
    lines = [(*(row[name] for name in columns), mark) for row, mark in zip(found, marks, strict=True)]
    numbers = set(headings) - {"recoder", "amount", "verdict", ""}
    whose = "" if tuning.people is None else f" of {tuning.people:,} people"
    title = ", ".join([f"Tuning of {policy.name}, {tuning.records:,} records{whose}", *said])
    print_table(headings, lines, title=title, numbers=numbers, width=140)
    if limits:
        click.echo("Limits by the numbers in the column verdict:")
        click.echo("".join(f"  {limit}\n" for limit in limits), nl=False)


def _heading(name: str, tuning: Tuning, policy: Policy) -> str:
    """Return the heading of a column; where the policy counts people, with what its shares are of."""
    said = name.replace("_", " ")
    if policy.person is None or name not in _OF_PEOPLE:
        return said
    of_records = name == "suppression" and tuning.people is None
    return f"{said} ({'records' if of_records else 'people'})"


def _write(tuning: Tuning, policy: Policy, csv_file: Path | None, map_file: Path | None) -> list[str]:
    """Write what was asked for, each file whole or not at all, readable by its owner alone; return where."""
    from anon_pipeline.tuning.chart import ru_map  # noqa: PLC0415
    from anon_pipeline.tuning.output import as_csv  # noqa: PLC0415

    asked = ((csv_file, lambda: as_csv(tuning)), (map_file, lambda: ru_map(tuning, policy)))
    written = []
    for path, made in asked:
        if path is not None:
            write_file(path, made().encode(), what="tuning")
            written.append(str(path))
    return written
