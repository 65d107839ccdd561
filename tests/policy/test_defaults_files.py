"""An organization's floor is found wherever a policy is loaded from, however the file is named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from anon_pipeline import Locations, Policy, load_policy, make_release
from anon_pipeline.base.errors import PolicyError
from anon_pipeline.policy import parse_policy
from anon_pipeline.policy.defaults_files import ELSEWHERE, NAME, defaults_for, refuse_below_defaults
from tests.cli.projects import write_policy

Small = Callable[..., Policy]


def floor(k: int) -> str:
    return yaml.safe_dump({"type": "anon_pipeline.PolicyDefaults", "attributes": {"anonymize": {"k": k}}})


@pytest.fixture
def repository(tmp_path: Path, small_policy: Small) -> Path:
    """A repository with a floor that its policy, two folders below, does not keep."""
    root = tmp_path / "repository"
    (root / "releases" / "small").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / NAME).write_text(floor(5))
    write_policy(root / "releases" / "small" / "policy.yaml", small_policy())
    return root


def refused(path: Path) -> None:
    with pytest.raises(PolicyError, match=r"anonymize\.k: must protect at least as much as 5"):
        load_policy(path)


def test_it_holds_for_every_policy_below(repository: Path, small_policy: Small) -> None:
    policy = repository / "releases" / "small" / "policy.yaml"
    refused(policy)
    assert load_policy(policy, retired=True).name == "small"  # to verify what is out
    write_policy(policy, small_policy(anonymize={"k": 5}))
    assert load_policy(policy).anonymize.k == 5


def test_what_is_nearer_takes_nothing_away(repository: Path) -> None:
    policy = repository / "releases" / "small" / "policy.yaml"
    (policy.parent / NAME).write_text(floor(2))
    refused(policy)
    assert defaults_for(policy) == [policy.parent / NAME, repository / NAME]


def test_what_is_above_the_repository_does_not_hold(repository: Path) -> None:
    (repository.parent / NAME).write_text(floor(9))
    assert defaults_for(repository / "releases") == [repository / NAME]
    (repository / ".git").rmdir()
    (repository / ".git").write_text("gitdir: elsewhere\n")  # a worktree, or a submodule
    assert defaults_for(repository / "releases") == [repository / NAME]
    (repository / ".git").unlink()  # a copy without a repository
    assert repository.parent / NAME in defaults_for(repository / "releases")


def test_no_way_of_writing_the_path_avoids_it(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_policy: Small
) -> None:
    policy, outside = repository / "releases" / "small" / "policy.yaml", tmp_path / "outside"
    outside.mkdir()
    (outside / ".git").mkdir()
    (outside / "link.yaml").symlink_to(policy)
    refused(outside / "link.yaml")
    (outside / "folder").symlink_to(repository / "releases", target_is_directory=True)
    refused(outside / "folder" / "small" / "policy.yaml")
    refused(outside / ".." / "repository" / "releases" / "small" / "policy.yaml")
    write_policy(outside / "policy.yaml", small_policy())
    (repository / "releases" / "link.yaml").symlink_to(outside / "policy.yaml")
    refused(repository / "releases" / "link.yaml")  # the link lies in the repository
    load_policy(outside / "policy.yaml")
    monkeypatch.chdir(policy.parent)
    refused(Path("policy.yaml"))
    monkeypatch.chdir(outside / "folder" / "small")
    refused(Path("policy.yaml"))


@pytest.mark.parametrize("make", ["dangling", "folder", "loop", "empty", "binary", "twice", "other"])
def test_a_file_that_cannot_be_read_lets_nothing_pass(repository: Path, make: str) -> None:
    file = repository / NAME
    file.unlink()
    if make == "dangling":
        file.symlink_to(repository / "gone.yaml")
    elif make == "loop":
        file.symlink_to(file)
    elif make == "folder":
        file.mkdir()
    else:
        texts = {"empty": b"", "binary": b"\xff\xfe\x00", "twice": floor(5).encode() * 2, "other": b"a: 1\n"}
        file.write_bytes(texts[make])
    with pytest.raises(PolicyError, match=f"{NAME}: "):
        load_policy(repository / "releases" / "small" / "policy.yaml")


def test_a_floor_elsewhere_holds_too(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_policy: Small
) -> None:
    policy = repository / "releases" / "small" / "policy.yaml"
    write_policy(policy, small_policy(anonymize={"k": 6}))
    (tmp_path / "organization.yaml").write_text(floor(7))
    load_policy(policy)
    monkeypatch.setenv(ELSEWHERE, str(tmp_path / "organization.yaml"))
    with pytest.raises(PolicyError, match=r"7, which organization.yaml demands, got 6"):
        load_policy(policy)
    monkeypatch.setenv(ELSEWHERE, str(tmp_path / "gone.yaml"))
    with pytest.raises(PolicyError, match=r"gone.yaml: "):
        load_policy(policy)
    monkeypatch.setenv(ELSEWHERE, "")
    load_policy(policy)


def test_a_release_is_not_published_below_the_floor_of_its_project(
    repository: Path, small_policy: Small
) -> None:
    policy = small_policy()
    with pytest.raises(PolicyError, match=r"anonymize\.k"):
        make_release(policy, Locations.of(repository))
    assert not (repository / "ledger.sqlite").exists()
    assert sorted(path.name for path in repository.iterdir()) == [".git", NAME, "releases"]


def test_texts_have_no_place(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (repository / "releases" / "small" / "policy.yaml").read_text()
    monkeypatch.chdir(repository)
    assert parse_policy(text).anonymize.k == 3


def test_without_a_file_nothing_is_loaded(tmp_path: Path, small_policy: Small) -> None:
    (tmp_path / ".git").mkdir()
    assert defaults_for(tmp_path / "policy.yaml") == []
    refuse_below_defaults(small_policy(), tmp_path)
    assert os.environ.get(ELSEWHERE) is None
