"""The command `compare`: what it prints and writes; no cell of the data gets out."""

from __future__ import annotations

import csv
import json
import stat
import xml.etree.ElementTree as ET
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pandas as pd
from jsonschema import validate

from anon_pipeline.cli import comparing_variants
from anon_pipeline.cli.documents import schema_of
from tests.cli.projects import Folder

CANARY = "CANARY-7f3a"


def test_variants_are_compared_and_what_is_written_is_the_owners_alone(
    folder: Callable[..., Folder], small_people: Callable[..., pd.DataFrame]
) -> None:
    made = folder(small_people().assign(illness=lambda frame: f"{CANARY} " + frame["illness"]))
    before = (made.path / "policy.yaml").read_text()
    done = made.call(
        *("compare", "policy.yaml", "--with", "recoder=mondrian", "--with", "k=6,epsilon=1"),
        *("--with", "recoder=fixed", "--csv", "table.csv", "--map", "map.svg"),
    )
    assert done.code == 0, done.err
    assert "recoder = fixed: no release. anonymize.levels" in done.out
    assert "Least loss without weaker protection" in done.out or "No variant passes" in done.out
    assert "for the curator, not for publication" in done.err
    assert CANARY not in done.out + done.err
    table = list(csv.DictReader((made.path / "table.csv").open(encoding="utf-8")))
    assert [row["variant"] for row in table] == [
        *("as in the policy", "recoder = mondrian", "k = 6, epsilon = 1", "recoder = fixed")
    ]
    ET.fromstring((made.path / "map.svg").read_text(encoding="utf-8"))
    for name in ("table.csv", "map.svg"):
        assert stat.S_IMODE((made.path / name).stat().st_mode) == 0o600
        assert CANARY not in (made.path / name).read_text(encoding="utf-8")
    assert (made.path / "policy.yaml").read_text() == before
    assert made.released == [] and not (made.path / "vault").exists()


def test_json_of_compare(folder: Callable[..., Folder]) -> None:
    asked = ("compare", "policy.yaml", "--with", "recoder=mondrian", "--with", "recoder=fixed", "--json")
    done = folder().call(*asked)
    document = json.loads(done.out)
    validate(document, schema_of("compare"))
    assert (done.code, document["written"]) == (0, [])
    assert [one["outcome"] is None for one in document["variants"]] == [False, False, True]


def test_no_release_by_any_variant_ends_with_3(folder: Callable[..., Folder]) -> None:
    done = folder(anonymize={"k": 1_000}).call("compare", "policy.yaml", "--with", "k=2000")
    assert done.code == 3
    assert done.out.count("no release") == 2 and "No variant passes the gate" in done.out


def test_mistakes_are_named_before_anything_is_read(folder: Callable[..., Folder]) -> None:
    made = folder()
    (made.path / "people.csv").unlink()
    done = made.call("compare", "policy.yaml", "--with", "size=3")
    assert done.code == 2 and "--with: must be KEY=VALUE" in done.err
    assert made.call("compare", "policy.yaml").code == 2


def test_the_least_loss_of_all_is_named_if_the_gate_passes_it() -> None:
    def variant(
        name: str, loss: float, linking: float, *, passes: bool = True, epsilon: float | None = None
    ) -> Any:
        outcome = SimpleNamespace(loss=loss, linking=linking, passes=passes)
        return SimpleNamespace(name=name, outcome=outcome, weakens=False, epsilon=epsilon)

    recommend = getattr(comparing_variants, "_recommend")  # noqa: B009
    refused = variant("refused", 0.1, 0.01, passes=False)
    said = recommend([variant("own", 0.3, 0.01), variant("finer", 0.2, 0.02), refused])
    assert said.startswith("Least loss without weaker protection or more linking: own.")
    assert "The least loss of all: finer" in said and "refused" not in said and "noise" not in said
    said = recommend([variant("own", 0.3, 0.01, epsilon=1.0)])
    assert "of all" not in said and "due to the noise" in said
