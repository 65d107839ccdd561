"""The command that says what a change of policy does to protection: `diff`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anon_pipeline.cli.options import PATH, json_option
from anon_pipeline.cli.shared import echo_json

if TYPE_CHECKING:
    from anon_pipeline.limits.changes import Comparison

_EXAMPLE = """
\b
Example:
  git show origin/main:policy.yaml > before.yaml
  anon-pipeline diff before.yaml policy.yaml
"""


@click.command(epilog=_EXAMPLE)
@click.argument("before", metavar="OLD", type=PATH)
@click.argument("after", metavar="NEW", type=PATH)
@click.option(
    "--allow-incomparable",
    is_flag=True,
    help="Exit with 0 even if some changes cannot be compared.",
)
@json_option
def diff(before: Path, after: Path, allow_incomparable: bool, as_json: bool) -> None:
    """Say what a change of policy does to protection.

    OLD and NEW are policy files.

    Exits with 1 if a change weakens protection, or cannot be compared. The tables and files that the policies
    name are not compared.
    """
    from anon_pipeline.limits.changes import compare_policies  # noqa: PLC0415
    from anon_pipeline.policy import load_policy  # noqa: PLC0415
    from anon_pipeline.policy.protection import Effect  # noqa: PLC0415

    found = compare_policies(load_policy(before, retired=True), load_policy(after, retired=True))
    if as_json:
        echo_json(found.to_json())
    else:
        _print(found)
    refused = found.effect is Effect.WEAKENS or (found.effect is Effect.UNKNOWN and not allow_incomparable)
    sys.exit(1 if refused else 0)


def _print(found: Comparison) -> None:
    """Print every change in one line, those that weaken first, and what they do together."""
    from anon_pipeline.policy.protection import Effect  # noqa: PLC0415

    for effect in (Effect.WEAKENS, Effect.UNKNOWN, Effect.STRENGTHENS, Effect.NEUTRAL):
        for change in found.with_effect(effect):
            click.echo(change.as_text())
    together = {
        Effect.WEAKENS: "The change weakens protection.",
        Effect.UNKNOWN: "The policies alone do not show whether the change weakens protection. It counts as "
        "weaker (--allow-incomparable lets it pass).",
        Effect.STRENGTHENS: "The change strengthens protection.",
        Effect.NEUTRAL: "The change does not weaken protection." if found.changes else "Nothing has changed.",
    }
    click.echo(together[found.effect])
