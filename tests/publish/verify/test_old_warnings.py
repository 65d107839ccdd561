"""Releases that are already out: what applies to a manifest is warned of, and explained in the docs."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline import cli
from anon_pipeline.publish.verify.old_warnings import DOCUMENT, LOOKED_FOR, WARNINGS, warnings_for
from anon_pipeline.publish.verify.withdrawn import WITHDRAWN

ROOT = Path(__file__).resolve().parents[3]
OLD = Path(__file__).parents[1] / "version_1"
ALWAYS = {"the-sentence-about-epsilon", "exact-measures-of-the-input"}
LINKED = {"noise-that-could-be-drawn-again", "linking-judged-on-the-drawn-noise"}
EDITED = "manifests-that-could-be-edited"
APPLYING = {
    "noisy": ALWAYS | LINKED | {EDITED},
    "signed": ALWAYS | LINKED,
    "means": ALWAYS | {EDITED, "noise-that-could-be-drawn-again"},
    "plain": {EDITED},
    "sticky": ALWAYS
    | {
        "noise-that-could-be-drawn-again",
        "sticky-noise-of-a-growing-class",
        "together-without-a-memory",
        EDITED,
    },
}


def _document(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((OLD / name / "out" / "manifest.json").read_text())
    return found


@pytest.mark.parametrize("name", APPLYING)
def test_each_release_is_warned_of_by_what_it_has(name: str) -> None:
    assert {warning.name for warning in warnings_for(_document(name))} == APPLYING[name]
    document = {**_document(name), "manifest_version": 2}
    assert list(warnings_for(document)) == []


def test_every_warning_has_a_section_and_every_section_a_warning() -> None:
    text = (ROOT / DOCUMENT).read_text(encoding="utf-8")
    sections = {
        re.sub(r"[^a-z0-9 ]", "", line[3:].lower()).replace(" ", "-") for line in re.findall("## .*", text)
    }
    assert sections == {*WARNINGS, LOOKED_FOR.name, WITHDRAWN}
    for name in sections:
        assert f"(#{name})" in text
    assert {name for names in APPLYING.values() for name in names} == set(WARNINGS)


def test_exact_scales_and_losses_are_warned_of_only_where_they_are() -> None:
    document = _document("noisy")
    document["gate"]["verdicts"] = document["gate"]["verdicts"][:3]
    for column in document["facts"]["perturbed"]["columns"].values():
        column["mean_scale"] = None
    assert "exact-measures-of-the-input" not in {warning.name for warning in warnings_for(document)}
    document["facts"]["k_anonymized"]["loss"] = "entropy"
    assert "exact-measures-of-the-input" in {warning.name for warning in warnings_for(document)}


FIXED = (
    "stages/facts/check_1",
    "policy/version_1",
    "publish/version_1/guarantee_v1",
    "publish/verify/old_warnings",
    "publish/version_1/version_1",
)
TABLES = re.compile(
    r"anon_pipeline\.(catalog\..*|limits\.table|policy\.hierarchies|policy\.source|detectors.*)"
)


@pytest.mark.parametrize("module", FIXED)
def test_the_rules_of_version_1_read_no_table_of_today(module: str) -> None:
    """A kind that comes later is in no manifest of version 1, and changes nothing that is said of one."""
    tree = ast.parse((ROOT / "anon_pipeline" / f"{module}.py").read_text(encoding="utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert imported
    assert [name for name in imported if TABLES.fullmatch(name)] == []


def test_noise_without_a_promise_is_that_of_0_1_0_alone() -> None:
    document = _document("noisy")
    for column in document["facts"]["perturbed"]["columns"].values():
        column["mechanism"] = "uniform"
    assert "the-sentence-about-epsilon" not in {warning.name for warning in warnings_for(document)}


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"gate": 3, "facts": []},
        {"gate": {"verdicts": [3, {"limit": []}]}, "facts": {"perturbed": {"columns": 3}}},
    ],
)
def test_a_manifest_that_says_anything_breaks_nothing(broken: dict[str, Any]) -> None:
    assert EDITED in {warning.name for warning in warnings_for({"manifest_version": 1, **broken})}


def _call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["anon-pipeline", *arguments])
    with pytest.raises(SystemExit) as exit_:
        cli.main()
        sys.exit(0)
    return int(exit_.value.code or 0)


def test_verify_warns_and_exits_with_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = OLD / "sticky"
    policy = ("--policy", str(folder / "policy.yaml"), "--project", str(folder))
    assert _call(monkeypatch, "verify", str(folder / "out"), *policy) == 0
    shown = capsys.readouterr()
    lines = [line for line in shown.err.splitlines() if line.startswith("warning: ")]
    assert [line.rpartition("#")[2] for line in lines] == [w.name for w in warnings_for(_document("sticky"))]
    assert "Not verifiable in the manifest" in shown.out
    assert _call(monkeypatch, "verify", str(folder / "out"), *policy, "--json") == 0
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert shown.err == ""
    assert told["verified"] is True
    assert {warning["name"] for warning in told["warnings"]} == APPLYING["sticky"]
    assert {warning["section"] for warning in told["warnings"]} == {
        f"{DOCUMENT}#{n}" for n in APPLYING["sticky"]
    }
    assert {"path": "made_at", "how": "not verifiable", "why": "any time is possible"} in told["unverified"]
    assert {verdict["limit"] for verdict in told["verdicts"]} >= {"facts", "folder", "gate.k"}


def test_json_of_a_release_that_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    document = _document("plain") | {"epsilon": 1.0}
    (tmp_path / "manifest.json").write_text(json.dumps(document))
    assert _call(monkeypatch, "verify", str(tmp_path), "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["verified"], told["unverified"]) == (False, [])
