"""The command `compare-kinds`: table, CSV, JSON and map, for the curator alone."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import jsonschema
import pytest
import yaml

from anon_pipeline.catalog.release_kinds import RELEASE_KINDS
from anon_pipeline.cli.documents import schema_of
from anon_pipeline.cli.examples import EXAMPLES
from anon_pipeline.policy import TYPE
from tests.cli.projects import Folder
from tests.kinds.conftest import people, policies


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Folder:
    people(600).to_csv(tmp_path / "people.csv", index=False)
    for name, policy in policies().items():
        kind = getattr(policy, "kind", None)
        written = policy.model_dump(mode="json", exclude_defaults=True)
        document = {"type": TYPE if kind is None else RELEASE_KINDS[kind.name].type, "attributes": written}
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(document))
    return Folder(tmp_path, capsys, monkeypatch)


def test_policies_of_all_kinds_are_compared(folder: Folder) -> None:
    done = folder.call(
        "compare-kinds", "classes.yaml", "copula.yaml", "dp.yaml", "--map", "map.svg", "--csv", "kinds.csv"
    )
    assert done.code == 0, done.err
    for said in ("classes", "copula", "epsilon_dp", "wrote map.svg", "wrote kinds.csv"):
        assert said in done.out
    assert "not for publication" in done.err
    for name in ("map.svg", "kinds.csv"):
        assert (folder.path / name).stat().st_mode & 0o077 == 0
    assert not (folder.path / "releases").exists() and not (folder.path / "vault").exists()


def test_json_has_its_schema(folder: Folder) -> None:
    done = folder.call("compare-kinds", "classes.yaml", "buckets.yaml", "--secret", "ward", "--json")
    document = json.loads(done.out)
    jsonschema.validate(document, schema_of("compare-kinds"))
    assert [one["policy"] for one in document["policies"]] == ["classes", "buckets"]
    assert document["policies"][0]["found"]["risk"] >= 0


def test_queries_of_the_user_are_asked(folder: Folder) -> None:
    (folder.path / "q.sql").write_text(
        "select ward, count(*) n from records group by ward; select avg(age) from records"
    )
    named = ("compare-kinds", "classes.yaml", "buckets.yaml", "--sql", "q.sql")
    done = folder.call(*named, "--html", "page.html", "--csv", "kinds.csv")
    assert done.code == 0 and "Mean error of each query" in done.out and "queries" in done.out, done.err
    assert "Mean error of your own queries" in (folder.path / "page.html").read_text()
    document = json.loads(folder.call(*named, "--json").out)
    jsonschema.validate(document, schema_of("compare-kinds"))
    for one in document["policies"]:
        assert [loss["rows"] for loss in one["found"]["queries"]] == [4, 1]
    (folder.path / "q.sql").write_text("select avg(id) from records")
    done = folder.call(*named)
    assert done.code == 2 and "query 1: " in done.err and "those of all releases: age, sex, ward" in done.err
    done = folder.call(*named[:4], "none.sql")
    assert done.code == 2 and "none.sql" in done.err


def test_what_cannot_be_compared_is_said(folder: Folder) -> None:
    assert folder.call("compare-kinds", "classes.yaml").code == 2
    done = folder.call("compare-kinds", "classes.yaml", "dp.yaml", "--secret", "id")
    assert done.code == 2 and "--secret: must be a column that all policies release" in done.err
    people(30).to_csv(folder.path / "people.csv", index=False)
    text = (folder.path / "classes.yaml").read_text().replace("k: 5", "k: 29")
    for name in ("one", "two"):
        (folder.path / f"{name}.yaml").write_text(text)
    done = folder.call("compare-kinds", "one.yaml", "two.yaml")
    assert done.code == 3 and done.out.count("no release") == 2


def test_files_of_one_name_are_told_apart(folder: Folder) -> None:
    (folder.path / "other").mkdir()
    (folder.path / "other" / "classes.yaml").write_text((folder.path / "classes.yaml").read_text())
    done = folder.call("compare-kinds", "classes.yaml", "other/classes.yaml", "--json", "--project", ".")
    assert [one["policy"] for one in json.loads(done.out)["policies"]] == [
        "classes.yaml",
        "other/classes.yaml",
    ]


def test_its_example_runs(folder: Folder) -> None:
    for name, like in (("policy", "classes"), ("synthetic", "copula"), ("epsilon-dp", "dp")):
        (folder.path / f"{name}.yaml").write_text((folder.path / f"{like}.yaml").read_text())
    done = folder.call(*shlex.split(EXAMPLES["compare-kinds"])[1:])
    assert done.code == 0 and (folder.path / "map.svg").is_file(), done.err


@pytest.mark.parametrize("taken", ["people.csv", "classes.yaml", "dp.yaml"])
def test_nothing_that_is_read_is_overwritten(folder: Folder, taken: str) -> None:
    before = (folder.path / taken).read_bytes()
    done = folder.call("compare-kinds", "classes.yaml", "dp.yaml", "--csv", taken)
    assert done.code == 2 and f"{taken} must be a file of its own" in done.err
    assert (folder.path / taken).read_bytes() == before


def test_each_policy_keeps_its_paths_in_the_project(folder: Folder) -> None:
    (folder.path.parent / "outside.csv").write_text("f,*\nm,*\n")
    text = (folder.path / "classes.yaml").read_text()
    written = yaml.safe_load(text)
    written["attributes"]["columns"]["sex"]["hierarchy"] = {"table": "../outside.csv"}
    (folder.path / "other.yaml").write_text(yaml.safe_dump(written))
    done = folder.call("compare-kinds", "classes.yaml", "other.yaml")
    assert "other: no release. " in done.out and "hierarchy.table" in done.out
