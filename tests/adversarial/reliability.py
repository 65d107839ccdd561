"""The table of `docs/reliability.md`: what was tried, and how much was lost or leaked.

Run as ``python -m tests.adversarial.reliability [--quick]``; exits with 1 unless every row has zero
lost and zero leaked. Belongs here: collecting and printing. Does not belong here: trying
(`faults`, `bad_inputs`, `fuzz`, `leaks`).
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.adversarial.bad_inputs import BadInputResult, run_all
from tests.adversarial.leaks import LeakResult, search_all

__all__ = ["Row", "bad_input_row", "fault_row", "fuzz_row", "leak_row", "main", "rows", "table"]

_FUZZ_SECONDS, _QUICK_SECONDS = 300, 20


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table.

    what: was tried.
    tried: how many, in words; None where what tries it is not built.
    ended: how they ended.
    lost: what went wrong, a name each.
    leaked: where personal data was found.
    """

    what: str
    tried: str | None
    ended: str = ""
    lost: tuple[str, ...] = ()
    leaked: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether nothing was lost or leaked; what is not built counts as clean, and says so."""
        return not self.lost and not self.leaked


def fault_row(result: Any) -> Row:
    """Describe `faults.survive_all()`: SIGKILL before and after each operation of publishing."""
    return Row(
        "kill −9 and full disks at each point of publishing and of whole releases",
        f"{result.points} fault points",
        f"{result.survived} survived: the old release or the new one, complete",
        _names(result.lost),
    )


def fuzz_row(result: Any) -> Row:
    """Describe `fuzz.run(seconds)`: mutated policies, hierarchies, CSV and Parquet files."""
    return Row(
        "fuzzing of policy, hierarchy, CSV, Parquet, `check`",
        f"{result.executions:,} executions",
        "named errors, no traceback, no hang",
        _names(result.crashes),
    )


def bad_input_row(result: BadInputResult) -> Row:
    """Describe the command line's answers to bad input."""
    codes = ", ".join(f"{count} × exit {code}" for code, count in sorted(result.codes.items()))
    return Row(
        "bad inputs on the command line",
        f"{result.tried} kinds",
        f"{codes}; {len(result.tracebacks)} tracebacks, {len(result.written)} wrote a file",
        tuple(dict.fromkeys((*result.tracebacks, *result.written, *result.wrong))),
    )


def leak_row(result: LeakResult) -> Row:
    """Describe the search for canaries."""
    return Row(
        "canaries in every private place; passing, refused and crashing runs",
        f"{result.scenarios} scenarios, {result.places:,} places searched",
        f"{len(result.leaked)} canaries found",
        leaked=result.leaked,
    )


def _names(lost: Any) -> tuple[str, ...]:
    """Take a list of what was lost, or its number."""
    return tuple(f"number {i + 1}" for i in range(lost)) if isinstance(lost, int) else tuple(map(str, lost))


def rows(*, quick: bool) -> list[Row]:
    """Try everything.

    Args:
        quick: fuzz for seconds instead of minutes.
    """
    seconds = _QUICK_SECONDS if quick else _FUZZ_SECONDS
    return [
        _if_built("faults", "kill −9 in publishing", lambda faults: fault_row(faults.survive_all())),
        bad_input_row(run_all()),
        _if_built("fuzz", "fuzzing", lambda fuzz: fuzz_row(fuzz.run(seconds))),
        leak_row(search_all()),
    ]


def _if_built(module: str, what: str, tried: Callable[[Any], Row]) -> Row:
    """Import what tries something; only its own absence is no failure."""
    name = f"tests.adversarial.{module}"
    try:
        found = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return Row(what, None)
    return tried(found)


def table(found: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| what was tried | how much | how it ended | lost | leaked |", "|---|---|---|---|---|"]
    for row in found:
        if row.tried is None:
            lines.append(f"| {row.what} | not built | | | |")
        else:
            lines.append(
                f"| {row.what} | {row.tried} | {row.ended} | {len(row.lost)} | {len(set(row.leaked))} |"
            )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, and by name what was lost or leaked; 1 if anything was."""
    parser = argparse.ArgumentParser(prog="python -m tests.adversarial.reliability", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fuzz for seconds instead of minutes")
    found = rows(quick=parser.parse_args(arguments).quick)
    print(table(found))
    for row in found:
        for name in dict.fromkeys((*row.lost, *row.leaked)):
            print(f"  {row.what}: {name}")
    return 0 if all(row.clean for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
