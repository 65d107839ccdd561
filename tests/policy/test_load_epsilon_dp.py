"""Reading policies of ε-DP releases: all mistakes at once, the floor of an organization, other kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import load_policy
from anon_pipeline.policy.load_epsilon_dp import dp_policy_from, is_dp_policy, load_dp_policy

TEXT = """
type: anon_pipeline.EpsilonDpRelease
attributes:
  name: people
  source: {path: people.csv}
  one_record_per_person: true
  epsilon: 2
  columns:
    age: {bounds: [0, 99], otherwise: 0}
  histograms: {}
"""
FLOOR = "type: anon_pipeline.PolicyDefaults\nattributes: {{anonymize: {{k: 5}}{more}}}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    path = tmp_path / "policy.yaml"
    path.write_text(TEXT)
    return path


def test_a_file_is_read_and_known_by_its_type(file: Path) -> None:
    assert is_dp_policy(file) and load_dp_policy(file).epsilon == 2
    with pytest.raises(PolicyError) as refused:
        load_policy(file)
    assert refused.value.problems == (
        "type: must be anon_pipeline.AnonymizedRelease for this command. An ε-DP release is made by run, and "
        "checked by check-policy and verify (docs/epsilon-dp.md).",
    )


def test_other_files_are_not(file: Path) -> None:
    for text in ("", "[", "type: anon_pipeline.AnonymizedRelease", "a: b"):
        file.write_text(text)
        assert not is_dp_policy(file)
    assert not is_dp_policy(file.with_name("none.yaml"))
    with pytest.raises(PolicyError, match=r"mapping with type: anon_pipeline\.EpsilonDpRelease"):
        load_dp_policy(file)


def test_all_mistakes_are_listed(file: Path) -> None:
    wrong = TEXT.replace("epsilon: 2", "epsilon: -2\n  anonymize: {k: 5}").replace("bounds", "bound")
    file.write_text(wrong)
    with pytest.raises(PolicyError) as refused:
        load_dp_policy(file)
    said = "\n".join(refused.value.problems)
    for line in ("anonymize: must be left out", "epsilon: must be above 0", "columns.age"):
        assert line in said


def test_a_floor_accepts_no_such_release_unless_it_says_so(file: Path) -> None:
    floor = file.with_name("policy.defaults.yaml")
    floor.write_text(FLOOR.format(more=""))
    with pytest.raises(PolicyError, match="accepts no ε-DP release"):
        load_dp_policy(file)
    assert load_dp_policy(file, retired=True).name == "people"
    floor.write_text(FLOOR.format(more=", epsilon_dp: 1"))
    with pytest.raises(PolicyError, match=r"epsilon: must be at most 1, which policy\.defaults.yaml demands"):
        load_dp_policy(file)
    floor.write_text(FLOOR.format(more=", epsilon_dp: 2"))
    assert load_dp_policy(file).epsilon == 2
    for wrong in ("true", "-1", "x"):
        floor.write_text(FLOOR.format(more=f", epsilon_dp: {wrong}"))
        with pytest.raises(PolicyError, match="epsilon_dp: must be a number above 0"):
            load_dp_policy(file)


@pytest.mark.parametrize("attributes", [None, 3, "x", []])
def test_attributes_must_be_a_mapping(attributes: object) -> None:
    with pytest.raises(PolicyError, match="attributes: must be a mapping"):
        dp_policy_from(attributes)
