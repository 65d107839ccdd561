"""From a table to a policy file in one call."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.draft.attributes import Place
from anon_pipeline.draft.policy_draft import as_document, draft, place_of, summary, write_draft
from anon_pipeline.draft.profile.profile_table import profile_file
from anon_pipeline.policy import load_policy
from anon_pipeline.sources.patients import patients


def test_a_policy_is_written_that_loads(tmp_path: Path) -> None:
    patients(300, seed=2).to_csv(tmp_path / "people.csv", index=False)
    target = tmp_path / "policy.yaml"
    made = draft(tmp_path / "people.csv", target, tmp_path, name="some people")
    fitted, policy = made.fitted, load_policy(target)
    assert policy.name == "some_people"
    assert set(policy.columns) == {proposal.name for proposal in fitted.proposals}
    lines = summary(fitted, target, made.tables)
    assert lines[0].startswith(f"wrote {target}: ")
    asked = target.read_text().count("\n# QUESTION: ") + target.read_text().count("  # QUESTION: ")
    assert f"; {asked} question{'' if asked == 1 else 's'} stand" in lines[0]
    assert asked > 0
    assert lines[-2] == (
        f"Answer the questions in the file, and delete them, then: anon-pipeline rehearse {target}"
    )
    assert not any("against your answer" in line for line in lines)
    document = as_document(fitted, target, made.tables)
    assert (document["questions"], document["said"]) == (asked, lines)
    overruled = summary(fitted, target, made.tables, against=["height", "town"])
    assert overruled[1] == "left out against your answer: height, town; the file says why"
    with pytest.raises(InputError, match=r"policy.yaml: must not be there yet"):
        draft(tmp_path / "people.csv", target, tmp_path, name="people")


def test_edited_tables_are_refused_also_where_only_the_fitted_policy_has_them(tmp_path: Path) -> None:
    frame = patients(300, seed=2)
    frame["town"] = [f"town {i % 9}" for i in range(300)]
    frame.to_csv(tmp_path / "people.csv", index=False)
    made = draft(tmp_path / "people.csv", tmp_path / "one.yaml", tmp_path, name="people")
    assert tmp_path / "private" / "people" / "town.csv" in made.tables
    assert f"wrote {os.path.relpath(made.tables[0])} (private: it has values; edit it)" in summary(
        made.fitted, tmp_path / "one.yaml", made.tables
    )
    for table in made.tables:
        table.write_text("edited")
    found, _ = profile_file(tmp_path / "people.csv")
    with pytest.raises(InputError, match="must not be there yet"):
        write_draft(found, made.fitted, Place("people", "people.csv"), tmp_path / "two.yaml", tmp_path)
    assert not (tmp_path / "two.yaml").exists()
    assert {table.read_text() for table in made.tables} == {"edited"}


def test_a_table_outside_of_the_project_is_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    with pytest.raises(InputError, match="must be within the project of the policy file"):
        place_of(tmp_path / "people.csv", inner, None)
