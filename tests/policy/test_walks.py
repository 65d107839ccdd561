"""A key that somebody adds and does not mark is private, binds the tables, and must not lead out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, create_model

from anon_pipeline import InputError, Locations, PolicyError, load_policy
from anon_pipeline.policy.fields import LocalPath, Strict
from anon_pipeline.policy.marks import AFTER, COUNTED, PRIVATE, SHOWN, TEXT, Below
from anon_pipeline.policy.model import Policy
from anon_pipeline.policy.walks import binding_fields, named_paths, public_fields, without_paths
from tests.example_counts import examples_of

ROOT = Path(__file__).resolve().parents[2]


class Inner(Strict):
    shown: Annotated[str, SHOWN] = Field("seen", min_length=1)
    listed: Annotated[tuple[str, ...], COUNTED] = ("a", "b")
    later: Annotated[str, SHOWN, AFTER] = "judged"
    file: Annotated[LocalPath | None, Below("hierarchies")] = None
    forgotten: str = "secret"


class Later(Strict):
    what: Annotated[int, AFTER] = 1


class Outer(Strict):
    name: Annotated[str, SHOWN] = "n"
    inner: Inner = Inner()
    many: dict[str, Inner] = Field(default_factory=dict)
    absent: Inner | None = None
    later: Later = Later()
    never: Later | None = None


def test_an_unmarked_field_is_private() -> None:
    model = Outer(inner=Inner(shown="x", listed=("a",), forgotten="y"), many={"m": Inner(forgotten="z")})
    assert public_fields(model) == {"inner": {"shown": "x", "listed": "(1 values)"}}


def test_an_unmarked_field_binds_the_tables() -> None:
    found = binding_fields(Outer())
    assert found["inner"]["forgotten"] == "secret"
    assert "later" not in found["inner"]
    assert "absent" in found  # it could hold what binds
    assert not {"later", "never"} & set(found)


def test_an_unmarked_text_must_not_lead_out() -> None:
    model = Outer(inner=Inner(forgotten="../../key", file="h.csv"), many={"m": Inner(forgotten="/etc/key")})
    named = {one.where: (one.folder, one.path) for one in named_paths(model)}
    assert named == {
        "inner.forgotten": ("sources", "../../key"),
        "inner.file": ("hierarchies", "h.csv"),
        "many.m.forgotten": ("sources", "/etc/key"),
        "many": ("sources", "m"),  # the key of an unmarked mapping
    }


def test_confine_asks_every_path(tmp_path: Path) -> None:
    class Stranger(Policy):
        forgotten: str = "fine"

    document = load_policy(ROOT / "assets/releases/patients/defs.yaml").model_dump(mode="json")
    folders = Locations(tmp_path, tmp_path, tmp_path, tmp_path)
    folders.confine(Stranger.model_validate({**document, "forgotten": "below/it"}))
    with pytest.raises(InputError, match="forgotten: must stay within the folder of sources"):
        folders.confine(Stranger.model_validate({**document, "forgotten": "../out"}))


def test_what_binds_and_what_is_public_of_a_whole_policy() -> None:
    """All sections by name, so that whoever adds one decides this here."""
    policy = load_policy(ROOT / "assets/releases/patients/defs.yaml")
    assert set(binding_fields(policy)) == {
        "name", "source", "columns", "deidentify", "record_key", "person", "rows_per_person", "anonymize",
        "perturb", "suppress",
    }  # fmt: skip
    assert set(public_fields(policy)) <= {
        "name", "columns", "record_key", "anonymize", "perturb", "suppress", "gate",
        "reviewed",
    }  # fmt: skip


def test_every_path_but_those_of_hierarchies_gets_a_stand_in() -> None:
    class Inner(Strict):
        file: Annotated[LocalPath, Below("releases")]
        table: Annotated[LocalPath, Below("hierarchies")]
        unmarked: str = "kept"

    class Outer(Strict):
        own: Annotated[LocalPath | None, Below("sources"), SHOWN] = None
        inner: Inner
        named: dict[str, Inner]

    inner = {"file": "private/a.csv", "table": "b.csv"}
    found = without_paths(Outer.model_validate({"own": "c", "inner": inner, "named": {"x": inner}}), "_there")
    blank = {"file": "_there", "table": "b.csv", "unmarked": "kept"}
    assert found == {"own": "_there", "inner": blank, "named": {"x": blank}}
    assert without_paths(Outer.model_validate({"inner": inner, "named": {}}), "_there") == {
        "inner": blank,
        "named": {},
    }


class Entry(Strict):
    """A section that stands in lists and mappings."""

    name: Annotated[str, SHOWN, AFTER] = "entry"
    path: Annotated[LocalPath | None, Below("hierarchies"), AFTER] = None
    forgotten: str = "fine"


class Holder(Strict):
    """A section with sections in it, in every form; all fields but one are marked."""

    one: Annotated[Entry, SHOWN, AFTER] = Entry()
    many: Annotated[tuple[Entry, ...], SHOWN, AFTER] = ()
    named: Annotated[dict[str, Entry], SHOWN, AFTER] = Field(default_factory=dict)
    mixed: Annotated[dict[str, Entry | str], SHOWN, AFTER] = Field(default_factory=dict)
    nested: Annotated[dict[str, tuple[Entry | str, ...]], SHOWN, AFTER] = Field(default_factory=dict)
    unmarked: dict[str, Entry | str] = Field(default_factory=dict)


OUT = Entry(path="../../key", forgotten="../secret")
EACH: dict[str, tuple[Any, str]] = {
    "one": (OUT, "one"),
    "many": ((Entry(), OUT), "many.1"),
    "named": ({"x": OUT}, "named.x"),
    "mixed": ({"x": "text", "y": OUT}, "mixed.y"),
    "nested": ({"x": ("text", OUT)}, "nested.x.1"),
    "unmarked": ({"y": OUT}, "unmarked.y"),
}


@pytest.mark.parametrize("name", EACH)
def test_paths_and_unmarked_texts_of_sections_are_found_wherever_the_sections_are(name: str) -> None:
    value, where = EACH[name]
    named = {(one.where, one.folder, one.path) for one in named_paths(Holder(**{name: value}))}
    found = {(f"{where}.path", "hierarchies", "../../key"), (f"{where}.forgotten", "sources", "../secret")}
    assert named >= found


@pytest.mark.parametrize("name", EACH)
def test_an_unmarked_field_in_a_marked_one_is_private_and_binds(name: str) -> None:
    model = Holder(**{name: EACH[name][0]})
    public, binding = json.dumps(public_fields(model)), json.dumps(binding_fields(model)[name])
    assert "secret" not in public and "key" not in public
    assert "../secret" in binding
    assert "../../key" not in binding and "entry" not in binding  # marked AFTER, as what they are in


def test_what_is_shown_of_sections_in_a_marked_field() -> None:
    model = Holder(
        many=(Entry(name="a"), OUT),
        named={"x": Entry(name="b")},
        mixed={"x": "text", "y": Entry(name="c")},
        unmarked={"x": Entry(name="d")},
    )
    assert public_fields(model) == {
        "many": [{"name": "a"}, {}],  # the name of the second is the default
        "named": {"x": {"name": "b"}},
        "mixed": {"x": "text", "y": {"name": "c"}},
    }  # the keys of a mapping are as its field: of an unmarked one nothing is shown


def test_a_path_in_a_list_of_sections_that_leaves_its_folder_is_refused(tmp_path: Path) -> None:
    class Listing(Policy):
        entries: Annotated[tuple[Entry, ...], SHOWN, AFTER] = ()

    document = load_policy(ROOT / "assets/releases/patients/defs.yaml").model_dump(mode="json")
    folders = Locations(tmp_path, tmp_path, tmp_path, tmp_path)
    folders.confine(Listing.model_validate({**document, "entries": [{"path": "a.csv"}]}))
    with pytest.raises(InputError) as refused:
        folders.confine(Listing.model_validate({**document, "entries": [{}, {"path": "../../etc/passwd"}]}))
    assert "entries.1.path: must stay within the folder of hierarchies" in str(refused.value)
    assert "passwd" not in str(refused.value)


def test_the_keys_of_an_unmarked_mapping_are_texts_as_well() -> None:
    class Keys(Strict):
        unmarked: dict[str, int]
        marked: Annotated[dict[str, int], TEXT]

    found = named_paths(Keys(unmarked={"../a": 1}, marked={"../b": 1}))
    assert [(one.where, one.path) for one in found] == [("unmarked", "../a")]


class Color(Enum):
    RED = "../red"


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ("../a", ["../a"]),
        (PurePosixPath("../b"), ["../b"]),
        (b"../c", ["../c"]),
        (Color.RED, ["../red"]),
        ({"../d"}, ["../d"]),
        ([["../e"], {"x": "../f"}], ["../e", "x", "../f"]),
        ((1, 2.5, None, True, Decimal(3)), []),
    ],
)
def test_an_unmarked_value_of_any_form_is_looked_into(value: Any, paths: list[str]) -> None:
    class Holds(Strict):
        forgotten: Any

    assert [one.path for one in named_paths(Holds(forgotten=value))] == paths


def test_a_value_that_cannot_be_looked_into_is_refused_unless_its_field_is_marked() -> None:
    class Strange:
        path = "../../key"

    class Holds(Strict):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        marked: Annotated[Strange, TEXT]
        forgotten: Strange | None = None

    assert list(named_paths(Holds(marked=Strange()))) == []
    with pytest.raises(PolicyError, match=r"forgotten: must hold texts.* got Strange"):
        list(named_paths(Holds(marked=Strange(), forgotten=Strange())))


def test_a_key_that_is_no_field_is_treated_as_the_strictest() -> None:
    class Loose(BaseModel):
        model_config = ConfigDict(extra="allow")
        known: Annotated[str, SHOWN, AFTER] = ""

    model = Loose.model_validate({"known": "k", "strange": "../s"})
    assert public_fields(model) == {"known": "k"}
    assert binding_fields(model) == {"strange": "../s"}
    assert [one.path for one in named_paths(model)] == ["../s"]


def test_nothing_below_a_private_field_is_public_and_all_of_it_binds() -> None:
    class Outer(Strict):
        section: Annotated[Entry, PRIVATE]

    model = Outer(section=Entry(name="seen"))
    assert public_fields(model) == {}
    assert binding_fields(model) == {"section": {"name": "seen", "path": None, "forgotten": "fine"}}


def test_no_path_is_left_in_a_marked_section() -> None:
    class Outer(Strict):
        many: Annotated[tuple[Entry, ...], AFTER]
        file: Annotated[tuple[LocalPath, ...], Below("releases")] = ()

    class Secret(Strict):
        file: Annotated[LocalPath, Below("sources")]

    class Deep(Strict):
        marked: Annotated[dict[str, tuple[Secret, ...]], TEXT]

    found = without_paths(Deep(marked={"x": (Secret(file="private/key"),)}), "_there")
    assert found == {"marked": {"x": [{"file": "_there"}]}}
    shown = without_paths(Outer(many=(Entry(path="h.csv"),), file=("a", "b")), "_there")
    assert shown == {"many": [{"name": "entry", "path": "h.csv", "forgotten": "fine"}], "file": "_there"}


def test_a_section_that_is_not_set_is_kept_where_a_field_of_it_would_be() -> None:
    class Hidden(Strict):
        after: Annotated[int, AFTER] = 1

    class Seen(Strict):
        seen: Annotated[int, SHOWN] = 1

    class Outer(Strict):
        hidden: Hidden | None = None
        seen: Seen | None = None
        capped: Annotated[Seen | None, TEXT, AFTER] = None
        listed: tuple[Hidden, ...] | None = None

    assert public_fields(Outer(), defaults=True) == {"seen": None}
    assert binding_fields(Outer()) == {"seen": None, "capped": None, "listed": None}


# A second way to the same answer: each text by the marks on its way, for random models.

MARKS: dict[str, Any] = {
    "shown": SHOWN,
    "counted": COUNTED,
    "after": AFTER,
    "text": TEXT,
    "private": PRIVATE,
    "below": Below("hierarchies"),
}


@dataclass
class Plan:
    """What a random field is: its marks, and a text, sections, or a list or mapping of such."""

    marks: frozenset[str]
    form: str  # text, section, list, mapping
    inside: list[Plan] = field(default_factory=list)


def plans(depth: int = 3) -> st.SearchStrategy[Plan]:
    marks = st.frozensets(st.sampled_from(sorted(MARKS)), max_size=3)
    text = st.builds(Plan, marks, st.just("text"))
    if depth == 0:
        return text
    inside = st.lists(plans(depth - 1), min_size=1, max_size=3)
    return text | st.builds(Plan, marks, st.sampled_from(["section", "list", "mapping"]), inside)


def value_of(plan: Plan, name: str) -> Any:
    """Return the value of a field: texts are named by their place; lists and mappings hold it in sections."""
    if plan.form == "text":
        return name
    if plan.form == "section":
        return section_of(plan.inside, name)
    held = [
        one if inside.form == "text" and place % 2 else section_of([inside], one)
        for place, inside in enumerate(plan.inside)
        for one in [f"{name}{place}"]
    ]
    return held if plan.form == "list" else {f"{name}k{place}": one for place, one in enumerate(held)}


def section_of(inside: list[Plan], name: str) -> BaseModel:
    fields: dict[str, Any] = {
        f"f{place}": (Annotated[Any, *(MARKS[mark] for mark in sorted(one.marks)), "x"], ...)
        for place, one in enumerate(inside)
    }
    values = {f"f{place}": value_of(one, f"{name}f{place}") for place, one in enumerate(inside)}
    return create_model("Section", __base__=Strict, **fields)(**values)


def texts_of(
    inside: list[Plan], name: str, above: tuple[Plan, ...]
) -> Iterator[tuple[str, tuple[Plan, ...]]]:
    """Yield each text with the fields that it is in, outermost first; those of keys, too."""
    for place, one in enumerate(inside):
        here, way = f"{name}f{place}", (*above, one)
        if one.form == "text":
            yield here, way
        elif one.form == "section":
            yield from texts_of(one.inside, here, way)
        else:
            for entry, within in enumerate(one.inside):
                if one.form == "mapping":
                    yield f"{here}k{entry}", way
                if within.form == "text" and entry % 2:
                    yield f"{here}{entry}", way
                else:
                    yield from texts_of([within], f"{here}{entry}", way)


def is_public(way: tuple[Plan, ...]) -> bool:
    *above, own = way
    hidden = [one for one in above if one.form in ("list", "mapping") and not one.marks]
    marked = [one for one in above if one.marks]
    return not hidden and all(
        "shown" in one.marks and not one.marks & {"counted", "private"} for one in (*marked, own)
    )


def binds(way: tuple[Plan, ...]) -> bool:
    *above, own = way
    asked = (*(one for one in above if one.marks), own)
    return any("after" not in one.marks or "private" in one.marks for one in asked)


def folder_of(way: tuple[Plan, ...]) -> str | None:
    *above, own = way
    if any("below" in one.marks for one in (*above, own)):
        return "hierarchies"
    shown = own.marks & {"shown", "counted"} and "private" not in own.marks
    return None if "text" in own.marks or shown else "sources"


def all_texts(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        for key, value in document.items():
            yield key
            yield from all_texts(value)
    elif isinstance(document, list):
        for value in document:
            yield from all_texts(value)
    else:
        yield document


@settings(max_examples=examples_of(300))
@given(st.lists(plans(), min_size=1, max_size=4))
def test_each_text_is_as_the_strictest_of_the_fields_that_it_is_in(inside: list[Plan]) -> None:
    model, texts = section_of(inside, "r"), dict(texts_of(inside, "r", ()))
    fields = {f"f{place}" for place in range(10)}
    public = {*all_texts(public_fields(model, counted=lambda value: "n"))} - fields - {"n"}
    assert public == {text for text, way in texts.items() if is_public(way)}
    leaves = {text for text in texts if "k" not in text.rpartition("f")[2]}
    assert {*all_texts(binding_fields(model))} & leaves == {t for t in leaves if binds(texts[t])}
    wanted = {(text, folder) for text, way in texts.items() if (folder := folder_of(way)) is not None}
    assert {(one.path, one.folder) for one in named_paths(model)} == wanted
