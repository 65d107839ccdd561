"""By which policy a release is verified, when the one that is given is another: it has moved on, perhaps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from anon_pipeline.base.errors import InputError
from anon_pipeline.policy import load_policy
from anon_pipeline.policy.public import PublicPolicy
from anon_pipeline.publish.verify.verify_policy import policy_of_release
from tests.publish.projects import Project

pytestmark = pytest.mark.usefixtures("releases_once")

Make = Callable[..., Project]


def moved_on(made: Project) -> None:
    """Change the policy of a project as its next release would have it."""
    document = yaml.safe_load((made.path / "policy.yaml").read_text())
    document["attributes"]["anonymize"]["k"] = 4
    document["attributes"].setdefault("gate", {})["k"] = 4
    (made.path / "policy.yaml").write_text(yaml.safe_dump(document))


BY_POLICY = (
    "refused: the policy has changed since, or is another release's (policy_digest). Leave --policy out, or "
    "give the one that made the release."
)


def test_a_policy_that_has_moved_on_is_said_in_plain_words(project: Make) -> None:
    made = project()
    moved_on(made)
    code, said = made.call("verify", "out")
    assert code == 0, said
    assert "It was checked against the public part of its policy, which is stored with it" in said
    code, said = made.call("verify", "out", "--policy", "policy.yaml")
    assert (code, said.splitlines()[-1]) == (1, BY_POLICY)  # and by nothing else
    assert "If it has moved on since, leave --policy out" in " ".join(said.replace("│", " ").split())


def test_a_signature_vouches_for_the_policy_that_has_moved_on(project: Make) -> None:
    made = project()
    assert made.call("keygen", "key")[0] == 0
    made = project(publish={"sign": {"key_file": "key"}})
    moved_on(made)
    given = ("verify", "out", "--policy", "policy.yaml")
    code, said = made.call(*given, "--public-key", "key.pub")
    assert code == 0, said
    assert "Not verified: policy_digest" in said
    assert made.call(*given)[0] == 1
    made.edit(lambda document: document.update(made_at="2026-01-01T00:00:00+00:00"))
    assert "signature, policy_digest" in made.call(*given, "--public-key", "key.pub")[1].splitlines()[-1]


def test_the_policy_of_another_release_is_refused_even_with_the_signature(project: Make) -> None:
    made = project()
    assert made.call("keygen", "key")[0] == 0
    made = project(publish={"sign": {"key_file": "key"}})
    document = yaml.safe_load((made.path / "policy.yaml").read_text())
    document["attributes"]["name"] = "other"
    (made.path / "policy.yaml").write_text(yaml.safe_dump(document))
    code, said = made.call("verify", "out", "--policy", "policy.yaml", "--public-key", "key.pub")
    assert (code, said.splitlines()[-1]) == (1, BY_POLICY)


def test_a_release_is_described_by_the_policy_that_made_it(project: Make) -> None:
    made = project()
    whole = load_policy(made.path / "policy.yaml")
    assert policy_of_release(made.path / "out", whole) is whole
    moved_on(made)
    for given in (None, load_policy(made.path / "policy.yaml")):
        found = policy_of_release(made.manifest, given)
        assert isinstance(found, PublicPolicy)
        assert (found.digest, found.making) == (whole.digest, whole.making)


def test_a_policy_that_cannot_be_used_is_said(project: Make) -> None:
    made = project()
    name = json.loads(made.manifest.read_text())["policy"]["name"]
    (Path("out") / name).write_text("{}")
    with pytest.raises(InputError, match="the policy stored with the release: its size must be"):
        policy_of_release(Path("out"), None)
    (Path("out") / name).unlink()
    made.edit(lambda document: document.pop("policy"))
    with pytest.raises(InputError, match="must be given"):
        policy_of_release(Path("out"), None)
    whole = load_policy(made.path / "policy.yaml")
    moved_on(made)
    other = load_policy(made.path / "policy.yaml")
    assert policy_of_release(Path("out"), other) is other is not whole
