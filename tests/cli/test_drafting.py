"""The command `init`: the policy, its private files, what is asked on a terminal; no cell gets out."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest

from anon_pipeline.cli import drafting
from anon_pipeline.policy import load_policy
from tests.cli.projects import accept_questions, commands

Run = Callable[..., tuple[int, str, str]]
N = 300


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "name": [f"CANARY {i}" for i in range(N)],
            "sex": rng.choice(["CANARY-f", "CANARY-m"], N),
            "town": rng.choice([f"CANARY-{x}" for x in "abcdefghij"], N),
            "colour": rng.choice(["CANARY-red", "CANARY-blue"], N),
            "diagnosis": rng.choice(["CANARY-flu", "CANARY-cold"], N),
        }
    )
    frame.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return commands(capsys, monkeypatch)


def test_it_writes_a_policy_and_private_tables_and_shows_no_value(run: Run, tmp_path: Path) -> None:
    code, out, err = run("init", "people.csv", "--yes")
    assert code == 0
    policy = load_policy(tmp_path / "people.yaml")
    assert (policy.name, policy.source.path) == ("people", "people.csv")
    assert "1 identifier, 3 generalize, 1 sensitive" in out
    assert "A rehearsal passed" in out
    assert "CANARY" not in out + err + (tmp_path / "people.yaml").read_text()
    table = tmp_path / "private" / "people" / "town.csv"
    assert "CANARY-a;" in table.read_text()
    assert stat.S_IMODE(table.stat().st_mode) == 0o600
    assert (table.parent / ".gitignore").read_text() == "*\n"
    assert not (tmp_path / "ledger.sqlite").exists()


def _folder(frame: pd.DataFrame, path: Path) -> None:
    for month, part in frame.groupby("month"):
        (path / f"month={month}").mkdir(parents=True)
        part.drop(columns="month").to_parquet(path / f"month={month}" / "part.parquet", index=False)


WRITERS: dict[str, tuple[str, Callable[[pd.DataFrame, Path], object]]] = {
    "people.csv.gz": ("csv", lambda frame, path: frame.to_csv(path, index=False)),
    "people.xlsx": ("excel", lambda frame, path: frame.to_excel(path, index=False)),
    "people.jsonl": ("jsonl", lambda frame, path: frame.to_json(path, orient="records", lines=True)),
    "people": ("parquet", _folder),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gets_a_policy_that_runs(run: Run, tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.read_csv(tmp_path / "people.csv").assign(
        born=[f"{day:02}.{month:02}.19{year}" for day, month, year in rng.integers(10, 13, (N, 3))],
        month=rng.choice(["01", "02"], N),
    )
    form, write = WRITERS[name]
    write(frame, tmp_path / name)
    code, out, err = run("init", name, "--yes", "--to", "defs.yaml")
    assert code == 0, err
    text = (tmp_path / "defs.yaml").read_text()
    policy = load_policy(tmp_path / "defs.yaml")
    assert (policy.source.path, policy.source.format) == (name, form)
    assert policy.cleaned["born"].format == ("%d.%m.%Y",)
    assert "CANARY" not in out + err + text
    accept_questions(tmp_path / "defs.yaml")
    code, out, err = run("run", "defs.yaml")
    assert code in (0, 1), err  # a release, or a refusal by the gate


def test_paths_are_relative_to_the_project(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    code, _, _ = run("init", "people.csv", "--yes", "--to", "below/it/defs.yaml", "--name", "my people")
    policy = load_policy(tmp_path / "below" / "it" / "defs.yaml")
    assert (code, policy.name, policy.source.path) == (0, "my_people", "people.csv")
    assert (tmp_path / "private" / "my_people" / "town.csv").is_file()


def test_tables_are_named_from_the_current_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "data").mkdir()
    (tmp_path / "people.csv").rename(tmp_path / "data" / "people.csv")
    monkeypatch.chdir(tmp_path / "data")
    code, out, _ = run("init", "people.csv", "--yes")
    assert (code, "wrote ../private/people/town.csv (private: it has values; edit it)" in out) == (0, True)
    assert Path("../private/people/town.csv").is_file()


def test_a_folder_for_tables_that_is_there_is_ignored_by_git(run: Run, tmp_path: Path) -> None:
    (tmp_path / "private" / "people").mkdir(parents=True)
    assert run("init", "people.csv", "--yes")[0] == 0
    assert (tmp_path / "private" / "people" / ".gitignore").read_text() == "*\n"


def test_an_edited_table_is_not_written_over_and_nothing_is_tuned(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("init", "people.csv", "--yes")[0] == 0
    table = tmp_path / "private" / "people" / "town.csv"
    assert run("init", "people.csv", "--yes", "--to", "same.yaml")[0] == 0  # not edited
    with table.open("a") as file:
        file.write("CANARY-z;*\n")
    before = table.read_bytes()
    monkeypatch.setattr("anon_pipeline.draft.choice.fit", lambda *_, **__: pytest.fail("tuned"))
    code, out, err = run("init", "people.csv", "--yes", "--to", "again.yaml")
    assert (code, "town.csv: must not be there yet" in err) == (2, True)
    assert "CANARY" not in out + err
    assert (table.read_bytes(), (tmp_path / "again.yaml").exists()) == (before, False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("people.csv",), "--yes must be given"),
        (("gone.csv", "--yes"), "it is not there"),
        ((".", "--yes"), "DATA must be a file or a folder with a name"),
        (("people.csv", "--yes", "--to", "people.csv"), "must not be there yet"),
        (("people.csv", "--yes", "--to", "below/x.yaml"), "must be within the project"),
    ],
)
def test_what_it_refuses(run: Run, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "below").mkdir()
    code, _, err = run("init", *arguments)
    assert (code, said in err) == (2, True)
    assert "CANARY" not in err


class Terminal:
    """Standard input with somebody who answers."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self._answers.pop(0) + "\n"


