"""`report` and `run --internal-report`: pages for who may read them, where they were asked for."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from anon_pipeline import cli
from anon_pipeline.perturb.entropy import system_entropy
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish import Published, publish
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.lineage import Where
from anon_pipeline.stages.private import Means
from anon_pipeline.stages.vault_tables import write_staged
from anon_pipeline.vault.identity import project_of
from anon_pipeline.vault.store import store_at

Call = Callable[..., tuple[int, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["anon-pipeline", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
            sys.exit(0)
        shown = capsys.readouterr()
        return int(ended.value.code or 0), shown.out + shown.err

    return run


@pytest.fixture
def project(
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., Published]:
    """A project with a release whose private tables are in the vault."""
    monkeypatch.chdir(tmp_path)

    def make(seed: int = 0, **changes: Any) -> Published:
        policy = small_policy(**changes)
        attributes = policy.model_dump(mode="json", exclude_unset=True)
        (tmp_path / "policy.yaml").write_text(
            yaml.safe_dump({"type": TYPE, "attributes": attributes}, sort_keys=False)
        )
        people = small_people(seed=seed)
        people.to_csv(tmp_path / "people.csv", index=False)
        places = Locations.of(tmp_path, {})
        mine = project_of(store_at(places.vault_place), project=tmp_path)
        means = Means(tmp_path, None, system_entropy(), where=Where(mine, policy.name))
        made = pipeline.run(policy, people, means)
        for stage, staged in (("k_anonymized", made.k_anonymized), ("suppressed", made.suppressed)):
            write_staged(tmp_path / "vault" / "small" / f"{stage}.parquet", staged)
        return publish(made.suppressed, made.k_anonymized.frame, policy, locations=places, project=mine)

    return make


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("name", ["out", "out/manifest.json"])
def test_the_public_report_made_anew_is_the_one_beside_the_manifest(
    project: Callable[..., Published], call: Call, form: str, name: str
) -> None:
    written = project(publish={"format": form})
    code, said = call("report", name, "--policy", "policy.yaml")
    assert code == 0, said
    assert "report    small-report.html" in said
    page = Path("small-report.html")
    assert page.read_bytes() == written.report_path.read_bytes()
    assert page.stat().st_mode & 0o777 == 0o644


def test_the_internal_report_is_for_its_owner_alone(project: Callable[..., Published], call: Call) -> None:
    project()
    code, said = call("report", "out", "--policy", "policy.yaml", "--internal")
    assert code == 0, said
    assert "not for publication" in said
    page = Path("small-internal.html")
    assert b"before and after" in page.read_bytes()
    assert page.stat().st_mode & 0o777 == 0o600
    assert not [path for path in Path("out").iterdir() if b"before and after" in path.read_bytes()]


def test_the_order_of_the_policys_columns_does_not_matter(
    project: Callable[..., Published], call: Call
) -> None:
    project()
    document = yaml.safe_load(Path("policy.yaml").read_text())
    Path("policy.yaml").write_text(yaml.safe_dump(document, sort_keys=True))
    for more in ((), ("--internal",)):
        code, said = call("report", "out", "--policy", "policy.yaml", *more)
        assert code == 0, said


def test_private_tables_of_another_release_make_no_report(
    project: Callable[..., Published], call: Call, tmp_path: Path
) -> None:
    project()
    (tmp_path / "out").rename(tmp_path / "old")
    project(seed=1)
    code, said = call("report", "old", "--policy", "policy.yaml", "--internal")
    assert code == 2
    assert "its data_digest differs" in said
    assert not Path("small-internal.html").exists()


def test_without_private_tables_it_says_so(
    project: Callable[..., Published], call: Call, tmp_path: Path
) -> None:
    project()
    (tmp_path / "vault" / "small" / "k_anonymized.parquet").unlink()
    code, said = call("report", "out", "--policy", "policy.yaml", "--internal")
    assert code == 2
    assert "the vault does not have small/k_anonymized.parquet" in said


@pytest.mark.parametrize("internal", [(), ("--internal",)])
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda d: d["facts"].pop("perturbed"), "facts.perturbed"),
        (lambda d: d["facts"]["suppressed"].update(released=1), "number of released records differs"),
        (lambda d: d.update(data_digest="0" * 64), "data_digest"),
        (lambda d: d.update(policy_digest="0" * 64), "policy_digest"),
    ],
)
def test_facts_that_are_missing_or_of_another_digest_are_refused(
    project: Callable[..., Published],
    call: Call,
    change: Callable[[dict[str, Any]], object],
    problem: str,
    internal: tuple[str, ...],
) -> None:
    written = project()
    document = json.loads(written.manifest_path.read_text())
    change(document)
    written.manifest_path.write_text(json.dumps(document))
    code, said = call("report", "out", "--policy", "policy.yaml", *internal)
    assert code == 2
    assert problem in said
    assert not list(Path().glob("*.html"))


@pytest.mark.parametrize(
    ("out", "problem"),
    [
        ("out/report.html", "counts as published"),
        ("out/../out/more/../report.html", "counts as published"),
        ("nowhere/report.html", "existing folder"),
        ("people.csv", "must end in .html"),
    ],
)
def test_a_page_does_not_go_where_it_must_not(
    project: Callable[..., Published], call: Call, out: str, problem: str
) -> None:
    project()
    Path("out/more").mkdir()
    before = Path("people.csv").read_bytes()
    for command in (
        ("report", "out", "--policy", "policy.yaml", "--out", out),
        ("report", "out/manifest.json", "--policy", "policy.yaml", "--internal", "--out", out),
        ("run", "policy.yaml", "--internal-report", out),
    ):
        code, said = call(*command)
        assert code == 2
        assert problem in said
    assert Path("people.csv").read_bytes() == before
    assert len(list(Path("out").glob("*.html"))) == 1


def test_run_makes_the_internal_report_of_what_it_published(
    project: Callable[..., Published], call: Call
) -> None:
    project()
    code, said = call("run", "policy.yaml", "--internal-report", "mine.html")
    assert code == 0, said
    page = Path("mine.html")
    assert page.stat().st_mode & 0o777 == 0o600
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert manifest["data_digest"] in page.read_text(), said
    assert b"before and after" in page.read_bytes()


def test_a_refused_release_has_no_internal_report(project: Callable[..., Published], call: Call) -> None:
    project()
    text = Path("policy.yaml").read_text()
    document = yaml.safe_load(text)
    document["attributes"]["gate"]["attacks"] = {"prosecutor_risk": 0.001}
    Path("policy.yaml").write_text(yaml.safe_dump(document))
    code, _ = call("run", "policy.yaml", "--internal-report", "mine.html")
    assert code == 1
    assert not Path("mine.html").exists()


def _moved_on() -> None:
    document = yaml.safe_load(Path("policy.yaml").read_text())
    document["attributes"]["anonymize"]["k"] = 4
    Path("policy.yaml").write_text(yaml.safe_dump(document, sort_keys=False))


TREE = {"suppress": None, "tree": {"South": ["Cork"], "Elsewhere": ["Dublin", "Galway"]}}


@pytest.mark.parametrize("columns", [{}, {"city": {"hierarchy": TREE}}])
@pytest.mark.parametrize("given", [(), ("--policy", "policy.yaml")])
def test_the_public_report_is_made_again_after_the_policy_has_moved_on(
    project: Callable[..., Published], call: Call, given: tuple[str, ...], columns: dict[str, Any]
) -> None:
    written = project(columns=columns)
    _moved_on()
    code, said = call("report", "out", *given, "--out", "again.html")
    assert code == 0, said
    assert "Made from the public part of its policy, which is stored with the release" in said
    assert Path("again.html").read_bytes() == written.report_path.read_bytes()


def test_values_that_the_policy_lists_are_not_named_without_it(
    project: Callable[..., Published], call: Call
) -> None:
    listed = {"illness": {"distance": "ordered", "order": ["none", "flu", "asthma", "gout"]}}
    written = project(columns=listed)
    assert b"asthma" in written.report_path.read_bytes()
    assert call("report", "out", "--out", "again.html")[0] == 0
    assert b"asthma" not in Path("again.html").read_bytes()


def test_the_internal_report_needs_the_whole_policy(project: Callable[..., Published], call: Call) -> None:
    project()
    code, said = call("report", "out", "--internal")
    assert (code, "the internal report must be made with the policy" in said) == (2, True)
    _moved_on()
    assert call("report", "out", "--internal", "--policy", "policy.yaml")[0] == 2
    assert not list(Path().glob("*.html"))


def test_without_any_policy_there_is_no_report(project: Callable[..., Published], call: Call) -> None:
    written = project()
    document = json.loads(written.manifest_path.read_text())
    beside = Path("out") / document["policy"]["name"]
    beside.write_bytes(beside.read_bytes() + b" ")
    code, said = call("report", "out")
    assert (code, "its size must be" in said) == (2, True)
    beside.unlink()
    del document["policy"]
    written.manifest_path.write_text(json.dumps(document))
    code, said = call("report", "out")
    assert (code, "must be given (--policy)" in said) == (2, True)
