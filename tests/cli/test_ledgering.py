"""The commands about the ledger, their tables and exit codes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import yaml

from anon_pipeline import Locations, make_release
from anon_pipeline.ledger import Ledger, ledger_at, requested_by
from anon_pipeline.ledger.owner import Life
from anon_pipeline.policy import TYPE, Policy
from tests.cli.projects import commands

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    """Run a command in the project's folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    return commands(capsys, monkeypatch)


@pytest.fixture
def policy(
    tmp_path: Path, small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame]
) -> Policy:
    made = small_policy(budget={"epsilon": 3}, dataset="people")
    small_people().to_csv(tmp_path / "people.csv", index=False)
    attributes = made.model_dump(mode="json", exclude_unset=True)
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
    return made


@pytest.fixture
def book(tmp_path: Path) -> Ledger:
    return ledger_at(f"sqlite:///{tmp_path}/ledger.sqlite")


def test_run_is_refused_beyond_the_budget_and_list_says_why(call: Call, policy: Policy) -> None:
    assert call("run", "policy.yaml")[0] == 0
    code, out, err = call("run", "policy.yaml")
    assert (code, out) == (1, "")
    assert "refused: budget: the releases of people may spend ε = 3 per dataset: spent 2" in err
    code, out, _ = call("ledger", "list")
    assert code == 0
    assert out.count("published") == 1
    assert out.endswith("people: ε = 2 spent, releases: 1\n")
    assert "small" not in call("ledger", "list", "--dataset", "others")[1]


def test_list_shows_of_every_release_its_names_digests_k_epsilon_and_state(
    call: Call, policy: Policy, book: Ledger
) -> None:
    asked = replace(requested_by(policy, "w1"), budget=None)
    ids = [book.open(asked) for _ in range(4)]
    for release_id in ids[:2]:
        book.begin(release_id, asked, "0123456789" + release_id)
        book.enter_published(release_id, "0123456789" + release_id)
    book.withdraw(ids[0])
    book.enter_failed(ids[2])
    out = call("ledger", "list")[1]
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    wanted = [
        ("withdrawn", "2", "01234567"),
        ("published", "2", "01234567"),
        ("failed", "0", ""),
        ("open", "2", ""),
    ]
    assert [row[:-1] for row in cells] == [
        [
            release_id[:12],
            "people",
            "small",
            "w1",
            policy.digest[:8],
            data,
            state,
            epsilon,
            str(policy.gate_k),
        ]
        for release_id, (state, epsilon, data) in zip(ids, wanted, strict=True)
    ]
    assert out.endswith("people: ε = 6 spent, releases: 3, of them open: 1\n")
    assert "is open\n" in call("ledger", "withdraw", ids[3])[2]
    assert "is failed\n" in call("ledger", "close", ids[2], "--as", "failed")[2]


def test_verify_prints_the_head_and_exits_1_when_a_row_was_edited(
    call: Call, policy: Policy, book: Ledger, tmp_path: Path
) -> None:
    book.open(requested_by(policy, None))
    code, out, _ = call("ledger", "verify")
    assert code == 0
    assert out.splitlines() == [
        "1 events, none changed. Keep a copy of the last hash elsewhere:",
        book.events()[-1].hash,
    ]
    assert call("ledger", "verify", "--contains", book.events()[-1].hash)[0] == 0
    assert call("ledger", "verify", "--contains", "0" * 64)[0] == 1
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        connection.execute("DROP TRIGGER anon_pipeline_no_UPDATE")
        connection.execute("UPDATE anon_pipeline_events SET epsilon = '0'")
    connection.close()
    code, out, err = call("ledger", "verify")
    assert (code, out) == (1, "")
    assert err.startswith("broken at event 1: ")
    assert "broken at event 1" in call("ledger", "list")[2]


def test_export_prints_every_event_as_a_line(call: Call, policy: Policy, book: Ledger) -> None:
    book.open(requested_by(policy, None))
    code, out, _ = call("ledger", "export")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [line["hash"] for line in lines] == [event.hash for event in book.events()]
    assert lines[0]["event"] == "opened"
    assert lines[0]["epsilon"] == "2"


def test_close_as_failed_gives_back_what_cannot_have_been_written(
    call: Call, policy: Policy, book: Ledger
) -> None:
    release_id = book.open(requested_by(policy, None))
    assert "of them open: 1" in call("ledger", "list")[1]
    assert call("ledger", "close", release_id[:8], "--as", "published")[0] == 2
    assert "it runs. Look there. --force" in call("ledger", "close", release_id[:8], "--as", "failed")[2]
    forced = ("ledger", "close", release_id[:8], "--as", "failed", "--force")
    assert call(*forced) == (0, f"{release_id} is failed, closed by force\n", "")
    code, _, err = call("ledger", "close", release_id, "--as", "failed")
    assert code == 2
    assert "only an open release can be closed" in err
    assert call("run", "policy.yaml")[0] == 0


