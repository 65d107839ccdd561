"""A section gets a key for each entry, and those of plugins change no document that does not set them."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import ValidationError

from anon_pipeline.base.errors import PluginError
from anon_pipeline.catalog.entries import LimitKey, SourceKind
from anon_pipeline.policy.fields import Share, Strict
from anon_pipeline.policy.marks import AFTER, SHOWN, Later, field_marks
from anon_pipeline.policy.plugin_keys import with_keys


class Section(Strict):
    """What is limited."""

    k: int = 2

    @property
    def taken(self) -> int:
        return self.k


def key(name: str, field: Any = Annotated[Share | None, SHOWN, AFTER]) -> dict[str, LimitKey | SourceKind]:
    return {name: LimitKey(name, field, "A share.", "a:b")}


def test_without_entries_it_is_the_same_model() -> None:
    assert with_keys(Section, "limit", {}, plugins=()) is Section


def test_a_key_of_a_plugin_is_left_out_of_documents_where_it_is_not_set() -> None:
    grown: Any = with_keys(Section, "limit", key("mine"), plugins=["mine"])
    assert grown(k=3).model_dump() == {"k": 3} == grown(k=3, mine=None).model_dump()
    assert grown(mine=0.5).model_dump() == {"k": 2, "mine": 0.5}
    marks = field_marks(grown, "mine")
    assert (marks.shown, marks.binds) == ("whole", False)
    assert (grown.__name__, grown.__doc__) == ("Section", "What is limited.")
    with pytest.raises(ValidationError):
        grown(mine=2)


def test_a_key_of_a_plugin_without_marks_is_private_and_binds() -> None:
    grown = with_keys(Section, "limit", key("mine", Share | None), plugins=["mine"])
    marks = field_marks(grown, "mine")
    assert (marks.shown, marks.binds, marks.marked) == ("not", True, False)


def test_keys_of_this_package_are_as_they_are_declared() -> None:
    entries = {
        name: SourceKind(name, Annotated[str | None, SHOWN], f"The {name}.", "a:b") for name in ("b", "a")
    }
    grown: Any = with_keys(Section, "kind", entries, plugins=["a"], words="One of b and a.")
    later = {
        name: any(isinstance(mark, Later) for mark in field.metadata)
        for name, field in grown.model_fields.items()
    }
    assert later == {"k": False, "b": False, "a": True}
    assert grown(a="x").model_dump() == {"k": 2, "b": None, "a": "x"}
    assert grown.model_json_schema()["description"] == "One of b and a."
    assert [*grown.model_fields] == ["k", "b", "a"]
    before = with_keys(Section, "kind", entries, plugins=["a"], first=True)
    assert [*before.model_fields] == ["b", "a", "k"]
    assert before(k=3).taken == 3  # type: ignore[call-arg, attr-defined]
    assert field_marks(before, "b").shown == "whole"


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (key("taken"), "the limit taken must have another name"),
        (key("model_dump"), "the limit model_dump must have another name"),
        (key("mine", 3j), "the limit mine must have a field for pydantic, got"),
        (key("mine", object()), "the limit mine must have a field for pydantic, got"),
    ],
)
def test_what_cannot_be_a_key_is_refused(entries: dict[str, LimitKey | SourceKind], said: str) -> None:
    with pytest.raises(PluginError, match=said):
        with_keys(Section, "limit", entries, plugins=[*entries])
