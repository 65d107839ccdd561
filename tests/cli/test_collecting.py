"""`collect`: from a divided table to one document and one report, and what `verify` then finds."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd
import pytest
from jsonschema import validate

from anon_pipeline.base.worker_processes import map_in_processes
from anon_pipeline.cli.documents import schema_of
from anon_pipeline.cli.examples import EXAMPLES
from anon_pipeline.publish.verify import together
from tests.cli.projects import Folder
from tests.cli.test_verifying_several import divided

Make = Callable[..., Folder]
People = Callable[..., pd.DataFrame]


def test_a_divided_table_is_collected_signed_and_verified(folder: Make, small_people: People) -> None:
    made = folder(
        source={"path": "people.parquet", "format": "parquet"},
        one_record_per_person=True,
        publish={"sign": {"key_file": "key"}},
    )
    assert made.call("keygen", "key").code == 0
    small_people(1_200).to_parquet(made.path / "people.parquet", index=False)
    divided_into = json.loads(made.call("divide", "policy.yaml", "--into", "3", "--json").out)
    keys, policy = divided_into["partitions"], divided_into["policy"]
    place = f"out_divided/{keys[0].partition('.')[0]}"
    assert made.call("run", policy, "--partitions", f"{keys[0]}...{keys[1]}").code == 0
    done = made.call("collect", place, "--policy", policy)
    assert (done.code, f"1 without a release: {keys[2]}" in done.out) == (1, True)
    span = f"{keys[0]}...{keys[2]}"
    assert re.search(rf"^Next: anon-pipeline run \S+ --partitions {span} --missing$", done.err, re.MULTILINE)
    assert done.err.splitlines()[-2] == "refused: partitions"
    assert not [path for path in (made.path / place).iterdir() if path.is_file()]
    assert made.call("run", policy, "--partitions", f"{keys[0]}...{keys[2]}", "--missing").code == 0
    done = made.call("collect", place, "--policy", policy, "--json")
    assert done.code == 0, done.err
    assert "still has files of partitions, a copy of the personal data" in done.err
    document = json.loads(done.out)
    validate(document, schema_of("collect"))
    assert (document["collected"], document["signed"], document["releases"]) == (True, True, 3)
    assert document["together"]["records"] == 1_200
    page = (made.path / document["report"]).read_text()
    assert all(f">{key}</a>" in page for key in keys) and str(made.path) not in page
    done = made.call("verify", place, "--public-key", "key.pub")
    assert (done.code, "collection  passed: the releases, the sums and the report" in done.out) == (0, True)
    verified = json.loads(made.call("verify", place, "--public-key", "key.pub", "--json").out)
    validate(verified, schema_of("verify"))
    assert [(one["limit"], one["status"]) for one in verified["verdicts"]] == [
        ("partitions", "unmeasured"),
        ("collection", "passed"),
    ]
    assert made.call("run", policy, "--partition", keys[1]).code == 0  # made again: another manifest
    done = made.call("verify", place, "--policy", policy, "--public-key", "key.pub")
    assert (done.code, done.err.splitlines()[-1]) == (1, "refused: collection")
    assert "run anon-pipeline collect again" in done.out
    assert made.call("collect", place, "--policy", policy).code == 0
    assert made.call("verify", place, "--policy", policy, "--public-key", "key.pub").code == 0
    shutil.rmtree(made.path / place / keys[0])
    done = made.call("verify", place)
    assert (done.code, "1 release listed and not there" in done.out) == (1, True)
    for key in keys[1:]:
        shutil.rmtree(made.path / place / key)
    done = made.call("verify", place)
    assert done.code == 1 and "3 releases listed and not there" in done.out, done.err


def test_without_a_policy_it_says_what_was_not_done(folder: Make, small_people: People) -> None:
    made, division = divided(folder, small_people, 2)
    done = made.call("collect", f"out_divided/{division}")
    assert done.code == 0
    assert "partitions  unmeasured: needs --policy" in done.out
    assert "Without --policy no list of keys was compared" in done.err
    assert "together    1," in done.out


def test_jobs_are_for_several_releases(
    folder: Make, small_people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Policies of tests count as reviewed in this process alone, so no other one verifies here."""
    made, division = divided(folder, small_people, 2)
    asked = list[int]()

    def noted(function: Callable[..., Any], items: Sequence[Any], *, jobs: int, stage: str) -> Iterator[Any]:
        asked.append(jobs)
        return map_in_processes(function, items, jobs=1, stage=stage)

    monkeypatch.setattr(together, "map_in_processes", noted)
    for words in (["collect"], ["collect", "--jobs", "2"], ["verify", "--jobs", "3"]):
        assert made.call(words[0], f"out_divided/{division}", *words[1:]).code == 0
    assert asked == [1, 2, 3]
    done = made.call("verify", f"out_divided/{division}/{division}.1", "--jobs", "2")
    assert (done.code, "for a folder of several releases only" in done.err) == (2, True)


