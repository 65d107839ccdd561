"""The command verify: what it says that it did not verify, and bad arguments."""

from __future__ import annotations

import json
from collections.abc import Callable

import pandas as pd
import pytest

from tests.publish.projects import Project

Make = Callable[..., "Project"]


def test_without_a_policy_it_says_what_was_not_verified(project: Make) -> None:
    made = project()
    code, said = made.call("verify", "out")
    assert code == 0
    assert "Not verified: signature, policy_digest, hierarchies, gate.origin, " in said
    unverified = len(json.loads(made.call("verify", "out", "--json")[1])["unverified"])
    assert f"Nothing contradicts the manifest; {unverified} entries cannot be checked here" in said
    assert said.rstrip().splitlines()[-1].startswith("Verified. ")
    table, _, last = said.rstrip().partition("Verified. ")
    many = table.count("unmeasured: needs the originals")
    assert last.endswith(
        "and these limits were not verified, because this needs the originals: linking_risk, "
        f"and {many - 1} more."
    )
    assert "It was checked against the public part of its policy, which is stored with it" in said
    document = json.loads(made.manifest.read_text())
    (made.path / "out" / document.pop("policy")["name"]).unlink()
    made.manifest.write_text(json.dumps(document))
    code, said = made.call("verify", "out")
    assert code == 0
    assert "Not verified: signature, policy_digest, hierarchies, statements, gate." in said
    assert "It was checked against" not in said


def test_with_several_records_of_people_the_last_line_names_the_limits_on_them(
    project: Make, small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "a secret of many characters, for this test alone")
    people = small_people()
    people["person"] = [f"P{row // 2}" for row in people.index]
    made = project(
        people,
        person="person",
        rows_per_person=2,
        deidentify={"key_env": "KEY"},
        gate={"suppression": 1, "linking_risk": 1, "l_diversity": {"illness": {"kind": "distinct", "l": 1}}},
    )
    code, said = made.call("verify", "out")
    assert code == 0
    last = said.rstrip().splitlines()[-1]
    assert "this needs the originals: k, l_diversity, linking_risk, and " in last
    assert last.endswith(" more.")


def test_a_policy_that_has_changed_is_refused_with_what_to_do(project: Make) -> None:
    made = project()
    policy = made.path / "policy.yaml"
    policy.write_text(
        policy.read_text().replace("attributes:", "attributes:\n  responsible: {owner: Other}", 1)
    )
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 1
    assert said.rstrip().splitlines()[-1] == (
        "refused: the policy has changed since, or is another release's (policy_digest). Leave --policy out, "
        "or give the one that made the release."
    )
    assert made.call("verify", "out")[0] == 0


def test_a_column_that_is_hidden_in_nearly_all_records_is_counted_again(
    project: Make, small_people: Callable[..., pd.DataFrame]
) -> None:
    people = small_people()
    people["age"] = [30] * 6 + [*range(100, 100 + len(people) - 6)]
    people["city"] = ["Cork"] * 120 + ["Galway"] * (len(people) - 120)
    made = project(
        people,
        columns={"age": {"hierarchy": {"intervals": None, "suppress": True}}},
        anonymize={"recoder": "fixed", "levels": {"age": 0, "city": 0}, "suppress": "cells"},
        suppress={"confidence": None},
        gate={"linking_risk": 1, "suppression": 1},
    )
    assert set(pd.read_parquet(made.data)["age"]) == {"30", "*"}
    code, said = made.call("verify", "out", "--json")
    found = {verdict["limit"]: verdict for verdict in json.loads(said)["verdicts"]}
    assert code == 0
    assert found["gate.utility_fully_generalized"]["value"] == 1
    assert found["gate.utility_fully_generalized"]["status"] == "warned"


def test_a_release_that_was_changed_is_not_said_to_agree(project: Make) -> None:
    made = project()
    document = json.loads(made.manifest.read_text())
    made.manifest.write_text(json.dumps(document | {"data_digest": "0" * 64}))
    code, said = made.call("verify", "out")
    assert (code, "Nothing contradicts" in said, "Verified" in said) == (1, False, False)
    assert said.rstrip().splitlines()[-1].startswith("refused by ")


def test_a_program_is_told_by_which_policy_it_was_checked(project: Make) -> None:
    made = project()
    assert json.loads(made.call("verify", "out", "--json")[1])["in_part"] is True
    assert json.loads(made.call("verify", "out", "--policy", "policy.yaml", "--json")[1])["in_part"] is False


def test_it_names_limits_as_run_does(project: Make) -> None:
    made = project()
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 0
    rows = {
        cells[1].strip(): cells[3].strip() for line in said.splitlines() if len(cells := line.split("│")) > 4
    }
    open_ = [name for name, demanded in rows.items() if demanded == "no limit"]
    assert open_
    assert all(name.startswith("gate.known_columns") for name in open_)
    assert "gate.verdicts." not in said
    assert "gate.suppression." in said


def test_the_folder_that_one_is_in_has_its_name(project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = project()
    monkeypatch.chdir(made.path / "out")
    code, said = made.call("verify", ".")
    assert code == 0
    assert said.lstrip().startswith("out, checked")


def test_bad_arguments_exit_with_2(project: Make) -> None:
    made = project()
    for arguments in (["no"], ["people.csv"], ["out", "--policy", "no"], ["out", "--public-key", "no"]):
        assert made.call("verify", *arguments)[0] == 2
