"""Writing the choice into a policy file: these values, and not one other byte."""

from __future__ import annotations

import copy
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.disk import Disk, use_disk
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import load_policy, parse_policy
from anon_pipeline.tuning.apply import apply, edit_text
from anon_pipeline.tuning.grid import Choice, policy_at

COMMENTED = """\
# A release of people — with “quotes” and ünïcode.
type: anon_pipeline.AnonymizedRelease   # the component

attributes:
    name: people
    source: {path: people.csv}

    columns:     # every column
        age: {role: generalize, hierarchy: {intervals: [5, 10]}}
        height:   {role: perturb,   resolution: 1}

    anonymize:
        # classes of at least this many
        k:    "5"   # five
        suppression_limit: 0.05  # 5 %

    perturb: {epsilon: 2.0  , mechanism: discrete_laplace} # ε
    # the end of perturb

    gate: {linking_risk: 0.05}


# the end
"""
CHOICE = Choice(20, 0.5, None, "ola")


def text(body: str = COMMENTED) -> str:
    return body.replace('"5"', "5")


def test_only_the_values_are_others() -> None:
    before = text()
    after = edit_text(before, parse_policy(before), CHOICE)
    assert after == before.replace("k:    5 ", "k:    20 ").replace("epsilon: 2.0  ,", "epsilon: 0.5  ,")


def test_keys_that_are_not_there_are_written_behind_their_sections_last() -> None:
    before = text()
    after = edit_text(before, parse_policy(before), Choice(5, 2.0, 0.99, "optimal"))
    wanted = before.replace(
        "suppression_limit: 0.05  # 5 %\n", "suppression_limit: 0.05  # 5 %\n        recoder: optimal\n"
    ).replace(
        "    gate: {linking_risk: 0.05}\n",
        "    gate: {linking_risk: 0.05}\n    suppress: {confidence: 0.99}\n",
    )
    assert after == wanted


@pytest.mark.parametrize(
    ("section", "wanted"),
    [
        ("suppress: {}", "suppress: {confidence: 0.9}"),
        ("suppress: {confidence: 0.5}", "suppress: {confidence: 0.9}"),
        ("suppress: {confidence: }", "suppress: {confidence: 0.9 }"),
        ("suppress: {confidence: null}", "suppress: {confidence: 0.9}"),
        ("suppress:\n        confidence: ~ # none", "suppress:\n        confidence: 0.9 # none"),
    ],
)
def test_a_section_in_any_style(section: str, wanted: str) -> None:
    before = text().replace("    gate:", f"    {section}\n    gate:")
    assert edit_text(before, parse_policy(before), Choice(5, 2.0, 0.9, "ola")) == before.replace(
        section, wanted
    )


def test_a_confidence_can_be_taken_away() -> None:
    before = text().replace("    gate:", "    suppress: {confidence: 0.5}\n    gate:")
    after = edit_text(before, parse_policy(before), Choice(5, 2.0, None, "ola"))
    assert after == before.replace("confidence: 0.5", "confidence: null")


@pytest.mark.parametrize("line_end", ["\r\n", "\n"])
@pytest.mark.parametrize("tail", ["", "\n"])
def test_line_ends_and_a_missing_last_one_stay(line_end: str, tail: str) -> None:
    before = text().rstrip().removesuffix("# the end").rstrip().replace("\n", line_end) + tail.replace(
        "\n", line_end
    )
    after = edit_text(before, parse_policy(before), Choice(5, 2.0, 0.9, "ola"))
    assert after.replace(f"{line_end}    suppress: {{confidence: 0.9}}", "") == before
    assert parse_policy(after).suppress.confidence == 0.9


JSON: dict[str, Any] = {
    "type": "anon_pipeline.AnonymizedRelease",
    "attributes": {
        "name": "people",
        "source": {"path": "p.csv"},
        "columns": {
            "age": {"role": "generalize", "hierarchy": {"intervals": [5]}},
            "h": {"role": "perturb", "resolution": 1},
        },
        "anonymize": {"k": 5},
        "perturb": {"mechanism": "discrete_laplace", "epsilon": 1e-3},
    },
}


@pytest.mark.parametrize("options", [{}, {"indent": 2}, {"indent": 4, "ensure_ascii": False}])
@pytest.mark.parametrize("suppress", [None, {}, {"confidence": None}, {"confidence": 0.5}])
def test_json_is_written_as_json_laid_out_as_it_was(options: dict[str, Any], suppress: object) -> None:
    document = copy.deepcopy(JSON)
    document["attributes"] |= {} if suppress is None else {"suppress": suppress}
    before = json.dumps(document, **options) + "\n"
    policy, choice = parse_policy(before), Choice(7, 0.00001, 0.9, "mondrian")
    after = edit_text(before, policy, choice)
    document["attributes"]["anonymize"] = {"k": 7, "recoder": "mondrian"}
    document["attributes"]["perturb"]["epsilon"] = 0.00001
    document["attributes"]["suppress"] = {"confidence": 0.9}
    assert json.loads(after) == document
    assert parse_policy(after).digest == policy_at(policy, choice).digest
    if suppress:
        assert after == json.dumps(document, **options).replace("1e-05", "0.00001") + "\n"