def test_close_as_failed_looks_at_the_destination(
    call: Call, policy: Policy, book: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anon_pipeline.ledger.owner.has_ended", lambda owner: Life.GONE)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "enter_published", lambda *_: None)  # as if it had crashed before
        make_release(policy, Locations.of(tmp_path, {}))
    release_id = book.events()[0].release_id
    assert "give its --policy" in call("ledger", "close", release_id, "--as", "failed")[2]
    close = ("ledger", "close", release_id, "--policy", "policy.yaml", "--as")
    code, _, err = call(*close, "failed")
    assert code == 2
    assert "is at its destination: close it as published" in err
    assert call(*close, "published")[:2] == (0, f"{release_id} is published\n")
    assert book.events()[-1].data_digest == book.events()[2].data_digest


def test_close_as_failed_where_the_destination_holds_nothing(
    call: Call, policy: Policy, book: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    release_id = book.open(requested_by(policy, None))
    book.begin(release_id, requested_by(policy, None), "digest")
    close = ("ledger", "close", release_id, "--as", "failed", "--policy", "policy.yaml")
    assert "must have ended" in call(*close)[2]  # this very process
    monkeypatch.setattr("anon_pipeline.ledger.owner.has_ended", lambda owner: Life.GONE)
    assert call(*close)[0] == 0
    assert book.events()[-1].event == "failed"


def test_withdraw_keeps_the_epsilon_spent(call: Call, policy: Policy, book: Ledger) -> None:
    assert call("run", "policy.yaml")[0] == 0
    release_id = book.events()[0].release_id
    code, said, _ = call("ledger", "withdraw", release_id[:6])
    assert code == 0
    assert said.startswith(f"{release_id} is withdrawn. Tell its recipients:\n\nSubject: ")
    assert call("ledger", "list")[1].endswith("people: ε = 2 spent, releases: 1\n")
    assert call("run", "policy.yaml")[0] == 1


def test_withdraw_says_what_to_tell_recipients(
    call: Call, policy: Policy, book: Ledger, tmp_path: Path
) -> None:
    assert call("run", "policy.yaml")[0] == 0
    document = json.loads((tmp_path / "out" / "manifest.json").read_text())
    published = book.events()[-1]
    code, said, _ = call("ledger", "withdraw", published.release_id, "--policy", "policy.yaml")
    assert code == 0
    for item in (*document["files"], document["report"]):
        assert item["name"] in said
        assert item["sha256"] in said
    for told in (
        "Subject: please delete the release small",
        f"published  {published.at[:19]} UTC",
        f"withdrawn  {book.events()[-1].at[:19]} UTC",
        document["data_digest"],
        published.release_id,
        "Why it may matter:",
        "Delete its files and all copies",
        "What cannot be undone:",
    ):
        assert told in said
    assert max(map(len, said.splitlines())) <= 120
    people = pd.read_csv(tmp_path / "people.csv")
    assert not any(str(cell) in said for cell in people["person"])


def test_withdraw_without_a_manifest_names_the_content(
    call: Call, policy: Policy, book: Ledger, tmp_path: Path
) -> None:
    assert call("run", "policy.yaml")[0] == 0
    first = book.events()[-1]
    book.withdraw(first.release_id)
    (tmp_path / "out" / "manifest.json").unlink()
    other = tmp_path / "other.yaml"
    other.write_text((tmp_path / "policy.yaml").read_text().replace("name: small", "name: other"))
    assert call("ledger", "withdraw", first.release_id, "--policy", "policy.yaml")[0] == 2  # it is already
    assert "only a published release" in call("ledger", "withdraw", first.release_id)[2]
    assert "must be that of small" in call("ledger", "withdraw", first.release_id, "--policy", str(other))[2]


def test_the_text_for_recipients_of_version_1_says_why() -> None:
    from anon_pipeline.ledger.chain import Event
    from anon_pipeline.publish.notice import withdrawal_notice
    from anon_pipeline.publish.verify.old_warnings import warnings_for

    old = Path(__file__).parents[1] / "publish" / "version_1" / "sticky" / "out" / "manifest.json"
    document = json.loads(old.read_text())
    told = {"release": "sticky", "partition": "2026-11-20", "dataset": "people", "release_id": "ab" * 16}
    fields = Event.__dataclass_fields__
    event = Event(**{n: told.get(n, "2026-01-05T00:00:00.000000" if n == "at" else None) for n in fields})
    said = " ".join(withdrawal_notice(event, event, document).split())
    assert "sticky, partition 2026-11-20" in said
    for warning in warnings_for(document):
        assert warning.text in said
    assert "sticky-" not in " ".join(withdrawal_notice(event, event, None).split())


@pytest.mark.parametrize("command", ["list", "verify", "export"])
def test_where_there_is_no_ledger_none_is_made(call: Call, tmp_path: Path, command: str) -> None:
    code, _, err = call("ledger", command)
    assert code == 2
    assert "does not exist" in err
    assert list(tmp_path.iterdir()) == []


def test_an_id_must_be_of_one_release(call: Call, policy: Policy, book: Ledger) -> None:
    for _ in range(2):
        book.open(requested_by(policy.model_copy(update={"budget": None}), None))
    assert "no release id begins with 'x'" in call("ledger", "withdraw", "x")[2]
    assert "2 release ids begin with '': give more digits" in call("ledger", "withdraw", "")[2]


def test_a_ledger_that_is_off_has_nothing_to_show(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_PIPELINE_LEDGER", "off")
    assert call("ledger", "list")[0] == 2
