"""What the commands say of draws: refused ones are spent, closing or purging one gives it up."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml

from anon_pipeline.cli.examples import EXAMPLES
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.policy import TYPE, Policy
from tests.cli.projects import commands

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(
    tmp_path: Path,
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Call:
    """Run a command in a project whose release the gate refuses: exit code, output, error output."""
    monkeypatch.chdir(tmp_path)
    policy = small_policy(gate={"attacks": {"prosecutor_risk": 0.001}}, budget={"epsilon": 3})
    small_people().to_csv(tmp_path / "people.csv", index=False)
    attributes = policy.model_dump(mode="json", exclude_unset=True)
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))

    return commands(capsys, monkeypatch)


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    return ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite")


def sealed(folder: Path) -> list[Path]:
    return list((folder / "vault").rglob("*.draw"))


def test_a_refused_draw_is_listed_as_spent(call: Call, book: Ledger) -> None:
    for _ in range(2):
        assert call("run", "policy.yaml")[0] == 1
    out = call("ledger", "list")[1]
    (row,) = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    assert row[6:8] == ["failed", "2"]
    assert out.endswith("small: ε = 2 spent, releases: 1, drawn and not published: 1\n")


def test_an_identifier_that_was_overlooked_costs_nothing(call: Call, book: Ledger, tmp_path: Path) -> None:
    people = pd.read_csv(tmp_path / "people.csv")
    people.loc[3, "note"] = "ann.lee@mail.example.org"
    people.to_csv(tmp_path / "people.csv", index=False)
    code, _, err = call("run", "policy.yaml")
    assert code == 1
    assert "deidentified: note: " in err
    assert "(email)" in err
    assert "No noise was drawn, and no ε was spent." in err
    assert "ann.lee" not in err
    assert sealed(tmp_path) == []
    assert book.events() == []


def test_closing_a_refused_draw_destroys_its_key_and_gives_nothing_back(
    call: Call, book: Ledger, tmp_path: Path
) -> None:
    assert call("run", "policy.yaml")[0] == 1
    assert len(sealed(tmp_path)) == 1
    release_id = book.events()[0].release_id
    assert call("ledger", "close", release_id[:8], "--as", "published")[0] == 2
    words = [
        release_id[:8] if word == "RELEASE_ID" else word for word in shlex.split(EXAMPLES["ledger close"])
    ]
    assert call(*words[1:]) == (
        0,
        f"{release_id} is failed, closed\n",
        "",
    )
    assert sealed(tmp_path) == []
    assert call("ledger", "list")[1].endswith("small: ε = 2 spent, releases: 1, drawn and not published: 1\n")
    code, _, err = call("run", "policy.yaml")
    assert code == 1
    assert "spent 2, requested 2, remaining 1" in err
    code, _, err = call("ledger", "close", release_id, "--as", "failed")
    assert code == 2
    assert "changed since it was looked up, or is not open (state: failed, closed" in err


def test_close_says_what_it_means(call: Call) -> None:
    said = " ".join(call("ledger", "close", "--help")[1].split())
    assert "The key of its noise is destroyed, its ε stays spent" in said


def test_purge_destroys_keys_by_their_age_and_leaves_them_spent(
    call: Call, book: Ledger, tmp_path: Path
) -> None:
    assert call("run", "policy.yaml")[0] == 1
    assert "plain       2 (not encrypted)\n" in call("vault", "status")[1]
    assert call("vault", "purge", "--older-than", "1")[1] == "deleted     0\n"
    (key,) = sealed(tmp_path)
    os.utime(key, (0, 0))
    assert call("vault", "purge", "--older-than", "1")[1] == "deleted     1\n"
    assert sealed(tmp_path) == []
    assert "spent 2, requested" in call("run", "policy.yaml")[2]


def _loosened(tmp_path: Path, **gate: object) -> None:
    file = tmp_path / "policy.yaml"
    document = yaml.safe_load(file.read_text())
    document["attributes"]["gate"] = gate
    file.write_text(yaml.safe_dump(document))


def test_run_says_what_a_refused_and_a_published_release_cost(call: Call, tmp_path: Path) -> None:
    refused = call("run", "policy.yaml")[2]
    assert (
        "ledger    ε = 2 is booked; 2 of the budget of 3 spent, 1 remaining. Running again with the same "
        "data and policy costs nothing; any change costs ε again." in refused
    )
    document = yaml.safe_load((tmp_path / "policy.yaml").read_text())
    document["attributes"]["budget"] = {"epsilon": 4}
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(document))
    _loosened(tmp_path)
    code, out, err = call("run", "policy.yaml")
    assert code == 0, err
    assert out.endswith(
        "ledger    ε = 2 is booked; 4 of the budget of 4 spent, 0 remaining. Running again draws new noise, "
        "which costs ε again.\n"
    )
    assert call("run", "policy.yaml")[0] == 1


def _planted(tmp_path: Path, release_id: str, text: str = "{}") -> Path:
    file = tmp_path / "vault" / "small" / "draws" / f"{release_id}.draw"
    file.write_text(text)
    return file


def test_a_draw_that_the_ledger_does_not_know_is_given_up_by_the_way_that_the_message_names(
    call: Call, book: Ledger, tmp_path: Path
) -> None:
    assert call("run", "policy.yaml")[0] == 1
    (ours,), before, planted = sealed(tmp_path), book.events(), _planted(tmp_path, "cd" * 16)
    code, _, err = call("run", "policy.yaml")
    assert code == 2
    assert "must be as it was written" in err
    said = " ".join(err.split())
    command = f"ledger close {'cd' * 16} --as failed"
    assert command in said
    code, out, err = call(*command.split())
    assert code == 0, err
    assert "is not in this ledger" in out
    assert "nothing was booked" in out
    assert not planted.exists()
    assert sealed(tmp_path) == [ours]
    assert book.events() == before
    assert call("run", "policy.yaml")[0] == 1  # goes on with its own draw
    code, _, err = call(*command.split())
    assert code == 2
    assert "no release id begins with" in err


def test_only_one_draw_is_given_up_at_a_time_and_never_as_published(call: Call, tmp_path: Path) -> None:
    assert call("run", "policy.yaml")[0] == 1
    files = [_planted(tmp_path, "cd" * 15 + end) for end in ("00", "01")]
    code, _, err = call("ledger", "close", "cd" * 8, "--as", "failed")  # as no random id begins
    assert code == 2
    assert "fits 2" in err
    assert call("ledger", "close", "cd" * 15 + "00", "--as", "published")[0] == 2
    assert all(file.exists() for file in files)
    assert call("ledger", "close", "cd" * 15 + "00", "--as", "failed")[0] == 0
    assert [file.exists() for file in files] == [False, True]


def test_a_draw_that_was_booked_meanwhile_is_kept(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run seals its key before it books it: whoever waits for it must look once more."""
    assert call("run", "policy.yaml")[0] == 1
    planted = _planted(tmp_path, "cd" * 16)
    monkeypatch.setattr("anon_pipeline.publish.draws.orphan_draws.unknown_releases", lambda *_: [])
    code, _, err = call("ledger", "close", "cd" * 16, "--as", "failed")
    assert code == 2
    assert "has booked the draw" in err
    assert planted.exists()


def test_the_draws_of_another_project_are_not_given_up(call: Call, tmp_path: Path) -> None:
    assert call("run", "policy.yaml")[0] == 1
    planted = _planted(tmp_path, "cd" * 16)
    (tmp_path / "vault" / "project-id").write_text("f" * 32 + "\n")
    code, _, err = call("ledger", "close", "cd" * 16, "--as", "failed")
    assert code == 2
    assert "the vault belongs to another project" in err
    assert planted.exists()


def test_a_draw_whose_key_was_exchanged_is_given_up_by_the_way_that_the_message_names(
    call: Call, book: Ledger, tmp_path: Path
) -> None:
    assert call("run", "policy.yaml")[0] == 1
    (ours,) = sealed(tmp_path)
    ours.write_text(json.dumps({**json.loads(ours.read_text()), "key": "ab" * 32}))
    release_id = book.events()[0].release_id
    code, _, err = call("run", "policy.yaml")
    assert code == 2
    command = f"ledger close {release_id} --as failed"
    assert command in " ".join(err.split())
    assert call(*command.split())[0] == 0
    assert sealed(tmp_path) == []
