"""The command `tune`: what it prints, writes, changes and ends with; no cell of the data gets out."""

from __future__ import annotations

import csv
import json
import stat
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from anon_pipeline import cli
from anon_pipeline.cli.documents import DOCUMENTS
from anon_pipeline.policy import load_policy
from anon_pipeline.tuning.equal_amount import policies_tried
from anon_pipeline.tuning.output import COLUMNS

POLICY = """\
type: anon_pipeline.AnonymizedRelease
attributes:
  name: people # who
  source: {path: people.csv}
  columns:
    name: {role: identifier}
    age: {role: generalize, hierarchy: {intervals: [5, 10, 20, 40]}}
    town: {role: generalize, hierarchy: {suppress: true}}
    height: {role: perturb, resolution: 1}
    illness: {role: sensitive}
  anonymize: {k: 5, suppression_limit: 0.1} # small
  perturb: {epsilon: 2}
  suppress: {confidence: 0.9}
  gate: {linking_risk: 0.2, suppression: 0.3}
"""
CANARY = "CANARY-7f3a"


@dataclass(frozen=True)
class Done:
    """What the command left."""

    code: int
    out: str
    err: str


Call = Callable[..., Done]


@pytest.fixture
def call(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    rng = np.random.default_rng(0)
    n = 400
    pd.DataFrame(
        {
            "name": [f"{CANARY}-{i}" for i in range(n)],
            "age": rng.integers(20, 60, n),
            "town": rng.choice([f"{CANARY}-A", f"{CANARY}-B"], n),
            "height": rng.integers(7_771_000, 7_771_060, n),
            "illness": rng.choice([f"{CANARY}-flu", f"{CANARY}-cold"], n),
        }
    ).to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "people.yaml").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["anon-pipeline", "tune", "people.yaml", *arguments])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
            sys.exit(0)
        shown = capsys.readouterr()
        return Done(int(exit_.value.code or 0), shown.out, shown.err)

    return run


def test_the_default_grid_ends_at_the_policys_epsilon_and_has_the_recommended_point(
    call: Call, tmp_path: Path
) -> None:
    done = call("--csv", "t.csv", "--map", "m.svg")
    assert done.code == 0, done.err
    assert "Recommended: ola, k = " in done.out
    assert "not for publication" in done.err
    rows = list(csv.DictReader((tmp_path / "t.csv").open(encoding="utf-8")))
    assert len(rows) == 7 * 5 and tuple(rows[0]) == COLUMNS
    best = [row for row in rows if row["recommended"]]
    assert len(best) == 1 and best[0]["verdict"].startswith("passes")
    assert f"k = {best[0]['k']}, ε = {best[0]['epsilon']}" in done.out
    assert (tmp_path / "people.yaml").read_text(encoding="utf-8") == POLICY


