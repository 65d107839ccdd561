"""Trees of hierarchies: which values there are, and what a front releases, against brute force."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_pipeline.hierarchy.hierarchy import Hierarchy
from anon_pipeline.recode.subtree.trees import Tree, front_of, make_tree, opened_to
from tests.example_counts import examples_of


def leaves_of(tree: Tree, value: int) -> range:
    return range(tree.first[value], tree.last[value])


def states(tree: Tree) -> list[np.ndarray]:
    return [np.array(bits, np.bool_) for bits in itertools.product([False, True], repeat=len(tree.inner))]


def brute_fronts(tree: Tree, value: int = 0) -> list[tuple[int, ...]]:
    """Every choice between a value and choices for those below it, by the definition alone."""
    below = [other for other in range(tree.values) if tree.parents[other] == value]
    deeper = [sum(parts, ()) for parts in itertools.product(*(brute_fronts(tree, child) for child in below))]
    return [(value,), *(deeper if value in tree.inner else [])]


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_a_tree_has_each_set_of_leaves_once_on_its_lowest_level(
    data: st.DataObject, drawn: SimpleNamespace
) -> None:
    hierarchy: Hierarchy = data.draw(drawn.hierarchies())
    tree = make_tree(hierarchy)
    lowest: dict[tuple[int, ...], tuple[int, int]] = {}
    for level, lookup in enumerate(hierarchy.lookups):
        for code in range(int(lookup[-1]) + 1):
            lowest.setdefault(tuple(np.flatnonzero(lookup == code).tolist()), (level, code))
    places = zip(tree.levels.tolist(), tree.codes.tolist(), strict=True)
    found = {tuple(leaves_of(tree, value)): place for value, place in enumerate(places)}
    assert found == lowest
    assert leaves_of(tree, 0) == range(hierarchy.leaves)
    assert tree.parents[0] == -1
    for value, parent in enumerate(tree.parents[1:].tolist(), start=1):
        above = [
            other
            for other in range(tree.values)
            if other != value and set(leaves_of(tree, value)) < set(leaves_of(tree, other))
        ]
        assert parent == min(above, key=lambda other: len(leaves_of(tree, other)))


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_the_states_are_all_fronts_and_nothing_else(data: st.DataObject, drawn: SimpleNamespace) -> None:
    tree = make_tree(data.draw(drawn.hierarchies()))
    found = set()
    for opened in states(tree):
        front, reached = front_of(tree, opened)
        assert (np.diff(front) >= 0).all()
        assert all(leaf in leaves_of(tree, value) for leaf, value in enumerate(front.tolist()))
        for value in set(front.tolist()):
            assert front[tree.first[value] : tree.last[value]].tolist() == [value] * len(
                leaves_of(tree, value)
            )
        found.add(tuple(dict.fromkeys(front.tolist())))
        for place in range(len(opened)):
            flipped = opened.copy()
            flipped[place] ^= True
            assert (front_of(tree, flipped)[0] != front).any() == reached[place]
    assert found == set(brute_fronts(tree))


@settings(deadline=None, max_examples=examples_of(150))
@given(data=st.data())
def test_a_level_of_the_hierarchy_is_a_front(data: st.DataObject, drawn: SimpleNamespace) -> None:
    hierarchy: Hierarchy = data.draw(drawn.hierarchies())
    tree, level = make_tree(hierarchy), data.draw(st.integers(0, hierarchy.height - 1))
    front, _ = front_of(tree, opened_to(tree, level))
    lookup = hierarchy.lookups[level]
    assert ((front[1:] != front[:-1]) == (lookup[1:] != lookup[:-1])).all()
