"""The command line: one group, a command each, exit codes.

Belongs here: the group and turning named errors into exit codes. Does not belong here: any command.
"""

from __future__ import annotations

import atexit
import gc
import sys
from pathlib import Path

import click

from anon_pipeline.cli.bundling import bundle
from anon_pipeline.cli.checking_policies import check_policy
from anon_pipeline.cli.collecting import collect
from anon_pipeline.cli.comparing import diff
from anon_pipeline.cli.comparing_kinds import compare_kinds
from anon_pipeline.cli.comparing_variants import compare
from anon_pipeline.cli.core_dumps import keep_out_of_dumps
from anon_pipeline.cli.delivering import deliver
from anon_pipeline.cli.dividing import divide
from anon_pipeline.cli.doctoring import doctor
from anon_pipeline.cli.drafting import init
from anon_pipeline.cli.example_release import demo
from anon_pipeline.cli.examples import with_example
from anon_pipeline.cli.hierarchies import hierarchy
from anon_pipeline.cli.interrupts import INTERRUPTED, end_unread, ended_by_interrupts
from anon_pipeline.cli.judging import check, schema
from anon_pipeline.cli.ledgering import ledger
from anon_pipeline.cli.local_paths import with_local_paths
from anon_pipeline.cli.measuring import utility
from anon_pipeline.cli.plugin_list import plugins
from anon_pipeline.cli.profiling import profile
from anon_pipeline.cli.project_env import read_project_env
from anon_pipeline.cli.rehearsing import rehearse
from anon_pipeline.cli.releasing import run
from anon_pipeline.cli.reporting import report
from anon_pipeline.cli.reviewing import review
from anon_pipeline.cli.shared import (
    find_records_advice,
    print_refused,
    show_names,
    show_records,
    shows_values,
)
from anon_pipeline.cli.tuning import tune
from anon_pipeline.cli.vaulting import vault
from anon_pipeline.cli.verifying import keygen, verify
from anon_pipeline.cli.warming import warmup

__all__ = ["cli", "main"]

_EXIT_CODES = """
Exit codes: 0 done; 1 the gate refused, or something does not verify; 2 the input or the policy is wrong; 3
infeasible (no recoding within the limits); 70 a bug; 130 interrupted; 141 the reader of the output ended;
143 terminated.
"""


_NEW_OBJECTS = 500_000  # before garbage is looked for: modules' own, which stay, are fewer


class _Group(click.Group):
    """Commands that end with a code of their own when they are interrupted."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; Ctrl-C ends it without a traceback, also at a question."""
        from anon_pipeline.base.errors import InfeasibleError, InputError  # noqa: PLC0415

        try:
            return super().invoke(ctx)
        except InputError as error:
            show_names(ctx, error.withheld_names())
            show_records(ctx, error.withheld_numbers())
            advice = find_records_advice(ctx, error.withheld_numbers())
            if advice is None:
                raise
            raise InputError([*error.problems, advice]) from None
        except InfeasibleError as error:
            if shows_values(ctx, err=True):
                click.echo(error.exact, err=True)
            raise
        except (KeyboardInterrupt, click.Abort):
            click.echo("Aborted!", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            end_unread()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EXIT_CODES)
@click.version_option(package_name="anon-pipeline")
def cli() -> None:
    """Turn personal data into a release that is safe to publish, and refuse to publish it otherwise."""


for command in (
    init,
    profile,
    hierarchy,
    rehearse,
    divide,
    run,
    check,
    check_policy,
    review,
    diff,
    tune,
    compare,
    compare_kinds,
    utility,
    verify,
    collect,
    report,
    bundle,
    deliver,
    keygen,
    schema,
    plugins,
    ledger,
    vault,
    warmup,
    doctor,
    demo,
):
    cli.add_command(with_example(with_local_paths(command)))


def _leave_garbage() -> None:
    """Let the process end without looking for garbage once more, which takes most of a second.

    Files are closed by then. Some libraries would report what is left as leaked.
    """
    from anon_pipeline.catalog.extras import REPORTING_LEAKS  # noqa: PLC0415

    if not REPORTING_LEAKS & {*sys.modules}:
        gc.freeze()


def main() -> None:
    """Run the command line; named errors become one message and their exit code.

    A bug anywhere, also outside of the stages, is reported by its type and place. No core dump is written of
    the process, which holds private tables.
    """
    from anon_pipeline.base.errors import AnonPipelineError, GateRefused, private_stage  # noqa: PLC0415
    from anon_pipeline.base.left_to_do import left_to_do  # noqa: PLC0415

    keep_out_of_dumps()
    gc.set_threshold(_NEW_OBJECTS)
    atexit.register(_leave_garbage)
    try:
        with ended_by_interrupts(), private_stage("command"):
            read_project_env(Path.cwd())
            cli()
    except GateRefused as error:
        print_refused(error)
        sys.exit(error.exit_code)
    except AnonPipelineError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    finally:
        if left_to_do():
            click.echo(left_to_do(), err=True)
