"""What the commands share: where paths begin, progress on standard error, tables on standard output."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anon_pipeline.base.observer import Progress as Far
    from anon_pipeline.base.observer import Step
    from anon_pipeline.gate import GateReport
    from anon_pipeline.policy.locations import Locations
    from anon_pipeline.policy.model import Policy


_EACH = 10  # kernels from one line to the next, where there is no terminal
_SHOW_VALUES = f"{__name__}.show_values"
_MISTAKES_TO = f"{__name__}.mistakes_to"

project_option = click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder that the policy's paths are relative to. Default: the project that the policy file is in.",
)


allow_outside_option = click.option(
    "--allow-outside",
    is_flag=True,
    help="Let the policy's paths leave the project's folders (also ANON_PIPELINE_ALLOW_OUTSIDE=yes).",
)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON. Its schema: anon-pipeline schema COMMAND."
)


def echo_json(document: Any) -> None:
    """Print a document as JSON, as every command does with --json."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def _asked(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """Note that names from the data may be shown, for whoever ends the command."""
    ctx.meta[_SHOW_VALUES] = value


def _noted(ctx: click.Context, _: click.Parameter, value: Path | None) -> None:
    """Note where the numbers of records with mistakes are to be written."""
    ctx.meta[_MISTAKES_TO] = value


mistakes_option = click.option(
    "--mistakes-to",
    type=click.Path(dir_okay=False, path_type=Path),
    expose_value=False,
    callback=_noted,
    help="If the input has mistakes, write which records they are, first of all, to this file, for you alone "
    "(mode 0600).",
)

show_values_option = click.option(
    "--show-values",
    is_flag=True,
    expose_value=False,
    callback=_asked,
    help="On a terminal, show the names of undeclared columns, which may be data, the first records with "
    "mistakes, and exact measured values.",
)


def show_names(ctx: click.Context, names: Sequence[str], title: str = "Undeclared names") -> None:
    """Show names from the data on standard error, if they were asked for and it is a terminal.

    Args:
        names: a line each; they may hold personal data.
        title: what they are.
    """
    if not names or not ctx.meta.get(_SHOW_VALUES):
        return
    if not sys.stderr.isatty():
        click.echo("--show-values has no effect: standard error is not a terminal.", err=True)
        return
    click.echo(f"{title} (--show-values):", err=True)
    for name in names:
        click.echo(f"  {name}", err=True)


def show_records(ctx: click.Context, records: Sequence[str]) -> None:
    """Tell which records have mistakes where that was asked for: on a terminal, in a private file.

    Args:
        records: a line each, see `InputError.withheld_records`.
    """
    show_names(ctx, records, "Records with mistakes, from 1")
    path = ctx.meta.get(_MISTAKES_TO)
    if records and path is not None:
        from anon_pipeline.cli.reporting import write_page  # noqa: PLC0415

        write_page(path, "".join(f"{line}\n" for line in records).encode(), private=True)
        click.echo(f"mistakes  {path}", err=True)


def locations_of(policy_file: Path, project: Path | None, *, outside: bool = False) -> Locations:
    """Return the folders of the project that a policy belongs to, or of the one that was named."""
    from anon_pipeline.base.project import project_root  # noqa: PLC0415
    from anon_pipeline.policy.locations import Locations  # noqa: PLC0415

    return Locations.of(project or project_root(policy_file), outside=outside)


class Progress:
    """A line on standard error that says which stage is at work; plain lines where there is no terminal.

    On a terminal a long search for a recoding has a bar.
    """

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, SpinnerColumn, TextColumn  # noqa: PLC0415
        from rich.progress import Progress as Bars  # noqa: PLC0415

        self._console = Console(stderr=True)
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[said]}"),
        )
        self._bars = Bars(*columns, console=self._console, transient=True)
        self._line = self._bars.add_task("starting", total=None, said="")
        self._open = ExitStack()

    def __enter__(self) -> Progress:
        from anon_pipeline.base.compiled import compilations_told  # noqa: PLC0415

        if self._console.is_terminal:
            self._open.enter_context(self._bars)
        self._open.enter_context(compilations_told(self._compiling))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _compiling(self, begun: int) -> None:
        """Say how many kernels are compiled: of each on a terminal, else of the first and every tenth."""
        from anon_pipeline.base.observer import Progress as Far  # noqa: PLC0415

        far = Far("compiling", begun)
        if self._console.is_terminal:
            self._bars.update(self._line, total=None, said=far.as_text())
        elif begun == 1 or begun % _EACH == 0:
            click.echo(f"… {far.as_text()}", err=True)

    def __call__(self, event: Step | Far) -> None:
        """Show an event: a step on a line of its own; on a terminal, how far a search is as a bar."""
        from anon_pipeline.base.observer import Step  # noqa: PLC0415

        terminal = self._console.is_terminal
        if isinstance(event, Step):
            if terminal:
                self._bars.reset(self._line, total=None, description=event.name, said="")
            else:
                click.echo(f"… {event.name}", err=True)
        elif terminal:
            total = (event.counted + event.left) or None
            self._bars.update(self._line, total=total, completed=event.counted, said=event.as_text())


def shows_values(ctx: click.Context, *, err: bool = False) -> bool:
    """Tell whether exact values were asked for, and it is a terminal that would show them."""
    stream = sys.stderr if err else sys.stdout
    return bool(ctx.meta.get(_SHOW_VALUES)) and stream.isatty()


def print_report(
    report: GateReport, title: str, *, at_hand: bool = False, exact: bool = False, err: bool = False
) -> None:
    """Print a gate's verdicts as one table.

    Args:
        at_hand: whether the reader has the file that was judged, and it alone.
        exact: whether to show all values, see `shows_values`; else those that the released file tells.
        err: whether to print on standard error.
    """
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    from anon_pipeline.limits.table import demanded_by  # noqa: PLC0415

    table = Table(title=title, title_justify="left")
    for heading in ("limit", "measured", "demanded", "verdict"):
        table.add_column(heading, overflow="fold")
    for v in report.verdicts:
        value = v.seen(at_hand=at_hand) if at_hand or report.passed else None
        shown = v.measured if exact else "" if value is None else f"{value:.6g}"
        table.add_row(v.limit, shown, demanded_by(v), str(v.status) + (f": {v.reason}" if v.reason else ""))
    terminal = (sys.stderr if err else sys.stdout).isatty()
    Console(width=None if terminal else 110, markup=False, stderr=err).print(table)


def print_warnings(report: GateReport, policy: Policy | None = None) -> None:
    """Print what each warning of a published release is about, and what to do about it."""
    from anon_pipeline.gate import Status  # noqa: PLC0415
    from anon_pipeline.limits.table import demanded_by, limit_of, next_step  # noqa: PLC0415

    for verdict in report.with_status(Status.WARNED):
        if limit_of(verdict.limit).of_policy:
            key = verdict.limit.partition(".")[2]
            click.echo(f"accepted  by {key}: {verdict.reason or 'more than usual'}")
            continue
        bound = "" if verdict.bound is None else f" (advised: {demanded_by(verdict)})"
        click.echo(f"warned    {verdict.limit}{bound}: {next_step(verdict, policy)}")


def print_paths(data: Path, manifest: Path, report: Path, measured: str) -> None:
    """Print where a release's files are, and the name of what was measured in the vault."""
    click.echo(f"release   {data}\nmanifest  {manifest}\nreport    {report}")
    click.echo(f"measured  {measured} in the vault, for the curator")