def test_on_a_terminal_it_asks_and_the_answer_stands_in_the_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    asked = []

    def answered(text: str, **_: object) -> str:
        asked.append(text)
        return "secret" if len(asked) == 2 else "as proposed"

    monkeypatch.setattr("click.prompt", answered)
    code, out, _ = run("init", "people.csv")
    assert (code, len(asked)) == (0, 2)  # of the town's table, of the colour
    assert "colour: categories, 2 different" in out
    assert "CANARY" not in out
    assert load_policy(tmp_path / "people.yaml").columns["colour"].role == "sensitive"
    text = (tmp_path / "people.yaml").read_text()
    assert "whoever ran init said so" in text
    assert "whoever ran init took it as proposed" in " ".join(text.replace("#", "").split())
    assert "# QUESTION: do the groups" not in text
    assert "secret       nobody should learn it" in out


def test_people_with_several_records_are_counted_if_somebody_says_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.read_csv(tmp_path / "people.csv")
    frame["customer_id"] = [f"CANARY{number // 2:04}" for number in range(N)]
    frame.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.delenv("RELEASE_KEY", raising=False)
    offered = []

    def answered(_: str, *, type: click.Choice, **__: object) -> str:  # type: ignore[type-arg]
        offered.append([*type.choices])
        return "person" if "person" in type.choices else "as proposed"

    monkeypatch.setattr("click.prompt", answered)
    code, out, err = run("init", "people.csv")
    assert code == 0, err
    assert ["as proposed", "leave out", "known", "person"] in offered
    policy = load_policy(tmp_path / "people.yaml")
    assert (policy.person, policy.anonymize.k) == ("customer_id", 5)
    text = (tmp_path / "people.yaml").read_text()
    assert "People are counted, not records: 150 people." in text
    assert "several records?" not in text
    assert "First set the variable RELEASE_KEY" in out
    assert "export RELEASE_KEY=$(openssl rand -hex 16). Keep it: the same one is needed each time." in out
    assert "CANARY" not in out + err + text
    monkeypatch.setenv("RELEASE_KEY", "k" * 32)
    assert run("rehearse", "people.yaml")[0] == 0


def test_records_without_values_are_a_question_before_others(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "people.csv").open("a") as file:
        file.write(",,,,\n,,,,\nTotal,,,,\n")
    code, out, err = run("init", "people.csv", "--yes")
    assert code == 0, err
    assert "Records without a value: 2, that begin with a word for a total: 1." in err
    text = " ".join((tmp_path / "people.yaml").read_text().replace("#", "").split())
    assert "QUESTION: are some records no people?" in text
    assert "CANARY" not in out + err + text


