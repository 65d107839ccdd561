"""Kernels are compiled before they are needed: rehearsals call those of all kinds, and are told."""

from __future__ import annotations

import pytest

from anon_pipeline.base.observer import Progress, Step
from anon_pipeline.catalog.losses import LABELED, LOSSES
from anon_pipeline.catalog.mechanisms import CATEGORY_MECHANISMS, MECHANISMS
from anon_pipeline.catalog.recoders import RECODERS
from anon_pipeline.cli import warmup_releases
from anon_pipeline.cli.warmup_releases import warm_up
from anon_pipeline.policy import parse_policy
from anon_pipeline.policy.templates import template


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is rehearsed, without rehearsing."""
    monkeypatch.setattr(warmup_releases, "anonymize", lambda *_: None)
    monkeypatch.setattr(warmup_releases, "tune", lambda *_: None)
    return []


def test_without_a_policy_every_recoder_and_mechanism_is_rehearsed(steps: list[str]) -> None:
    warm_up(observe=lambda event: steps.append(event.name) if isinstance(event, Step) else None)
    words = {word for step in steps for word in step.split(", ")}
    assert words == {*RECODERS, *MECHANISMS, *CATEGORY_MECHANISMS, *(set(LOSSES) - set(LABELED))}


def test_with_policies_what_they_name_is_rehearsed_once(steps: list[str]) -> None:
    text = template("patients")
    policies = [parse_policy(text), parse_policy(text.replace("recoder: ola", "recoder: mondrian"))]
    warm_up(policies * 2, observe=lambda event: steps.append(event.name) if isinstance(event, Step) else None)
    assert steps == [
        "ola, discrete_laplace, granularity",
        "mondrian, discrete_laplace, granularity",
    ]


def test_rehearsals_of_every_kind_are_releases_that_are_feasible() -> None:
    assert warm_up() >= 0


def test_how_many_are_compiled_is_said_in_words() -> None:
    assert Progress("compiling", 7).as_text() == "compiling kernels, once on a machine: 7"
