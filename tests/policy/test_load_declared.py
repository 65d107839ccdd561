"""Reading policies of releases with declared columns: all mistakes at once, the floor, other kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_pipeline.base.errors import PolicyError
from anon_pipeline.catalog.release_kinds import EPSILON_DP, SYNTHETIC
from anon_pipeline.policy import load_policy
from anon_pipeline.policy.load_declared import declared_from, kind_of_policy, load_declared

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
    assert kind_of_policy(file) is EPSILON_DP and getattr(load_declared(file, EPSILON_DP), "epsilon", 0) == 2
    with pytest.raises(PolicyError) as refused:
        load_policy(file)
    assert refused.value.problems == (
        "type: must be anon_pipeline.AnonymizedRelease for this command. For an ε-DP release: run makes it, "
        "rehearse tries it, check-policy and verify check it, compare-kinds compares it "
        "(docs/epsilon-dp.md).",
    )


def test_other_files_are_not(file: Path) -> None:
    for text in ("", "[", "type: anon_pipeline.AnonymizedRelease", "a: b"):
        file.write_text(text)
        assert kind_of_policy(file) is None
    assert kind_of_policy(file.with_name("none.yaml")) is None
    with pytest.raises(PolicyError, match=r"mapping with type: anon_pipeline\.EpsilonDpRelease"):
        load_declared(file, EPSILON_DP)


def test_all_mistakes_are_listed(file: Path) -> None:
    wrong = TEXT.replace("epsilon: 2", "epsilon: -2\n  anonymize: {k: 5}").replace("bounds", "bound")
    file.write_text(wrong)
    with pytest.raises(PolicyError) as refused:
        load_declared(file, EPSILON_DP)
    said = "\n".join(refused.value.problems)
    for line in ("anonymize: must be left out", "epsilon: must be at least", "columns.age"):
        assert line in said


def test_a_misspelled_key_of_the_gate_is_not_one_of_other_releases(file: Path) -> None:
    file.write_text(TEXT.replace("histograms: {}", "histograms: {}\n  gate: {expected_eror: 0.1}"))
    with pytest.raises(PolicyError) as refused:
        load_declared(file, EPSILON_DP)
    assert refused.value.problems == ("gate.expected_eror: is not known here. Is it expected_error?",)


def test_a_floor_accepts_no_such_release_unless_it_says_so(file: Path) -> None:
    floor = file.with_name("policy.defaults.yaml")
    floor.write_text(FLOOR.format(more=""))
    with pytest.raises(PolicyError, match="does not accept an ε-DP release"):
        load_declared(file, EPSILON_DP)
    assert load_declared(file, EPSILON_DP, retired=True).name == "people"
    floor.write_text(FLOOR.format(more=", epsilon_dp: 1"))
    with pytest.raises(PolicyError, match=r"epsilon: must be at most 1, which policy\.defaults.yaml demands"):
        load_declared(file, EPSILON_DP)
    floor.write_text(FLOOR.format(more=", epsilon_dp: 2"))
    assert load_declared(file, EPSILON_DP).name == "people"
    for wrong in ("true", "-1", "x"):
        floor.write_text(FLOOR.format(more=f", epsilon_dp: {wrong}"))
        with pytest.raises(PolicyError, match="epsilon_dp: must be a number above 0, the largest ε"):
            load_declared(file, EPSILON_DP)


def test_a_floor_accepts_synthetic_releases_if_it_says_so(file: Path) -> None:
    file.write_text(dp_text_of_synthetic())
    floor = file.with_name("policy.defaults.yaml")
    for said, problem in (("", "does not accept a synthetic release"), (", synthetic: 3", "must be true")):
        floor.write_text(FLOOR.format(more=said))
        with pytest.raises(PolicyError, match=problem):
            load_declared(file, SYNTHETIC)
    floor.write_text(FLOOR.format(more=", synthetic: true"))
    assert load_declared(file, SYNTHETIC).name == "people"


def dp_text_of_synthetic() -> str:
    """Return the policy of a synthetic release."""
    text = TEXT.replace("EpsilonDpRelease", "SyntheticRelease").replace("histograms: {}", "method: copula")
    return "\n".join(line for line in text.splitlines() if "epsilon: 2" not in line and "one_rec" not in line)


def test_a_column_is_shown_as_its_kind_writes_it() -> None:
    with pytest.raises(PolicyError) as refused:
        declared_from({"columns": 5}, EPSILON_DP)
    assert "{age: {bounds: [0, 99], otherwise: 0}}" in "\n".join(refused.value.problems)


@pytest.mark.parametrize("attributes", [None, 3, "x", []])
def test_attributes_must_be_a_mapping(attributes: object) -> None:
    with pytest.raises(PolicyError, match="attributes: must be a mapping"):
        declared_from(attributes, EPSILON_DP)
