"""Tables and trees that somebody wrote: what is read, and what is refused without quoting it."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anon_pipeline.base.errors import InputError
from anon_pipeline.catalog.entry_code import import_entry
from anon_pipeline.hierarchy.build import code_column
from anon_pipeline.hierarchy.levels import from_columns
from anon_pipeline.hierarchy.table_files import read_table, tree_levels
from anon_pipeline.policy.hierarchies import HIERARCHIES

CANARY = "-".join(["CANARY", "7f3a"])


def written(folder: Path, content: bytes) -> Path:
    path = folder / "race.csv"
    path.write_bytes(content)
    return path


def rows(path: Path, **options: str) -> list[tuple[str, ...]]:
    return list(zip(*(level.tolist() for level in read_table(path, **options)), strict=True))


@pytest.mark.parametrize(
    "content",
    [
        b"White;*\nBlack;*\n",
        b"White;*\r\nBlack;*\r\n",
        b"White;*\nBlack;*",
        b"\xef\xbb\xbfWhite;*\nBlack;*\n",
        b"\nWhite;*\n\n\nBlack;*\n\n",
        b" White ;* \nBlack; *\n",
        b'"White";"*"\nBlack;*\n',
    ],
)
def test_spellings_of_one_table(tmp_path: Path, content: bytes) -> None:
    assert rows(written(tmp_path, content)) == [("White", "*"), ("Black", "*")]


def test_quoted_separators_and_newlines_and_unicode(tmp_path: Path) -> None:
    content = 'a,"b;c","d\ne"\n"say ""x""",ß,日\n'.encode()
    assert rows(written(tmp_path, content), separator=",") == [("a", "b;c", "d\ne"), ('say "x"', "ß", "日")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "race.csv: must have at least one line, got none"),
        ("\n\n", "race.csv: must have at least one line, got none"),
        ("{0}\n", "at least two (leaf and top), got 1 in the first and 0 lines that differ"),
        ("a;*\nb;{0};*\nc\n", "got 2 in the first and 2 lines that differ"),
        ("a;v;*\n{0};;*\n;v;*\n", "race.csv: every field must have a value, got 2 lines with an empty one"),
        ("a;*;\n{0};*;\n", "race.csv: every field must have a value, got 2 lines with an empty one"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_table(written(tmp_path, content.format(CANARY).encode()))
    assert message in str(caught.value)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("content", [None, CANARY.encode() + b"\xff;*\n"])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "race.csv" if content is None else written(tmp_path, content)
    with pytest.raises(InputError, match=r"^race\.csv: must be a readable UTF-8 table: ") as caught:
        read_table(path)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    shown = "".join(traceback.format_exception(caught.value))
    assert CANARY not in shown
    assert str(tmp_path) not in str(caught.value)


ADULT = {
    "sex": (2, 2),
    "age": (100, 5),
    "race": (5, 2),
    "marital-status": (7, 3),
    "education": (16, 4),
    "native-country": (41, 3),
    "workclass": (8, 3),
    "occupation": (14, 3),
    "salary-class": (2, 2),
}


@pytest.mark.parametrize("name", ADULT)
def test_the_hierarchies_of_adult(shared_data: Path, name: str) -> None:
    """Heights as in the data's README; leaves: lines of the file, age 1 to 100."""
    path = shared_data / "adult" / f"adult_hierarchy_{name}.csv"
    hierarchy = from_columns(name, read_table(path))
    assert (hierarchy.leaves, hierarchy.height) == ADULT[name]
    assert hierarchy.values[-1].tolist() == ["*"]


def test_trees() -> None:
    levels = tree_levels("job", {"office": {"paper": ["clerk", "boss"]}, "field": {"plants": ["farmer"]}})
    assert [level.tolist() for level in levels] == [
        ["clerk", "boss", "farmer"],
        ["paper", "paper", "plants"],
        ["office", "office", "field"],
        ["*", "*", "*"],
    ]


def test_a_name_may_stand_on_two_levels() -> None:
    levels = tree_levels("job", {"other": {"other": ["other"]}, "a": {"b": ["c"]}})
    assert from_columns("job", levels).values[1].tolist() == ["other", "b"]


def test_a_name_in_two_branches_is_not_nested() -> None:
    with pytest.raises(InputError, match="The hierarchy is not nested"):
        from_columns("job", tree_levels("job", {"a": {"x": ["1"]}, "b": {"x": ["2"]}}))


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"a": ["b"], "c": {"d": ["e"]}}, r"same depth, got depths \[2, 3\]"),
        ({"a": None}, "mappings with lists of leaves, none of them empty"),
        ({"a": []}, "mappings with lists of leaves, none of them empty"),
        ({"a": {}}, "mappings with lists of leaves, none of them empty"),
        ({}, "mappings with lists of leaves, none of them empty"),
        ({"a": [["b"]]}, "mappings with lists of leaves, none of them empty"),
        ({"a": [None]}, "mappings with lists of leaves, none of them empty"),
        ({"a": "b"}, "mappings with lists of leaves, none of them empty"),
    ],
)
def test_trees_that_are_refused(tree: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"job: .*{message}"):
        tree_levels("job", tree)


@pytest.mark.parametrize(
    ("limit", "content"),
    [
        ("levels", ";".join("x" * 51)),
        ("line", ";" * (2**20 + 1)),
        ("line", '"a\n";' * 2**18),
        ("rows", "a;*\n" * 11),
        ("bytes", "a;*\n" * 50),
    ],
    ids=lambda value: value[:5],
)
def test_tables_that_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, content: str
) -> None:
    monkeypatch.setattr("anon_pipeline.hierarchy.table_files.HIERARCHY_ROWS", 10)
    if limit == "bytes":
        monkeypatch.setattr("anon_pipeline.hierarchy.table_files.HIERARCHY_BYTES", 100)
    (tmp_path / "h.csv").write_text(content)
    with pytest.raises(InputError, match=rf"^h\.csv: must keep the limit of a hierarchy's {limit}"):
        read_table(tmp_path / "h.csv")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "h.csv")
    with pytest.raises(InputError, match="it is no plain file"):
        read_table(tmp_path / "h.csv")


WRITTEN: dict[str, Any] = {
    "table": "race.csv",
    "tree": {"some": ["White", "Black"], "other": ["Asian"]},
    "order": ["White", "Asian", "Black"],
}


def test_every_kind_that_says_its_leaves_builds_a_hierarchy_of_exactly_these(tmp_path: Path) -> None:
    written(tmp_path, b"White;some;*\nBlack;some;*\nAsian;other;*\n")
    assert {name for name, kind in HIERARCHIES.items() if kind.leaves} == {*WRITTEN}
    for name, given in WRITTEN.items():
        kind = HIERARCHIES[name]
        spec = kind.model(**{name: given})
        leaves = import_entry(kind.leaves)("race", spec, tmp_path)
        _, hierarchy = code_column(pd.Series(["White"], name="race"), spec, folder=tmp_path)
        assert sorted(leaves) == sorted(hierarchy.values[0]) == ["Asian", "Black", "White"]
        if kind.domain is not None:
            assert list(kind.domain(spec)) == leaves


def test_a_public_domain_has_its_leaves_at_one_depth() -> None:
    tree = HIERARCHIES["tree"]
    assert [name for name, kind in HIERARCHIES.items() if kind.domain] == ["tree"]
    assert tree.domain is not None
    with pytest.raises(ValueError, match="same depth"):
        tree.domain(tree.model(tree={"a": ["b"], "c": {"d": ["e"]}}))
