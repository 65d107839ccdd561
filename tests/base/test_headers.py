"""Names of columns that the policy does not have may be cells: no message has them, a terminal may ask."""

from __future__ import annotations

import copy
import os
import pickle
import pty
import subprocess
import sys
import traceback
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError, private_stage
from anon_pipeline.base.headers import looks_headerless, places, refuse_names, withheld_names
from tests.adversarial.bad_inputs import BadInput, write_project
from tests.adversarial.canaries import PRIVATE

DECLARED = ["age", "income", "name"]
_CELL = st.text(st.characters(codec="utf-8"), min_size=1).map(lambda text: f"{PRIVATE}{text}")


def refused(got: list[str]) -> InputError:
    with pytest.raises(InputError) as caught:
        refuse_names(got, DECLARED)
    return caught.value


def said(error: BaseException) -> str:
    """Return all that an exception says of itself, to a log, a debugger, another process."""
    again = [copy.deepcopy(error), pickle.loads(pickle.dumps(error))]
    shown = [
        str(error),
        repr(error),
        repr(error.args),
        repr(vars(error)),
        repr(getattr(error, "problems", "")),
    ]
    shown += [repr(vars(one)) + repr(vars(one).get("_names")) for one in again]
    shown += [str(getattr(one, "withheld_names", tuple)()) for one in again]
    return "\n".join([*shown, *traceback.format_exception(error)])


def test_a_record_as_the_header_is_told_by_places() -> None:
    error = refused(["10008", f"{PRIVATE} Meier", "name", "1970-01-01"])
    assert error.problems == (
        "the policy does not declare 3 columns of the data: columns 1, 2, 4. Give each a role "
        "(identifier with action: drop removes it).",
        "columns of the policy must be in the data, not there: age, income",
        "The first line may be a record: the file may have no header.",
        "Undeclared names are hidden because they may be data. To see them, run with --show-values on a "
        "terminal.",
    )
    assert error.withheld_names() == ("column 1: 10008", f"column 2: {PRIVATE} Meier", "column 4: 1970-01-01")
    assert not [cell for cell in ("10008", PRIVATE, "1970") if cell in said(error)]


def test_it_stays_so_on_its_way_out_of_a_stage() -> None:
    with pytest.raises(InputError) as caught, private_stage("raw"):
        refuse_names([PRIVATE, *DECLARED], DECLARED)
    assert PRIVATE not in said(caught.value)
    assert caught.value.withheld_names() == (f"column 1: {PRIVATE}",)


@pytest.mark.parametrize(
    ("got", "says"),
    [
        (
            ["age", "x", "income"],
            "columns must be named as in the policy, got no name; the policy does not declare column 2 "
            "of the data. If this is the same column, correct its name in the policy.",
        ),
        (
            ["Name", "age", "income"],
            "columns must be named as in the policy, got a name in place 1 that only looks like name. Write "
            "it in the same way in both.",
        ),
    ],
)
def test_a_name_that_is_misspelled_is_one_mistake(got: list[str], says: str) -> None:
    problems = refused(got).problems
    assert problems[0] == says
    assert [line[:16] for line in problems[1:]] == ["Undeclared names"]


@pytest.mark.parametrize(
    ("got", "says"),
    [
        ([*DECLARED, "x", "x"], "columns must be named once, got equal names in the places 4, 5"),
        ([*DECLARED, "age"], "columns must be named once, got twice: age"),
        (["аge", "income", "name"], "got a name in place 1 that only looks like age"),
        ([*DECLARED, "аge"], "columns must not look alike, got age and a name in place 4"),
        (["аge", *DECLARED], "columns must not look alike, got age and a name in place 1"),
        ([*DECLARED, "x", "х"], "columns must not look alike, got a name in place 4 and a name in place 5"),
        (["a", "b"], "got none of 3, but 2 others. Is there a header line?"),
    ],
)
def test_each_rule_quotes_the_policys_names_alone(got: list[str], says: str) -> None:
    problems = refused(got).problems
    assert any(says in problem for problem in problems)
    assert problems[-1].startswith("Undeclared names are hidden") == bool(set(got) - set(DECLARED))


@given(st.lists(st.one_of(_CELL, st.sampled_from(DECLARED)), min_size=1, max_size=8))
def test_no_name_from_the_data_is_quoted(got: list[str]) -> None:
    if sorted(got) == DECLARED:
        refuse_names(got, DECLARED)
    else:
        assert PRIVATE.casefold() not in said(refused(got)).casefold()


def test_hostile_names_are_harmless_on_a_terminal() -> None:
    hostile = "x\x1b[31m\nerror: all is well\u202e" + "y" * 1000
    (shown,) = withheld_names(["age", hostile], DECLARED)
    assert shown.isprintable()
    assert shown.startswith(r"column 2: x\x1b[31m\nerror: all is well\u202e")
    assert len(shown) < 150


@pytest.mark.parametrize("name", ["", "10008", "139.2", "1970-01-01", "-5", "(212) 555-0100", "a@b.co", " "])
def test_what_looks_like_a_value(name: str) -> None:
    assert looks_headerless(["zz", name])


def test_what_looks_like_names() -> None:
    assert not looks_headerless(["zz", "Größe", "height_2", "Q1"])


def test_many_places_are_cut() -> None:
    assert places(range(1, 31)).endswith("19, 20 and 10 more")


def headless(people: pd.DataFrame) -> pd.DataFrame:
    """Make the first record the header, but for one cell that is the name of its column."""
    return people.iloc[1:].set_axis([*people.iloc[0].astype(str)[:-1], "note"], axis=1)


def on_a_terminal(folder: Path, *arguments: str) -> str:
    """Run the command line with a terminal as its standard error; return what that shows."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2]), "COLUMNS": "500"}
    program = [sys.executable, "-c", "from anon_pipeline.cli import main; main()", *arguments]
    process = subprocess.Popen(
        program, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            block = os.read(ours, 4096)
        except OSError:
            break
        if not block:
            break
        shown += block
    os.close(ours)
    out, _ = process.communicate(timeout=120)
    assert process.returncode in (1, 2), out
    assert PRIVATE.encode() not in out
    return shown.decode()


def test_a_terminal_shows_them_only_if_asked(tmp_path: Path) -> None:
    folder = write_project(tmp_path, BadInput("headerless", change=headless))
    assert PRIVATE not in on_a_terminal(folder, "run", "policy.yaml")
    shown = on_a_terminal(folder, "run", "policy.yaml", "--show-values")
    assert f"column 1: {PRIVATE}N\\xe4me\\t0" in shown
    assert "column 9" not in shown  # the policy's own name


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "policy.yaml"),
        ("tune", "policy.yaml"),
        ("utility", "policy.yaml"),
        ("check", "data.csv", "--policy", "policy.yaml"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_is_no_terminal_never_shows_them(
    tmp_path: Path,
    arguments: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from anon_pipeline.cli import main

    folder = write_project(tmp_path, BadInput("headerless", change=headless))
    next(folder.rglob("people.csv")).rename(folder / "data.csv")
    policy = (folder / "policy.yaml").read_text()
    (folder / "policy.yaml").write_text(policy.replace(f"{PRIVATE}Folder/people.csv", "data.csv"))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["anon-pipeline", *arguments, "--show-values"])
    with pytest.raises(SystemExit):
        main()
    shown = capsys.readouterr()
    assert "--show-values has no effect: standard error is not a terminal" in shown.err
    assert PRIVATE not in shown.out + shown.err
