"""What the commands share: progress on standard error, tables on standard output, files for their owner."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from anon_pipeline.base.spelling import escape
from anon_pipeline.cli.options import MISTAKES_TO, SHOW_VALUES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from anon_pipeline.base.errors import GateRefused
    from anon_pipeline.base.observer import Progress as Far
    from anon_pipeline.base.observer import Step
    from anon_pipeline.base.record_numbers import RecordNumbers
    from anon_pipeline.gate import GateReport
    from anon_pipeline.policy.model import Policy
    from anon_pipeline.policy.open_questions import Questioned


_EACH = 10  # kernels from one line to the next, where there is no terminal
_WIDTH = 110  # of a table, where there is no terminal

PRIVATE = "Computed from the originals and not protected: for the curator, not for publication."


def echo_json(document: Any) -> None:
    """Print a document as JSON, as every command does with --json."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def show_names(ctx: click.Context, names: Sequence[str], title: str = "Undeclared names") -> None:
    """Show names from the data on standard error, if they were asked for and it is a terminal.

    Args:
        names: a line each; they may hold personal data.
        title: what they are.
    """
    if not names or not ctx.meta.get(SHOW_VALUES):
        return
    if not sys.stderr.isatty():
        click.echo("--show-values has no effect: standard error is not a terminal.", err=True)
        return
    click.echo(f"{title} (--show-values):", err=True)
    for name in names:
        click.echo(f"  {name}", err=True)


def show_records(ctx: click.Context, records: Sequence[RecordNumbers]) -> None:
    """Tell which records have mistakes where that was asked for: on a terminal, in a private file.

    Args:
        records: of each kind of mistake, see `InputError.withheld_numbers`. A terminal sees the first ones.
    """
    show_names(ctx, [one.first for one in records], "Records with mistakes, from 1")
    path = ctx.meta.get(MISTAKES_TO)
    if records and path is not None:
        write_file(path, "".join(f"{one.every}\n" for one in records).encode(), what="mistakes")
        click.echo(f"mistakes  {path}", err=True)


def find_records_advice(ctx: click.Context, records: Sequence[RecordNumbers]) -> str | None:
    """Say how to find the records with mistakes; None where there are none, or they were told.

    Args:
        records: of each kind of mistake, see `InputError.withheld_numbers`.
    """
    offered = MISTAKES_TO in ctx.meta and ctx.meta[MISTAKES_TO] is None
    if not records or not offered or shows_values(ctx, err=True):
        return None
    return "--mistakes-to FILE writes which records these are, for you alone."


def write_file(path: Path, data: bytes, *, what: str, private: bool = True) -> None:
    """Write a file, complete or not at all; a private one for its owner alone.

    Args:
        what: see `replace_file`.
    Raises:
        InputError: it cannot be written.
    """
    from anon_pipeline.base.disk import replace_file  # noqa: PLC0415
    from anon_pipeline.base.errors import InputError, error_words  # noqa: PLC0415

    try:
        replace_file(path, data, mode=0o600 if private else 0o644, what=what)
    except OSError as error:
        raise InputError(f"{path.name} must be writable: {error_words(error)}") from None


class Progress:
    """A line on standard error that says which stage is at work; plain lines where there is no terminal.

    On a terminal a long search for a recoding has a bar. Where kernels must be compiled, a second process
    helps until it ends.

    Args:
        policy: of the release that is made; None: not known.
    """

    def __init__(self, policy: Policy | None = None) -> None:
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
        self._open, self._policy = ExitStack(), policy

    def __enter__(self) -> Progress:
        from anon_pipeline.base.compilation import compilations_told  # noqa: PLC0415

        if self._console.is_terminal:
            self._open.enter_context(self._bars)
        self._open.enter_context(compilations_told(self._show_compiling))
        self._compile_ahead()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _show_compiling(self, begun: int) -> None:
        """Say how many kernels are compiled: of each on a terminal, else of the first and every tenth."""
        from anon_pipeline.base.observer import Progress as Far  # noqa: PLC0415

        far = Far("compiling", begun)
        if self._console.is_terminal:
            self._bars.update(self._line, total=None, said=far.as_text())
        elif begun == 1 or begun % _EACH == 0:
            click.echo(f"… {far.as_text()}", err=True)

    def _compile_ahead(self) -> None:
        """Let a second process compile, until this ends, what comes last."""
        from anon_pipeline.cli import compiling_ahead  # noqa: PLC0415

        process = compiling_ahead.start_compiling_ahead(self._policy)
        if process is not None:
            self._open.callback(compiling_ahead.end_compiling_ahead, process)

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
    return bool(ctx.meta.get(SHOW_VALUES)) and stream.isatty()


