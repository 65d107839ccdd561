"""`diff`: what a change of policy does to protection, in words, in JSON and by exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import validate

from anon_pipeline import Policy
from anon_pipeline.cli.documents import schema_of
from tests.cli.projects import Done, Folder, write_policy

CANARY = "CANARY-7f3a"


@pytest.fixture
def diff(folder: Callable[..., Folder], small_policy: Callable[..., Policy]) -> Callable[..., Done]:
    """Run the command on the small policy and a changed one."""
    made = folder()

    def call(changes: dict[str, Any], *options: str) -> Done:
        write_policy(made.path / "new.yaml", small_policy(**changes))
        return made.call("diff", "policy.yaml", "new.yaml", *options)

    return call


@pytest.mark.parametrize(
    ("changes", "code", "last"),
    [
        ({}, 0, "Nothing has changed."),
        ({"anonymize": {"k": 4}}, 0, "The change strengthens protection."),
        ({"anonymize": {"loss": "granularity"}}, 0, "The change does not weaken protection."),
        ({"perturb": {"epsilon": 3}}, 1, "The change weakens protection."),
        (
            {"source": {"path": f"{CANARY}.csv"}},
            1,
            "The policies alone do not show whether the change weakens protection",
        ),
    ],
)
def test_words_and_exit_codes(
    diff: Callable[..., Done], changes: dict[str, Any], code: int, last: str
) -> None:
    done = diff(changes)
    assert done.code == code
    assert done.out.splitlines()[-1].startswith(last)
    assert CANARY not in done.out + done.err


def test_what_weakens_stands_first(diff: Callable[..., Done]) -> None:
    done = diff({"anonymize": {"k": 4}, "perturb": {"epsilon": 3}, "gate": {"linking_risk": 0.1}})
    assert done.out.splitlines()[0] == "perturb.epsilon: 2 → 3: weakens protection"
    assert "the limit linking_risk: at most 0.5 → at most 0.1: strengthens protection" in done.out


def test_what_cannot_be_compared_may_be_allowed(diff: Callable[..., Done]) -> None:
    assert diff({"source": {"path": "b.csv"}}, "--allow-incomparable").code == 0
    assert diff({"source": {"path": "b.csv"}, "perturb": {"epsilon": 3}}, "--allow-incomparable").code == 1


@pytest.mark.parametrize("changes", [{}, {"perturb": {"epsilon": 3}, "gate": {"k": 2}}])
def test_json_is_as_its_schema_says(diff: Callable[..., Done], changes: dict[str, Any]) -> None:
    done = diff(changes, "--json")
    document = json.loads(done.out)
    validate(document, schema_of("diff"))
    assert document["effect"] == ("weakens" if changes else "neutral")
    assert bool(document["changes"]) == bool(changes)


def test_what_is_no_policy(folder: Callable[..., Folder]) -> None:
    made = folder()
    (made.path / "data.csv").write_text(f"{CANARY}: 1")
    done = made.call("diff", "policy.yaml", "data.csv")
    assert done.code == 2
    assert CANARY not in done.err
