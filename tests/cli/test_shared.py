"""The progress line: a bar over a long search on a terminal, nothing of it elsewhere."""

from __future__ import annotations

import io
from collections.abc import Callable

import click
import pytest

from anon_pipeline.base.observer import Progress as Far
from anon_pipeline.base.observer import Step
from anon_pipeline.base.record_numbers import RecordNumbers
from anon_pipeline.cli.shared import Progress, print_warnings, show_records
from anon_pipeline.gate import GateReport, Status, Verdict
from tests.cli.projects import Folder


class Screen(io.StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> str:
    screen = Screen(terminal=terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.stderr", screen)
    with Progress() as progress:
        progress(Step("k_anonymized"))
        for far in (Far("loading"), Far("searching", 1_234, 5_678)):
            progress(far)
            if terminal:
                progress._bars.refresh()
    return screen.getvalue()


def test_a_terminal_shows_how_far_a_search_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, terminal=True)
    assert "loading kernels; compiling them takes a while, once on a machine" in text
    assert "more than 1,024 nodes counted" in text


def test_without_a_terminal_stages_alone_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, terminal=False) == "… k_anonymized\n"


WRONG = (
    "person,age,city,height,income,illness,note\n"
    + "a,30,Cork,170,1,flu,a\n" * 7776
    + "b,30,Cork,CANARY,1,flu,a\n"
)


def test_records_with_mistakes_go_to_a_private_file_alone(folder: Callable[..., Folder]) -> None:
    made = folder(WRONG)
    done = made.call("run", "policy.yaml", "--mistakes-to", "mistakes.txt", "--show-values")
    assert done.code == 2
    assert (
        "height: must be a number, got 1 record without a digit. In clean.columns.height: write" in done.err
    )
    assert "7777" not in done.err + done.out  # standard error is no terminal
    assert "which records these are" not in done.err
    assert (made.path / "mistakes.txt").read_text() == "height, without a digit: 7777\n"
    assert (made.path / "mistakes.txt").stat().st_mode & 0o777 == 0o600


def test_the_file_has_all_records_with_a_mistake(folder: Callable[..., Folder]) -> None:
    head, line = WRONG.splitlines()[0], "b,30,Cork,CANARY,1,flu,a"
    made = folder("\n".join([head, *[line] * 25, ""]))
    done = made.call("run", "policy.yaml", "--mistakes-to", "mistakes.txt")
    assert done.code == 2 and "got 25 records without a digit" in done.err
    wanted = ", ".join(map(str, range(1, 26)))
    assert (made.path / "mistakes.txt").read_text() == f"height, without a digit: {wanted}\n"


def test_torn_lines_go_to_the_file_too(folder: Callable[..., Folder]) -> None:
    made = folder("person,age,city,height,income,illness,note\na,30\n")
    done = made.call("run", "policy.yaml")
    assert "every line must have 7 fields, got 1 line with more or fewer\n--mistakes-to FILE" in done.err
    done = made.call("run", "policy.yaml", "--mistakes-to", "mistakes.txt")
    assert (made.path / "mistakes.txt").read_text() == "people.csv, with more or fewer fields: 1\n"


def test_without_the_option_nobody_is_told_which_records(folder: Callable[..., Folder]) -> None:
    made = folder(WRONG)
    for command in ("run", "utility"):
        done = made.call(command, "policy.yaml")
        assert done.code == 2
        assert "7777" not in done.err + done.out
        assert done.err.endswith("--mistakes-to FILE writes which records these are, for you alone.\n")
    assert not (made.path / "mistakes.txt").exists()


def test_a_terminal_shows_the_records_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(terminal=True)
    monkeypatch.setattr("sys.stderr", screen)
    ctx = click.Context(click.Command("run"))
    show_records(ctx, [RecordNumbers("height", [7777])])
    assert screen.getvalue() == ""
    ctx.meta["anon_pipeline.cli.options.show_values"] = True
    show_records(ctx, [RecordNumbers("height", [7777])])
    assert "Records with mistakes, from 1 (--show-values):\n  height: 7777" in screen.getvalue()


def test_a_warning_says_what_to_do_and_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Verdict("k", Status.PASSED, 5, 5, "at least")
    error = Verdict("utility_relative_error.income", Status.WARNED, 2.269, 1.0, "at most")
    print_warnings(GateReport((kept, error), "d", "p"))
    said = capsys.readouterr().out
    assert said.startswith(
        "warned    utility_relative_error.income (advised: at most 1): give the column public bounds"
    )
    assert "2.269" not in said and said.count("\n") == 1
