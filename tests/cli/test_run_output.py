"""What `run` says of the release before: nothing the first time, then that its files lie there still."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from jsonschema import validate

from anon_pipeline import Locations, Policy
from anon_pipeline.base.errors import InfeasibleError
from anon_pipeline.cli.documents import schema_of
from anon_pipeline.cli.run_output import Asked, refusal_document
from tests.cli.projects import Folder, People


def test_a_second_release_says_that_the_first_was_replaced_and_lies_there(
    folder: Callable[..., Folder],
) -> None:
    made = folder()
    assert "\nearlier " not in made.call("run", "policy.yaml").out
    first = set(made.released)
    done = made.call("run", "policy.yaml")
    assert done.code == 0
    assert "\nearlier   2 files of the previous release are still in the folder; " in done.out
    assert len(set(made.released) & first) == 4  # and the manifest and the policy, which have the same names
    document = json.loads(made.call("run", "policy.yaml", "--json").out)
    validate(document, schema_of("run"))
    assert document["earlier"] == 2  # of the second one; the first one's were removed


def test_what_was_refused_before_the_gate_says_why_and_not_by_how_much(
    small_policy: Callable[..., Policy], tmp_path: Path
) -> None:
    refused = InfeasibleError("k must be smaller.", k=5, reached_k=3, suppressed=0.1234)
    said = refusal_document(Asked(small_policy(), Locations.of(tmp_path, {}), "2026-01-05"), refused)
    validate(said, schema_of("run"))
    assert (said["published"], said["partition"], said["verdicts"]) == (False, "2026-01-05", [])
    assert said["error"].startswith("k must be smaller.")
    assert "12.34" not in str(said)


def test_a_release_of_far_fewer_records_asks_whether_the_source_is_complete(
    folder: Callable[..., Folder], small_people: People
) -> None:
    made = folder(small_people(200))
    whole = json.loads(made.call("run", "policy.yaml", "--json").out)
    assert (whole["records"] > 120, whole["records_before"]) == (True, None)
    again = made.call("run", "policy.yaml")
    assert (again.code, "fewer " in again.out) == (0, False)
    small_people(60).to_csv(made.path / "people.csv", index=False)
    less = made.call("run", "policy.yaml")
    assert less.code == 0
    assert "records, the previous release had " in less.out
    last = json.loads(made.call("run", "policy.yaml", "--json").out)
    validate(last, schema_of("run"))
    assert 20 < last["records_before"] <= 60


def test_the_table_shows_the_band_that_the_manifest_publishes(folder: Callable[..., Folder]) -> None:
    made = folder()
    out = made.call("run", "policy.yaml").out
    manifest = json.loads((made.path / "out" / "manifest.json").read_text())
    bands = {one["limit"]: one["band"] for one in manifest["gate"]["verdicts"] if one.get("band")}
    assert bands
    for limit, band in bands.items():
        line = next(line for line in out.splitlines() if f" {limit} " in line)
        assert f" {band} " in line
