"""Documents of sections, which digests are made of: a key that comes later changes none of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from anon_pipeline.policy import Policy, load_policy, policy_from
from anon_pipeline.policy.fields import Strict
from anon_pipeline.policy.frozen_mapping import FrozenMapping, Keyed
from anon_pipeline.policy.marks import AFTER, LATER, SHOWN, Later, models_in
from anon_pipeline.policy.walks import binding_fields, public_fields
from tests.conftest import SMALL
from tests.policy.everything import EVERYTHING

ROOT = Path(__file__).resolve().parents[2]
KNOWN: dict[str, list[str]] = json.loads(Path(__file__).with_name("version_2.json").read_text("utf-8"))
"""The fields that every document has had since version 2 of manifests, by section. It never changes again."""


def sections(model: type[BaseModel], seen: dict[str, type[BaseModel]]) -> dict[str, type[BaseModel]]:
    """Return a model and all that it is made of, by name."""
    assert seen.setdefault(model.__name__, model) is model, f"two sections are named {model.__name__}"
    for field in model.model_fields.values():
        for below in models_in(field.annotation):
            if below.__name__ not in seen:
                sections(below, seen)
    return seen


SECTIONS = sections(Policy, {})


def is_later(model: type[BaseModel], name: str) -> bool:
    return any(isinstance(mark, Later) for mark in model.model_fields[name].metadata)


@pytest.mark.parametrize("name", SECTIONS)
def test_a_field_that_came_after_version_2_has_the_mark_later(name: str) -> None:
    """So that digests of policies without it stay what they are: releases that are out must verify."""
    known, fields = KNOWN.get(name, []), SECTIONS[name].model_fields
    new = [one for one in fields if one not in known]
    required = [one for one in new if fields[one].is_required()]
    assert not (known and required), f"policies of today do not have {required}: give it a default"
    without = [one for one in new if not is_later(SECTIONS[name], one) and one not in required]
    assert not without, (
        f"{name}: {without} must have the mark LATER beside its type, Annotated[..., LATER]: without it the "
        f"digest of every policy changes. Do not add it to version_2.json, which never changes."
    )


@pytest.mark.parametrize("name", KNOWN)
def test_a_field_of_version_2_stays_in_every_document(name: str) -> None:
    for one in KNOWN[name]:
        assert one in SECTIONS[name].model_fields, f"{name}.{one} is gone: the digests of all policies change"
        assert not is_later(SECTIONS[name], one), f"{name}.{one} was in every document, and must stay there"


def test_what_came_together_is_left_out_together() -> None:
    for model in SECTIONS.values():
        for field in model.model_fields.values():
            for mark in field.metadata:
                if isinstance(mark, Later) and mark.beside is not None:
                    assert is_later(model, mark.beside)


DIGESTS = {
    "small": (
        SMALL,
        "67eab49c45630708de238f6f6d999e9ea3b98a812e8a1606adbac4ae25091e5b",
        "dee02b705bb36236d41e970c5923c4cd9820813a8068a3e7b5b076d138bb3495",
    ),
    "everything": (
        {**EVERYTHING, "reviewed": None},
        "45fae143f1f1728918031365edce61e974aff17d0e791565f426dafe7044bc3d",
        "f76f56166eacd2c238e9ce5436d8025762837fba2c229fca3d5ad5f60d2f5102",
    ),
    "Safe Harbor": (
        {**SMALL, "gate": {"safe_harbor": True}},
        "e70faf1e856b7b6502d8836dcee7db0add0994c6d0c15346a7a23c3a60152a84",
        "dee02b705bb36236d41e970c5923c4cd9820813a8068a3e7b5b076d138bb3495",
    ),
}


@pytest.mark.parametrize("name", DIGESTS)
def test_digests_are_what_they_were(name: str) -> None:
    attributes, digest, making = DIGESTS[name]
    policy = policy_from(attributes)
    assert (policy.digest, policy.making) == (digest, making)


RELEASED = {
    "assets/releases/patients/defs.yaml": "fd20d4e263fffad7f2da1b5d79fbfa5826adc1557b38ca86a2f6640e0e2ec973",
    "assets/releases/visits/defs.yaml": "66ab437b489c1e06cf6731f8d9150aca7184934998316654d2cf953ab60de0e2",
}


@pytest.mark.parametrize("path", RELEASED)
def test_digests_of_the_releases_of_this_project_are_what_they_were(path: str) -> None:
    """Change a digest here only where the file itself was changed."""
    assert load_policy(ROOT / path).digest == RELEASED[path]


class Section(Strict):
    """A section that got keys of many types later."""

    first: int = 1
    number: Annotated[float | None, LATER] = None
    switch: Annotated[bool, LATER] = False
    listed: Annotated[tuple[str, ...], LATER] = ("a",)
    keyed: Annotated[Keyed[int], LATER] = Field(default_factory=FrozenMapping)
    inner: Annotated[Strict | None, LATER] = None
    together: Annotated[int, Later(beside="switch")] = 3


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "first": st.integers(0, 2),
            "number": st.none() | st.floats(0, 1),
            "switch": st.booleans(),
            "listed": st.lists(st.sampled_from(["a", "b"]), max_size=2),
            "keyed": st.dictionaries(st.sampled_from("xy"), st.integers(0, 2)),
            "together": st.integers(2, 4),
        },
    )
)
def test_a_later_key_is_in_documents_where_it_is_not_at_its_default(given: dict[str, Any]) -> None:
    defaults: dict[str, Any] = {"number": None, "switch": False, "listed": ["a"], "keyed": {}}
    defaults |= {"inner": None, "together": 3}
    section = Section(**given)
    document = section.model_dump(mode="json")
    whole = {"first": 1, **defaults, **given}
    kept = {name for name, value in whole.items() if name == "first" or value != defaults[name]}
    kept |= {"together"} if "switch" in kept else set()
    assert document == {name: value for name, value in whole.items() if name in kept}
    assert Section.model_validate(document) == section
    bare = section.model_dump(mode="json", exclude_defaults=True)
    assert Section.model_validate(bare) == section


def with_later_keys(model: type[BaseModel]) -> type[BaseModel]:
    """Return a model of the policy with one more key in each plain section of its own."""
    fields: dict[str, Any] = {"a_later_key": (Annotated[float | None, SHOWN, AFTER, LATER], None)}
    for name, field in model.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            grown: Any = with_later_keys(section)
            default = grown() if not field.is_required() else ...
            fields[name] = (Annotated[grown, "with its marks", *field.metadata], default)
    return create_model(model.__name__, __base__=model, **fields)


@pytest.mark.parametrize("name", DIGESTS)
def test_a_new_key_in_every_section_changes_no_digest(name: str) -> None:
    attributes, _, _ = DIGESTS[name]
    grown: Any = with_later_keys(Policy)
    now, then = grown.model_validate(attributes), policy_from(attributes)
    assert "a_later_key" in type(now.gate.attacks.linkage).model_fields
    assert (now.digest, now.making) == (then.digest, then.making)
    assert binding_fields(now) == binding_fields(then)
    assert public_fields(now, defaults=True) == public_fields(then, defaults=True)
    gate = {**attributes.get("gate", {}), "a_later_key": 0.5}
    assert grown.model_validate({**attributes, "gate": gate}).digest != then.digest
