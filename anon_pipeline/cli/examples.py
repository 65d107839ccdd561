"""An example for the help of every command that has none of its own; `tests.cli.test_examples` runs them."""

from __future__ import annotations

from collections.abc import Mapping

import click

EXAMPLES: Mapping[str, str] = {
    "init": "anon-pipeline init people.csv --yes --to first.yaml",
    "profile": "anon-pipeline profile people.csv",
    "hierarchy": "anon-pipeline hierarchy people.csv city",
    "run": "anon-pipeline run policy.yaml",
    "rehearse": "anon-pipeline rehearse policy.yaml",
    "divide": "anon-pipeline divide policy.yaml --into 4",
    "tune": "anon-pipeline tune policy.yaml",
    "compare-kinds": "anon-pipeline compare-kinds policy.yaml synthetic.yaml epsilon-dp.yaml --map map.svg",
    "compare": "anon-pipeline compare policy.yaml --with recoder=mondrian --with k=20,epsilon=2",
    "utility": "anon-pipeline utility policy.yaml",
    "verify": "anon-pipeline verify out --policy policy.yaml",
    "collect": "anon-pipeline collect out --policy policy.yaml",
    "report": "anon-pipeline report out --policy policy.yaml --out report.html",
    "bundle": "anon-pipeline bundle out --policy policy.yaml --to bundle.zip",
    "deliver": "anon-pipeline deliver policy.yaml",
    "keygen": "anon-pipeline keygen signing.key",
    "plugins": "anon-pipeline plugins",
    "demo": "anon-pipeline demo --to demo",
    "ledger list": "anon-pipeline ledger list",
    "ledger verify": "anon-pipeline ledger verify",
    "ledger export": "anon-pipeline ledger export",
    "ledger adopt": "anon-pipeline ledger adopt policy.yaml",
    "ledger forget": "anon-pipeline ledger forget policy.yaml",
    "ledger close": "anon-pipeline ledger close RELEASE_ID --as failed",
    "ledger withdraw": "anon-pipeline ledger withdraw RELEASE_ID",
    "vault status": "anon-pipeline vault status",
    "vault measured": "anon-pipeline vault measured policy.yaml --out measured.json",
    "vault waiting": "anon-pipeline vault waiting policy.yaml --out waiting.csv",
    "vault new-people": "anon-pipeline vault new-people policy.yaml",
    "vault purge": "anon-pipeline vault purge --older-than 30",
    "vault rotate": "anon-pipeline vault rotate",
}


def with_example(command: click.Command, path: str = "") -> click.Command:
    """Give a command, and those below it, its example where it shows none."""
    name = f"{path} {command.name}".strip()
    if isinstance(command, click.Group):
        for below in command.commands.values():
            with_example(below, name)
    elif "Example:" not in f"{command.help}{command.epilog}":
        command.epilog = f"\n\b\nExample:\n  {EXAMPLES[name]}\n{command.epilog or ''}"
    return command
