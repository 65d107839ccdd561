"""What could leak a canary, run in a process whose every output is searched afterwards (`leaks`).

Run as ``python -m tests.adversarial.leak_scenarios SIDE FOLDER``, a side of `_SIDES`. Belongs here: which
scenarios there are. Does not belong here: the scenarios, the search.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.adversarial import leak_command, leak_dagster, leak_elsewhere, leak_program
from tests.adversarial.blows import Outcomes
from tests.adversarial.dagster_engines import reuse_engines
from tests.contracts_once import prove_contracts_once
from tests.quick_disk import read_scripts_once, spare_syncs

__all__ = ["main"]

_SIDES = {
    "cli": leak_command.scenarios,
    "dagster": leak_dagster.scenarios,
    "elsewhere": leak_elsewhere.scenarios,
    "program": leak_program.scenarios,
    "control": leak_dagster.control,
}
_IN_ONE_PROCESS = {"dagster"}
"""Sides that keep Dagster's databases open until they end: nothing forks there."""


def main(side: str, folder: str) -> None:
    """Run the scenarios of one side below a folder."""
    with pytest.MonkeyPatch.context() as patch:
        prove_contracts_once(patch)
        close = reuse_engines(patch, connected=side in _IN_ONE_PROCESS)
        spare_syncs(patch)
        read_scripts_once(patch)
        _SIDES[side](Outcomes(Path(folder)))
        close()


if __name__ == "__main__":
    main(*sys.argv[1:])
