"""The command verify: what it says that it did not verify, and bad arguments."""

from __future__ import annotations

from collections.abc import Callable

from tests.publish.projects import Project

Make = Callable[..., "Project"]


def test_without_a_policy_it_says_what_was_not_verified(project: Make) -> None:
    code, said = project().call("verify", "out")
    assert code == 0
    assert "Not verified: signature, policy_digest, hierarchies, statements, gate." in said


def test_bad_arguments_exit_with_2(project: Make) -> None:
    made = project()
    for arguments in (["no"], ["people.csv"], ["out", "--policy", "no"], ["out", "--public-key", "no"]):
        assert made.call("verify", *arguments)[0] == 2
