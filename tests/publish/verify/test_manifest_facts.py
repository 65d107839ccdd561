"""What a policy allows stands in its manifest; `verify` refuses a manifest that says otherwise."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.gate import Status
from anon_pipeline.policy import Policy
from anon_pipeline.policy.locations import Locations
from anon_pipeline.publish.verify.manifest_facts import broken_statements
from anon_pipeline.publish.verify.verify import Against, verify_release
from anon_pipeline.publish.verify.versions import RULES_2
from anon_pipeline.publish.whole_chain import make_release
from tests.publish.projects import Project

pytestmark = pytest.mark.usefixtures("releases_once")


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        [{"column": "note", "detector": "telephone", "reason": "another"}],
        [{"column": "note", "detector": "email", "reason": "hotline"}],
        "hotline",
    ],
)
def test_it_is_compared_with_the_policy(
    small_policy: Callable[..., Policy],
    small_people: Callable[..., pd.DataFrame],
    tmp_path: Path,
    said: object,
) -> None:
    policy = small_policy(columns={"note": {"allow": {"telephone": "hotline"}}})
    people = small_people()
    people["note"] = "call 212-555-0100"
    people.to_csv(tmp_path / "people.csv", index=False)
    written = make_release(policy, Locations.of(tmp_path))
    true = [{"column": "note", "detector": "telephone", "reason": "hotline"}]
    assert written.manifest["allowed"] == true
    assert "hotline" in written.report_path.read_text()
    against = Against(policy, tmp_path)
    assert not verify_release(written.manifest_path, against).with_status(Status.REFUSED)
    document = json.loads(written.manifest_path.read_text())
    document["allowed"] = said
    if said is None:
        del document["allowed"]
    written.manifest_path.write_text(json.dumps(document))
    refused = verify_release(written.manifest_path, against).with_status(Status.REFUSED)
    assert [verdict.limit for verdict in refused] == ["statements"]


Make = Callable[..., "Project"]


def _verdict(limit: str, **change: object) -> Callable[[dict[str, Any]], object]:
    def changed(document: dict[str, Any]) -> None:
        (verdict,) = (one for one in document["gate"]["verdicts"] if one["limit"] == limit)
        verdict.update(**change)

    return changed


RECORDED: list[tuple[Callable[[dict[str, Any]], object], str, bool]] = [
    (lambda d: d.update(epsilon=0.001), "statements", False),
    (lambda d: d.update(epsilon=None), "statements", False),
    (lambda d: d.update(guarantee=["perfect"]), "statements", False),
    (lambda d: d["guarantee"].append("And it is safe for ever."), "statements", False),
    (lambda d: d.update(partition="2020-01-01"), "statements", False),
    (lambda d: d.update(made_at="soon"), "statements", True),
    (lambda d: d.update(made_at="2026-01-01T00:00:00"), "statements", True),
    (lambda d: d.update(facts={}), "facts", True),
    (lambda d: d.update(facts=3), "facts", True),
    (lambda d: d.pop("facts"), "facts", True),
    (lambda d: d["facts"].pop("shuffled"), "facts", True),
    (lambda d: d["facts"]["suppressed"].update(released=1), "facts", True),
    (lambda d: d["facts"]["shuffled"].update(seeded=True), "facts", True),
    (lambda d: d["facts"]["raw"].update(made_by="x"), "policy, facts", True),
    (lambda d: d["facts"]["k_anonymized"].update(k=99), "facts", False),
    (lambda d: d["facts"]["perturbed"].update(epsilon=0.1), "facts", False),
    (lambda d: d["facts"]["raw"].update(records=1), "recorded gate, facts", True),
    (lambda d: d["facts"]["k_anonymized"].update(information_loss=7.5), "facts", True),
    (lambda d: d["facts"]["suppressed"].update(suppressed_by_limit={"a person": 3}), "facts", True),
    (lambda d: d["gate"].update(verdicts=d["gate"]["verdicts"][:1]), "recorded gate", True),
    (lambda d: d["gate"]["verdicts"].pop(), "recorded gate", False),
    (lambda d: d["gate"]["verdicts"].append(d["gate"]["verdicts"][0]), "recorded gate", True),
    (_verdict("k", value=999), "recorded gate", False),
    (_verdict("k", value=1), "recorded gate", True),
    (_verdict("k", value=None), "recorded gate", True),  # so it is where a policy names a person
    (_verdict("k", bound=2), "recorded gate", False),
    (_verdict("k", sense="at most"), "recorded gate", True),
    (_verdict("k", sense="about"), "recorded gate", True),
    (_verdict("k", bound="3"), "recorded gate", True),
    (_verdict("suppression", bound=0.6), "recorded gate", False),
    (_verdict("suppression", value=0.9), "recorded gate", True),
    (lambda d: d["gate"].update(passed=False), "recorded gate", True),
    (lambda d: d["gate"].pop("passed"), "recorded gate", True),
    (lambda d: d["files"].append(d["files"][0]), "files, data_digest, recorded gate, facts", True),
    (
        lambda d: d["files"].append({**d["files"][0], "name": "manifest.json"}),
        "files, file.manifest.json, data_digest, facts",
        True,
    ),
]


@pytest.mark.parametrize(("change", "refused", "alone"), RECORDED)
def test_what_a_manifest_says_is_held_against_policy_file_and_itself(
    project: Make,
    small_people: Callable[..., pd.DataFrame],
    change: Callable[[dict[str, Any]], object],
    refused: str,
    alone: bool,
) -> None:
    people = small_people()
    people.loc[0, "height"] = None  # one is left out whatever the noise: no share of suppressed records is 0
    made = project(people, columns={"height": {"missing": "suppress"}})
    made.edit(change)
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 1
    assert said.splitlines()[-1] == f"refused by {refused}"
    document = json.loads(made.manifest.read_text())
    scheduled = document["partition"] is not None  # the schedule is private
    assert made.call("verify", "out")[0] == int(not scheduled)  # by the policy that lies beside
    beside = document["policy"]["name"]
    made.edit(lambda document: document.pop("policy"))
    (made.path / "out" / beside).unlink()
    assert made.call("verify", "out")[0] == int(alone)


@pytest.mark.parametrize(
    "packages",
    [{"john": "1.2"}, {"numpy": "Smith 12 High St"}, {"numpy": None}, {"numpy": ["2.0"]}, [], None],
    ids=["another name", "no version", "none", "a list", "no mapping", "nothing"],
)
@pytest.mark.parametrize("made_by", [True, False], ids=["this version", "another version"])
def test_packages_are_names_with_their_versions(project: Make, packages: Any, made_by: bool) -> None:
    made = project()
    told = packages
    if isinstance(packages, dict):
        own = metadata.version("anon-pipeline") if made_by else "0.0.1"
        told = {**json.loads(made.manifest.read_text())["packages"], "anon-pipeline": own, **packages}
    made.edit(lambda d: d.update(packages=told))
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert code == 1
    assert "packages" in " ".join(said.replace("│", " ").split())
    assert "john" not in said
    assert "Smith" not in said


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("daily", ["2026-01-05", "2026-01-06"], ["2025-12-31", "20260105", "2026-01-32", None, 3, ""]),
        ("weekly", ["2026-01-05"], ["2026-01-06"]),
        ("monthly", ["2026-02-01"], ["2026-02-02"]),
        (None, [None], ["2026-01-05", "x"]),
        ("generate", [None, "x", "2026-01-05"], ["../x", "", 3]),
    ],
)
def test_a_partition_is_one_of_the_policys(
    small_policy: Callable[..., Policy], kind: str | None, right: list[object], wrong: list[object]
) -> None:
    schedule = {"cron": "0 0 * * *", "partitions": kind, "start": "2026-01-01"}
    divided = {"source": {"path": "{partition}.csv"}}
    generated = {"source": {"path": None, "generate": "patients"}}
    changes = {"generate": generated, None: {}}.get(kind, {**divided, "schedule": schedule})
    policy = small_policy(**changes)
    from anon_pipeline.publish.manifest.guarantee import guarantee

    document = {"epsilon": 2, "guarantee": guarantee(policy), "files": [{"format": "parquet"}]}
    for partition in right:
        assert broken_statements({**document, "partition": partition}, policy, rules=RULES_2) == []
    for partition in wrong:
        assert broken_statements({**document, "partition": partition}, policy, rules=RULES_2) == [
            "partition is none of the policy's"
        ]
