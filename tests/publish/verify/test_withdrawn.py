"""A release that the ledger has as withdrawn is warned of, by all commands that look at it with a policy."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.ledger import ledger_at
from anon_pipeline.policy.locations import OFF
from anon_pipeline.publish.verify.verify import Against, verify_in_detail
from anon_pipeline.publish.verify.withdrawn import WITHDRAWN, warn_if_withdrawn, withdrawal_of
from tests.publish.projects import Project

Make = Callable[..., "Project"]
PLAIN = {
    "columns": {"height": {"role": "sensitive", "distance": "ordered", "unit": None, "resolution": None}},
    "perturb": None,
    "suppress": None,
}


def ledger_of(made: Project) -> str:
    return f"sqlite:///{made.path}/ledger.sqlite"


@pytest.mark.parametrize("changes", [{}, PLAIN], ids=["noise", "no noise"])
def test_every_command_with_a_policy_warns(project: Make, changes: dict[str, object]) -> None:
    made = project(**changes)
    policy = ("--policy", "policy.yaml")
    document = json.loads(made.manifest.read_text())
    ledger = ledger_of(made)
    assert withdrawal_of(document, ledger) is None
    assert "withdrawn" not in made.call("verify", "out", *policy)[1]
    release_id = document["facts"]["perturbed"]["release_id"]
    ledger_at(ledger).withdraw(release_id)
    event = withdrawal_of(document, ledger)
    assert event is not None
    said = f"it was withdrawn on {event.at[:10]}, as the ledger says: do not use it"
    for command in (
        ("verify", "out", *policy),
        ("collect", ".", *policy),
        ("report", "out", *policy, "--out", "page.html"),
        ("bundle", "out", *policy, "--to", "all.zip"),
    ):
        code, printed = made.call(*command)
        assert (code, said in printed) == (0, True), (command, printed)
    assert said not in made.call("verify", "out")[1]  # readers have no ledger
    for command in (
        ("verify", "out", *policy),
        ("collect", ".", *policy),
        ("report", "out", *policy, "--out", "page.html"),
        ("bundle", "out", *policy, "--to", "other.zip"),
    ):
        _, printed = made.call(*command, "--json")
        found, _ = json.JSONDecoder().raw_decode(printed[printed.index("{") :])
        assert [one["name"] for one in found["warnings"]] == [WITHDRAWN], command
    assert zipfile.is_zipfile(made.path / "all.zip")


def test_no_ledger_says_nothing_and_one_that_cannot_be_read_says_so(project: Make, tmp_path: Path) -> None:
    made = project()
    document = json.loads(made.manifest.read_text())
    gone = f"sqlite:///{tmp_path}/none.sqlite"
    for ledger in (None, OFF, gone):
        assert warn_if_withdrawn(document, ledger) is None
    with pytest.raises(InputError, match="does not exist"):
        withdrawal_of(document, gone)  # `deliver` must not go on without its ledger
    assert warn_if_withdrawn({}, ledger_of(made)) is None
    broken = tmp_path / "broken.sqlite"
    broken.write_text("no database")
    for ledger in (f"sqlite:///{broken}", "nonsense", "sqlite://", f"sqlite:///{tmp_path}"):
        unknown = warn_if_withdrawn(document, ledger)
        assert unknown is not None
        assert "nobody can tell whether it was withdrawn" in unknown.text
        against = replace(Against(), ledger=ledger)
        assert unknown in verify_in_detail(made.path / "out", against).warnings