def test_files_are_for_the_owner_alone(call: Call, tmp_path: Path) -> None:
    call("--k", "5", "--epsilon", "1", "--csv", "t.csv", "--map", "m.svg")
    for name in ("t.csv", "m.svg"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_the_map_is_one_picture_that_needs_nothing_else(call: Call, tmp_path: Path) -> None:
    call("--k", "5,10,20", "--epsilon", "0.5,2", "--map", "m.svg")
    text = (tmp_path / "m.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    titled = [circle for circle in root.iter(f"{space}circle") if circle.find(f"{space}title") is not None]
    assert len(titled) == 6
    assert root.find(f"{space}title") is not None and root.find(f"{space}desc") is not None
    assert "gate.linking_risk: at most 0.2" in text and "recommended:" in text
    assert text.count("http") == 1 and "href" not in text and "url(" not in text  # the name space alone


def test_without_apply_the_output_says_how_to_write_the_values(call: Call) -> None:
    assert "give the same command --apply" in call("--k", "10", "--epsilon", "0.5").out


def test_apply_writes_the_values_and_nothing_else(call: Call, tmp_path: Path) -> None:
    done = call(
        "--k", "10,20", "--epsilon", "0.5", "--confidence", "0.95", "--recoder", "mondrian", "--apply"
    )
    assert done.code == 0 and "people.yaml has the recommended values now" in done.out
    text = (tmp_path / "people.yaml").read_text(encoding="utf-8")
    k = load_policy(tmp_path / "people.yaml").anonymize.k
    wanted = POLICY.replace(
        "k: 5, suppression_limit: 0.1}", f"k: {k}, suppression_limit: 0.1, recoder: mondrian}}"
    )
    assert text == wanted.replace("epsilon: 2", "epsilon: 0.5").replace("confidence: 0.9", "confidence: 0.95")
    again = call("--k", str(k), "--epsilon", "0.5", "--apply")
    assert "has them already" in again.out


def test_apply_says_that_the_gate_still_demands_less(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "people.yaml"
    path.write_text(POLICY.replace("gate: {", "gate: {k: 5, "), encoding="utf-8")
    assert "gate.k is still" not in call("--k", "5", "--epsilon", "0.5", "--apply").out
    said = call("--k", "10", "--epsilon", "0.5", "--apply").out
    assert (
        "anonymize.k is now 10. gate.k is still 5, so the release promises only 5. To promise 10, set "
        "gate.k: 10." in said
    )
    path.write_text(POLICY.replace("gate: {", "gate: {k: 10, "), encoding="utf-8")
    assert "gate.k is still" not in call("--k", "10", "--epsilon", "0.5", "--apply").out


def test_headings_say_what_is_counted_where_people_are(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "0123456789abcdef")
    assert "people)" not in call("--k", "5", "--epsilon", "1").out
    of_people = "  person: name\n  deidentify: {key_env: KEY}\n  rows_per_person: 1\n  anonymize:"
    (tmp_path / "people.yaml").write_text(POLICY.replace("  anonymize:", of_people), encoding="utf-8")
    said = " ".join(call("--k", "5", "--epsilon", "1").out.split())
    assert "400 records of 400 people" in said
    assert said.count("(people)") == 3


def test_a_grid_where_no_point_passes_names_the_limit_and_the_nearest_point(
    call: Call, tmp_path: Path
) -> None:
    path = tmp_path / "people.yaml"
    tight = POLICY.replace("linking_risk: 0.2", "linking_risk: 0.001")
    path.write_text(tight, encoding="utf-8")
    done = call("--k", "5,10", "--epsilon", "5,10", "--apply")
    assert done.code == 3
    assert (
        "No point passes. The binding limit is linking_risk: the nearest point, ola, k = 10, ε = 5"
        in done.out
    )
    assert "at most 0.001 is demanded" in done.out
    assert path.read_text(encoding="utf-8") == tight


def test_a_k_without_a_recoding_is_impossible_and_the_others_are_shown(call: Call) -> None:
    done = call("--k", "5,401", "--epsilon", "1")
    assert done.code == 0
    assert "Impossible: ola, k = 401" in done.out
    none = call("--k", "401,402", "--epsilon", "1")
    assert none.code == 3 and "none has a recoding" in none.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--k", "five"), "--k must be whole numbers between commas"),
        (("--k", "1"), "anonymize.k"),
        (("--epsilon", "0"), "perturb.epsilon"),
        (("--epsilon", "1,,2"), "--epsilon must be numbers between commas"),
        (("--confidence", "2"), "suppress.confidence"),
        (("--recoder", "magic"), "anonymize.recoder"),
        (("--csv", "not/there.csv", "--k", "5", "--epsilon", "1"), "there.csv must be writable"),
    ],
)
def test_a_wrong_grid_is_told_before_any_work(call: Call, arguments: tuple[str, ...], message: str) -> None:
    done = call(*arguments)
    assert done.code == 2 and message in done.err


def test_no_cell_of_the_data_and_no_small_count_gets_out(call: Call, tmp_path: Path) -> None:
    done = call("--csv", "t.csv", "--map", "m.svg", "--confidence", "none,0.5,0.9")
    everything = done.out + done.err
    everything += (tmp_path / "t.csv").read_text(encoding="utf-8")
    everything += (tmp_path / "m.svg").read_text(encoding="utf-8")
    assert CANARY not in everything and "7771" not in everything and "777105" not in everything
    for row in csv.DictReader((tmp_path / "t.csv").open(encoding="utf-8")):
        for name in ("suppression", "suppression_at_most"):
            share = float(row[name])
            assert share == 0 or share >= float(f"{int(row['k']) / 400:.3g}")


def test_without_a_remaining_epsilon_nothing_is_recommended(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "anon_pipeline.publish.accounting.accounts.remaining_epsilon", lambda *_, **__: Fraction(0)
    )
    done = call("--k", "5")
    assert (done.code, "Recommended" in done.out) == (2, False)
    assert "budget: no ε is left" in done.err
    assert call("--k", "5", "--epsilon", "1").code == 0


def test_amounts_of_columns_that_are_changed_as_a_whole_are_compared_and_written(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = lambda own, k: [*policies_tried(own, k)][::4]  # noqa: E731
    monkeypatch.setattr("anon_pipeline.tuning.measured_points.policies_tried", few)
    path = tmp_path / "people.yaml"
    column = "{role: perturb, resolution: 1, mechanism: rank_swapping, amount: 0.1}"
    masked = POLICY.replace("{role: perturb, resolution: 1}", column)
    masked = masked.replace("epsilon: 2}", "epsilon: 2, without_guarantee: true}")
    path.write_text(masked.replace("  suppress: {confidence: 0.9}\n", ""), encoding="utf-8")
    before = {one.name for one in tmp_path.iterdir()}
    done = call("--k", "5,20", "--json")
    assert done.code == 0, done.err
    assert {one.name for one in tmp_path.iterdir()} == before  # no ledger, no release, no vault
    found = json.loads(done.out)
    jsonschema.validate(found, DOCUMENTS["tune"])
    assert [point["amounts"] for point in found["points"]] == [{"height": 0.1}, {"height": 1.0}] * 2
    best = found["recommended"]
    assert (best["k"], best["epsilon"], best["verdict"][:6]) == (20, None, "passes")
    shown = call("--k", "5,20", "--csv", "t.csv", "--map", "m.svg", "--apply")
    assert "amount" in shown.out and f"k = 20, amount {best['amounts']['height']:g}" in shown.out
    assert f"amount: {best['amounts']['height']:g}}}" in path.read_text(encoding="utf-8")
    everything = shown.out + shown.err + done.out + (tmp_path / "m.svg").read_text(encoding="utf-8")
    everything += (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert CANARY not in everything and "7771" not in everything
    refused = call("--epsilon", "1")
    assert refused.code == 2 and "no column has noise of a scale" in refused.err
