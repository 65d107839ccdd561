"""Every field that differs is told, and one that nobody has marked cannot be compared."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from anon_pipeline.policy import Policy, policy_from
from anon_pipeline.policy.field_changes import field_changes
from anon_pipeline.policy.marks import AFTER, SHOWN
from anon_pipeline.policy.protection import JUDGED, NEUTRAL, Effect, protection_of
from tests.policy.everything import EVERYTHING

Small = Callable[..., Policy]
UNPROTECTING = {
    *("Anonymize.gamma", "Anonymize.loss", "Anonymize.most_nodes", "Anonymize.prefer", "Anonymize.target"),
    *("Anonymize.levels", "Anonymize.weights", "KnownColumns.columns"),
    *("Perturb.missing", "Perturb.unit"),
    *("PerturbCategories.missing", "Policy.responsible", "PopulationLimits.limits", "Publish.format"),
    "Publish.records_per_file",
    *("Publish.wait", "Responsible.contact", "Responsible.legal_basis", "Responsible.owner"),
    *("Responsible.purpose", "Sensitive.missing", "Source.encrypted", "Source.limits"),
    *("Policy.stream", "Policy.reviewed", "Reviewed.digest", "Reviewed.when", "Reviewed.who"),
}
"""Fields that decide nothing of what is promised to people, by hand."""


def models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield a model and all that its fields are made of."""

    def within(annotation: Any) -> Iterator[type[BaseModel]]:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield from models(annotation)
        for part in typing.get_args(annotation):
            yield from within(part)

    yield model
    for field in model.model_fields.values():
        yield from within(field.annotation)


def test_which_fields_protect_nobody() -> None:
    marked = {
        f"{model.__name__}.{name}"
        for model in models(Policy)
        for name, field in model.model_fields.items()
        if protection_of(field) is NEUTRAL
    }
    assert marked == UNPROTECTING


def test_what_limits_say_is_marked_in_the_gate_and_of_people() -> None:
    marked = {
        f"{model.__name__}.{name}"
        for model in models(Policy)
        for name, field in model.model_fields.items()
        if protection_of(field) is JUDGED
    }
    assert marked == {"Gate.k", "Attacks.known_columns", "Policy.one_record_per_person"}


def test_a_policy_and_itself() -> None:
    assert list(field_changes(policy_from(EVERYTHING), policy_from(EVERYTHING))) == []


def test_a_forgotten_mark_cannot_be_compared() -> None:
    class Stranger(Policy):
        forgotten: typing.Annotated[int, SHOWN, AFTER] = 1

    before, after = (Stranger.model_validate(EVERYTHING | {"forgotten": number}) for number in (1, 2))
    (change,) = field_changes(before, after)
    assert (change.where, change.effect, change.before, change.after) == (
        "forgotten",
        Effect.UNKNOWN,
        "1",
        "2",
    )


@pytest.mark.parametrize(
    ("changes", "where", "effect"),
    [
        ({"anonymize": {"k": 4}}, "anonymize.k", "strengthens"),
        ({"anonymize": {"recoder": "ola"}}, "anonymize.recoder", "cannot be compared"),
        ({"anonymize": {"loss": "granularity"}}, "anonymize.loss", "neutral"),
        ({"perturb": {"epsilon": 3}}, "perturb.epsilon", "weakens"),
        ({"perturb": {"mechanism": "uniform", "without_guarantee": True}}, "perturb.mechanism", "weakens"),
        ({"suppress": None}, "suppress.confidence", "weakens"),
        ({"source": {"path": "others.csv"}}, "source.path", "cannot be compared"),
        ({"publish": {"format": "csv"}}, "publish.format", "neutral"),
        ({"budget": {"epsilon": 4}}, "budget", "strengthens"),
        ({"name": "other"}, "name", "cannot be compared"),
        (  # k people have at least k records, and k records may be of one person
            {"person": "person", "rows_per_person": 1, "deidentify": {"key_env": "KEY"}},
            "person",
            "strengthens",
        ),
        ({"columns": {"income": {"round": 500}}}, "columns.income.round", "strengthens"),
        ({"columns": {"note": {"allow": {"email": "ours"}}}}, "columns.note.allow", "weakens"),
        ({"columns": {"person": {"action": "mask"}}}, "columns.person.action", "weakens"),
    ],
)
def test_fields(small_policy: Small, changes: dict[str, Any], where: str, effect: str) -> None:
    found = {one.where: str(one.effect) for one in field_changes(small_policy(), small_policy(**changes))}
    assert found[where] == effect


def test_columns_that_come_and_go(small_policy: Small) -> None:
    def effects(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str]]:
        old, new = small_policy(columns=before), small_policy(columns=after)
        return [(one.where, str(one.effect)) for one in field_changes(old, new)]

    more = {"job": {"role": "insensitive"}}
    dropped = {"job": {"role": "identifier"}}
    assert effects({}, more) == [("columns.job", "weakens")]
    assert effects(more, {}) == [("columns.job", "strengthens")]
    assert effects(more, dropped) == [("columns.job", "strengthens")]
    assert effects({}, dropped) == [("columns.job", "neutral")]
    quasi = {"job": {"role": "generalize", "hierarchy": {"suppress": True}}}
    assert effects(quasi, more) == [("columns.job", "weakens")]
    assert effects(more, quasi) == [("columns.job", "cannot be compared")]


def test_paths_and_keys_are_not_told(small_policy: Small) -> None:
    old, new = small_policy(source={"path": "a/CANARY.csv"}), small_policy(source={"path": "b/CANARY.csv"})
    (change,) = field_changes(old, new)
    assert "CANARY" not in change.as_text() and "CANARY" not in str(change.to_json())