def test_its_example_collects_months(folder: Make, small_people: People) -> None:
    schedule = {"partitions": "monthly", "start": "2026-01-01", "cron": "0 6 2 * *"}
    made = folder(source={"path": "{partition}.csv"}, schedule=schedule)
    for seed, month in enumerate(("2026-01-01", "2026-02-01")):
        small_people(400, seed).to_csv(made.path / f"{month}.csv", index=False)
        done = made.call("run", "policy.yaml", "--partition", month)
        assert done.code == 0, done.err
    done = made.call(*shlex.split(EXAMPLES["collect"])[1:])
    assert done.code == 0, done.err
    assert "partitions  unmeasured: the policy lists no keys" in done.out
    document = json.loads((made.path / "out/collection.json").read_text())
    assert [part["folder"] for part in document["parts"]] == ["2026-01-01", "2026-02-01"]
    assert document["keys_checked"] is False
    assert made.call("verify", "out").code == 0
    small_people(400, 7).to_csv(made.path / "2026-03-01.csv", index=False)
    assert made.call("run", "policy.yaml", "--partition", "2026-03-01").code == 0
    done = made.call("verify", "out")
    assert (done.code, "1 release there and not listed: 2026-03-01" in done.out) == (1, True)
    assert made.call("verify", "out/2026-03-01").code == 0


def test_releases_of_several_kinds_are_collected_and_not_added_up(folder: Make) -> None:
    made = folder(publish={"to": "out/classes"})
    assert made.call("run", "policy.yaml").code == 0
    attributes = {
        "name": "counts",
        "source": {"path": "people.csv"},
        "one_record_per_person": True,
        "epsilon": 1,
        "columns": {"city": {"values": ["Cork", "Dublin", "Galway"], "otherwise": "Cork"}},
        "histograms": {"tables": [["city"]]},
        "gate": {"expected_error": 1},
        "publish": {"to": "out/counts"},
    }
    policy = {"type": "anon_pipeline.EpsilonDpRelease", "attributes": attributes}
    (made.path / "dp.yaml").write_text(json.dumps(policy))
    assert made.call("run", "dp.yaml").code == 0
    done = made.call("collect", "out", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    validate(document, schema_of("collect"))
    assert document["together"] is None
    parts = json.loads((made.path / "out/collection.json").read_text())["parts"]
    assert [(part["kind"], part["release"]) for part in parts] == [(None, "small"), ("epsilon_dp", "counts")]
    assert parts[1]["released"] is None
    assert "(an ε-DP release)" in (made.path / "out/report.html").read_text()
    assert made.call("verify", "out").code == 0
    assert made.call("run", "dp.yaml").code == 0
    assert made.call("verify", "out").code == 1


def test_refusals_are_printed_without_signs_of_a_terminal(folder: Make) -> None:
    made = folder(publish={"to": "out/one"})
    assert made.call("run", "policy.yaml").code == 0
    next((made.path / "out/one").glob("*.parquet")).write_bytes(b"other")
    (made.path / "out/one").rename(made.path / "out" / "x\x1b[31mred")
    done = made.call("collect", "out")
    assert (done.code, done.err.splitlines()[-1]) == (1, "refused: x\\x1b[31mred")
    assert "Refused: nothing was written" in done.out and "\x1b" not in done.out + done.err
    document = json.loads(made.call("collect", "out", "--json").out)
    validate(document, schema_of("collect"))
    assert (document["collected"], document["collection"], len(document["refused"])) == (False, None, 1)


def test_what_it_cannot_use_is_an_error(folder: Make) -> None:
    made = folder(publish={"to": "out/one", "sign": {"key_file": "key"}})
    assert made.call("collect", "out").code == 2  # there is no folder
    assert made.call("keygen", "key").code == 0
    assert made.call("run", "policy.yaml").code == 0
    (made.path / "key").unlink()
    done = made.call("collect", "out", "--policy", "policy.yaml")
    assert (done.code, "publish.sign.key_file must be a readable file" in done.err) == (2, True)
    done = made.call("collect", "out/one")
    assert (done.code, "must hold folders of releases" in done.err) == (2, True)
    (made.path / "policy.yaml").rename(made.path / "out/report.html")
    done = made.call("collect", "out", "--policy", "out/report.html", "--project", ".")
    assert (done.code, "report.html must be a file of its own" in done.err) == (2, True)