def test_values_of_asked_columns_are_shown_to_who_asks_for_them(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.read_csv(tmp_path / "people.csv")
    frame.loc[0, "town"] = "CANARY-rare\x1b[31m"
    frame.to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr("click.prompt", lambda *_, **__: "as proposed")
    monkeypatch.setattr(drafting, "shows_values", lambda _: True)  # it is for a terminal alone
    _, out, _ = run("init", "people.csv", "--show-values")
    most, least = (line for line in out.splitlines() if "CANARY-a" in line or "CANARY-rare" in line)
    assert most.startswith("  most frequent: CANARY-") and least.startswith("  least frequent: CANARY-")
    assert most.count("CANARY") == least.count("CANARY") == 5 and r"rare\x1b[31m" in least
    assert out.count("least frequent") == 1  # the colour has no more than five values


def test_an_interrupt_at_a_question_ends_as_any_other(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> str:
        raise click.Abort

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr("click.prompt", interrupted)
    code, _, err = run("init", "people.csv")
    assert (code, err.splitlines()[-1]) == (130, "Aborted!")
    assert not (tmp_path / "people.yaml").exists()


def _empty_some(file: Path, column: str) -> None:
    """Leave a tenth of a column's cells empty."""
    frame = pd.read_csv(file)
    frame.loc[frame.index % 10 == 0, column] = None
    frame.to_csv(file, index=False)


def test_a_question_about_many_empty_cells_says_why_an_answer_is_missing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _empty_some(tmp_path / "people.csv", "colour")
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr("click.prompt", lambda *_, **__: "as proposed")
    _, out, _ = run("init", "people.csv")
    assert "also needs missing: suppress, and an anonymize.suppression_limit above" in " ".join(out.split())
    assert "keep this line" not in out


def test_a_secret_with_many_empty_cells_gets_the_limits_that_it_needs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _empty_some(tmp_path / "people.csv", "colour")
    monkeypatch.setattr(sys, "stdin", Terminal())

    def answered(_: str, *, type: click.Choice, **__: object) -> str:  # type: ignore[type-arg]
        return "secret"

    monkeypatch.setattr("click.prompt", answered)
    code, out, err = run("init", "people.csv")
    assert code == 0, err
    policy = load_policy(tmp_path / "people.yaml")
    assert policy.columns["colour"].missing == "suppress"
    assert (policy.anonymize.suppression_limit, policy.gate.suppression) == (0.15, 0.25)
    assert "A rehearsal passed" in out
    assert "allow for the records without a value of colour" in " ".join(
        (tmp_path / "people.yaml").read_text().replace("#", "").split()
    )


def test_answers_on_the_command_line_are_those_on_a_terminal(run: Run, tmp_path: Path) -> None:
    _empty_some(tmp_path / "people.csv", "colour")
    code, _, err = run(
        "init", "people.csv", "--yes", "--answer", "colour=secret", "--answer", "town=leave out"
    )
    assert code == 0, err
    policy = load_policy(tmp_path / "people.yaml")
    assert policy.columns["colour"].missing == "suppress"
    assert (policy.anonymize.suppression_limit, policy.gate.suppression) == (0.15, 0.25)
    assert "town" in policy.identifiers


def test_what_is_answered_on_the_command_line_is_not_asked(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    asked = list[str]()

    def answered(question: str, **_: object) -> str:
        asked.append(question)
        return "as proposed"

    monkeypatch.setattr("click.prompt", answered)
    _, out, _ = run("init", "people.csv", "--to", "a.yaml")
    before = len(asked)
    names = [line.partition(":")[0] for line in out.splitlines() if line.endswith(" different")]
    asked.clear()
    _, out, _ = run("init", "people.csv", "--to", "b.yaml", "--answer", f"{names[0]}=leave out")
    assert before and len(asked) == before - 1
    assert f"\n{names[0]}: " not in out


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        (["colour"], "--answer must be COLUMN=ANSWER, such as salary=secret"),
        (
            ["colour=secret", "colour=known"],
            "--answer must give one answer for a column, got different ones for: colour",
        ),
        (["color=secret"], "--answer must name columns of the data, got: color"),
    ],
)
def test_wrong_answers_on_the_command_line_write_nothing(
    run: Run, tmp_path: Path, answers: list[str], error: str
) -> None:
    options = [word for answer in answers for word in ("--answer", answer)]
    code, _, err = run("init", "people.csv", "--yes", *options)
    assert code == 2 and error in err
    assert not (tmp_path / "people.yaml").exists()
