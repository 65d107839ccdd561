"""The whole way in one call: what a notebook gets, and what it must not get."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anon_pipeline import GateRefused, Locations, anonymize, make_release
from anon_pipeline.base.errors import InputError, PolicyError, StageCrashed
from anon_pipeline.gate import GateReport
from anon_pipeline.perturb.entropy import seeded_entropy
from anon_pipeline.policy import Policy

Small = Callable[..., Policy]
People = Callable[..., pd.DataFrame]


def test_a_release_has_its_table_facts_and_report(small_policy: Small, small_people: People) -> None:
    policy, people = small_policy(), small_people()
    before = people.copy()
    release = anonymize(policy, people)
    assert release.report.passed
    assert list(release.frame.columns) == policy.released
    assert list(release.facts) == [
        "raw",
        "deidentified",
        "k_anonymized",
        "perturbed",
        "shuffled",
        "suppressed",
    ]
    pd.testing.assert_frame_equal(people, before)


def test_identifiers_are_refused_before_there_is_a_release(small_policy: Small, small_people: People) -> None:
    with pytest.raises(GateRefused, match="note: must hold no e-mail addresses") as refused:
        anonymize(small_policy(), small_people().assign(note="mail CANARY-7f3a@example.org"))
    assert "CANARY" not in f"{refused.value!r}{refused.value}"


def test_a_seeded_release_is_refused(small_policy: Small, small_people: People) -> None:
    release = anonymize(small_policy(), small_people(), entropy=seeded_entropy(1))
    assert "origin" in repr(release)
    with pytest.raises(GateRefused, match="made with a seed"):
        _ = release.frame


def test_hierarchies_are_found_where_they_are_said_to_be(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    (tmp_path / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
    policy = small_policy(columns={"city": {"hierarchy": {"suppress": None, "table": "city.csv"}}})
    assert anonymize(policy, small_people(), hierarchies=tmp_path).report.passed


def test_a_population_is_found_in_the_same_folder_and_must_not_leave_it(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    small_people().to_csv(tmp_path / "everybody.csv", index=False)
    inside, outside = (
        small_policy(gate={"attacks": {"population": {"path": path, "journalist_risk": 1}}})
        for path in ("everybody.csv", "../everybody.csv")
    )
    report = anonymize(inside, small_people(), hierarchies=tmp_path).report
    assert report.passed
    assert report.population_digest is not None
    with pytest.raises(InputError, match=r"population\.path: must stay within the folder of sources"):
        anonymize(outside, small_people(), hierarchies=tmp_path)


def test_make_release_reads_runs_and_publishes(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    small_people().to_csv(tmp_path / "people.csv", index=False)
    heard: list[str] = []
    with pytest.warns(DeprecationWarning, match="pass observe"):
        written = make_release(small_policy(), Locations.of(tmp_path, {}), told=heard.append)
    assert heard[0] == "source"
    assert heard[-1] == "gate"
    assert written.path.parent == tmp_path / "out"
    kept = [path for path in (tmp_path / "vault").rglob("*") if path.suffix in {".draw", ".parquet"}]
    assert kept == []  # the key of the noise is destroyed


def test_a_second_lock_sees_a_report_that_passed_and_may_refuse(
    small_policy: Small, small_people: People, tmp_path: Path
) -> None:
    small_people().to_csv(tmp_path / "people.csv", index=False)
    seen: list[GateReport] = []

    def refuse(report: GateReport) -> None:
        seen.append(report)
        raise GateRefused("locked", report)

    with pytest.raises(GateRefused, match="locked"):
        make_release(small_policy(), Locations.of(tmp_path, {}), second_lock=refuse)
    assert [report.passed for report in seen] == [True]
    assert [path.name for path in (tmp_path / "out").rglob("*") if path.suffix in {".parquet", ".json"}] == []


@pytest.mark.parametrize(
    "broken", ["anon_pipeline.publish.whole_chain.evaluate", "anon_pipeline.publish.whole_chain.read_source"]
)
def test_a_crash_does_not_tell_its_data(
    small_policy: Small, small_people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ValueError("CANARY-7f3a")

    monkeypatch.setattr(broken, crash)
    with pytest.raises(StageCrashed) as raised:
        anonymize(small_policy(), small_people())
        make_release(small_policy(), Locations.of(tmp_path, {}))
    assert "CANARY" not in f"{raised.value}{raised.value.__context__}"


def test_anonymize_stays_in_its_folder(
    small_policy: Callable[..., Policy], small_people: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    (tmp_path / "city.csv").write_text("Cork;*\nDublin;*\nGalway;*\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    policy = small_policy(
        source={"path": "/not/used"},
        columns={"city": {"hierarchy": {"suppress": None, "table": "../city.csv"}}},
    )
    with pytest.raises(InputError, match=r"columns\.city\.hierarchy\.table: must stay within"):
        anonymize(policy, small_people(), hierarchies=inner)
    assert anonymize(policy, small_people(), hierarchies=inner, outside=True).report.passed


def test_a_budget_cannot_be_kept_in_memory(small_policy: Small, small_people: People) -> None:
    with pytest.raises(PolicyError, match="budget: cannot be kept in memory"):
        anonymize(small_policy(budget={"epsilon": 3}), small_people())
