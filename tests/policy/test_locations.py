"""Where the paths of a policy begin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anon_pipeline.base.errors import InputError, PublishError
from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.locations import Locations


def policy(**publish: str) -> Policy:
    return policy_from(
        {
            "name": "clinic",
            "source": {"generate": "patients"},
            "columns": {"q": {"role": "generalize", "hierarchy": {"suppress": True}}},
            "anonymize": {"k": 2},
            "publish": publish,
        }
    )


def test_defaults_below_the_project(tmp_path: Path) -> None:
    ledger = f"sqlite:///{tmp_path}/ledger.sqlite"
    assert Locations.of(tmp_path, {}) == Locations(
        tmp_path, tmp_path, tmp_path, tmp_path / "vault", ledger=ledger, project=tmp_path
    )


def test_environment_variables_move_folders(tmp_path: Path) -> None:
    moved = Locations.of(
        tmp_path,
        {
            "ANON_PIPELINE_SOURCES": "/data/in",
            "ANON_PIPELINE_HIERARCHIES": "/data/h",
            "ANON_PIPELINE_RELEASES": "/data/out",
            "ANON_PIPELINE_VAULT": "/secure",
            "ANON_PIPELINE_LEDGER": "postgresql://db.example/releases",
        },
    )
    ledger = "postgresql://db.example/releases"
    assert moved == Locations(
        Path("/data/in"),
        Path("/data/h"),
        Path("/data/out"),
        Path("/secure"),
        ledger=ledger,
        project=tmp_path,
    )
    assert Locations.of(tmp_path, {"ANON_PIPELINE_VAULT": ""}).vault == tmp_path / "vault"


def test_the_process_environment_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANON_PIPELINE_VAULT", "/elsewhere")
    assert Locations.of(tmp_path).vault == Path("/elsewhere")


def test_folders_are_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = Locations.of(Path("p"), {"ANON_PIPELINE_RELEASES": "out"})
    assert here.sources == tmp_path / "p"
    assert here.releases == tmp_path / "out"


@pytest.mark.parametrize(
    "url",
    ["postgresql://me:CANARY@db/x", "postgresql://db/x?user=me&password=CANARY", "postgresql://:CANARY@/x"],
)
def test_a_password_in_the_ledgers_url_is_refused_without_telling_it(url: str) -> None:
    with pytest.raises(InputError, match="must not hold a password") as raised:
        Locations.of(Path("/p"), {"ANON_PIPELINE_LEDGER": url})
    assert "CANARY" not in str(raised.value)


def test_the_folder_of_a_release() -> None:
    places = Locations.of(Path("/p"), {})
    assert places.release(policy()) == Path("/p/releases/clinic")
    assert places.release(policy(), "2026-01-05") == Path("/p/releases/clinic/2026-01-05")
    assert places.release(policy(to="out")) == Path("/p/out")
    assert places.release(policy(to="/p/abs/out"), "a") == Path("/p/abs/out/a")
    free = Locations.of(Path("/p"), {}, outside=True)
    assert free.release(policy(to="/abs/out"), "a") == Path("/abs/out/a")


@pytest.mark.parametrize(
    "partition", ["..", "../up", "a/b", "/abs", "", ".", "a..b", ".hidden", "a\nb", "a\\b"]
)
def test_a_partition_cannot_leave_its_folder(partition: str) -> None:
    with pytest.raises(InputError, match="must be a plain name"):
        Locations.of(Path("/p"), {}).release(policy(), partition)


def reading(**changes: Any) -> Policy:
    return policy_from(
        {
            "name": "clinic",
            "source": {"path": changes.get("path", "in.csv")},
            "columns": {
                "id": {"role": "identifier", "action": "hash"},
                "q": {"role": "generalize", "hierarchy": {"table": changes.get("table", "q.csv")}},
            },
            "deidentify": {"key_file": changes.get("key_file", "key")},
            "anonymize": {"k": 2},
            "gate": {
                "attacks": {"population": {"path": changes.get("people", "p.csv"), "journalist_risk": 1}}
            },
            "schedule": {"cron": "0 3 * * 1", "partitions": "daily"},
        }
    )


WHERE = {
    "path": "source.path",
    "table": "columns.q.hierarchy.table",
    "key_file": "deidentify.key_file",
    "people": "gate.attacks.population.path",
}
AWAY = ["../secret", "/etc/passwd", "a/../../secret", "link/secret", "alias", "round"]


@pytest.mark.parametrize("what", WHERE)
@pytest.mark.parametrize("named", AWAY)
def test_a_policy_cannot_read_outside(tmp_path: Path, what: str, named: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").touch()
    (project / "link").symlink_to(tmp_path)
    (project / "alias").symlink_to(tmp_path / "secret")
    (project / "round").symlink_to(tmp_path / "loop")
    (tmp_path / "loop").symlink_to(project / "round")
    places = Locations.of(project, {})
    with pytest.raises(
        InputError, match=rf"^{WHERE[what]}: must stay within the folder of .*--allow-outside"
    ):
        places.confine(reading(**{what: named}))
    for free in (
        Locations.of(project, {}, outside=True),
        Locations.of(project, {"ANON_PIPELINE_ALLOW_OUTSIDE": "yes"}),
    ):
        free.confine(reading(**{what: named}))


def test_paths_inside_are_welcome(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    places = Locations.of(tmp_path, {"ANON_PIPELINE_ALLOW_OUTSIDE": "no"})
    places.confine(reading(path="link/a.csv", table=str(tmp_path / "q.csv"), key_file="real/../key"))
    aside = tmp_path.with_name("aside")
    with pytest.raises(InputError):
        places.confine(reading(path=str(aside / "a.csv")))
    Locations.of(tmp_path, {"ANON_PIPELINE_SOURCES": str(aside)}).confine(reading(path=str(aside / "a.csv")))


def test_all_paths_that_leave_are_listed(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Locations.of(tmp_path, {}).confine(reading(path="../a", table="../b", key_file="../c"))
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize("to", ["../out", "/out", "link/out"])
def test_a_release_cannot_go_outside(tmp_path: Path, to: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "link").symlink_to(tmp_path)
    with pytest.raises(PublishError, match=r"^publish\.to: must stay within the folder of releases"):
        Locations.of(project, {}).release(policy(to=to))


def test_a_partitions_folder_that_is_a_link_outside(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "out").mkdir(parents=True)
    (project / "out" / "a").symlink_to(tmp_path)
    with pytest.raises(PublishError, match="must stay within"):
        Locations.of(project, {}).release(policy(to="out"), "a")
    (project / "b.csv").symlink_to(tmp_path / "b.csv")
    with pytest.raises(InputError, match="must stay within"):
        Locations.of(project, {}).confine(reading(path="{partition}.csv"), "b")
