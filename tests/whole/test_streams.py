"""Releases of a stream: made by the command line and by Dagster, in order, each record in one at most."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pandas as pd
import pytest
from dagster._core.execution.backfill import BulkActionStatus
from dagster._core.test_utils import instance_for_test

from anon_pipeline.policy import Policy
from anon_pipeline.stages.private import STAGES
from anon_pipeline.vault.artifacts import Vault, survey
from anon_pipeline.vault.local import LocalStore
from anon_pipeline.windows.window_states import WindowStates
from tests.cli.projects import Folder, write_policy
from tests.orchestration.test_new_files import aged, look
from tests.whole.test_backfill import IN_THIS_PROCESS, LOCATION, WEEKLY, WEEKS, backfill

SIZES = (100, 90, 110)
STREAM: dict[str, Any] = {
    "schedule": WEEKLY,
    "source": {"path": "arrivals/{partition}.csv"},
    "stream": {"delay": 2, "waiting": 0.5},
    "one_record_per_person": True,
    "anonymize": {"k": 3, "suppression_limit": 0.15},
    "budget": {"epsilon": 6, "per": "record"},
    "gate": {"attacks": {"known_columns": [{"columns": ["note"], "risk": 1.0}]}},
}


@pytest.fixture
def folder(
    tmp_path: Path,
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Folder]:
    """A project with a stream of three weeks, in which a vault has a key."""
    write_policy(tmp_path / "policy.yaml", small_policy(**STREAM))
    (tmp_path / "arrivals").mkdir()
    for number, (week, many) in enumerate(zip(WEEKS, SIZES, strict=True)):
        arrived = small_people(many, seed=number)
        arrived["person"] = [f"Tracer-{number}-{one}" for one in range(many)]
        arrived.to_csv(tmp_path / "arrivals" / f"{week}.csv", index=False)
    monkeypatch.setenv("ANON_PIPELINE_VAULT_KEY", hashlib.sha256(b"streams").hexdigest())
    yield Folder(tmp_path, capsys, monkeypatch)


def counted(folder: Folder) -> pd.DataFrame:
    """Return what the command says of what waits."""
    out = folder.path / f"waiting-{len(list(folder.path.glob('waiting-*')))}.csv"
    done = folder.call("vault", "waiting", "policy.yaml", "--out", str(out))
    assert done.code == 0 and out.stat().st_mode & 0o077 == 0, done.err
    return pd.read_csv(out)


def manifest(folder: Folder, week: str) -> dict[str, Any]:
    (path,) = (folder.path / "out" / week).glob("*manifest.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_weeks_are_made_one_after_the_other(folder: Folder) -> None:
    left = []
    for number, week in enumerate(WEEKS):
        done = folder.call("run", "policy.yaml", "--partition", week)
        assert done.code == 0, done.err
        said = counted(folder)
        assert list(said["partition"]) == list(WEEKS[: number + 1])
        came, waited, waits = (int(said[name].iloc[-1]) for name in ("came", "had waited", "wait"))
        assert came == SIZES[number] and waited == (left[-1] if left else 0)
        assert _given(manifest(folder, week)) == came + waited - waits
        left.append(waits)
        assert folder.call("verify", f"out/{week}", "--policy", "policy.yaml").code == 0
    assert any(left)
    sentence = "have waited for up to 2 later partitions"
    assert any(sentence in line for line in manifest(folder, WEEKS[0])["guarantee"])
    again = folder.call("run", "policy.yaml", "--partition", WEEKS[0])
    assert again.code == 0 and _given(manifest(folder, WEEKS[0])) == SIZES[0] - left[0]
    for path in folder.path.rglob("*"):
        if path.is_file() and path.parent.name != "arrivals":
            assert b"Tracer-" not in path.read_bytes(), path


def _given(document: dict[str, Any]) -> int:
    """Return how many records a release was made of."""
    return int(document["facts"]["raw"]["records"])


def test_a_week_is_not_made_before_the_one_before_it(folder: Folder) -> None:
    assert folder.call("run", "policy.yaml", "--partition", WEEKS[0]).code == 0
    done = folder.call("run", "policy.yaml", "--partition", WEEKS[2])
    assert done.code == 2 and "one after the other" in done.err
    done = folder.call("run", "policy.yaml", "--partitions", f"{WEEKS[0]}...{WEEKS[2]}", "--missing")
    assert done.code == 0, done.err


def test_a_refused_week_keeps_its_records(folder: Folder, small_policy: Callable[..., Policy]) -> None:
    assert folder.call("run", "policy.yaml", "--partition", WEEKS[0]).code == 0
    waits = int(counted(folder)["wait"].iloc[-1])
    attacks = {"known_columns": [{"columns": ["note"], "risk": 0.001}]}  # of a week of a hundred records
    write_policy(folder.path / "policy.yaml", small_policy(**{**STREAM, "gate": {"attacks": attacks}}))
    for _ in range(2):
        refused = folder.call("run", "policy.yaml", "--partition", WEEKS[1])
        assert refused.code == 1 and "refused by known_columns.note" in refused.err, refused.err
    write_policy(folder.path / "policy.yaml", small_policy(**STREAM))
    for week in WEEKS[1:]:
        assert folder.call("run", "policy.yaml", "--partition", week).code == 0
    after = counted(folder)
    assert after["came"].tolist() == list(SIZES)
    assert after["had waited"].tolist() == [0, waits, int(after["wait"].iloc[1])]


def test_all_of_a_small_week_wait(folder: Folder) -> None:
    path = folder.path / "arrivals" / f"{WEEKS[0]}.csv"
    whole = path.read_text().splitlines(keepends=True)
    path.write_text("".join(whole[:3]))
    done = folder.call("run", "policy.yaml", "--partition", WEEKS[0])
    assert done.code == 3 and "all records that have arrived wait" in done.err
    for week in WEEKS[1:3]:
        (folder.path / "arrivals" / f"{week}.csv").write_text(whole[0])  # nobody came
    done = folder.call("run", "policy.yaml", "--partition", WEEKS[1])
    assert done.code == 3, done.err
    assert counted(folder)["wait"].tolist() == [2, 2]
    done = folder.call("run", "policy.yaml", "--partition", WEEKS[2])
    assert done.code == 3 and "all records that have arrived wait" not in done.err  # they wait no longer
    assert counted(folder)["wait"].tolist() == [2, 2, 0]


def test_weeks_are_not_made_at_a_time(folder: Folder) -> None:
    span = f"{WEEKS[0]}...{WEEKS[2]}"
    done = folder.call("run", "policy.yaml", "--partitions", span, "--jobs", "2")
    assert done.code == 2 and "--jobs must be left out for a stream" in done.err
    done = folder.call("run", "policy.yaml", "--partitions", span)
    assert done.code == 0 and "anon-pipeline vault waiting" in done.out, done.err


def test_weeks_whose_records_wait_are_no_refusals(folder: Folder) -> None:
    path = folder.path / "arrivals" / f"{WEEKS[0]}.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    done = folder.call("run", "policy.yaml", "--partitions", f"{WEEKS[0]}...{WEEKS[2]}")
    assert done.code == 0, done.err
    assert f"2 of 3 partitions published; all records wait: {WEEKS[0]}" in done.out
    assert "--show-values" not in done.err


def test_weeks_of_which_nothing_is_left_are_over(folder: Folder, small_policy: Callable[..., Policy]) -> None:
    weeks = [f"2026-01-{day:02}" for day in (5, 12, 19, 26)] + ["2026-02-02"]
    path = folder.path / "arrivals" / f"{weeks[0]}.csv"
    whole = path.read_text().splitlines(keepends=True)
    for week in weeks:  # two came in the first week, and nobody after that
        (folder.path / "arrivals" / f"{week}.csv").write_text("".join(whole[: 3 if week == weeks[0] else 1]))
    write_policy(folder.path / "policy.yaml", small_policy(**{**STREAM, "stream": {"delay": 1}}))
    span = ("--partitions", f"{weeks[0]}...{weeks[4]}")
    done = folder.call("run", "policy.yaml", *span)
    assert done.code == 0, done.err
    assert "no class of k records can be made of those that may not wait longer" in done.err
    assert "wait longer: 2" not in done.err and "got" not in done.err
    waits = ", ".join((weeks[0], *weeks[2:]))
    assert (
        f"0 of 5 partitions published; all records wait: {waits}; too few for a class: {weeks[1]}" in done.out
    )
    assert list(counted(folder)["partition"]) == weeks[2:]
    done = folder.call("run", "policy.yaml", *span, "--missing")
    assert done.code == 0 and f"without a release: {', '.join(weeks[:3])}\n" in done.err, done.err
    done = folder.call("run", "policy.yaml", "--partition", weeks[1])
    assert done.code == 2 and f"{weeks[4]} was made last, and {weeks[1]} does not follow it" in done.err


def test_a_rehearsal_leaves_what_waits_alone(folder: Folder) -> None:
    assert folder.call("rehearse", "policy.yaml", "--partition", WEEKS[0]).code == 0
    assert not list((folder.path / "vault").rglob("waiting/*"))


def test_records_that_wait_are_purged_with_private_tables(folder: Folder) -> None:
    assert folder.call("run", "policy.yaml", "--partition", WEEKS[0]).code == 0
    assert folder.call("vault", "purge", "--older-than", "1").code == 0
    assert len(counted(folder)) == 1
    assert survey(LocalStore(folder.path / "vault")).plain == 0
    assert folder.call("vault", "purge", "--older-than", "0").code == 0
    assert len(counted(folder)) == 0


def test_a_policy_that_is_no_stream_any_more_is_refused(
    folder: Folder, small_policy: Callable[..., Policy]
) -> None:
    assert folder.call("run", "policy.yaml", "--partition", WEEKS[0]).code == 0
    write_policy(folder.path / "policy.yaml", small_policy(**{**STREAM, "stream": None}))
    done = folder.call("run", "policy.yaml", "--partition", WEEKS[0])
    assert done.code == 2 and "stream: must stay in the policy of small" in done.err
    whole = {**STREAM, "stream": None, "schedule": None, "budget": None}
    whole["source"] = {"path": f"arrivals/{WEEKS[0]}.csv"}
    write_policy(folder.path / "policy.yaml", small_policy(**whole))
    done = folder.call("run", "policy.yaml")
    assert done.code == 2 and "stream: must stay in the policy of small" in done.err


def test_a_stream_whose_vault_was_purged_is_known_by_its_releases(
    folder: Folder, small_policy: Callable[..., Policy]
) -> None:
    for week in WEEKS[:2]:
        assert folder.call("run", "policy.yaml", "--partition", week).code == 0
    assert folder.call("vault", "purge", "--older-than", "0").code == 0
    done = folder.call("run", "policy.yaml", "--partition", WEEKS[0])
    assert done.code == 2 and f"{WEEKS[0]} or a later partition has a release already" in done.err
    write_policy(folder.path / "policy.yaml", small_policy(**{**STREAM, "stream": None}))
    for week in WEEKS[1:]:
        done = folder.call("run", "policy.yaml", "--partition", week)
        assert done.code == 2 and "stream: must stay in the policy of small" in done.err
    shutil.rmtree(folder.path / "out")  # the ledger knows it all the same
    done = folder.call("run", "policy.yaml", "--partition", WEEKS[2])
    assert done.code == 2 and "stream: must stay in the policy of small" in done.err
    write_policy(folder.path / "policy.yaml", small_policy(**STREAM))
    done = folder.call("run", "policy.yaml", "--partition", WEEKS[1])
    assert done.code == 2 and f"{WEEKS[1]} or a later partition has a release already" in done.err
    assert folder.call("run", "policy.yaml", "--partition", WEEKS[2]).code == 0


def test_weeks_with_the_same_people_are_refused_and_empty_ones_are_not(folder: Folder) -> None:
    files = [folder.path / "arrivals" / f"{week}.csv" for week in WEEKS]
    text = files[0].read_text()
    for path in files[:2]:
        path.write_text(text.replace("\n", "\r\n"), newline="")
    done = folder.call("run", "policy.yaml", "--partition", WEEKS[0])
    assert done.code == 2 and "budget.per: record needs a file of its own" in done.err


def test_a_backfill_makes_them_in_order(folder: Folder) -> None:
    (folder.path / "location.py").write_text(LOCATION)
    with instance_for_test(overrides=IN_THIS_PROCESS) as instance:
        assert backfill(instance, folder.path / "location.py") is BulkActionStatus.COMPLETED_SUCCESS
        runs = instance.get_runs()
        assert {run.tags["dagster/partition"] for run in runs} == {*WEEKS}
        assert {run.status for run in runs} == {dg.DagsterRunStatus.SUCCESS}
    said = counted(folder)
    assert list(said["partition"]) == list(WEEKS) and said["came"].tolist() == list(SIZES)
    assert said["had waited"].tolist() == [0, *said["wait"][:-1]]


def test_the_sensor_asks_for_one_week_after_the_other(project: Callable[..., Any]) -> None:
    made = project(
        schedule=WEEKLY,
        source={"path": "people-{partition}.csv"},
        stream={"delay": 1},
        one_record_per_person=True,
        anonymize={"suppression_limit": 0.3},
    )
    people = pd.read_csv(made.folder / "people.csv")
    for week in WEEKS[:2]:
        path = made.folder / f"people-{week}.csv"
        people.sample(frac=0.5, random_state=1).to_csv(path, index=False)
        aged(path, 3600)
    asked, cursor = look(made, None)
    assert [key for key, _ in asked] == [WEEKS[0]]
    waiting, unchanged = look(made, cursor)
    assert waiting == [] and unchanged in (None, cursor)  # the first week has not been made yet
    assert made.run("small_release", partition=WEEKS[0]).success
    asked, cursor = look(made, cursor)
    assert [key for key, _ in asked] == [WEEKS[1]]
    assert made.run("small_release", partition=WEEKS[1]).success
    assert look(made, cursor)[0] == []
    early = made.folder / "people-2025-12-29.csv"
    for path in (early, made.folder / f"people-{WEEKS[0]}.csv"):  # too late: their turn was before
        people.sample(frac=0.5, random_state=2).to_csv(path, index=False)
        aged(path, 1800)
    asked, after = look(made, cursor)
    assert asked == [] and after is not None and after != cursor
    last = made.folder / f"people-{WEEKS[2]}.csv"
    people.sample(frac=0.5, random_state=3).to_csv(last, index=False)
    aged(last, 3600)
    assert [key for key, _ in look(made, after)[0]] == [WEEKS[2]]
    states = WindowStates("small", lambda: Vault(LocalStore(made.folder / "vault")), made.folder / "vault")
    assert states.partitions() == list(WEEKS[:2])
    assert np.isin(states.read(WEEKS[1]).ages, [1]).all()


def test_stages_of_before_the_stream_are_not_published(project: Callable[..., Any]) -> None:
    plain = {"schedule": WEEKLY, "source": {"path": "people-{partition}.csv"}}
    made = project(**plain)
    (made.folder / f"people-{WEEKS[0]}.csv").write_bytes((made.folder / "people.csv").read_bytes())
    assert made.materialize(*STAGES, partition=WEEKS[0]).success
    stream = project(**plain, stream={"delay": 1}, one_record_per_person=True)
    assert stream.run("small_release", partition=WEEKS[0]).success
    files = {path: path.read_bytes() for path in stream.released()}
    assert not made.materialize("published", partition=WEEKS[0]).success
    assert {path: path.read_bytes() for path in made.released()} == files


def test_in_dagster_each_window_depends_on_the_one_before(project: Callable[..., Any]) -> None:
    made = project(
        schedule=WEEKLY,
        source={"path": "people-{partition}.csv"},
        stream={"delay": 1},
        one_record_per_person=True,
    )
    graph = made.definitions.resolve_asset_graph()
    key = dg.AssetKey(["small", "raw"])
    assert key in graph.get(key).parent_keys
