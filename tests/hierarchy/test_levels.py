"""The one constructor of hierarchies: order, nesting, missing values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_pipeline.base.errors import InputError
from anon_pipeline.hierarchy.levels import from_columns


def columns(*rows: str) -> list[np.ndarray]:
    """One array per level from lines such as ``leaf;level 1;top``."""
    cells = [row.split(";") for row in rows]
    return [np.array(level, dtype=object) for level in zip(*cells, strict=True)]


def problems(*rows: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        from_columns("race", columns(*rows))
    return list(caught.value.problems)


def test_leaves_are_sorted_so_that_lookups_never_decrease() -> None:
    hierarchy = from_columns("x", columns("a;v;*", "b;c;*", "d;v;*", "e;c;*"))
    assert hierarchy.values[0].tolist() == ["a", "d", "b", "e"]
    assert hierarchy.values[1].tolist() == ["v", "c"]
    assert [lookup.tolist() for lookup in hierarchy.lookups] == [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    assert hierarchy.coordinates is None


def test_coordinates_follow_their_leaves() -> None:
    hierarchy = from_columns(
        "x", columns("a;v;*", "b;c;*", "d;v;*"), coordinates=np.array([1.0, 2.0, 3.0]), missing=True
    )
    assert hierarchy.values[0].tolist() == ["a", "d", "b", None]
    assert hierarchy.coordinates is not None
    assert hierarchy.coordinates[:3].tolist() == [1, 3, 2]
    assert np.isnan(hierarchy.coordinates[3])


def test_a_missing_value_generalizes_to_itself_below_the_top() -> None:
    hierarchy = from_columns("x", columns("a;v;w;*", "b;v;w;*"), missing=True)
    assert [values.tolist() for values in hierarchy.values] == [
        ["a", "b", None],
        ["v", None],
        ["w", None],
        ["*"],
    ]
    assert [lookup.tolist() for lookup in hierarchy.lookups] == [[0, 1, 2], [0, 0, 1], [0, 0, 1], [0, 0, 0]]
    assert hierarchy.has_missing


def test_mistakes_are_listed_at_once_with_counts() -> None:
    assert problems("a;v;x", "a;w;x", "b;v;y") == [
        "race: each leaf must appear once, got 1 repeated",
        "race: each value of level 0 must have one parent on level 1, got 1 more. "
        "The hierarchy is not nested.",
        "race: each value of level 1 must have one parent on level 2, got 1 more. "
        "The hierarchy is not nested.",
        "race: the top level must have one value, got 2",
    ]


def test_a_leaf_twice_is_refused_even_with_the_same_parents() -> None:
    assert problems("a;v;*", "a;v;*", "b;v;*") == ["race: each leaf must appear once, got 1 repeated"]


def test_no_leaf() -> None:
    for levels in ([], [np.array([], dtype=object)]):
        with pytest.raises(InputError, match="race: the hierarchy must have at least one leaf"):
            from_columns("race", levels)


@st.composite
def nested(draw: st.DrawFn) -> list[str]:
    """Lines of a random nested table of 2 to 4 levels."""
    parents = ["*"]
    paths = {"*": ["*"]}
    for level in range(draw(st.integers(1, 3))):
        below = {
            f"L{level}.{i}": draw(st.sampled_from(parents)) for i in range(draw(st.integers(len(parents), 8)))
        }
        paths = {name: [name, *paths[parent]] for name, parent in below.items()}
        parents = list(below)
    return draw(st.permutations([";".join(path) for path in paths.values()]))


@given(lines=nested(), missing=st.booleans())
def test_random_nested_tables(lines: list[str], missing: bool) -> None:
    levels = columns(*lines)
    hierarchy = from_columns("x", levels, missing=missing)
    own = {str(leaf): code for code, leaf in enumerate(hierarchy.values[0]) if leaf is not None}
    for lookup, values, given_values in zip(hierarchy.lookups, hierarchy.values, levels, strict=True):
        assert (np.diff(lookup) >= 0).all()
        assert sorted(set(lookup.tolist())) == list(range(len(values)))
        for leaf, value in zip(levels[0], given_values, strict=True):
            assert values[lookup[own[leaf]]] == value
    for finer, coarser in itertools.pairwise(hierarchy.lookups):
        assert len(np.unique(np.stack([finer, coarser]), axis=1).T) == len(np.unique(finer))
    assert hierarchy.leaves == len(lines) + missing
    assert (hierarchy.lookups[-1] == 0).all()


@given(data=st.data(), lines=nested())
def test_the_order_of_the_lines_changes_no_released_value(data: st.DataObject, lines: list[str]) -> None:
    def released(rows: list[str]) -> dict[str, list[str]]:
        hierarchy = from_columns("x", columns(*rows))
        return {
            leaf: [
                values[lookup[code]]
                for lookup, values in zip(hierarchy.lookups, hierarchy.values, strict=True)
            ]
            for code, leaf in enumerate(hierarchy.values[0])
        }

    assert released(lines) == released(data.draw(st.permutations(lines)))
