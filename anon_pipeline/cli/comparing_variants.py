"""The command that compares a policy with variants of it on the same table: `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from anon_pipeline.cli.comparison_page import OF_VARIANTS, Comparison, comparison_page
from anon_pipeline.cli.options import (
    NEW_FILE,
    json_option,
    locations_of,
    partition_option,
    policy_argument,
    source_options,
)
from anon_pipeline.cli.partition_keys import check_partition
from anon_pipeline.cli.shared import PRIVATE, Progress, echo_json, print_table, write_file
from anon_pipeline.cli.targets import refuse_targets

if TYPE_CHECKING:
    from anon_pipeline.policy import Policy
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.tuning.outcomes import Measured

_INFEASIBLE = 3
_SHOWN = (
    *("variant", "k", "epsilon", "amount", "released", "classes", "linking", "loss", "granularity", "noise"),
    *("queries", "gate"),
)
_TEXTS = {"variant", "amount", "gate"}


@click.command()
@policy_argument
@click.option(
    "--with",
    "settings",
    multiple=True,
    required=True,
    metavar="KEY=VALUE[,...]",
    help="A variant: keys to change in POLICY. KEY: k, recoder, loss, epsilon, mechanism, confidence, or a "
    "path such as gate.suppression. recoder=all: each recoder that fits. Repeatable.",
)
@click.option(
    "--equal-risk",
    is_flag=True,
    help="Choose k (not smaller) and ε (not larger) of each variant, or k and the amounts of columns that "
    "are changed as a whole: least loss, linking at most that of POLICY.",
)
@click.option(
    "--equal-loss",
    is_flag=True,
    help="Choose the same for least linking, losing at most what POLICY loses. Not with --equal-risk.",
)
@click.option("--csv", "csv_file", type=NEW_FILE, help="Write the table as CSV.")
@click.option("--map", "map_file", type=NEW_FILE, help="Write the map of risk and loss as SVG.")
@click.option("--html", "html_file", type=NEW_FILE, help="Write map and table as one page.")
@partition_option
@source_options
@json_option
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    policy_file: Path,
    csv_file: Path | None,
    map_file: Path | None,
    html_file: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare POLICY with variants of it, on the same table.

    A release is made for each in memory, judged by its gate as if it were the first, measured and thrown
    away: nothing is published and no ε is spent. Exit code 3: no variant has a release (POLICY does not
    count).
    """
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.tuning.comparison_rows import as_json as to_json  # noqa: PLC0415

    if options["equal_risk"] and options["equal_loss"]:
        raise click.UsageError("--equal-risk and --equal-loss must not be given together")
    policy = load_policy(policy_file)
    check_partition(policy, options["partition"])
    locations = locations_of(policy_file, options["project"], outside=options["allow_outside"])
    targets = (csv_file, map_file, html_file)
    refuse_targets(policy, policy_file, locations, *targets, partition=options["partition"])
    found = _measure(policy, locations, options)
    if not as_json:
        _print(found, policy)
    written = _write(found, policy, targets)
    if as_json:
        echo_json({"release": policy.name, "variants": to_json(found), "written": written})
    else:
        for path in written:
            click.echo(f"wrote {path}")
    click.echo(PRIVATE, err=True)
    if all(one.outcome is None for one in found[1:]):
        ctx.exit(_INFEASIBLE)


def _equal(options: dict[str, Any]) -> Literal["risk", "loss"] | None:
    """Return what is equal, as the options say."""
    if options["equal_risk"]:
        return "risk"
    return "loss" if options["equal_loss"] else None


def _measure(policy: Policy, locations: Locations, options: dict[str, Any]) -> list[Measured]:
    from anon_pipeline.tuning.outcomes import measure_variants  # noqa: PLC0415
    from anon_pipeline.tuning.variants import variants_of  # noqa: PLC0415

    variants = variants_of(policy, options["settings"], equal=_equal(options) is not None)
    with Progress() as progress:
        return list(
            measure_variants(
                variants,
                locations,
                partition=options["partition"],
                equal=_equal(options),
                observe=progress,
            )
        )


def _print(found: list[Measured], policy: Policy) -> None:
    """Print the variants with a release as a table, and why the others have none."""
    from anon_pipeline.tuning.comparison_rows import by_loss, heading, rows, short_gates  # noqa: PLC0415

    ordered = by_loss(found)
    gates, limits = short_gates(ordered)
    made = [{**row, "gate": gate} for row, gate in zip(rows(ordered), gates, strict=True)]
    if made:
        shown = [name for name in _SHOWN if name != "amount" or any(one.amounts for one in found)]
        headings = [heading(name, policy) for name in shown]
        lines = [tuple(row[name] for name in shown) for row in made]
        title = f"Variants of {policy.name}"
        print_table(headings, lines, title=title, numbers={*headings} - _TEXTS, width=150)
    if limits:
        click.echo("Limits by the numbers in the column gate:")
        click.echo("".join(f"  {limit}\n" for limit in limits), nl=False)
    for one in found:
        if one.outcome is None:
            click.echo(f"{one.name}: no release. {one.problem}")
    click.echo(_recommend(found))


def _recommend(found: list[Measured]) -> str:
    """Say which variant loses least of those that protect no less than the policy."""
    from anon_pipeline.tuning.comparison_rows import by_loss, least_loss  # noqa: PLC0415

    best = least_loss(found)
    if best is None:
        return "No variant passes the gate, weakens no protection and links no more than the policy."
    said = f"Least loss without weaker protection or more linking: {best.name}."
    least = next((one for one in by_loss(found) if one.outcome is not None and one.outcome.passes), best)
    if least is not best:
        said += f" The least loss of all: {least.name}, with more linking or weaker protection."
    if any(one.epsilon is not None for one in found):
        said += " Differences of less than 0.01 can be due to the noise that was drawn."
    return said


def _write(found: list[Measured], policy: Policy, targets: tuple[Path | None, ...]) -> list[str]:
    """Write what was asked for, each file whole or not at all, readable by its owner alone; return where.

    Args:
        targets: of table, map and page.
    """
    from anon_pipeline.tuning.comparison_rows import as_csv  # noqa: PLC0415
    from anon_pipeline.tuning.variant_map import variant_map  # noqa: PLC0415

    makers = (
        lambda: as_csv(found),
        lambda: variant_map(found, policy),
        lambda: comparison_page(_page(found, policy)),
    )
    written = []
    for path, made in zip(targets, makers, strict=True):
        if path is not None:
            write_file(path, made().encode(), what="comparison")
            written.append(str(path))
    return written


def _page(found: list[Measured], policy: Policy) -> Comparison:
    """Return what the page shows: variants in the order that the map numbers them."""
    from anon_pipeline.tuning.comparison_rows import rows  # noqa: PLC0415
    from anon_pipeline.tuning.variant_map import variant_map  # noqa: PLC0415

    title = f"Variants of {policy.name}"
    return Comparison(title, variant_map(found, policy), [_recommend(found)], rows(found), OF_VARIANTS)
