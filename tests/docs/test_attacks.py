"""The policy's document has every limit on attacks once."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from anon_pipeline.limits.class_values import (
    HIDDEN_HOMOGENEITY,
    NEAR_HOMOGENEITY,
    TOLD_ORIGINALS,
    TOLD_SECRETS,
)
from anon_pipeline.limits.found_groups import FOUND_GROUPS
from anon_pipeline.limits.joint_values import JOINT_HOMOGENEITY, LIST_CELLS, UNION_HOMOGENEITY
from anon_pipeline.limits.known_columns import KNOWN_COLUMNS
from anon_pipeline.limits.outliers import OUTLYING, UNCONFIDENT_RECORDS
from anon_pipeline.limits.usual import linking_bound
from anon_pipeline.policy import policy_from
from anon_pipeline.policy.attacks import Attacks, Averaging, Linkage, PopulationLimits

TOGETHER = (JOINT_HOMOGENEITY, UNION_HOMOGENEITY, LIST_CELLS)
POLICY = (Path(__file__).resolve().parents[2] / "docs" / "policy.md").read_text(encoding="utf-8")
GATE = POLICY.split("\n## gate\n")[1].split("\n## ")[0]
ATTACKS = GATE.split("| key of `gate.attacks` |")[1].split("\n\n")[0]


def test_each_key_has_one_row() -> None:
    assert sorted(re.findall(r"^\| `(\w+)", ATTACKS, re.M)) == sorted(Attacks.model_fields)


def test_the_keys_below_are_named() -> None:
    rows = {row.split("`")[1].split(":")[0]: row for row in ATTACKS.splitlines() if row.startswith("| `")}
    for key, model in (("averaging", Averaging), ("linkage", Linkage), ("population", PopulationLimits)):
        assert [name for name in model.model_fields if name not in rows[key]] == []
    assert f"`similarity` (default {Linkage().similarity:g})" in rows["linkage"]


DRAWN = {"role": "perturb", "mechanism": "randomized_response", "values": ["a", "b"]}


def test_the_defaults_of_known_columns_are_those_of_the_table() -> None:
    table = GATE.split('<a id="known-columns"></a>')[1].split("\n\n")[1]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]
    columns = {
        "town": {"role": "insensitive"},
        "job": DRAWN,
        "pet": DRAWN,
        "ill": {"role": "sensitive"},
        "age": {"role": "generalize", "hierarchy": {"suppress": True}},
    }
    given = {"name": "a", "source": {"path": "a.csv"}, "columns": columns, "perturb": {"epsilon": 1}}
    for k in (3, 5, 10):
        policy = policy_from({**given, "anonymize": {"k": k}})
        usual = (linking_bound(k), "refused")
        found = {
            demand.of: (demand.bound, "published with a warning" if demand.advised else "refused")
            for demand in KNOWN_COLUMNS.demands(policy)
        }
        assert found == {
            "town": usual,
            "job": usual,
            "pet": usual,
            "job + pet": usual,
            "ill": (1.0, "refused"),
            "ill + job + pet + town": (linking_bound(k), "published with a warning"),
        }
        assert f"{linking_bound(k):g} {'for' if k < 10 else 'from'} k = {k}" in GATE
    assert [tuple(row[1:]) for row in rows] == [
        ("*b*", "refused"),
        ("*b*", "refused"),
        ("*b*", "refused"),
        ("none (1): the role says that nobody knows the value", "measured only"),
        ("*b*", "published with a warning"),
        ("none", "not measured"),
    ]


PAGE = (Path(__file__).resolve().parents[2] / "docs" / "attacks.md").read_text(encoding="utf-8")


def test_the_page_on_attacks_explains_every_limit_once() -> None:
    named = re.findall(r"^\| (?:[^|`]+: )?`([\w.]+)`[^|]* \|", PAGE, re.M)
    below = {"linkage": ("exact", "threshold", "rules", "probabilistic")}
    below["population"] = ("journalist_risk", "marketer_risk")
    limits = [f"{key}.{each}" for key, each_of in below.items() for each in each_of]
    limits += [key for key in Attacks.model_fields if key not in below]
    advised = [limit.name for limit in (NEAR_HOMOGENEITY, HIDDEN_HOMOGENEITY, TOLD_SECRETS, TOLD_ORIGINALS)]
    advised += [limit.name for limit in (UNCONFIDENT_RECORDS, OUTLYING, FOUND_GROUPS, *TOGETHER)]
    assert sorted(named) == sorted([*limits, *advised, "gate.linking_risk"])


def test_the_examples_on_the_page_are_of_a_policy() -> None:
    examples = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]
    known, risks = (Attacks.model_validate(found["gate"]["attacks"]) for found in examples)
    assert [(entry.columns, entry.risk) for entry in known.known_columns] == [
        (("occupation",), 0.3),
        (("occupation", "education"), 0.4),
    ]
    assert risks.population is not None
    assert risks.population.journalist_risk == 0.05
