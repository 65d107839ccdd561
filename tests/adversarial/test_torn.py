"""Fresh processes that read torn CSV files end with the right message; hundreds: `tests.adversarial.torn`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.adversarial.torn import CASES, Case, ended, write


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name for case in CASES])
def test_a_process_ends_with_its_message(number: int, tmp_path: Path) -> None:
    command = write(tmp_path)[number]
    assert ended(command, CASES[number].says, tmp_path) == "right"


@pytest.mark.parametrize(
    ("program", "how"),
    [
        ("import os; os.abort()", "signal 6"),
        ("import sys; sys.exit(2)", "exit code 2, another message"),
        ("import sys; print('fields', file=sys.stderr)", "exit code 0, message as it must be"),
        ("import sys; print('fields', file=sys.stderr); sys.exit(2)", "right"),
    ],
)
def test_what_is_counted_as_another_end(program: str, how: str, tmp_path: Path) -> None:
    assert ended([sys.executable, "-c", program], "fields", tmp_path) == how


def test_a_case_says_how_it_is_read() -> None:
    assert Case("x", "", "", encoding="latin-1", rows=5, held=True).arguments == ("latin-1", "5", "held")
