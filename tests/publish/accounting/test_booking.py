"""The ledger and the destination agree, whatever ends a run and wherever."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline import Locations, make_release
from anon_pipeline.base.errors import GateRefused, InfeasibleError, InputError, PolicyError, PublishError
from anon_pipeline.gate import GateReport
from anon_pipeline.ledger import Ledger, ledger_at
from anon_pipeline.ledger.budget import release_states
from anon_pipeline.limits.verdicts import Status, Verdict
from anon_pipeline.policy import Policy
from anon_pipeline.publish import Published, release, writer
from anon_pipeline.publish.accounting import booking
from anon_pipeline.publish.accounting.archive import VaultArchive
from anon_pipeline.publish.rehearsal import rehearse
from anon_pipeline.publish.release_in_memory import Release
from tests.forked import killed

Small = Callable[..., Policy]


@pytest.fixture
def places(tmp_path: Path, small_people: Callable[..., pd.DataFrame]) -> Locations:
    small_people().to_csv(tmp_path / "people.csv", index=False)
    return Locations.of(tmp_path, {})


def entered(places: Locations) -> list[str]:
    return [event.event for event in ledger_at(places.ledger).events()]


def manifest(places: Locations) -> dict[str, object]:
    document: dict[str, object] = json.loads((places.releases / "out" / "manifest.json").read_text())
    return document


def test_a_release_is_opened_before_the_noise_and_closed_after_the_rename(
    small_policy: Small, places: Locations
) -> None:
    written = make_release(small_policy(), places)
    last = ledger_at(places.ledger).events()[-1]
    assert entered(places) == ["drawn", "opened", "opened", "published"]
    assert last.release_id == written.manifest["facts"]["perturbed"]["release_id"]
    assert last.data_digest == written.manifest["data_digest"]
    assert (last.epsilon, last.k, last.dataset) == ("2", 3, "small")


def test_a_release_beyond_the_budget_draws_no_noise(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(budget={"epsilon": 5})
    make_release(policy, places)
    second = make_release(policy, places)

    def drawn(*_: object, **__: object) -> None:
        raise AssertionError("noise was drawn")

    monkeypatch.setattr("anon_pipeline.encode.noise.add_noise", drawn)
    with pytest.raises(GateRefused, match="spent 4, requested 2, remaining 1"):
        make_release(policy, places)
    assert entered(places) == ["drawn", "opened", "opened", "published"] * 2
    assert manifest(places)["data_digest"] == second.manifest["data_digest"]


def test_two_releases_of_one_dataset_share_its_budget(small_policy: Small, places: Locations) -> None:
    make_release(small_policy(dataset="people"), places)
    other = small_policy(name="other", dataset="people", budget={"epsilon": 3}, publish={"to": "other"})
    with pytest.raises(GateRefused, match="the releases of people may spend ε = 3"):
        make_release(other, places)


def verdict_of(report: GateReport, limit: str) -> Verdict:
    (found,) = (verdict for verdict in report.verdicts if verdict.limit == limit)
    return found


def earlier(written: Published | Release) -> Verdict:
    return verdict_of(written.report, "earlier_release")


def has_same_columns(written: Published) -> bool:
    return "another dataset, of a source with the same columns" in str(earlier(written).reason)


def test_the_same_columns_under_another_name_warn_until_the_policy_says_whose_data_it_is(
    small_policy: Small, places: Locations
) -> None:
    first = make_release(small_policy(), places)
    again = make_release(small_policy(), places)
    assert not any(has_same_columns(written) for written in (first, again))
    other = {"name": "other", "publish": {"to": "other"}}
    warned = make_release(small_policy(**other), places)
    assert has_same_columns(warned)
    assert earlier(warned).status is Status.WARNED
    assert "if not, write dataset: other" in str(earlier(warned).reason)
    for dataset in ("small", "other"):
        said = make_release(small_policy(**other, dataset=dataset), places)
        assert not has_same_columns(said), dataset


def test_another_release_of_a_dataset_warns_before_it_is_published_unless_its_rows_are_the_same(
    small_policy: Small, places: Locations, small_people: Callable[..., pd.DataFrame]
) -> None:
    dropped = {"role": "identifier", "action": "drop", "unit": None, "resolution": None}
    plain = {"columns": {"height": dropped}, "perturb": None, "suppress": None}
    policy = small_policy(**plain)
    assert [earlier(make_release(policy, places)).status for _ in range(2)] == [Status.PASSED] * 2
    small_people().iloc[1:].to_csv(places.sources / "people.csv", index=False)
    unkept = replace(places, ledger="off")
    assert earlier(rehearse(policy, unkept)).status is Status.PASSED
    for warned in (earlier(rehearse(policy, places)), earlier(make_release(policy, places))):
        assert warned.status is Status.WARNED
        assert warned.reason is not None
        assert "the ledger has another release of small" in warned.reason
    again = make_release(policy, places)  # the same rows as the second one, not as the first
    assert earlier(again).status is Status.WARNED
    other = small_policy(**plain, name="other", dataset="other", publish={"to": "other"})
    assert earlier(make_release(other, places)).status is Status.PASSED
    same = small_policy(**plain, name="third", dataset="small", publish={"to": "third"})
    assert earlier(make_release(same, places)).status is Status.WARNED


def test_with_a_record_key_only_releases_that_are_not_compared_warn(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    keyed = {"record_key": "person", "deidentify": {"key_env": "ANON_TEST_KEY"}}

    def made(**changes: Any) -> Verdict:
        policy = small_policy(**changes, gate={"suppression": None})
        return earlier(make_release(policy, places, archive=VaultArchive(policy, places)))

    assert made(**keyed).status is Status.PASSED
    assert made(**keyed).status is Status.PASSED  # newcomers compares the two
    other = made(**keyed, name="other", dataset="small", publish={"to": "other"})
    assert other.status is Status.WARNED
    assert "made without record_key or under another name" in str(other.reason)
    make_release(small_policy(name="plain", publish={"to": "plain"}), places)
    plain = made(**keyed, name="plain", publish={"to": "plain"})
    assert plain.status is Status.WARNED


def test_with_a_record_key_a_release_of_other_quasi_identifiers_warns_unless_the_policy_sets_the_bound(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_TEST_KEY", "0123456789abcdef")
    dropped = {"role": "identifier", "action": "drop", "hierarchy": None}
    keyed: dict[str, Any] = {
        "record_key": "person",
        "deidentify": {"key_env": "ANON_TEST_KEY"},
        "anonymize": {"loss": "discernibility"},
    }

    def made(name: str, **gate: Any) -> Verdict:
        gate |= {"suppression": None, "linking_risk": None}
        policy = small_policy(**keyed, columns=dict.fromkeys((name, "note"), dropped), gate=gate)
        written = make_release(policy, places, archive=VaultArchive(policy, places))
        return verdict_of(written.report, "cross_release_k")

    assert made("city").status is Status.PASSED
    other = made("age")
    assert (other.status, other.bound) == (Status.WARNED, 3)
    assert other.value is not None and other.value < 3
    with pytest.raises(GateRefused, match="cross_release_k"):
        made("age", cross_release_k=3)


def test_partitions_that_are_part_of_the_source_have_people_of_their_own(
    small_policy: Small, places: Locations, small_people: Callable[..., pd.DataFrame]
) -> None:
    for key in ("2026-01", "2026-02"):
        small_people().to_csv(places.sources / f"people-{key}.csv", index=False)
    monthly = {"schedule": {"cron": "0 3 1 * *", "partitions": "monthly"}}
    own = small_policy(**monthly, source={"path": "people-{partition}.csv"})
    same = small_policy(**monthly, name="same", dataset="same", publish={"to": "same"})
    for policy, second in ((own, Status.PASSED), (same, Status.WARNED)):
        written = [make_release(policy, places, partition=key) for key in ("2026-01", "2026-02", "2026-01")]
        assert [earlier(one).status for one in written] == [Status.PASSED, second, Status.WARNED]


def test_without_a_ledger_and_with_other_columns_nothing_is_said(
    small_policy: Small, places: Locations, small_people: Callable[..., pd.DataFrame]
) -> None:
    make_release(small_policy(), places)
    other = {"name": "other", "publish": {"to": "other"}}
    unkept = replace(places, ledger="off")
    assert earlier(make_release(small_policy(**other), unkept)).status is Status.PASSED
    more = {"more": {"role": "identifier", "action": "drop"}}
    small_people().assign(more="x").to_csv(places.sources / "people.csv", index=False)
    assert earlier(make_release(small_policy(**other, columns=more), places)).status is Status.PASSED


def test_a_refused_release_stays_spent_and_is_made_again_for_nothing(
    small_policy: Small, places: Locations
) -> None:
    for _ in range(3):
        with pytest.raises(GateRefused, match="linking_risk"):
            make_release(small_policy(gate={"linking_risk": 0.0}, budget={"epsilon": 2}), places)
    assert entered(places) == ["drawn", *["opened", "failed"] * 3]
    with pytest.raises(GateRefused, match="spent 2, requested 2, remaining 0") as refused:
        make_release(small_policy(budget={"epsilon": 2}), places)
    assert "2 of this was spent on 1 draw that was not published. It stays spent" in str(refused.value)


def test_a_stage_that_fails_after_the_noise_leaves_it_spent(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def infeasible(*_: object, **__: object) -> None:
        raise InfeasibleError("none left", k=3, reached_k=0, suppressed=1.0)

    monkeypatch.setattr("anon_pipeline.stages.pipeline.suppress_unconfident", infeasible)
    with pytest.raises(InfeasibleError):
        make_release(small_policy(), places)
    assert entered(places) == ["drawn", "opened", "failed"]


def test_what_ends_before_the_noise_is_not_entered(small_policy: Small, places: Locations) -> None:
    with pytest.raises(InfeasibleError):
        make_release(small_policy(anonymize={"k": 300}, gate=None), places)
    assert entered(places) == []


def kill(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_crash_between_rename_and_close_is_found_by_the_next_run(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = small_policy(budget={"epsilon": 5})
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "enter_published", kill)
        assert killed(lambda: make_release(policy, places))
    assert entered(places) == ["drawn", "opened", "opened"]
    crashed = manifest(places)
    make_release(policy, places)
    assert entered(places) == ["drawn", "opened", "opened", "published"] * 2
    found = ledger_at(places.ledger).events()[3]
    assert found.data_digest == crashed["data_digest"]
    with pytest.raises(GateRefused, match="spent 4"):
        make_release(policy, places)


@pytest.mark.parametrize("place", ["write_release", "judge"])
def test_a_crash_before_the_rename_counts_and_the_next_run_uses_its_draw(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    policy = small_policy(budget={"epsilon": 3})
    with monkeypatch.context() as patch:
        patch.setattr(release, place, kill)
        assert killed(lambda: make_release(policy, places))
    with pytest.raises(GateRefused, match="2 of this was spent on 1 draw that was not published"):
        make_release(
            small_policy(budget={"epsilon": 3}, gate={"attacks": {"prosecutor_risk": 0.001}}), places
        )
    made = make_release(policy, places)
    book = ledger_at(places.ledger)
    assert made.manifest["facts"]["perturbed"]["release_id"] == book.events()[0].release_id
    assert len(release_states(book.events())) == 1


def test_writing_that_fails_before_the_manifest_is_marked_as_failed(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_release(small_policy(), places)

    def full(path: Path, data: bytes, *, mode: int, what: str) -> None:
        raise OSError(28, "full")

    monkeypatch.setattr(writer, "replace_file", full)
    with pytest.raises(PublishError):
        make_release(small_policy(), places)
    assert entered(places)[4:] == ["drawn", "opened", "opened", "failed"]
    assert manifest(places)["data_digest"] == first.manifest["data_digest"]


def test_writing_that_fails_after_the_manifest_was_published(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError(5, "broken")

    monkeypatch.setattr(writer, "_remove_others", broken)
    with pytest.raises(PublishError):
        make_release(small_policy(), places)
    assert entered(places) == ["drawn", "opened", "opened", "published"]
    assert ledger_at(places.ledger).events()[-1].data_digest == manifest(places)["data_digest"]


def test_a_destination_that_is_exchanged_meanwhile_fails_the_release(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = release.judge

    def judged(*given: Any, **named: Any) -> Any:
        (places.releases / "out").mkdir()
        (places.releases / "out" / "manifest.json").write_text("[]")
        return judge(*given, **named)

    monkeypatch.setattr(release, "judge", judged)
    with pytest.raises(PublishError, match="must be a manifest of anon-pipeline"):
        make_release(small_policy(), places)
    assert entered(places) == ["drawn", "opened", "failed"]


def test_a_ledger_that_is_lost_on_the_way_stops_the_release(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> None:
        raise InputError("the ledger must be reachable")

    monkeypatch.setattr(Ledger, "begin", lost)
    with pytest.raises(InputError, match="must be reachable"):
        make_release(small_policy(), places)
    assert not (places.releases / "out").exists()


def test_without_a_ledger_nothing_is_entered_and_a_budget_is_refused(
    small_policy: Small, places: Locations
) -> None:
    off = Locations.of(places.sources, {"ANON_PIPELINE_LEDGER": "off"})
    made = make_release(small_policy(), off)
    assert made.manifest["facts"]["perturbed"]["release_id"] is None
    assert not (places.sources / "ledger.sqlite").exists()
    with pytest.raises(PolicyError, match="budget: needs the ledger"):
        make_release(small_policy(budget={"epsilon": 9}), off)


def test_no_value_of_the_data_is_in_the_ledger(small_policy: Small, places: Locations) -> None:
    people = pd.read_csv(places.sources / "people.csv")
    people.loc[0, "person"] = "CANARY-7f3a"
    people["illness"] = people["illness"].replace({"gout": "CANARY-7f3a"})
    people.to_csv(places.sources / "people.csv", index=False)
    make_release(small_policy(), places)
    assert b"CANARY" not in (places.sources / "ledger.sqlite").read_bytes()


def test_a_release_in_postgresql(small_policy: Small, places: Locations, postgres_url: str) -> None:
    there = Locations.of(places.sources, {"ANON_PIPELINE_LEDGER": postgres_url})
    policy = small_policy(budget={"epsilon": 2})
    make_release(policy, there)
    with pytest.raises(GateRefused, match="spent 2"):
        make_release(policy, there)
    assert entered(there) == ["drawn", "opened", "opened", "published"]


def test_what_a_destination_holds(small_policy: Small, places: Locations) -> None:
    made = make_release(small_policy(), places)
    folder = made.manifest_path.parent
    release_id = next(iter(release_states(ledger_at(places.ledger).events())))
    assert booking.is_manifest_of(folder, release_id)
    assert booking.is_manifest_of(folder, release_id, made.manifest["data_digest"])
    assert not booking.is_manifest_of(folder, release_id, "another table")
    assert not booking.is_manifest_of(folder, "another release")
    assert not booking.is_manifest_of(folder / "nowhere", release_id)


def test_what_the_ledger_has_of_earlier_noise_is_asked_only_where_there_is_noise(
    small_policy: Small, places: Locations, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy = small_policy()
    written = make_release(noisy, places)
    release_id = booking.release_id_in(written.manifest["facts"])
    assert booking.booking(noisy, places).in_ledger(None).published == 2
    assert booking.booking(noisy, places).in_ledger(release_id).published == 0
    height: dict[str, Any] = {"role": "sensitive", "distance": "ordered", "unit": None, "resolution": None}
    plain = small_policy(columns={"height": height}, perturb=None, suppress=None)
    booked = booking.booking(plain, places)
    monkeypatch.setattr(Ledger, "page", lambda self: pytest.fail("it must not be held"))
    assert booked.in_ledger(None).published == 0