def printable(text: str) -> str:
    r"""Write a text without signs that a terminal obeys; names of folders are anybody's.

    >>> printable("a\x1b[31mb\n")
    'a\\x1b[31mb\\n'
    """
    return "".join(sign if sign.isprintable() else escape(sign) for sign in text)


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    numbers: Collection[str] = (),
    width: int = _WIDTH,
    err: bool = False,
) -> None:
    """Print a table, as wide as the terminal.

    Args:
        rows: a text for each heading.
        numbers: headings of columns that are aligned to the right.
        width: in characters, where there is no terminal.
        err: whether to print on standard error.
    """
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(title=title, title_justify="left")
    for heading in headings:
        table.add_column(heading, justify="right" if heading in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    terminal = (sys.stderr if err else sys.stdout).isatty()
    Console(width=None if terminal else width, markup=False, stderr=err).print(table)


def print_report(  # noqa: PLR0913 - who may see what of it
    report: GateReport,
    title: str,
    *,
    at_hand: bool = False,
    exact: bool = False,
    err: bool = False,
    policy: Policy | None = None,
    published: bool = True,
) -> None:
    """Print a gate's verdicts as one table.

    Args:
        at_hand: whether the reader has the file that was judged, and it alone.
        exact: whether to show all values, see `shows_values`; otherwise those that can be computed from the
            released file, and the bands that the manifest publishes.
        err: whether to print on standard error.
        policy: whose limits they are, to say where only a part of one can be judged.
        published: whether others have the file, if the gate has passed it: otherwise no value is public.
    """
    from anon_pipeline.limits.table import demanded_by, outcome_of  # noqa: PLC0415

    rows, is_out = [], report.passed and published
    for v in report.verdicts:
        value = v.value_seen(at_hand=at_hand) if at_hand or is_out else None
        band = v.band if is_out else None  # a band is public once the release is
        shown = v.measured if exact else (band or "") if value is None else f"{value:.6g}"
        ended = outcome_of(v)
        rows.append((v.limit, shown, demanded_by(v, policy), f"{ended}: {v.reason}" if v.reason else ended))
    headings = ("limit", "measured", "demanded", "verdict")
    columns = [0, 1, 2, 3] if any(row[1] for row in rows) else [0, 2, 3]  # as no value may be shown
    lines = [[row[at] for at in columns] for row in rows]
    print_table([headings[at] for at in columns], lines, title=title, err=err)


def print_refused(refused: GateRefused) -> None:
    """Print why the gate refused a release, and what to do about it."""
    from anon_pipeline.gate import GateReport  # noqa: PLC0415

    if not isinstance(refused.report, GateReport) or refused.report.passed:
        click.echo(f"refused: {refused}", err=True)
        return
    print_report(refused.report, "Refused: nothing was published")
    limits = [verdict.limit for verdict in refused.report.unkept]
    click.echo(f"refused by {', '.join(limits)}", err=True)
    if refused.kept is not None:
        click.echo(refused.kept, err=True)
    click.echo("".join(f"{line}\n" for line in refused.advice), err=True, nl=False)


def print_warnings(report: GateReport, policy: Policy | None = None, *, rehearsed: bool = False) -> None:
    """Print what each warning of a published release is about, and what to do about it.

    Args:
        rehearsed: whether it is a rehearsal that prints them: it does not advise to rehearse.
    """
    from anon_pipeline.gate import Status  # noqa: PLC0415
    from anon_pipeline.limits.table import demanded_by, limit_of, next_step  # noqa: PLC0415
    from anon_pipeline.limits.usefulness import REHEARSE  # noqa: PLC0415

    for verdict in report.with_status(Status.WARNED):
        if limit_of(verdict.limit).of_policy:
            click.echo(f"warned    {verdict.limit}: {verdict.reason or 'more than usual'}")
            continue
        bound = "" if verdict.bound is None else f" (advised: {demanded_by(verdict)})"
        step = next_step(verdict, policy)
        step = step.removesuffix(REHEARSE).rstrip() if rehearsed else step
        click.echo(f"warned    {verdict.limit}{bound}: {step}")


def warn_of_questions(policy: Questioned) -> None:
    """Warn of questions of `init` that nobody has answered."""
    from anon_pipeline.policy.open_questions import describe_questions  # noqa: PLC0415

    said = describe_questions(policy.open_questions)
    if said is not None:
        click.echo(f"warning: {said}.", err=True)


def print_paths(data: Sequence[Path], manifest: Path, report: Path, measured: str) -> None:
    """Print where a release's files are, and the name of what was measured in the vault."""
    others = (
        f"\n          and {len(data) - 1:,} more data files, which the manifest names" if data[1:] else ""
    )
    click.echo(f"release   {data[0]}{others}\nmanifest  {manifest}\nreport    {report}")
    click.echo(f"measured  {measured} in the vault, for the curator")
