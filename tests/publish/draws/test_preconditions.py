"""What could never be published costs no ε: it is refused before a draw is made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import Locations, Policy, anonymize, make_release
from anon_pipeline.base.errors import AnonPipelineError, InputError, PublishError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.publish import release

Small = Callable[..., Policy]
POPULATION = {"path": "population.csv", "journalist_risk": 1, "marketer_risk": 1}
CHANGES: dict[str, Any] = {
    "gate": {"attacks": {"population": POPULATION}},
    "publish": {"to": "out", "sign": {"key_env": "SIGNING_KEY"}},
}
KEY = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f
-----END PRIVATE KEY-----
"""


def file_there(folder: Path) -> None:
    (folder / "out").write_text("somebody's file")


def file_above(folder: Path) -> None:
    file_there(folder)


def no_manifest_of_ours(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "manifest.json").write_text("[]")


def another_release(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "manifest.json").write_text(json.dumps({"release": "other", "files": []}))


def population_of(text: str | None) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        path = folder / "population.csv"
        path.unlink() if text is None else path.write_text(text)

    return write


FLAWS: dict[str, tuple[Callable[[Path], None], str]] = {
    "the destination is a file": (file_there, "must be a folder that can be written"),
    "the destination is below a file": (file_above, "must be a folder that can be written"),
    "the destination has a foreign manifest": (no_manifest_of_ours, "must be a manifest of anon-pipeline"),
    "the destination is another release's": (another_release, "must not be the folder of another release"),
    "no population": (population_of(None), "gate.attacks.population.path: must be a readable file"),
    "an empty population file": (population_of(""), "population"),
    "a population without a header": (
        population_of("34,Cork\n51,Galway\n"),
        "must have the columns with the",
    ),
    "a population without a column": (population_of("age\n34\n"), "not there: city"),
    "a population without records": (population_of("age,city\n"), "at least one record"),
    "a population whose ages are texts": (population_of("age,city\nCANARY,Cork\n"), "population"),
}


@pytest.fixture
def places(
    tmp_path: Path, small_people: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> Locations:
    people = small_people()
    people.to_csv(tmp_path / "people.csv", index=False)
    people[["age", "city"]].to_csv(tmp_path / "population.csv", index=False)
    monkeypatch.setenv("SIGNING_KEY", KEY)
    return Locations.of(tmp_path, {})


def untouched(places: Locations) -> bool:
    return ledger_at(places.ledger).events() == [] and not places.vault.exists()


@pytest.mark.parametrize("flaw", FLAWS)
def test_it_is_refused_before_a_draw_and_costs_nothing(
    small_policy: Small, places: Locations, flaw: str
) -> None:
    spoil, message = FLAWS[flaw]
    to = "out/below" if spoil is file_above else "out"
    policy = small_policy(**{**CHANGES, "publish": {**CHANGES["publish"], "to": to}})
    spoil(places.sources)
    before = sorted(path for path in places.sources.rglob("*") if "ledger" not in path.name)
    with pytest.raises(AnonPipelineError, match=message) as refused:
        make_release(policy, places)
    assert "CANARY" not in str(refused.value)
    assert untouched(places)
    assert sorted(path for path in places.sources.rglob("*") if "ledger" not in path.name) == before


def test_so_is_a_missing_key_and_all_problems_are_named(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(**CHANGES)
    monkeypatch.delenv("SIGNING_KEY")
    with pytest.raises(InputError, match=r"publish\.sign\.key_env: the environment must have SIGNING_KEY"):
        make_release(policy, places)
    file_there(places.sources)
    population_of("age\n34\n")(places.sources)
    with pytest.raises(InputError) as refused:
        make_release(policy, places)
    assert [line.split(":")[0] for line in refused.value.problems] == [
        "publish.to",
        "publish.sign.key_env",
        "gate.attacks.population",
    ]
    assert untouched(places)


def test_without_such_a_flaw_it_is_published_and_paid_for(small_policy: Small, places: Locations) -> None:
    make_release(small_policy(**CHANGES), places)
    events = [event.event for event in ledger_at(places.ledger).events()]
    assert events == ["drawn", "opened", "opened", "published"]


def test_what_is_spoiled_after_the_draw_is_still_refused(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = release.prepare

    def spoiled(folder: Path, name: str) -> None:
        file_there(places.sources)
        prepare(folder, name)

    monkeypatch.setattr(release, "prepare", spoiled)
    with pytest.raises(PublishError, match="must be a folder that can be written"):
        make_release(small_policy(**CHANGES), places)
    assert [event.event for event in ledger_at(places.ledger).events()] == ["drawn", "opened", "failed"]


def test_in_memory_the_population_is_read_before_there_is_noise(
    small_policy: Small,
    small_people: Callable[..., pd.DataFrame],
    places: Locations,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def drawn(*_: object, **__: object) -> None:
        raise AssertionError("noise was drawn")

    monkeypatch.setattr("anon_pipeline.encode.noise.add_noise", drawn)
    population_of("34,Cork\n")(places.sources)
    with pytest.raises(InputError, match="must have the columns with the role generalize"):
        anonymize(small_policy(gate=CHANGES["gate"]), small_people(), hierarchies=places.sources)
