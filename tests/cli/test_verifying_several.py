"""`verify` of a folder of releases: what it prints, its JSON, its exit code."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
from jsonschema import validate

from anon_pipeline.cli.documents import schema_of
from tests.cli.projects import Folder


def divided(
    folder: Callable[..., Folder], people: Callable[..., pd.DataFrame], parts: int
) -> tuple[Folder, str]:
    """Return a project whose table was divided and released, and the id of the division."""
    made = folder(source={"path": "people.parquet", "format": "parquet"}, one_record_per_person=True)
    people(1_200).to_parquet(made.path / "people.parquet", index=False)
    done = made.call("divide", "policy.yaml", "--into", str(parts), "--json")
    document = json.loads(done.out)
    first, last = document["partitions"][0], document["partitions"][-1]
    assert made.call("run", document["policy"], "--partitions", f"{first}...{last}").code == 0
    return made, first.partition(".")[0]


def test_a_division_is_one_release_of_whole_classes(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made, division = divided(folder, small_people, 3)
    place, policy = f"out_divided/{division}", f"policy-{division}.yaml"
    done = made.call("verify", place, "--policy", policy)
    assert done.code == 0, done.err
    assert done.out.count("nothing contradicts its manifest") == 3
    last = done.out.splitlines()[-1]
    assert last == "Verified. Nothing contradicts the manifests of 3 releases."
    assert "partitions  passed: one of each key" in done.out
    assert "0 of them in several releases" in done.out
    document = json.loads(made.call("verify", place, "--policy", policy, "--json").out)
    validate(document, schema_of("verify"))
    assert (document["verified"], document["in_part"]) == (True, False)
    assert [one["release"] for one in document["releases"]] == [f"{division}.{part}" for part in "123"]
    assert document["together"]["records"] == 1_200
    assert document["together"]["shared"] == 0
    part = json.loads(made.call("verify", place, "--json").out)
    assert (part["in_part"], part["verdicts"][0]["status"]) == (True, "unmeasured")


def test_a_partition_that_was_changed_or_is_missing(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made, division = divided(folder, small_people, 2)
    place, policy = f"out_divided/{division}", f"policy-{division}.yaml"
    first = made.path / place / f"{division}.1"
    next(first.glob("*.parquet")).write_bytes(b"no table")
    done = made.call("verify", place, "--policy", policy)
    assert done.code == 1
    assert f"refused: {division}.1" in done.err and "Verified" not in done.out
    assert "records released of" not in done.out
    validate(json.loads(made.call("verify", place, "--json").out), schema_of("verify"))
    (first / "manifest.json").unlink()
    done = made.call("verify", place, "--policy", policy)
    assert (done.code, done.err.splitlines()[-1]) == (1, "refused: partitions")
    assert f"refused: 1 without a release: {division}.1" in done.out


def test_of_many_releases_only_the_refused_ones_have_rows(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made, division = divided(folder, small_people, 21)
    place = f"out_divided/{division}"
    done = made.call("verify", place)
    assert (done.code, "21 releases: nothing contradicts their manifests." in done.out) == (0, True)
    (made.path / place / f"{division}.07" / "manifest.json").write_text("{}")
    done = made.call("verify", place)
    assert done.code == 1
    assert f"{division}.07" in done.out
    assert "20 releases: nothing contradicts their manifests." in done.out


def test_releases_of_other_kinds_are_verified_by_their_own_rules(folder: Callable[..., Folder]) -> None:
    made = folder(publish={"to": "out/classes"})
    assert made.call("run", "policy.yaml").code == 0
    columns = {
        "age": {"bounds": [0, 99], "otherwise": 0},
        "city": {"values": ["Cork", "Dublin", "Galway"], "otherwise": "Cork"},
    }
    attributes = {
        "name": "counts",
        "source": {"path": "people.csv"},
        "one_record_per_person": True,
        "epsilon": 1,
        "columns": columns,
        "histograms": {"tables": [["age"], ["city"]]},
        "gate": {"expected_error": 1},
        "publish": {"to": "out/counts"},
    }
    policy = {"type": "anon_pipeline.EpsilonDpRelease", "attributes": attributes}
    (made.path / "dp.yaml").write_text(json.dumps(policy))
    done = made.call("run", "dp.yaml")
    assert done.code == 0, done.err
    done = made.call("verify", "out")
    assert done.code == 0, done.out + done.err
    assert done.out.count("nothing contradicts its manifest") == 2
    assert "records released of" not in done.out  # they are not parts of one table
    next((made.path / "out" / "counts").glob("*.parquet")).write_bytes(b"other")
    done = made.call("verify", "out")
    assert (done.code, done.err.splitlines()[-1]) == (1, "refused: counts")


def test_a_broken_policy_is_said_and_signs_of_a_terminal_are_not_printed(
    folder: Callable[..., Folder],
) -> None:
    made = folder(publish={"to": "out/one"})
    assert made.call("run", "policy.yaml").code == 0
    text = (made.path / "policy.yaml").read_text()
    (made.path / "broken.yaml").write_text(text.replace("epsilon:", "epsilonn:"))
    done = made.call("verify", "out", "--policy", "broken.yaml")
    assert done.code == 2 and "perturb.epsilonn: is not known here" in done.err
    (made.path / "out" / "one").rename(made.path / "out" / "x\x1b[31mred")
    done = made.call("verify", "out")
    assert done.code == 0
    assert "\x1b" not in done.out + done.err and "x\\x1b[31mred" in done.out
    assert "Checked against the public parts of policies" in done.out


def test_one_folder_too_high_the_folders_in_it_are_named(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made, division = divided(folder, small_people, 2)
    done = made.call("verify", "out_divided")
    assert done.code == 2
    assert f"folders in it have several. Give out_divided/{division}" in done.err


def test_folders_further_below_are_said_not_to_be_verified(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made, division = divided(folder, small_people, 2)
    assert made.call("run", "policy.yaml").code == 0
    (made.path / "all").mkdir()
    for name in ("out", "out_divided"):
        (made.path / name).rename(made.path / "all" / name)
    done = made.call("verify", "all")
    assert done.code == 0
    assert "nothing contradicts its manifest" in done.out
    said = f"Not verified: releases in folders further below. Give also all/out_divided/{division}\n"
    assert said in done.err
    inner = made.call("verify", f"all/out_divided/{division}")
    assert inner.code == 0 and "Not verified" not in inner.err
