"""From a table to a policy file in one call."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.draft.drafted import draft, place_of, summary
from anon_pipeline.policy import load_policy
from anon_pipeline.sources.patients import patients


def test_a_policy_is_written_that_loads(tmp_path: Path) -> None:
    patients(300, seed=2).to_csv(tmp_path / "people.csv", index=False)
    target = tmp_path / "policy.yaml"
    fitted = draft(tmp_path / "people.csv", target, tmp_path, name="some people")
    policy = load_policy(target)
    assert policy.name == "some_people"
    assert set(policy.columns) == {proposal.name for proposal in fitted.proposals}
    lines = summary(fitted, target)
    assert lines[0].startswith(f"wrote {target}: ")
    asked = target.read_text().count("\n# QUESTION: ") + target.read_text().count("  # QUESTION: ")
    assert f"; {asked} question{'' if asked == 1 else 's'} stand" in lines[0]
    assert asked > 0
    with pytest.raises(InputError, match=r"policy.yaml: must not be there yet"):
        draft(tmp_path / "people.csv", target, tmp_path, name="people")


def test_a_table_outside_of_the_project_is_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(InputError, match="must be within the project of the policy file"):
        place_of(tmp_path / "people.csv", inner, None)
