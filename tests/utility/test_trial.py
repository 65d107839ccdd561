"""A release that is made to be measured: what it finds, and that nothing is left of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml

from anon_pipeline import cli
from anon_pipeline.evidence.evidence import evidence_from
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import TYPE, Policy
from anon_pipeline.stages import pipeline
from anon_pipeline.stages.private import Means
from anon_pipeline.utility.measures import GROUPS
from anon_pipeline.utility.results import utility
from anon_pipeline.utility.trial import measure_trial_of

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]
Call = Callable[..., tuple[int, str, str]]


def test_it_is_the_utility_of_the_chain(small_policy: Small, small_people: People) -> None:
    policy, people = small_policy(), small_people()
    found = measure_trial_of(policy, people, Means(Path(), None, seeded_entropy(4)))
    entropy = seeded_entropy(4)
    before = pipeline.deidentified(policy, pipeline.raw(policy, people, entropy=entropy), key=None)
    recoded = pipeline.k_anonymized(policy, before)
    noisy = pipeline.perturbed(policy, recoded, entropy=entropy)
    released = pipeline.suppressed(policy, pipeline.shuffled(policy, noisy, entropy=entropy), recoded)
    evidence = evidence_from(released.frame, policy, originals=recoded.frame)
    assert found == utility(evidence, policy, before.frame)


def test_records_beyond_those_of_a_person_are_no_part_of_it(
    small_policy: Small, small_people: People
) -> None:
    once = small_people()
    people = once.loc[once.index.repeat(3)].reset_index(drop=True)
    people["age"] = 20 + people.index % 60
    policy = small_policy(
        person="person",
        rows_per_person=2,
        deidentify={"key_env": "K"},
        anonymize={"k": 4, "suppression_limit": 0.5},
    )
    found = measure_trial_of(policy, people, Means(Path(), b"0123456789abcdef", seeded_entropy(4)))
    assert found.records == 2 * len(once) >= found.released > 0


@pytest.fixture
def call(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    small_policy: Small,
    small_people: People,
) -> Call:
    """Run the command in a project, with changes in the policy."""

    def run(*arguments: str, **changes: object) -> tuple[int, str, str]:
        attributes = small_policy(**changes).model_dump(mode="json", exclude_unset=True)
        (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"type": TYPE, "attributes": attributes}))
        small_people().to_csv(tmp_path / "people.csv", index=False)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["anon-pipeline", "utility", "policy.yaml", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
            sys.exit(0)
        shown = capsys.readouterr()
        return int(exit_.value.code or 0), shown.out, shown.err

    return run


def test_the_command_prints_every_measure_and_leaves_nothing(call: Call, tmp_path: Path) -> None:
    code, out, err = call()
    assert code == 0, err
    for words in (
        "(precision)",
        "height: error of this draw",
        "change of correlations",
        "error of a count, median",
    ):
        assert words in out
    for group in GROUPS:
        assert out.count(group) == 1
    assert "not for publication" in err
    assert "… utility" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "policy.yaml"]


def test_the_json_is_for_programs(call: Call) -> None:
    code, out, _ = call("--json", "--target", "note")
    found = json.loads(out)
    assert code == 0
    assert (found["records"], found["target"], found["queries"]["queries"]) == (240, "note", 1000)


def test_a_budget_is_neither_asked_nor_spent(call: Call, tmp_path: Path) -> None:
    code, _, err = call(budget={"epsilon": 2})
    assert code == 0, err
    assert not list(tmp_path.rglob("*.db"))


def test_a_policy_that_remembers_is_measured_as_if_it_were_the_first(call: Call, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("ab" * 32)
    code, _, err = call(record_key="person", deidentify={"key_file": "key"})
    assert code == 0, err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["key", "people.csv", "policy.yaml"]


def test_a_wrong_target_is_an_input_error(call: Call) -> None:
    code, out, err = call("--target", "height")
    assert (code, out) == (2, "")
    assert "target must be a sensitive or insensitive column" in err


def test_a_crash_does_not_tell_its_data(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ValueError("CANARY-7f3a")

    monkeypatch.setattr("anon_pipeline.utility.trial.utility", crash)
    code, out, err = call()
    assert (code, out) == (70, "")
    assert "CANARY" not in err


def test_an_infeasible_policy_exits_3(call: Call) -> None:
    assert call(anonymize={"k": 1000})[0] == 3


def test_what_is_expected_does_not_depend_on_the_noise(small_policy: Small, small_people: People) -> None:
    policy, people = small_policy(), small_people()
    found = [measure_trial_of(policy, people, Means(Path(), None, seeded_entropy(s))) for s in (1, 2)]
    assert found[0].noise["height"].expected == found[1].noise["height"].expected
    assert found[0].noise["height"].sse != found[1].noise["height"].sse
