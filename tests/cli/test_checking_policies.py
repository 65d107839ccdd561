"""`check-policy`: policies without data, one by one, in a folder, and below a floor; and the hook."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from jsonschema import validate

from anon_pipeline import Policy
from anon_pipeline.cli.documents import schema_of
from anon_pipeline.policy.defaults_files import NAME
from tests.cli.projects import Folder, write_policy

ROOT = Path(__file__).resolve().parents[2]
CANARY = "CANARY-7f3a"
FLOOR = yaml.safe_dump({"type": "anon_pipeline.PolicyDefaults", "attributes": {"anonymize": {"k": 4}}})


@pytest.fixture
def made(folder: Callable[..., Folder], small_policy: Callable[..., Policy]) -> Folder:
    """A project with one good policy, and in `below` a strong one, a contradiction, and other files."""
    made = folder()
    below = made.path / "below"
    (below / ".hidden").mkdir(parents=True)
    write_policy(below / "strong.yaml", small_policy(anonymize={"k": 5}))
    write_policy(below / "contradicts.yml", small_policy(anonymize={"k": 5}, gate={"k": 6}))
    write_policy(below / ".hidden" / "weak.yaml", small_policy())
    (below / "other.yaml").write_text(f"type: somebody.Else\nkey: {CANARY}\n")
    return made


def test_good_and_bad(made: Folder) -> None:
    assert made.call("check-policy", "policy.yaml", "below/strong.yaml").code == 0
    done = made.call("check-policy", "policy.yaml", "below/contradicts.yml")
    assert (done.code, done.out) == (2, "policies checked: 2, refused: 1, with warnings: 0\n")
    assert done.err.startswith("below/contradicts.yml: gate.k: must be at most anonymize.k")
    assert made.call("check-policy", "gone.yaml").code == 2
    assert made.call("check-policy").code == 2


def test_others(made: Folder) -> None:
    refused = made.call("check-policy", "below/other.yaml")
    assert (refused.code, CANARY in refused.err) == (2, False)
    skipped = made.call("check-policy", "--skip-others", "below/other.yaml", "policy.yaml")
    assert (skipped.code, skipped.out) == (0, "policies checked: 1, refused: 0, with warnings: 0\n")


def test_a_folder(made: Folder) -> None:
    done = made.call("check-policy", ".", "--json")
    document = json.loads(done.out)
    validate(document, schema_of("check-policy"))
    assert done.code == 2 and not document["passed"]
    assert {one["file"]: one["status"] for one in document["policies"]} == {
        "below/contradicts.yml": "refused",
        "below/strong.yaml": "passed",
        "policy.yaml": "passed",
    }


def test_a_floor_is_checked_with_what_it_holds_for(made: Folder) -> None:
    (made.path / NAME).write_text(FLOOR)
    done = made.call("check-policy", NAME)
    assert done.code == 2
    assert "policy.yaml: anonymize.k: must protect at least as much as 4" in done.err
    problems = [line for line in done.err.splitlines() if ": note: " not in line]
    assert "below/strong.yaml" not in "".join(problems)
    (made.path / NAME).write_text("type: nothing\n")
    assert f"{NAME}: must be a mapping with type" in made.call("check-policy", NAME).err


def test_a_policy_from_elsewhere_is_held_to_the_floor_of_the_project(
    made: Folder, tmp_path_factory: pytest.TempPathFactory, small_policy: Callable[..., Policy]
) -> None:
    (made.path / NAME).write_text(FLOOR)
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "policy.yaml"
    write_policy(elsewhere, small_policy())
    assert made.call("check-policy", str(elsewhere)).code == 0
    assert made.call("check-policy", str(elsewhere), "--project", ".").code == 2


def test_paths_stay_in_the_project(made: Folder, small_policy: Callable[..., Policy]) -> None:
    write_policy(made.path / "out.yaml", small_policy(source={"path": f"../{CANARY}.csv"}))
    done = made.call("check-policy", "out.yaml")
    assert (done.code, CANARY in done.err) == (2, False)
    assert "source.path: must stay within" in done.err
    assert made.call("check-policy", "out.yaml", "--allow-outside").code == 0


def test_the_hook_runs_as_pre_commit_would(made: Folder) -> None:
    """The hook's entry is called with the files that its types select; pre-commit itself is not here."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert {"id", "name", "entry", "language"} <= set(hook)
    assert (hook["language"], hook["types"]) == ("python", ["yaml"])
    program, *arguments = shlex.split(hook["entry"])
    assert program == "anon-pipeline"
    assert made.call(*arguments, "policy.yaml", "below/other.yaml").code == 0
    assert made.call(*arguments, "policy.yaml", "below/contradicts.yml").code == 2


def test_what_a_policy_accepts_is_a_warning(made: Folder, small_policy: Callable[..., Policy]) -> None:
    write_policy(made.path / "weak.yaml", small_policy(anonymize={"k": 2}, gate={"k": 2}))
    done = made.call("check-policy", "weak.yaml")
    assert (done.code, done.out) == (0, "policies checked: 1, refused: 0, with warnings: 1\n")
    assert "weak.yaml: warning: accepted.gate.k: a class may have 2 records" in done.err
    document = json.loads(made.call("check-policy", "weak.yaml", "--json").out)
    validate(document, schema_of("check-policy"))
    assert document["passed"]
    assert "gate.k" in [one["key"] for one in document["policies"][0]["risks"]]


def test_secrets_that_nothing_limits_are_noted(folder: Callable[..., Folder]) -> None:
    made = folder(gate={"t_closeness": {"income": 0.5}})
    done = made.call("check-policy", "policy.yaml")
    assert "note: nothing limits what a class reveals of illness" in done.err
    assert "reveals of income" not in done.err
    document = json.loads(made.call("check-policy", "policy.yaml", "--json").out)
    assert len(document["policies"][0]["notes"]) == 1