def test_a_recoder_that_stands_there_stays_a_text() -> None:
    document = copy.deepcopy(JSON)
    document["attributes"]["anonymize"]["recoder"] = "ola"
    before = json.dumps(document, indent="  ")
    after = edit_text(before, parse_policy(before), Choice(5, 0.001, None, "mondrian"))
    assert after == before.replace('"ola"', '"mondrian"')


def test_json_on_one_line_stays_on_one() -> None:
    before = (
        '{"type": "anon_pipeline.AnonymizedRelease", '
        '"attributes": {"name": "p", "source": {"path": "p.csv"}, '
        '"columns": {"age": {"role": "generalize", "hierarchy": {"intervals": [5]}}, '
        '"h": {"role": "perturb", "resolution": 1}}, "anonymize": {"k": 5}, "perturb": {"epsilon": 1}}}'
    )
    policy = parse_policy(before)
    after = edit_text(before, policy, Choice(7, 0.00001, 0.9, "ola"))
    assert parse_policy(after).digest == policy_at(policy, Choice(7, 0.00001, 0.9, "ola")).digest
    assert '"k": 7' in after and '"epsilon": 0.00001' in after
    assert json.loads(after)["attributes"]["suppress"] == {"confidence": 0.9}
    assert after.endswith('"perturb": {"epsilon": 0.00001}, "suppress": {"confidence": 0.9}}}')


def test_values_that_are_shared_by_alias_are_refused() -> None:
    before = text().replace("k:    5 ", "k:    &k 5 ").replace("gate: {", "gate: {k: *k, ")
    with pytest.raises(PolicyError, match=r"spell out anonymize\.k where they stand"):
        edit_text(before, parse_policy(before), Choice(7, 2.0, None, "ola"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_bytes(text().encode())
    path.chmod(0o640)
    return path


def test_the_file_is_replaced_whole_with_its_permissions(file: Path) -> None:
    policy = load_policy(file)
    assert apply(file, policy, CHOICE)
    assert file.read_bytes() == edit_text(text(), policy, CHOICE).encode()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in file.parent.iterdir()] == ["policy.yaml"]
    assert load_policy(file).digest == policy_at(policy, CHOICE).digest


def test_what_is_so_already_is_not_written(file: Path) -> None:
    inode = file.stat().st_ino
    assert not apply(file, load_policy(file), Choice(5, 2.0, None, "ola"))
    assert file.stat().st_ino == inode


def test_a_link_stays_one(file: Path) -> None:
    link = file.with_name("link.yaml")
    link.symlink_to(file.name)
    apply(link, load_policy(link), CHOICE)
    assert link.is_symlink() and load_policy(file).anonymize.k == 20


def test_a_file_that_was_changed_meanwhile_is_left_alone(file: Path) -> None:
    policy = load_policy(file)
    file.write_bytes(text().replace("k:    5 ", "k:    6 ").encode())
    before = file.read_bytes()
    with pytest.raises(PolicyError, match="got a changed one"):
        apply(file, policy, CHOICE)
    assert file.read_bytes() == before


def test_a_disk_that_fails_leaves_the_old_file(file: Path) -> None:
    def at(point: str) -> None:
        if point == "before rename policy":
            raise OSError(28, os.strerror(28))

    before = file.read_bytes()
    with use_disk(Disk(at)), pytest.raises(PolicyError, match="must be writable"):
        apply(file, load_policy(file), CHOICE)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["policy.yaml"]


def test_amounts_are_written_where_their_columns_are() -> None:
    column = "{role: perturb,   resolution: 1, mechanism: rank_swapping, amount: 0.10}  # tall"
    before = (
        text()
        .replace("{role: perturb,   resolution: 1}", column)
        .replace("mechanism: discrete_laplace", "without_guarantee: true")
    )
    policy, choice = parse_policy(before), Choice(20, None, None, "ola", (("height", 0.05),))
    after = edit_text(before, policy, choice)
    assert after == before.replace("k:    5 ", "k:    20 ").replace("amount: 0.10", "amount: 0.05")
    assert edit_text(before, policy, Choice(5, None, None, "ola", (("height", 0.1),))) == before
